# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The driver: launches kernels of Metal libraries on smelt's device, with Triton's grids and arguments."""

from __future__ import annotations

import ctypes
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from triton.backends.compiler import GPUTarget  # type: ignore[import]

# As in compiler.py: one driver among this module's names.
from triton.backends import driver as base  # type: ignore[import]

from .asserts import failure
from .prints import new_report, printed

_WARP = 32
_SCALARS: dict[str, Any] = {
    "i1": ctypes.c_int8, "u1": ctypes.c_uint8,
    "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
    "fp32": ctypes.c_float, "f32": ctypes.c_float, "fp64": ctypes.c_double, "f64": ctypes.c_double,
}  # fmt: skip


def _pairs(kind: Any, value: Any) -> Iterator[tuple[str, Any]]:
    """Iterate over values with their types. Members of a tuple come one by one."""
    if isinstance(kind, (tuple, list)):
        for inner_kind, inner in zip(kind, value):
            yield from _pairs(inner_kind, inner)
    else:
        yield kind, value


def _bytes_behind(value: Any) -> int:
    """Return the number of bytes from data_ptr() to the end of the memory; for a view, to the end of its base."""
    storage = getattr(value, "untyped_storage", None)
    if storage is not None:
        whole = storage()
        return int(whole.nbytes()) - (int(value.data_ptr()) - int(whole.data_ptr()))
    if not hasattr(value, "nbytes") and hasattr(value, "base"):
        return _bytes_behind(value.base)  # triton.reinterpret's TensorWrapper: the tensor's memory under another type
    return int(value.nbytes)


_NOTHING = (ctypes.c_char * 16)()


def _pointer(value: Any) -> Any:
    """Return the caller's memory as a buffer, without a copy."""
    if value is None:
        return _NOTHING
    address = getattr(value, "data_ptr", None)
    if address is None:
        raise TypeError(f"smelt: want a tensor with data_ptr(), got {type(value).__name__}")
    device = getattr(value, "device", None)
    if device is not None and getattr(device, "type", "cpu") != "cpu":
        raise ValueError(f"smelt: the kernel runs on CPU memory, and a tensor is on {device}")
    size = _bytes_behind(value)
    return (ctypes.c_char * size).from_address(address()) if size > 0 else _NOTHING


def _scalar(kind: str, value: Any) -> Any:
    if kind in ("fp16", "bf16"):
        return ctypes.c_uint16(_half_bits(kind, float(value)))
    made = _SCALARS.get(kind)
    if made is None:
        raise TypeError(f"smelt: an argument of type {kind} has no counterpart in Metal")
    return made(value)


def _half_bits(kind: str, value: float) -> int:
    import struct

    if kind == "fp16":
        return int.from_bytes(struct.pack("<e", value), "little")
    bits = int.from_bytes(struct.pack("<f", value), "little")
    return (bits + 0x7FFF + (bits >> 16 & 1)) >> 16 & 0xFFFF  # nearest, ties to even


class Launcher:
    """Launches a compiled kernel: maps the arguments of the Python call to the kernel's."""

    def __init__(self, source: Any, metadata: Any) -> None:
        self._kinds = [source.signature[key] for key in source.signature]
        self._group = metadata.num_warps * _WARP
        self._name = metadata.name
        # None: the kernel has no asserts, or prints nothing; with neither it takes no place to report to.
        self._asserts = getattr(metadata, "smelt_asserts", None)
        self._formats = getattr(metadata, "smelt_prints", None)

    def __call__(
        self, x: int, y: int, z: int, stream: Any, function: Any, packed: Any, launch: Any,
        enter: Callable[[Any], object] | None, leave: Callable[[Any], object] | None, *arguments: Any,
    ) -> None:  # fmt: skip
        if x * y * z == 0:
            return
        bound = []
        for kind, value in zip(self._kinds, arguments):
            for one_kind, one in _pairs(kind, value):
                if one_kind == "constexpr":
                    continue
                bound.append(_pointer(one) if one_kind.startswith("*") else _scalar(one_kind, one))
        report = None
        if self._asserts is not None or self._formats is not None:
            report = new_report() if self._formats is not None else (ctypes.c_uint32 * 1)()
            bound.append(report)
        if enter is not None:
            enter(launch)
        function(*bound, threads=(x * self._group, y, z), group_size=(self._group, 1, 1))
        if leave is not None:
            leave(launch)
        if report is not None and self._formats is not None:
            sys.stdout.writelines(printed(list(report), self._formats))
            sys.stdout.flush()
        if report is not None and report[0]:
            raise failure(self._name, report[0], self._asserts or [])


class Utilities:
    """Gives Triton information about the device, and loads its binaries."""

    def get_device_properties(self, device: int) -> dict[str, Any]:
        from smelt import _session

        return {
            "max_shared_mem": _session.device().limits["max_threadgroup_memory"], "max_num_regs": 65536, "multiprocessor_count": os.cpu_count() or 1,
            "warpSize": _WARP, "sm_clock_rate": 0, "mem_clock_rate": 0, "mem_bus_width": 0,
        }  # fmt: skip

    def load_binary(self, name: str, binary: bytes, shared: int, device: int) -> tuple[Any, Any, int, int, int]:
        import smelt  # not before: Triton imports every back end, also where this one has nothing to do

        library = smelt.load_metallib(binary)
        kernel = library[name]
        registers = 1  # nobody knows here how many a thread takes, and programs divide by it
        return library, kernel, registers, 0, kernel.max_total_threads_per_threadgroup


class _Event:
    """A point in time, to time launches, which have run when they return."""

    def __init__(self, enable_timing: bool = False) -> None:
        self.at = 0.0

    def record(self, stream: Any = None) -> None:
        self.at = time.perf_counter()

    def elapsed_time(self, end: _Event) -> float:
        return (end.at - self.at) * 1e3

    def synchronize(self) -> None:
        pass


class _Interface:
    Event = _Event

    @staticmethod
    def synchronize(device: Any = None) -> None:
        pass

    @staticmethod
    def current_device() -> int:
        return 0


def benchmark(
    call: Callable[[], object], *, quantiles: Sequence[float] | None = None, warmup: float = 25, rep: float = 100,
    return_mode: str = "mean", **_: Any,
) -> Any:  # fmt: skip
    """Return the time of a call in milliseconds, like triton.testing.do_bench."""
    call()
    start = time.perf_counter()
    call()
    once = max((time.perf_counter() - start) * 1e3, 1e-4)
    for _i in range(max(1, int(warmup / once))):
        call()
    times = []
    for _i in range(max(1, int(rep / once))):
        start = time.perf_counter()
        call()
        times.append((time.perf_counter() - start) * 1e3)
    times.sort()
    if quantiles is not None:
        return [times[min(len(times) - 1, int(q * len(times)))] for q in quantiles]
    modes: dict[str, Callable[[list[float]], Any]] = {
        "mean": statistics.fmean, "median": statistics.median, "min": min, "max": max, "all": lambda all_times: all_times,
    }  # fmt: skip
    return modes[return_mode](times)


class SmeltDriver(base.DriverBase):  # type: ignore[misc]
    launcher_cls = Launcher

    def __init__(self) -> None:
        super().__init__()
        self.utils = Utilities()

    @staticmethod
    def is_active() -> bool:
        """True if no GPU of another back end is visible, because Triton requires exactly one active driver."""
        if os.environ.get("SMELT_TRITON") == "0":
            return False
        try:
            import torch  # type: ignore[import]
        except ImportError:
            return True
        xpu = getattr(torch, "xpu", None)
        return not torch.cuda.is_available() and not (xpu is not None and xpu.is_available())

    def map_python_to_cpp_type(self, kind: str) -> str:
        if kind.startswith("*"):
            return "void*"
        made = _SCALARS.get(kind)
        if made is None:
            raise TypeError(f"smelt: an argument of type {kind} has no counterpart in Metal")
        if made in (ctypes.c_float, ctypes.c_double):
            return "float" if made is ctypes.c_float else "double"
        return f"{'u' if kind[0] == 'u' else ''}int{8 * ctypes.sizeof(made)}_t"

    def get_current_target(self) -> GPUTarget:
        return GPUTarget("smelt", os.environ.get("SMELT_TRITON_ARCH") or "gfx1100", _WARP)

    def get_current_device(self) -> int:
        # No GPU's number: kernels that Triton has compiled for one are filed under it.
        return -1

    def set_current_device(self, device: int) -> None:
        pass

    def get_current_stream(self, device: Any = None) -> int:
        return 0

    def get_device_interface(self) -> Any:
        return _Interface

    def get_active_torch_device(self) -> Any:
        import torch

        return torch.device("cpu")

    def get_benchmarker(self) -> Any:
        return benchmark

    def get_empty_cache_for_benchmark(self) -> Any:
        import torch

        return torch.empty(64 << 20, dtype=torch.int8)

    def clear_cache(self, cache: Any) -> None:
        cache.zero_()
