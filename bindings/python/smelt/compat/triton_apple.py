# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device of Triton's official Apple back end (triton-ext, backend/AppleGPU) on a machine without a Mac.

Its driver reaches Metal by a small compiled module, ``metal_native``, which it imports from beside itself. This is that module over
smelt: libraries are loaded, kernels run on the CPU, buffers are memory of the process. ``xcrun metal`` and ``xcrun metallib``, which
the back end calls, are those of ``smelt toolchain``. docs/guide/triton-apple.md.

    import smelt.compat.triton_apple as metal
    metal.activate()                       # Triton's driver in this process is theirs, over this module

    add[grid](x, y, out, n, BLOCK=256)     # CPU tensors, metal.wrap(array) or metal.alloc(bytes)

A launch has ended when it returns. Addresses are the CPU's own, which kernels follow. Libraries and the CPU code of each
kernel are kept in the store: a second process compiles nothing.
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
    """Memory that kernels read and write: of ``alloc``, or the caller's own, of ``wrap``. It has Python's buffer interface."""

    dtype: Any = None

    @property
    def nbytes(self) -> int:
        return len(self)

    def data_ptr(self) -> int:
        return self.address

    def gpu_address(self) -> int:
        """The address that a kernel follows; here the same as data_ptr()."""
        return self.address


SharedBuffer = MetalBuffer


class _View(ctypes.Structure):
    """Python's own view of an object's memory: the only way to its address that also takes memory that may not be written."""

    _fields_ = [
        ("buf", ctypes.c_void_p), ("obj", ctypes.c_void_p), ("len", ctypes.c_ssize_t), ("itemsize", ctypes.c_ssize_t), ("readonly", ctypes.c_int),
        ("ndim", ctypes.c_int), ("format", ctypes.c_char_p), ("shape", ctypes.c_void_p), ("strides", ctypes.c_void_p),
        ("suboffsets", ctypes.c_void_p), ("internal", ctypes.c_void_p),
    ]  # fmt: skip


class _Held:
    """Keeps an object's memory where it is."""

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
    """Zeroed memory."""
    if nbytes < 0:
        raise ValueError("nbytes must be non-negative")
    memory = bytearray(max(nbytes, _LEAST) + _ALIGNMENT)
    at = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    return _buffer(at + -at % _ALIGNMENT, nbytes, True, memory, dtype)


def alloc_shared(nbytes: int) -> MetalBuffer:
    """Zeroed memory that the program reads while kernels write to it."""
    if nbytes <= 0:
        raise ValueError("nbytes must be positive")
    return alloc(nbytes)


def _is_tensor(value: object) -> bool:
    return hasattr(value, "data_ptr") and hasattr(value, "untyped_storage")


def _tensor(value: Any) -> MetalBuffer:
    """From a tensor's first element to the end of its storage."""
    if value.device.type != "cpu":
        raise ValueError(f"smelt: kernels run on CPU memory, and a tensor is on {value.device}")
    whole, at = value.untyped_storage(), int(value.data_ptr())
    size = int(whole.nbytes()) - (at - int(whole.data_ptr()))
    return _buffer(at, size, True, value, value.dtype) if at and size > 0 else alloc(0, value.dtype)


def wrap(value: Any, dtype: object = None) -> MetalBuffer:
    """The memory of a NumPy array, a CPU tensor or any other object that lies in one piece. It is not copied."""
    if isinstance(value, MetalBuffer):
        return value
    if _is_tensor(value):
        return _tensor(value)
    held = _Held(value)
    if held.view.len == 0:
        raise ValueError("wrap: the memory is empty")
    return _buffer(held.view.buf, held.view.len, not held.view.readonly, held, getattr(value, "dtype", None) if dtype is None else dtype)


def gpu_address(value: Any) -> int:
    """The address of a tensor's first element, or of a buffer."""
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
    """A kernel that is ready to run, as a pipeline is on a Mac."""

    def __init__(self, kernel: Any) -> None:
        self._kernel = kernel
        self.name: str = kernel.name
        self.max_total_threads_per_threadgroup: int = kernel.max_total_threads_per_threadgroup

    def __call__(
        self, *args: Any, threads: Any, group_size: Any, threadgroup_mem: int = 0, exposes_addresses: bool = False, reads_addresses: bool = False
    ) -> None:
        """``threadgroup_mem``: bytes of threadgroup argument 0. The last two are for GPUs, where memory has to be made resident."""
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
    """A library of ``xcrun metallib``'s bytes. Its kernels' CPU code is made when they are asked for, or found in the store."""
    return MetalLibrary(smelt.load_metallib(bytes(data), device="cpu", cpu_effort=os.environ.get("SMELT_CPU_EFFORT") or "balanced"))


def compile_source(source: str, math_mode: str) -> bytes:
    """Bytes of the Metal library of a text, as ``xcrun metal`` makes them: with "safe" the back end's own flags, else Metal's default."""
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
    """Launches have ended when they return."""


# --- Triton -----------------------------------------------------------------------------------------------------------------------------


class _Interface:
    """Stands in for torch.mps where Triton asks for a device."""

    def __init__(self, runtime: _Runtime) -> None:
        self._runtime = runtime

    def synchronize(self, device: Any = None) -> None:
        self._runtime.check_asserts()

    def current_device(self) -> int:
        return 0


class _Runtime:
    """The back end's driver has one of these for MPS and one for machines without PyTorch; this one is for CPU tensors and arrays."""

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
    """Puts this module where the back end's driver looks for its own, and returns that driver's module."""
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
    """Triton's active driver in this process is the Apple back end's, over this module."""
    import triton

    driver = install()
    triton.runtime.driver.set_active(driver.MetalDriver())
