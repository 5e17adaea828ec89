# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device module of Triton's official Apple back end (triton-ext, backend/AppleGPU), for machines that are not Macs.

The back end's driver calls Metal through a small compiled module, ``metal_native``, in its own folder. This module replaces it with
smelt: it loads libraries, runs kernels on the CPU, and uses memory of the process as buffers. The back end also calls ``xcrun metal``
and ``xcrun metallib``; these are the tools of ``smelt toolchain``. docs/guide/triton-apple.md.

    import smelt.compat.triton_apple as metal
    metal.activate()                       # makes the Apple back end Triton's driver in this process, over this module

    add[grid](x, y, out, n, BLOCK=256)     # CPU tensors, metal.wrap(array) or metal.alloc(bytes)

A launch returns when the kernel has run. Buffer addresses are CPU addresses, which kernels use directly. The store keeps
libraries and the CPU code of each kernel, so a second process compiles nothing.
"""

from __future__ import annotations

import ctypes
import importlib
import operator
import os
import re
import struct
import sys
from typing import Any

import smelt

from .. import _loader, _session

__all__ = [
    "MetalBuffer", "MetalKernel", "MetalLibrary", "SharedBuffer", "activate", "alloc", "alloc_shared", "compile_source", "get_device_name",
    "gpu_address", "install", "is_available", "load_metallib", "synchronize", "wrap",
]  # fmt: skip

_LEAST = 16  # bytes: Metal has no empty buffers
_ALIGNMENT = 256  # of what is allocated here: more than any vector of Metal has
# The driver lets as many groups wait for each other as so many cores hold: 256 of 32 threads, which run at the same time here.
_CORES = 8


class MetalBuffer(_loader.Buffer):
    """Memory that kernels read and write, from ``alloc`` or, for the caller's memory, from ``wrap``. It supports Python's buffer protocol."""

    dtype: Any = None

    @property
    def nbytes(self) -> int:
        return len(self)

    def data_ptr(self) -> int:
        return self.address

    def gpu_address(self) -> int:
        """Return the address that a kernel uses; here, it is the same as data_ptr()."""
        return self.address


SharedBuffer = MetalBuffer


class _View(ctypes.Structure):
    """Python's view of an object's memory, the only way to get the address of read-only memory."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]  # fmt: skip


class _Held:
    """Keeps an object's memory alive and in place."""

    def __init__(self, value: object) -> None:
        view = _View()
        ctypes.pythonapi.PyObject_GetBuffer(ctypes.py_object(value), ctypes.byref(view), 0)  # in one piece, or a BufferError
        self.view = view  # from here on there is something to release
        self._release = ctypes.pythonapi.PyBuffer_Release

    def __del__(self) -> None:
        if hasattr(self, "_release"):
            self._release(ctypes.byref(self.view))


def _buffer(address: int, size: int, writable: bool, owner: object, dtype: object) -> MetalBuffer:
    made = MetalBuffer(address, size, writable=writable, owner=owner)
    made.dtype = dtype
    return made


def alloc(nbytes: int, dtype: object = None) -> MetalBuffer:
    """Return zeroed memory of ``nbytes`` bytes."""
    if nbytes < 0:
        raise ValueError("nbytes must be non-negative")
    memory = bytearray(max(nbytes, _LEAST) + _ALIGNMENT)
    at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return _buffer(at + -at % _ALIGNMENT, nbytes, True, memory, dtype)


def alloc_shared(nbytes: int) -> MetalBuffer:
    """Return zeroed memory of ``nbytes`` bytes, which the program may read while kernels write to it."""
    if nbytes <= 0:
        raise ValueError("nbytes must be positive")
    return alloc(nbytes)


def _is_tensor(value: object) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "untyped_storage")


def _tensor(value: Any) -> MetalBuffer:
    """Return the memory from a tensor's first element to the end of its storage."""
    if value.device.type != "cpu":
        raise ValueError(f"smelt: kernels run on CPU memory, and a tensor is on {value.device}")
    whole, at = value.untyped_storage(), int(value.data_ptr())
    size = int(whole.nbytes()) - (at - int(whole.data_ptr()))
    return _buffer(at, size, True, value, value.dtype) if at and size > 0 else alloc(0, value.dtype)


def wrap(value: Any, dtype: object = None) -> MetalBuffer:
    """Return the memory of a NumPy array, a CPU tensor or any other contiguous object, without a copy."""
    if isinstance(value, MetalBuffer):
        return value
    if _is_tensor(value):
        return _tensor(value)
    held = _Held(value)
    if held.view.len == 0:
        raise ValueError("wrap: the memory is empty")
    return _buffer(held.view.buf, held.view.len, not held.view.readonly, held, getattr(value, "dtype", None) if dtype is None else dtype)


def gpu_address(value: Any) -> int:
    """Return the address of a tensor's first element, or of a buffer."""
    return wrap(value).address


def _argument(index: int, value: Any) -> Any:
    if isinstance(value, (MetalBuffer, bytes)):
        return value
    if isinstance(value, int):
        return struct.pack("<q", value)
    if isinstance(value, float):
        return struct.pack("<f", value)
    if _is_tensor(value):
        return _tensor(value)
    if hasattr(value, "__array_interface__"):
        return wrap(value)
    raise TypeError(f"argument {index}: want a MetalBuffer, a CPU tensor, a NumPy array, bytes, int or float, got {type(value).__name__}")


def _size(what: str, value: Any) -> tuple[int, ...]:
    if not isinstance(value, (list, tuple)) or len(value) != 3:
        raise TypeError(f"{what}: want a list of three whole numbers, got {value!r}")
    size = tuple(operator.index(one) for one in value)
    if min(size) <= 0:
        raise ValueError(f"{what}: want numbers from 1 on, got {value!r}")
    return size


class MetalKernel:
    """A kernel that is ready to run, like a pipeline on a Mac."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.name: str = kernel.name
        self.max_total_threads_per_threadgroup: int = kernel.max_total_threads_per_threadgroup

    def __call__(
        self, *args: Any, threads: Any, group_size: Any, threadgroup_mem: int = 0, exposes_addresses: bool = False, reads_addresses: bool = False
    ) -> None:
        """Launch the kernel.

        Args:
            args: the arguments, in the order of the kernel's buffers.
            threads: the size of the grid in threads.
            group_size: the size of a threadgroup in threads.
            threadgroup_mem: size of threadgroup argument 0 in bytes.
            exposes_addresses: no effect; on a GPU, memory must be made resident.
            reads_addresses: no effect; the same.
        """
        grid, group = _size("threads", threads), _size("group_size", group_size)
        for axis, (all_threads, own) in enumerate(zip(grid, group)):
            if all_threads % own != 0:
                raise ValueError(f"threads[{axis}] ({all_threads}) is not a multiple of group_size[{axis}] ({own})")
        if threadgroup_mem < 0:
            raise ValueError("threadgroup_mem must not be negative")
        options: dict[str, Any] = {"threadgroup_memory": {0: threadgroup_mem}} if threadgroup_mem else {}
        # As Metal, which compares nothing: agpu's parameters have the types of storage, not the tensors'.
        self._kernel(*(_argument(*one) for one in enumerate(args)), threads=grid, group_size=group, check="off", **options)


_TOO_MUCH = re.compile(r"(\d+) bytes of threadgroup memory; [^;]*?(\d+)")


class MetalLibrary:
    def __init__(self, library: Any) -> None:
        self._library = library

    @property
    def function_names(self) -> list[str]:
        return list(dir(self._library))

    def get_function(self, name: str) -> MetalKernel:
        if name not in self._library:
            raise KeyError(f"Function '{name}' not found")
        try:
            return MetalKernel(self._library[name])
        except smelt.ResourceError as error:  # in the words by which the driver knows it
            found = _TOO_MUCH.search(str(error))
            if found is None:
                raise
            raise RuntimeError(
                f"PSO creation failed: Threadgroup memory size ({found[1]}) exceeds the maximum threadgroup memory allowed ({found[2]})"
            ) from error
        except smelt.UnsupportedError as error:
            if "bytes of private" not in str(error):
                raise
            raise RuntimeError(f"PSO creation failed: the kernel exceeds available stack space: {error}") from error


def load_metallib(data: Any) -> MetalLibrary:
    """Load a library from the bytes that ``xcrun metallib`` wrote. The CPU code of a kernel is compiled, or found in the store, when
    the kernel is first read."""
    return MetalLibrary(smelt.load_metallib(bytes(data), device="cpu", cpu_effort=os.environ.get("SMELT_CPU_EFFORT") or "balanced"))


def compile_source(source: str, math_mode: str) -> bytes:
    """Compile Metal source like ``xcrun metal``, and return the bytes of the Metal library.

    Args:
        source: the Metal source.
        math_mode: "safe" uses the flags of the back end; any other value, Metal's default.
    """
    flags = ["-fmetal-math-mode=safe", "-fmetal-math-fp32-functions=fast"] if math_mode == "safe" else ["-ffast-math"]
    session = _session.session()
    from .. import _compiler  # which a session has imported, or said how to get

    options = {"targets": [os.environ.get("SMELT_TARGET") or _compiler.newest_target], "cpu": False, "math_flags": flags}
    try:
        made = session.make([("source.metal", source.encode())], options, None)
    except smelt.CompileError as error:
        raise RuntimeError(f"MSL compile failed: {error}") from error
    package = _loader.Package(made.view())
    return package.metallib(package.slices()[0]["target"])


def get_device_name() -> str:
    return _session.device("cpu").name


def is_available() -> bool:
    return True


def synchronize() -> None:
    """Do nothing, because each launch returns when the kernel has run."""


# --- Triton -----------------------------------------------------------------------------------------------------------------------------


class _Interface:
    """Replaces torch.mps where Triton asks for a device."""

    def __init__(self, runtime: _Runtime) -> None:
        self._runtime = runtime

    def synchronize(self, device: Any = None) -> None:
        self._runtime.check_asserts()

    def current_device(self) -> int:
        return 0


class _Runtime:
    """A runtime of the back end's driver for CPU tensors and arrays. The driver has others for MPS and for machines without PyTorch."""

    def __init__(self, driver: Any) -> None:
        self._driver = driver
        self.metal = sys.modules[__name__]

    def is_available(self) -> bool:
        return True

    def core_count(self) -> int:
        return _CORES

    def zeros_i32(self, n: int) -> MetalBuffer:
        return alloc(4 * n)

    def as_u32(self, buffer: MetalBuffer) -> Any:
        return importlib.import_module("numpy").frombuffer(buffer, dtype="uint32")

    def assert_buffer(self, n: int) -> MetalBuffer:
        return alloc_shared(4 * n)

    peek_u32 = as_u32

    def check_asserts(self) -> None:
        pending = getattr(self._driver, "_check_pending", None)
        if pending is not None:
            pending(self)

    def device_interface(self) -> _Interface:
        return _Interface(self)

    def active_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def empty_cache(self) -> MetalBuffer:
        return alloc(32 << 20)

    def clear_cache(self, cache: MetalBuffer) -> None:
        ctypes.memset(cache.address, 0, len(cache))


def install() -> Any:
    """Put this module where the back end's driver looks for its own, and return the driver's module."""
    package = "triton_apple_backend"
    for name in ("metal_native", "metal_torch"):
        sys.modules[f"{package}.{name}"] = sys.modules[__name__]
    driver: Any = importlib.import_module(f"{package}.driver")
    driver._RUNTIME = _Runtime(driver)
    if hasattr(driver, "_mps_do_bench"):
        from .triton_backend.driver import benchmark

        driver._mps_do_bench = benchmark
    return driver


def activate() -> None:
    """Make the Apple back end's driver, over this module, Triton's active driver in this process."""
    import triton

    driver = install()
    triton.runtime.driver.set_active(driver.MetalDriver())
