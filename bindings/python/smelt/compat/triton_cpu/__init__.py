# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt's back end for Triton under the device name "cpu", which Inductor uses. Triton finds it through the entry point ``triton.backends``. Its
driver is never the default; Inductor's generated code activates it (torch._inductor.runtime.triton_helpers.set_driver_to_cpu)."""
