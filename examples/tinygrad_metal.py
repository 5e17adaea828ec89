# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tinygrad's METAL device on a machine without Metal: its renderer writes Metal source, smelt compiles it ahead of time
to a Metal library with CPU code beside it, and runs that.

    PYTHONPATH=build/release/python:TINYGRAD python3 examples/tinygrad_metal.py

`install()` before tinygrad opens a device is all that a program needs; `python3 -m pytest -p tinygrad_metal` runs
tinygrad's own tests so. `SMELT_GPU` is the GPU that the device says it is (default Apple9).
"""

from __future__ import annotations

import ctypes
import math
import os
import sys
import time
import types

import smelt


def _device_module() -> types.ModuleType:
    """What stands in for tinygrad/runtime/ops_metal.py: the four classes that tinygrad takes from a device's module."""
    from tinygrad import device as tiny
    from tinygrad.renderer.cstyle import MetalRenderer

    class MetalCompiler(tiny.Compiler):
        def __init__(self):
            super().__init__(None)  # smelt's store keeps what was compiled

        def compile(self, src: str) -> bytes:
            try:
                return bytes(smelt.compile(src, targets=["macos14"], language="3.1", cpu="required", filename="<tinygrad>"))
            except (smelt.CompileError, smelt.UnsupportedError) as error:
                raise tiny.CompileError(str(error)) from error

    class MetalProgram(tiny.Program):
        def __init__(self, dev, obj):
            self.kernel = smelt.load_metallib(obj.lib, device=dev.smelt)[obj.name]

        def __call__(self, *bufs, global_size=(1, 1, 1), local_size=(1, 1, 1), vals=(), wait=False, **_):
            if math.prod(local_size) > self.kernel.max_threads_per_threadgroup:
                raise RuntimeError(f"{local_size} threads are more than {self.kernel.max_threads_per_threadgroup}")
            began = time.perf_counter()
            self.kernel(*bufs, *vals, threadgroups=global_size, group_size=local_size, arg_casts="declared")
            return time.perf_counter() - began if wait else None

    class MetalAllocator(tiny.LRUAllocator):
        def _alloc(self, size, options):
            if options.external_ptr:
                return smelt.Buffer(options.external_ptr, size)
            memory = (ctypes.c_char * (size + 64))()
            return smelt.Buffer((ctypes.addressof(memory) + 63) & -64, size, owner=memory)

        def _as_buffer(self, src):
            return memoryview(src)

        def _copyin(self, dest, src):
            memoryview(dest)[:] = src

        def _copyout(self, dest, src):
            dest[:] = memoryview(src)

        def _offset(self, buf, size, offset):
            return buf[offset : offset + size]

    class MetalDevice(tiny.Compiled):
        def __init__(self, device):
            self.smelt = smelt.Device("cpu")
            super().__init__(
                device, MetalAllocator(self, supports_transfer=False), [MetalRenderer], MetalProgram, arch=os.environ.get("SMELT_GPU", "Apple9")
            )

    module = types.ModuleType("tinygrad.runtime.ops_metal")
    for found in (MetalCompiler, MetalProgram, MetalAllocator, MetalDevice):
        found.__module__ = module.__name__
        setattr(module, found.__name__, found)
    return module


def install() -> None:
    """Makes METAL this device, and the default one."""
    os.environ.setdefault("DEV", "METAL")
    os.environ["PARALLEL"] = "0"  # tinygrad's compiling processes would not know of this device
    sys.modules["tinygrad.runtime.ops_metal"] = _device_module()


def main() -> None:
    install()
    import numpy as np
    from tinygrad import Device, Tensor

    Tensor.manual_seed(1)
    x, w = Tensor.randn(64, 128), Tensor.randn(128, 96)
    made = (x @ w).relu()
    wanted = np.maximum(x.numpy() @ w.numpy(), 0)
    powers = np.exp(wanted)
    print("matmul and softmax on", Device.DEFAULT)
    np.testing.assert_allclose(made.softmax(-1).numpy(), powers / powers.sum(-1, keepdims=True), rtol=1e-3, atol=1e-6)
    made.mean().backward()
    print("the gradient of the weights")
    np.testing.assert_allclose(w.grad.numpy(), x.numpy().T @ (wanted > 0) / wanted.size, rtol=1e-3, atol=1e-6)
    print("both as NumPy has them")


if __name__ == "__main__":
    main()
else:
    install()  # as a plug-in of pytest
