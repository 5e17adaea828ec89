# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""libsmelt and libsmelt-compiler by ctypes, for Pythons that there are no compiled modules for: smelt/smelt.h and smelt/compiler.h, as far as
they are used here. The wheels have both in smelt/_libs."""

from __future__ import annotations

import ctypes as c
import os
import weakref
from collections.abc import Mapping
from typing import Any, NoReturn, Union

from .files import COMPILER, LOADER, fail, native_library

_P = c.c_void_p
_OUT = c.POINTER(c.c_void_p)
_TEXT = c.POINTER(c.c_void_p)
_SIZE = c.POINTER(c.c_size_t)


class Sized(c.Structure):
    """A struct of the C interface: its first member says how large the caller thinks it is."""

    def __init__(self, **members: Any) -> None:
        super().__init__(struct_size=c.sizeof(self), **members)


class ErrorInfo(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("code", c.c_int32), ("message", _P), ("message_length", c.c_size_t), ("subject", _P),
                ("subject_length", c.c_size_t), ("detail", _P), ("detail_length", c.c_size_t)]  # fmt: skip


INTERRUPTED = c.CFUNCTYPE(c.c_int32, _P)


class DeviceOptions(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("kind", c.c_int32), ("threads", c.c_uint32), ("cpu_level", c.c_char_p), ("launch_limit_ms", c.c_uint32),
                ("interrupted", INTERRUPTED), ("interrupted_context", _P)]  # fmt: skip


class DeviceInfo(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("kind", c.c_int32), ("name", _P), ("name_length", c.c_size_t),
                ("max_threads_per_threadgroup", c.c_uint64), ("max_threadgroup_memory", c.c_uint64), ("thread_execution_width", c.c_uint64)]  # fmt: skip


class LoadOptions(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("verify", c.c_int32), ("allow_empty", c.c_int32), ("force_metal", c.c_uint16 * 2), ("expect", c.c_char_p),
                ("library", c.c_char_p), ("library_length", c.c_size_t), ("checked", c.c_int32), ("allow_no_code", c.c_int32), ("trust", c.c_int32),
                ("ignore_native", c.c_int32), ("trusted_keys", c.c_char_p)]  # fmt: skip


class FunctionInfo(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("name", _P), ("name_length", c.c_size_t), ("kind", c.c_int32), ("metal_version", c.c_uint16 * 2),
                ("arg_count", c.c_size_t), ("constant_count", c.c_size_t)]  # fmt: skip


class ArgInfo(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("name", _P), ("name_length", c.c_size_t), ("type_name", _P), ("type_name_length", c.c_size_t),
                ("index", c.c_uint32), ("kind", c.c_int32), ("access", c.c_int32), ("address_space", c.c_uint32), ("size", c.c_uint32),
                ("align", c.c_uint32), ("unused", c.c_int32), ("conditional", c.c_int32), ("type", c.c_int32), ("type_components", c.c_uint32),
                ("array_size", c.c_uint32), ("member_count", c.c_size_t)]  # fmt: skip


class MemberInfo(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("name", _P), ("name_length", c.c_size_t), ("type_name", _P), ("type_name_length", c.c_size_t),
                ("kind", c.c_int32), ("id", c.c_uint32), ("offset", c.c_uint32), ("size", c.c_uint32), ("element_count", c.c_uint32)]  # fmt: skip


class ConstantInfo(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("name", _P), ("name_length", c.c_size_t), ("type_name", _P), ("type_name_length", c.c_size_t),
                ("index", c.c_uint32), ("required", c.c_int32), ("type", c.c_int32), ("type_components", c.c_uint32)]  # fmt: skip


class Constant(c.Structure):
    _fields_ = [("name", c.c_char_p), ("name_length", c.c_size_t), ("index", c.c_uint32), ("kind", c.c_int32), ("components", _P), ("count", c.c_size_t)]


class PipelineLimits(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("max_threads_per_threadgroup", c.c_uint64), ("thread_execution_width", c.c_uint64),
                ("static_threadgroup_memory_length", c.c_uint64), ("required_group", c.c_uint64 * 3), ("limits_estimated", c.c_int32)]  # fmt: skip


class Array(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("data", _P), ("shape", c.POINTER(c.c_uint64)), ("strides", c.POINTER(c.c_int64)), ("rank", c.c_size_t),
                ("element", c.c_int32)]  # fmt: skip


class TextureOptions(Sized):
    _fields_ = [("struct_size", c.c_size_t),
                *((name, c.c_uint32) for name in ("type", "pixel_format", "width", "height", "depth", "array_length", "levels", "samples"))]  # fmt: skip


class TextureInfo(Sized):
    _fields_ = [*TextureOptions._fields_, ("layers", c.c_uint32)]


class TexturePart(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("data", _P), ("size", c.c_uint64), ("row_bytes", c.c_uint64), ("slice_bytes", c.c_uint64),
                ("width", c.c_uint32), ("height", c.c_uint32), ("depth", c.c_uint32)]  # fmt: skip


class PixelFormatInfo(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("name", _P), ("name_length", c.c_size_t), ("texel_bytes", c.c_uint32), ("element", c.c_int32),
                ("channels", c.c_uint32), ("block_width", c.c_uint32), ("block_height", c.c_uint32)]  # fmt: skip


WARN = c.CFUNCTYPE(None, _P, c.c_char_p)
PROGRESS = c.CFUNCTYPE(c.c_int, _P, c.c_size_t, c.c_size_t)
COMPILE_PROGRESS = c.CFUNCTYPE(c.c_int, _P, c.c_char_p, c.c_size_t, c.c_size_t)
NO_PROGRESS: Any = c.cast(0, COMPILE_PROGRESS)
_TEXTS = c.POINTER(c.c_char_p)


class CompilerOptions(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("store", c.c_char_p), ("no_store", c.c_int32), ("offline", c.c_int32), ("threads", c.c_uint32),
                ("warn", WARN), ("warn_context", _P)]  # fmt: skip


class Source(c.Structure):
    _fields_ = [("name", c.c_char_p), ("data", c.c_char_p), ("size", c.c_size_t)]


class CompileOptions(Sized):
    _fields_ = [("struct_size", c.c_size_t),
                *((f"{name}{end}", kind) for name in ("target", "cpu_level", "include_folder", "definition", "kernel", "function")
                  for end, kind in (("s", _TEXTS), ("_count", c.c_size_t))),
                ("metadata", c.c_char_p), ("name", c.c_char_p), ("version", c.c_char_p), ("language", c.c_uint16 * 2), ("fast_math", c.c_int32),
                ("checked", c.c_int32), ("no_cpu", c.c_int32), ("_flag", c.c_int32), ("timeout", c.c_double), ("memory_bytes", c.c_uint64),
                ("progress", COMPILE_PROGRESS), ("progress_context", _P), ("cpu_effort", c.c_char_p), ("has_threadgroup_memory", c.c_int32),
                ("threadgroup_memory", c.c_uint64), ("threads_per_threadgroup", c.c_uint32), ("_flags", c.c_int32 * 4), ("sandbox", c.c_char_p)]  # fmt: skip


def compile_options(flags: Mapping[str, bool], **members: Any) -> tuple[Any, Any]:
    """A pointer to smelt_compile_options, and what has to live as long. Flags lie where the build says (keys.Facts)."""
    from .keys import facts

    of = facts()
    plain = CompileOptions(**members)
    memory = c.create_string_buffer(max(of.options_size, c.sizeof(plain)))
    c.memmove(memory, c.byref(plain), c.sizeof(plain))
    c.c_size_t.from_buffer(memory).value = len(memory)
    for name, value in flags.items():
        c.c_int32.from_buffer(memory, of.flag_places[name]).value = value
    return c.cast(memory, c.POINTER(CompileOptions)), (plain, memory)


class CompiledInfo(Sized):
    _fields_ = [("struct_size", c.c_size_t), ("package", _P), ("package_size", c.c_size_t), ("key", c.c_uint8 * 32), ("hit", c.c_int32),
                ("kernels", c.c_size_t), ("kernels_kept", c.c_size_t), ("microseconds", c.c_uint64), ("warnings", c.c_size_t), ("origin", _P),
                ("origin_length", c.c_size_t)]  # fmt: skip


_LOADER_CALLS = {
    "device_open": (c.POINTER(DeviceOptions), _OUT),
    "device_get_info": (_P, c.POINTER(DeviceInfo)),
    "library_load": (_P, c.c_char_p, c.c_size_t, c.POINTER(LoadOptions), _OUT),
    "library_function_name": (_P, c.c_size_t, _TEXT, _SIZE),
    "library_get_function": (_P, c.c_char_p, c.c_size_t, _OUT),
    "library_digest": (_P, c.c_char_p),
    "library_slice_report": (_P, _TEXT, _SIZE),
    "library_prepare": (_P, _TEXTS, _SIZE, c.c_size_t, PROGRESS, _P, _SIZE),
    "function_get_info": (_P, c.POINTER(FunctionInfo)),
    "function_arg": (_P, c.c_size_t, c.POINTER(ArgInfo)),
    "function_constant": (_P, c.c_size_t, c.POINTER(ConstantInfo)),
    "function_usable": (_P,),
    "function_get_pipeline": (_P, c.POINTER(Constant), c.c_size_t, _OUT),
    "pipeline_info": (_P, c.POINTER(PipelineLimits)),
    "pipeline_arg": (_P, c.c_size_t, c.POINTER(ArgInfo)),
    "pipeline_arg_member": (_P, c.c_size_t, c.c_size_t, c.POINTER(MemberInfo)),
    "texture_create": (c.POINTER(TextureOptions), _OUT),
    "texture_wrap": (c.POINTER(TextureOptions), _P, c.c_uint64, c.c_uint64, _P, _P, _OUT),
    "texture_wrap_array": (c.POINTER(Array), c.c_char_p, c.c_size_t, c.c_uint32, _P, _P, _OUT),
    "texture_get_info": (_P, c.POINTER(TextureInfo)),
    "texture_get_part": (_P, c.c_uint32, c.c_uint32, c.POINTER(TexturePart)),
    "texture_generate_mipmaps": (_P,),
    "pixel_format_named": (c.c_char_p, c.c_size_t, c.POINTER(c.c_uint32)),
    "pixel_format_get_info": (c.c_uint32, c.POINTER(PixelFormatInfo)),
    "sampler_parse": (c.c_char_p, c.c_size_t, _OUT),
    "encoder_create": (_P, _OUT),
    "encoder_set_pipeline": (_P, _P),
    "encoder_set_bytes": (_P, c.c_uint32, c.c_char_p, c.c_size_t),
    "encoder_set_memory": (_P, c.c_uint32, _P, c.c_size_t),
    "encoder_set_threadgroup_memory": (_P, c.c_uint32, c.c_uint64),
    "encoder_set_texture": (_P, c.c_uint32, _P),
    "encoder_set_sampler": (_P, c.c_uint32, _P),
    "encoder_set_tensor_array": (_P, c.c_uint32, c.POINTER(Array)),
    "encoder_set_function_table": (_P, c.c_uint32, c.POINTER(c.c_char_p), c.c_size_t),
    "encoder_dispatch_threads": (_P, c.POINTER(c.c_uint64), c.c_size_t, c.POINTER(c.c_uint64)),
    "encoder_dispatch_threadgroups": (_P, c.POINTER(c.c_uint64), c.POINTER(c.c_uint64)),
    "encoder_reset": (_P,),
    "encoder_wait": (_P,),
}
_COMPILER_CALLS = {
    "compiler_open": (c.POINTER(CompilerOptions), _OUT),
    "compile": (_P, c.POINTER(Source), c.c_size_t, c.POINTER(CompileOptions), _OUT),
    "compile_cpu_code": (_P, c.POINTER(Source), c.c_char_p, c.c_int32, _OUT),
    "compiled_get_info": (_P, c.POINTER(CompiledInfo)),
    "compiled_warning": (_P, c.c_size_t, _TEXT, _SIZE),
}
_RELEASED = ("device", "library", "function", "pipeline", "encoder", "texture", "sampler")


class Calls:
    """Functions of a library, by their names without smelt_."""

    def __init__(self, name: str, calls: dict[str, tuple[Any, ...]]) -> None:
        self._library = c.CDLL(native_library(name))
        for name, types in calls.items():
            call = self._library["smelt_" + name]
            call.argtypes = types
            call.restype = c.c_int32
            setattr(self, name, call)

    def plain(self, name: str, result: Any, *types: Any) -> Any:
        """A function that gives no status."""
        call = self._library["smelt_" + name]
        call.argtypes = types
        call.restype = result
        return call

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def text_at(address: int | None, length: int) -> str:
    return c.string_at(address, length).decode(errors="replace") if address else ""


class _Loader(Calls):
    def __init__(self) -> None:
        super().__init__(LOADER, _LOADER_CALLS)
        self.last_error = self.plain("last_error", c.c_int32, c.POINTER(ErrorInfo))
        self.status_name = self.plain("status_name", c.c_char_p, c.c_int32)
        self.report_crashes = self.plain("report_crashes", None, c.c_char_p)
        self.function_count = self.plain("library_function_count", c.c_size_t, _P)
        self.pipeline_arg_count = self.plain("pipeline_arg_count", c.c_size_t, _P)
        self.release = {name: self.plain(f"{name}_release", None, _P) for name in _RELEASED}


class _Compiler(Calls):
    def __init__(self) -> None:
        loader()  # first: the compiler's library tells it of failures
        super().__init__(COMPILER, _COMPILER_CALLS)
        self.cancel = self.plain("compiler_cancel", None, _P)
        self.release = {name: self.plain(f"{name}_release", None, _P) for name in ("compiler", "compiled")}


_loaded: dict[type, Any] = {}


def loader() -> _Loader:
    if _Loader not in _loaded:
        _loaded[_Loader] = _Loader()
    return _loaded[_Loader]  # type: ignore[no-any-return]


def compiler() -> _Compiler:
    if _Compiler not in _loaded:
        _loaded[_Compiler] = _Compiler()
    return _loaded[_Compiler]  # type: ignore[no-any-return]


def fail_with_last() -> NoReturn:
    """The calling thread's last failure, as an exception."""
    info = ErrorInfo()
    loader().last_error(c.byref(info))
    name = loader().status_name(info.code).decode()
    fail(name, text_at(info.message, info.message_length), text_at(info.subject, info.subject_length))


def check(status: int) -> None:
    if status:
        fail_with_last()


class Handle:
    """An object of the C interface, released with the last reference to this. What it stands on it keeps alive itself."""

    def __init__(self, of: Union[_Loader, _Compiler], kind: str, open: Any) -> None:
        """open(out) is the call that makes it."""
        out = c.c_void_p()
        check(open(c.byref(out)))
        self.pointer = out.value
        weakref.finalize(self, of.release[kind], self.pointer).atexit = False


def text_of(call: Any, *arguments: Any) -> str:
    """Of a call that gives out a text and its length."""
    text, length = c.c_void_p(), c.c_size_t()
    check(call(*arguments, c.byref(text), c.byref(length)))
    return text_at(text.value, length.value)


def texts(values: Any) -> tuple[Any, int]:
    """A list of texts, each ended by 0, and its length."""
    encoded = [os.fsencode(value) for value in values]
    return (c.c_char_p * max(len(encoded), 1))(*encoded), len(encoded)
