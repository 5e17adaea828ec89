# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A kernel of Triton on a machine without a GPU: stock Triton 3.6 finds smelt's back end by itself.

    PYTHONPATH=build/release/python python3 examples/triton_softmax.py
"""

import torch
import triton
import triton.language as tl

import smelt.compat.triton_backend as backend


@triton.jit
def softmax(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    values = tl.load(x + row * columns + at, at < columns, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, axis=0))
    tl.store(out + row * columns + at, powers / tl.sum(powers, axis=0), at < columns)


backend.activate()  # only needed where Triton sees a GPU
x = torch.randn(16, 333)
out = torch.empty_like(x)
softmax[(16,)](x, out, 333, BLOCK=512)
print("softmax: largest error", float((out - torch.softmax(x, 1)).abs().max()))
torch.testing.assert_close(out, torch.softmax(x, 1), rtol=1e-5, atol=1e-6)
