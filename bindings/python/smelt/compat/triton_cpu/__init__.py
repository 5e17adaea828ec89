# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt's back end for Triton under the name of the device that Inductor asks for: "cpu". Found by the entry point ``triton.backends``;
its driver never offers itself, Inductor's generated code makes it active (torch._inductor.runtime.triton_helpers.set_driver_to_cpu)."""
