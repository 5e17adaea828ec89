# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Metal kernels on PyTorch's CPU tensors: the code that a Mac runs with torch.mps, on a machine without Metal.

    PYTHONPATH=build/release/python python3 examples/torch_tensors.py
"""

import torch

import smelt.compat.torch

SOURCE = """
#include <metal_stdlib>
using namespace metal;

kernel void swiglu(device const float* gate, device const float* up, device float* out,
                   uint i [[thread_position_in_grid]]) {
  const float g = gate[i];
  out[i] = g / (1.0f + precise::exp(-g)) * up[i];
}
"""

# Inside the `with`, PyTorch's own names are smelt's; what follows is the code that one would write for a Mac.
with smelt.compat.torch.patch():
    lib = torch.mps.compile_shader(SOURCE)

gate, up = torch.randn(8, 333), torch.randn(8, 333)
out = torch.empty_like(gate)
lib.swiglu(gate, up, out)
wanted = torch.nn.functional.silu(gate.double()) * up.double()
print("swiglu: largest error", float((out - wanted).abs().max()))
torch.testing.assert_close(out.double(), wanted, rtol=1e-5, atol=1e-6)
