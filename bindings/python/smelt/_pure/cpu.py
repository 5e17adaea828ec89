# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels on the CPU by the C interface: what the compiled modules of a Python do, in the Pythons that have none. A launch costs some
microseconds more."""

from __future__ import annotations

import ctypes as c
import sys
import threading
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, Optional

from . import arguments, capi
from .argument_check import ArgumentCheck
from .arguments import Arguments
from .files import fail
from .library import Library
from .package import argument_kind
from .parameter import Member, Parameter, layout_of
from .scalars import Casts
from .._signature import is_table, is_tensor
from .textures import TextureArguments, check_at, is_image

if TYPE_CHECKING:
    from .._info import FunctionInfo, LibraryInfo

_CPU = 2
_TRUST = {None: 0, "any": 1, "local": 2, "signed": 3}
_VERIFY = {"structure": 0, "none": 1, "digest": 2, "full": 3}
_FUNCTION_KINDS = ("kernel", "vertex", "fragment", "unqualified", "visible", "extern", "intersection", "mesh", "object")


# --- signals in the middle of a launch

_thrown: list[BaseException] = []  # by handlers of signals, for the launch of the main thread


def _ask(_: object) -> int:
    """Every 20 ms of a launch, on its thread. Handlers run when the interpreter looks at this function, in the main thread alone."""
    return 1 if _thrown and threading.current_thread() is threading.main_thread() else 0


_previous_hook = sys.unraisablehook


def _hook(unraisable: Any) -> None:
    """What a handler threw in _ask: it came before any line of it, where nothing catches it."""
    is_ours = unraisable.object is _ask or (unraisable.object is None and repr(_ask) in (unraisable.err_msg or ""))  # from Python 3.13 on
    if is_ours and unraisable.exc_value is not None:
        _thrown.append(unraisable.exc_value)
    else:
        _previous_hook(unraisable)


_ASK = capi.INTERRUPTED(_ask)


def _rethrow() -> None:
    if _thrown and threading.current_thread() is threading.main_thread():
        raise _thrown.pop()


class CpuDevice:
    """The CPU, by libsmelt."""

    def __init__(self, threads: int, cpu_level: str, launch_limit: float) -> None:
        if not 0 <= launch_limit <= 4e6:
            fail("invalid_argument", f"launch_limit: {launch_limit}; want seconds, 0 for none, 4000000 at most")
        capi.loader().report_crashes(b"Load with checked=True (compile_shader, load_metallib of a Metal library) to be told the thread and the access.")
        if sys.unraisablehook is not _hook:
            global _previous_hook
            _previous_hook = sys.unraisablehook
            sys.unraisablehook = _hook
        options = capi.DeviceOptions(kind=_CPU, threads=threads, cpu_level=cpu_level.encode() or None, launch_limit_ms=round(launch_limit * 1000),
                                     interrupted=_ASK)  # fmt: skip
        self.handle = capi.Handle(capi.loader(), "device", lambda out: capi.loader().device_open(c.byref(options), out))
        info = capi.DeviceInfo()
        capi.check(capi.loader().device_get_info(self.handle.pointer, c.byref(info)))
        self.name = capi.text_at(info.name, info.name_length)
        self.level = self.name.partition("(")[2].partition(",")[0]


class _Native:
    """A loaded library."""

    def __init__(self, device: CpuDevice, data: bytes | memoryview, options: capi.LoadOptions, file: memoryview, as_upstream: bool, name: str) -> None:
        data = bytes(data)
        loader = capi.loader()
        self.device = device
        self.handle = capi.Handle(loader, "library", lambda out: loader.library_load(device.handle.pointer, data, len(data), c.byref(options), out))
        self.file = file
        self.as_upstream = as_upstream
        self.name = name
        at = self.handle.pointer
        self.functions = [capi.text_of(loader.library_function_name, at, i) for i in range(loader.function_count(at))]
        self.kernels: dict[str, Kernel] = {}

    def function(self, name: str) -> capi.Handle:
        encoded = name.encode()
        return capi.Handle(capi.loader(), "function", lambda out: capi.loader().library_get_function(self.handle.pointer, encoded, len(encoded), out))


class CpuLibrary(Library):
    """Kernels by name, on the CPU. Pipelines are built when a kernel is first read."""

    def __init__(self, native: _Native) -> None:
        self.__native = native

    def __getitem__(self, name: str) -> Kernel:
        native = self.__native
        if name not in native.kernels:
            native.kernels[name] = Kernel(native, native.function(name), {})
        return native.kernels[name]

    def __contains__(self, name: object) -> bool:
        return name in self.__native.functions

    def __dir__(self) -> list[str]:
        return list(self.__native.functions)

    def __repr__(self) -> str:
        return f"<smelt library of {len(self.__native.functions)} functions for cpu-{self.__native.device.level}>"


def native_of(library: Library) -> _Native:
    found: _Native = library._CpuLibrary__native
    return found


def load(
    device: CpuDevice, data: bytes | memoryview, file: memoryview, *, as_upstream: bool = False, library: Optional[str] = None, rows_name: str = "",
    verify: str = "structure", expect: Optional[str] = None, trust: Optional[str] = None, trusted_keys: str = "", native: bool = True,
    metal: Optional[tuple[int, int]] = None, checked: int = 0, allow_empty: bool = False,
) -> CpuLibrary:  # fmt: skip
    name = library.encode() if library is not None else None
    options = capi.LoadOptions(
        verify=_VERIFY[verify], allow_empty=allow_empty, force_metal=(c.c_uint16 * 2)(*(metal or (0, 0))), expect=bytes.fromhex(expect) if expect else None,
        library=name, library_length=len(name or b""), checked=checked, trust=_TRUST[trust], ignore_native=not native,
        trusted_keys=trusted_keys.encode() or None,
    )  # fmt: skip
    return CpuLibrary(_Native(device, data, options, file, as_upstream, rows_name))


# --- facts


def info(library: Library) -> LibraryInfo:
    from .._info import LibraryInfo
    from .package import looks_like_package

    native = native_of(library)
    digest = c.create_string_buffer(32)
    capi.check(capi.loader().library_digest(native.handle.pointer, digest))
    report = capi.text_of(capi.loader().library_slice_report, native.handle.pointer)
    return LibraryInfo(
        name=native.name, functions=tuple(native.functions), target=f"cpu-{native.device.level}", digest=digest.raw.hex(), device=native.device.name,
        slices=tuple({"target": line.partition(":")[0], "chosen": ": chosen" in line, "code": "", "line": line} for line in report.splitlines()),
        slice_report=report, has_reflection=looks_like_package(native.file), file=native.file,
    )  # fmt: skip


def function_info(library: Library, name: str) -> FunctionInfo:
    from .._info import FunctionInfo
    from ..errors import Error

    function = native_of(library).function(name)
    facts = capi.FunctionInfo()
    capi.check(capi.loader().function_get_info(function.pointer, c.byref(facts)))
    reason = ""
    try:
        capi.check(capi.loader().function_usable(function.pointer))
    except Error as error:
        reason = error.message
    metal = ".".join(map(str, facts.metal_version))
    return FunctionInfo(name, _FUNCTION_KINDS[facts.kind], metal, not reason, reason)


def specialize(library: Library, name: str, constants: Mapping[Any, Any]) -> Kernel:
    native = native_of(library)
    return Kernel(native, native.function(name), constants)


def prepare(library: Library, names: Optional[Iterable[str]], progress: Any) -> int:
    wanted = [name.encode() for name in names or ()]
    thrown: list[BaseException] = []

    def report(_: object, done: int, total: int) -> int:
        try:
            return 0 if progress is not None and progress(done, total) is False else 1
        except BaseException as error:  # it is thrown on where somebody sees it
            thrown.append(error)
            return 0

    callback = capi.PROGRESS(report)
    lengths = (c.c_size_t * max(len(wanted), 1))(*(len(name) for name in wanted))
    done = c.c_size_t()
    status = capi.loader().library_prepare(native_of(library).handle.pointer, (c.c_char_p * max(len(wanted), 1))(*wanted), lengths, len(wanted),
                                           callback, None, c.byref(done))  # fmt: skip
    if thrown:
        raise thrown[0]
    capi.check(status)
    return done.value


# --- kernels


def _constants(values: Mapping[Any, Any]) -> tuple[Any, int, list[Any]]:
    """And what they point to."""
    made = []
    kept: list[Any] = []
    for key, value in values.items():
        components = list(value) if isinstance(value, (list, tuple)) else [value]
        if all(isinstance(one, bool) for one in components):
            kind, array = 0, (c.c_uint8 * len(components))(*components)
        elif any(isinstance(one, float) for one in components):
            kind, array = 3, (c.c_double * len(components))(*map(float, components))  # type: ignore[assignment]
        elif all(isinstance(one, int) and -(2**63) <= one < 2**63 for one in components):
            kind, array = 1, (c.c_int64 * len(components))(*components)  # type: ignore[assignment]
        elif all(isinstance(one, int) and 0 <= one < 2**64 for one in components):
            kind, array = 2, (c.c_uint64 * len(components))(*components)  # type: ignore[assignment]
        else:
            fail("constant_type", f"function constant: want a bool, int or float of at most 64 bits, got {value!r}")
        if not isinstance(key, (str, int)):
            fail("constant_unknown", f"function constants are given by name or index; got {type(key).__name__}")
        name = key.encode() if isinstance(key, str) else None
        kept += [array, name]
        made.append(capi.Constant(name, len(name or b""), 0 if name is not None else key, kind, c.cast(array, c.c_void_p), len(components)))
    return (capi.Constant * max(len(made), 1))(*made), len(made), kept


def _size(value: Any, what: str) -> list[int]:
    sizes = list(value) if not isinstance(value, (int, str)) and hasattr(value, "__len__") else [value]
    if not 1 <= len(sizes) <= 3:
        fail("invalid_argument", f"{what}: want an int or a sequence of 1 to 3 ints, got {len(sizes)} components")
    numbers = []
    for one in sizes:
        try:
            number = one.__index__()
        except AttributeError:
            fail("invalid_argument", f"{what}: want an int or a sequence of 1 to 3 ints, got {type(value).__name__}")
        if not 0 <= number < 2**64:
            fail("invalid_argument", f"{what}: {number} is no count of threads")
        numbers.append(number)
    return numbers


def _three(sizes: list[int]) -> Any:
    return (c.c_uint64 * 3)(*sizes, *[1] * (3 - len(sizes)))


class _Grid(NamedTuple):
    """How many threads a call runs, or groups, and how many threads a group has (None: the default)."""

    sizes: list[int]
    group: Optional[list[int]]
    in_groups: bool


class _Encoder:
    def __init__(self, native: _Native, pipeline: capi.Handle) -> None:
        loader = capi.loader()
        self._pipeline = pipeline
        self.handle = capi.Handle(loader, "encoder", lambda out: loader.encoder_create(native.device.handle.pointer, out))
        self.bound = 0
        self.start()

    def start(self) -> None:
        """Nothing of an earlier call may stand in for what this one leaves out."""
        capi.check(capi.loader().encoder_reset(self.handle.pointer))
        capi.check(capi.loader().encoder_set_pipeline(self.handle.pointer, self._pipeline.pointer))


class _Documentation:
    """A kernel's own, and the class's."""

    def __get__(self, kernel: Optional[Kernel], _: object = None) -> str:
        if kernel is None:
            return "Called with its buffers by position or name: docs/reference/python.md#call."
        from .._signature import documentation

        return documentation(kernel)  # type: ignore[arg-type]


class Kernel:
    __doc__ = _Documentation()  # type: ignore[assignment]

    def __init__(self, native: _Native, function: capi.Handle, constants: Mapping[Any, Any]) -> None:
        loader = capi.loader()
        table, count, kept = _constants(constants)
        self._native = native
        self._function = function
        self._pipeline = capi.Handle(loader, "pipeline", lambda out: loader.function_get_pipeline(function.pointer, table, count, out))
        del kept
        limits = capi.PipelineLimits()
        capi.check(loader.pipeline_info(self._pipeline.pointer, c.byref(limits)))
        facts = capi.FunctionInfo()
        capi.check(loader.function_get_info(function.pointer, c.byref(facts)))
        self.name: str = capi.text_at(facts.name, facts.name_length)
        self.kind = _FUNCTION_KINDS[facts.kind]
        self._constant_count: int = facts.constant_count
        self.max_threads_per_threadgroup: int = limits.max_threads_per_threadgroup
        self.thread_execution_width: int = limits.thread_execution_width
        self.static_thread_group_memory_length: int = limits.static_threadgroup_memory_length
        self.limits_estimated = bool(limits.limits_estimated)
        self._required_group = list(limits.required_group) if any(limits.required_group) else None
        self.args: list[dict[str, Any]] = [self._arg(i) for i in range(loader.pipeline_arg_count(self._pipeline.pointer))]
        self._places = self._read_places()
        self._declared = self._parameters()
        self._free: list[_Encoder] = []

    def __repr__(self) -> str:
        return f"<smelt.Kernel '{self.name}'>"

    def _arg(self, index: int) -> dict[str, Any]:
        info = capi.ArgInfo()
        capi.check(capi.loader().pipeline_arg(self._pipeline.pointer, index, c.byref(info)))
        return {"name": capi.text_at(info.name, info.name_length), "type_name": capi.text_at(info.type_name, info.type_name_length), "index": info.index,
                "parameter": index, "kind": argument_kind(info.kind), "address_space": info.address_space, "size": info.size, "align": info.align,
                "array_size": info.array_size, "unused": bool(info.unused), "writes": info.access in (2, 3), "conditional": bool(info.conditional),
                "members": tuple(self._member(index, i) for i in range(info.member_count))}  # fmt: skip

    def _member(self, index: int, number: int) -> Member:
        info = capi.MemberInfo()
        capi.check(capi.loader().pipeline_arg_member(self._pipeline.pointer, index, number, c.byref(info)))
        return Member(capi.text_at(info.name, info.name_length), capi.text_at(info.type_name, info.type_name_length), info.offset, info.size, info.element_count)

    @property
    def constants(self) -> list[dict[str, Any]]:
        found = []
        for index in range(self._constant_count):
            info = capi.ConstantInfo()
            capi.check(capi.loader().function_constant(self._function.pointer, index, c.byref(info)))
            found.append({"name": capi.text_at(info.name, info.name_length), "type_name": capi.text_at(info.type_name, info.type_name_length),
                          "index": info.index, "required": bool(info.required)})  # fmt: skip
        return found

    def _read_places(self) -> list[tuple[dict[str, Any], int]]:
        """What the positions of a call are, of kernels with textures or samplers, and the slots; empty: position i is buffer i."""
        if not any(map(is_image, self.args)):
            return []
        places = []
        for one in self.args:
            if is_image(one):
                places.append((one, one["index"]))
            elif one["kind"] == "buffer" or is_tensor(one) or is_table(one):
                places += [(one, slot) for slot in range(one["index"], one["index"] + one["array_size"])]
        return places

    def _parameters(self) -> list[Parameter]:
        buffers = {one["index"]: one for one in self.args if one["kind"] == "buffer" or is_tensor(one) or is_table(one)}
        for one in buffers.values():
            if one["name"] == "further_arguments":
                from .device import left

                left(f"kernel '{self.name}': more than 31 buffers")
        declared = [Parameter()] * max((index + one["array_size"] for index, one in buffers.items()), default=0)
        for index, one in buffers.items():
            declared[index] = Parameter(
                name=one["name"], type_name=one["type_name"], size=one["size"], known=one["array_size"] == 1 and not is_tensor(one) and not is_table(one),
                is_tensor=is_tensor(one), is_table=is_table(one), writes=one["writes"],
                is_constant=one["address_space"] == 2, is_conditional=one["conditional"], members=one["members"], **layout_of(one["type_name"], one["size"]),
                position=next((i for i, (place, _) in enumerate(self._places) if place is one), -1),
            )  # fmt: skip
        return declared

    @property
    def __signature__(self) -> Any:
        from .._signature import signature

        return signature(self)  # type: ignore[arg-type]

    def __call__(
        self, *args: Any, threads: Any = None, threadgroups: Any = None, group_size: Any = None, arg_casts: Any = None, error_buf_idx: Any = None,
        threadgroup_memory: Any = None, check: Any = None, **named: Any,
    ) -> None:  # fmt: skip
        if check is None:
            check = "off" if self._native.as_upstream else "warn"
        elif check not in ("off", "warn", "error"):
            fail("invalid_argument", f"check: want 'off', 'warn' or 'error', got {check!r}")
        if named:
            names = [place["name"] for place, _ in self._places] if self._places else [want.name for want in self._declared]
            args = arguments.in_positions(self.name, names, args, named)
        with_textures = TextureArguments()
        with_arguments = Arguments(self.name, self._declared, not self._native.as_upstream)
        encoder = self._free.pop() if self._free else _Encoder(self._native, self._pipeline)
        try:
            passed = args
            if self._places:
                args = self._bind_textures(with_textures, args)
            with_arguments.bind(args, Casts(arg_casts))
            fitting = ArgumentCheck(self.name, self._declared, with_arguments.bound)
            fitting.run(check)
            if len(passed) != encoder.bound or arguments.leaves_out(passed):
                encoder.start()
            encoder.bound = len(passed)
            self._bind(encoder, with_arguments)
            for kind, slot, handle in with_textures.binding:
                capi.check(getattr(capi.loader(), f"encoder_set_{kind}")(encoder.handle.pointer, slot, handle.pointer))
            reports = self._extras(encoder, threadgroup_memory, error_buf_idx)
            if threads is None and threadgroups is None and self._places:
                threads = with_textures.written
                if threads is None:
                    fail("threads_missing", f"kernel '{self.name}': threads was not given, and it writes to no texture from which to count; pass threads=")
            grid = self._grid(with_arguments, threads, threadgroups, group_size)
            if all(grid.sizes):
                fitting.want_bytes()
            self._dispatch(encoder, grid)
        except BaseException:
            encoder.bound = -1  # begins anew
            raise
        finally:
            with_arguments.release()
            with_textures.release()
            self._free.append(encoder)
        if reports is not None:
            self._check_reports(reports.raw)

    def _bind_textures(self, with_textures: TextureArguments, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Gives back the buffers, by their indexes."""
        if len(args) > len(self._places):
            fail("argument_mismatch", f"kernel '{self.name}' has {len(self._places)} arguments, the call passes {len(args)}")
        buffers: dict[int, Any] = {}
        for position, (value, (place, slot)) in enumerate(zip(args, self._places)):
            if arguments.is_gap(value):
                continue
            if is_image(place):
                with_textures.bind(place, value, position)
            else:
                buffers[slot] = value
        return arguments.with_gaps(buffers)

    def _bind(self, encoder: _Encoder, with_arguments: Arguments) -> None:
        loader = capi.loader()
        at = encoder.handle.pointer
        for index, what, size in with_arguments.binding:
            if isinstance(what, capi.Array):
                self._bind_tensor(at, index, what)
                continue
            if what is None or isinstance(what, list):
                self._bind_table(at, index, what)
                continue
            capi.check((loader.encoder_set_bytes if isinstance(what, bytes) else loader.encoder_set_memory)(at, index, what, size))

    def _bind_table(self, encoder: Any, index: int, names: Optional[list[str]]) -> None:
        for name in filter(None, names or []):
            function, facts = self._native.function(name), capi.FunctionInfo()
            capi.check(capi.loader().function_get_info(function.pointer, c.byref(facts)))
            if _FUNCTION_KINDS[facts.kind] != "visible":
                fail("function_kind", f"argument {index} '{self._declared[index].name}': '{name}' is a {_FUNCTION_KINDS[facts.kind]} function; a table has visible functions")
            if facts.constant_count:
                fail("unsupported", f"visible function '{name}' reads function constants: not through a table on the CPU")
        # An array of no elements still has an address, which tells it from the null table.
        table = (c.c_char_p * max(len(names), 1))(*[name.encode() for name in names]) if names is not None else None
        capi.check(capi.loader().encoder_set_function_table(encoder, index, table, len(names or [])))

    def _bind_tensor(self, encoder: Any, index: int, array: capi.Array) -> None:
        want = self._declared[index]
        check_at(f"argument {index if want.position < 0 else want.position} '{want.name}' ({want.type_name})", capi.loader().encoder_set_tensor_array, encoder, index, c.byref(array))

    def _extras(self, encoder: _Encoder, memory: Any, error_buffer: Any) -> Any:
        if memory is not None:
            for index, size in (memory if isinstance(memory, dict) else {0: memory}).items():
                if not isinstance(size, int) or not 0 <= size < 2**64:
                    fail("invalid_argument", f"threadgroup_memory: want bytes (an int), or a dict of them by index; got {size!r}")
                capi.check(capi.loader().encoder_set_threadgroup_memory(encoder.handle.pointer, _slot(index, "threadgroup_memory"), size))
            encoder.bound = -1
        if error_buffer is None:
            return None
        reports = c.create_string_buffer(32768)
        capi.check(capi.loader().encoder_set_memory(encoder.handle.pointer, _slot(error_buffer, "error_buf_idx"), c.addressof(reports), 32768))
        encoder.bound = -1
        return reports

    def _grid(self, with_arguments: Arguments, threads: Any, threadgroups: Any, group_size: Any) -> _Grid:
        group = None if group_size is None else _size(group_size, "group_size")
        if threadgroups is not None:
            if threads is not None:
                fail("invalid_argument", f"kernel '{self.name}': threads and threadgroups are both given; one of them says how large the grid is")
            if group is None and self._required_group is None:
                fail("invalid_argument", f"kernel '{self.name}': threadgroups counts groups, so group_size= must say how many threads one has")
            what, sizes = "threadgroups", _size(threadgroups, "threadgroups")
        elif threads is not None:
            what, sizes = "threads", _size(threads, "threads")
        else:
            count = with_arguments.first_count()
            if count is None:
                fail("threads_missing", f"kernel '{self.name}': threads was not given, and no array is passed directly from which to count; pass threads=")
            what, sizes = "threads", [count]
        if group is not None and len(group) != len(sizes):
            fail("rank_mismatch", f"kernel '{self.name}': {what} has {len(sizes)} components, group_size {len(group)}; give as many")
        if group is None and threadgroups is not None:
            group = self._required_group
        elif group is None and self._native.as_upstream and len(sizes) > 1 and not self._required_group:
            group = [self.max_threads_per_threadgroup]
        return _Grid(sizes, group, threadgroups is not None)

    def _dispatch(self, encoder: _Encoder, grid: _Grid) -> None:
        loader = capi.loader()
        at = encoder.handle.pointer
        group = None if grid.group is None else _three(grid.group)
        if grid.in_groups:
            code = loader.encoder_dispatch_threadgroups(at, _three(grid.sizes), group)
        else:
            code = loader.encoder_dispatch_threads(at, _three(grid.sizes), len(grid.sizes), group)
        code = code or loader.encoder_wait(at)
        _rethrow()
        capi.check(code)

    def _check_reports(self, reports: bytes) -> None:
        """What PyTorch's kernels report: a count, then records of 512 bytes: file[128], function[128], text[250], line."""
        count = int.from_bytes(reports[:4], "little")
        if not count:
            return
        file, function, text = (reports[4 + at : 4 + at + size].split(b"\0")[0].decode(errors="replace") for at, size in ((0, 128), (128, 128), (256, 250)))
        line = int.from_bytes(reports[512:516], "little")
        fail("kernel_reported", f"kernel '{self.name}' reported {count} errors; the first, at {file}:{line} in {function}: {text}")


def _slot(value: Any, what: str) -> int:
    if not isinstance(value, int) or value < 0:
        fail("invalid_argument", f"{what}: want an index from 0 to 30, got {value!r}")
    if value > 30:
        fail("buffer_index", f"{what}: index {value} is above 30")
    return value
