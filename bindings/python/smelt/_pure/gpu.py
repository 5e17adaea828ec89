# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the kernels of a Metal library on the GPU, through PyTorch 2.12 or newer, else through PyObjC's Metal."""

from __future__ import annotations

import importlib
import os
import tempfile
from typing import Any

from .choice import Target
from .files import fail

# torch.mps.load_metallib is the public name; what torch._C has is spelled with three l's (docs/design/loader.md 1.1).
_SPELLINGS = ("_mps_loadMetalllib", "_mps_loadMetallib", "_mps_loadMetalLib")


def torch_loader() -> Any:
    """Return PyTorch's function that makes a library from bytes, or None if there is none."""
    try:
        import torch
    except ImportError:
        return None
    if not torch.backends.mps.is_available():
        return None
    public = getattr(torch.mps, "load_metallib", None)
    if public is not None:
        return public
    return next((getattr(torch._C, name) for name in _SPELLINGS if hasattr(torch._C, name)), None)


def objc_metal() -> Any:
    """Return PyObjC's modules Metal and Foundation, or None if they are not installed."""
    try:
        return importlib.import_module("Metal"), importlib.import_module("Foundation")
    except ImportError:
        return None


def load(metallib: bytes, target: Target) -> Any:
    """Load a Metal library, and return an object whose attributes are its kernels."""
    if target.device != "metal":
        fail("device_unavailable", f"device '{target.device}' is offline and runs nothing; a Metal library runs on a Mac (and its CPU code where "
             "smelt's compiled modules are)")  # fmt: skip
    loader = torch_loader()
    if loader is not None:
        return loader(metallib)
    modules = objc_metal()
    if modules is not None:
        return ObjcLibrary(metallib, *modules)
    fail("device_unavailable", "nothing in this Python loads a Metal library: PyTorch 2.12 or newer does (torch.mps.load_metallib), and PyObjC "
         "(pip install pyobjc-framework-Metal). MLX compiles source alone, and has no function for a library")  # fmt: skip


class ObjcLibrary:
    """An MTLLibrary of PyObjC. Kernels take buffers (objects with the buffer protocol, which are copied to the GPU
    and back), and numbers with a type letter of struct."""

    def __init__(self, metallib: bytes, metal: Any, foundation: Any) -> None:
        self._metal = metal
        self._device = metal.MTLCreateSystemDefaultDevice()
        if self._device is None:
            fail("device_unavailable", "Metal has no device here")
        with tempfile.TemporaryDirectory(prefix="smelt-") as folder:
            path = os.path.join(folder, "kernels.metallib")
            with open(path, "wb") as file:
                file.write(metallib)
            library, error = self._device.newLibraryWithURL_error_(foundation.NSURL.fileURLWithPath_(path), None)
        if library is None:
            fail("corrupt", f"Metal does not take the library: {error}")
        self._library = library
        self._queue = self._device.newCommandQueue()
        self._kernels: dict[str, ObjcKernel] = {}

    def __getattr__(self, name: str) -> ObjcKernel:
        if name.startswith("_"):
            raise AttributeError(name)
        if name not in self._kernels:
            function = self._library.newFunctionWithName_(name)
            if function is None:
                fail("function_not_found", f"Metal's library has no function '{name}'", name)
            state, error = self._device.newComputePipelineStateWithFunction_error_(function, None)
            if state is None:
                fail("pipeline_failed", f"kernel '{name}': {error}", name)
            self._kernels[name] = ObjcKernel(self, state)
        return self._kernels[name]


class ObjcKernel:
    def __init__(self, library: ObjcLibrary, state: Any) -> None:
        self._library = library
        self._state = state
        self.max_threads_per_threadgroup: int = state.maxTotalThreadsPerThreadgroup()

    def __call__(self, *arguments: Any, threads: int, group_size: int | None = None) -> None:
        metal, device = self._library._metal, self._library._device
        commands = self._library._queue.commandBuffer()
        encoder = commands.computeCommandEncoder()
        encoder.setComputePipelineState_(self._state)
        buffers = []
        for index, argument in enumerate(arguments):
            view = memoryview(argument).cast("B")
            buffer = device.newBufferWithBytes_length_options_(bytes(view), max(len(view), 1), 0)  # shared with the CPU
            encoder.setBuffer_offset_atIndex_(buffer, 0, index)
            buffers.append((buffer, view))
        size = group_size or min(self.max_threads_per_threadgroup, threads)
        encoder.dispatchThreads_threadsPerThreadgroup_(metal.MTLSizeMake(threads, 1, 1), metal.MTLSizeMake(size, 1, 1))
        encoder.endEncoding()
        commands.commit()
        commands.waitUntilCompleted()
        if commands.error() is not None:
            fail("pipeline_failed", f"Metal: {commands.error()}")
        for buffer, view in buffers:
            if not view.readonly:
                view[:] = bytes(buffer.contents().as_buffer(len(view)))[: len(view)]
