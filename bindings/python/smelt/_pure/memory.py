# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Arrays' memory by the buffer protocol and DLPack, as bindings/python/src/tensor.cpp has it."""

from __future__ import annotations

import ctypes as c
import sys
from typing import Any, Optional

from .files import fail
from .scalars import numpy_generic


class Buffer:
    """Memory by its address, which somebody else owns; owner keeps it there. buffer[a:b] is a part of it."""

    def __init__(self, address: int, size: int, *, writable: bool = True, owner: Any = None) -> None:
        for value, what in ((address, "an address"), (size, "a size in bytes")):
            if not isinstance(value, int):
                raise TypeError(f"Buffer: want {what}, an int, got {type(value).__name__}")
            if not 0 <= value < 2**64:
                fail("invalid_argument", f"Buffer: want {what} from 0 to 2^64 - 1, got {value}")
        if size > sys.maxsize or address > 2**64 - 1 - size:
            fail("invalid_argument", f"Buffer: {size} bytes at {address:#x} end past the last address")
        if address == 0 and size:
            fail("invalid_argument", f"Buffer: address 0 with {size} bytes; no memory is there")
        self.address = address
        self.size = size
        self.writable = writable
        self.owner = owner

    def __len__(self) -> int:
        return self.size

    def __bytes__(self) -> bytes:
        return c.string_at(self.address, self.size)

    def __buffer__(self, _: int) -> memoryview:
        """Asked by memoryview() from Python 3.12 on (PEP 688)."""
        view = memoryview((c.c_ubyte * self.size).from_address(self.address)).cast("B")
        return view if self.writable else view.toreadonly()

    def __getitem__(self, part: slice) -> Buffer:
        if not isinstance(part, slice):
            raise TypeError(f"Buffer: want a slice, got {type(part).__name__}")
        start, stop, step = part.indices(self.size)
        if step != 1:
            fail("invalid_argument", f"Buffer: a slice with step {step}; a part of a buffer is contiguous bytes")
        return Buffer(self.address + start, max(stop - start, 0), writable=self.writable, owner=self.owner)

    def __repr__(self) -> str:
        return f"<smelt.Buffer of {self.size} bytes at {self.address:#x}{'' if self.writable else ', read-only'}>"


class _View(c.Structure):
    """Py_buffer, the same in every Python that has this module."""

    _fields_ = [("buf", c.c_void_p), ("obj", c.py_object), ("len", c.c_ssize_t), ("itemsize", c.c_ssize_t), ("readonly", c.c_int), ("ndim", c.c_int),
                ("format", c.c_char_p), ("shape", c.POINTER(c.c_ssize_t)), ("strides", c.POINTER(c.c_ssize_t)), ("suboffsets", c.POINTER(c.c_ssize_t)),
                ("internal", c.c_void_p)]  # fmt: skip


_WRITABLE, _STRIDES_AND_FORMAT = 0x1, 0x18 | 0x4
_get_buffer = c.pythonapi.PyObject_GetBuffer
_get_buffer.argtypes = (c.py_object, c.POINTER(_View), c.c_int)
_release_buffer = c.pythonapi.PyBuffer_Release
_release_buffer.argtypes = (c.POINTER(_View),)
_release_buffer.restype = None


class Tensor:
    """An array's memory, held until release()."""

    __slots__ = ("_held", "address", "bytes", "contiguous", "count", "item", "kind", "rank", "shape", "strides", "writable")

    def __init__(self, address: int, item: int, kind: str, shape: list[int], strides: Optional[list[int]], writable: bool, held: Any, index: int) -> None:
        self.address = address
        self.item = item
        self.kind = kind
        self.rank = len(shape)
        self.shape = shape
        self.strides = strides  # in bytes; None: the order of indexes, without gaps
        self.writable = writable
        self._held = held
        self.count = 1
        for length in shape:
            self.count *= length
        self.contiguous = True
        self.bytes = self.count * item
        if strides is not None and self.count:
            self.bytes = item
            compact = item
            for length, stride in zip(reversed(shape), reversed(strides)):
                if length > 1:
                    if stride < 0:
                        fail("argument_type", f"argument {index}: an array with a negative stride; a kernel reads upwards from its first element. Pass a "
                             "contiguous copy (numpy.ascontiguousarray)")  # fmt: skip
                    self.contiguous = self.contiguous and stride == compact
                    self.bytes += (length - 1) * stride
                compact *= length

    @property
    def overlaps(self) -> bool:
        return self.bytes < self.count * self.item

    def release(self) -> None:
        if isinstance(self._held, _View):
            _release_buffer(c.byref(self._held))
        self._held = None

    def as_bytes(self) -> bytes:
        return c.string_at(self.address, self.bytes)


_FOREIGN = {"O": "Python objects or pointers", "P": "Python objects or pointers", "&": "Python objects or pointers", "w": "text", "u": "text",
            "g": "extended floating point", ">": "big-endian numbers", "!": "big-endian numbers"}  # fmt: skip
_FORMATS = {"?": "boolean", **dict.fromkeys("cbhilqn", "integer"), **dict.fromkeys("BHILQN", "unsigned_integer"), **dict.fromkeys("efd", "floating")}


def _kind_of_format(format: str, value: object, index: int) -> str:
    inside_name = False
    for letter in format:
        if letter == ":":
            inside_name = not inside_name
        if inside_name:
            continue
        what = _FOREIGN.get(letter) or ("text" if letter in "sp" and not format.startswith("T") else None)
        if what:
            fail("argument_type", f"argument {index}: a {type(value).__name__} of {what} (format '{format}'); a kernel takes whole numbers, floating point, "
                 "bool, complex, and structures of these")  # fmt: skip
    bare = format[1:] if format[:1] in ("@", "=", "<", "|") else format
    if bare.startswith("Z"):
        return "complex"
    return _FORMATS.get(bare, "other") if len(bare) <= 1 else "other"


def _by_buffer(value: Any, index: int) -> Optional[Tensor]:
    view = _View()
    writable = True
    try:
        _get_buffer(value, c.byref(view), _STRIDES_AND_FORMAT | _WRITABLE)
    except (BufferError, ValueError):
        writable = False
        try:
            _get_buffer(value, c.byref(view), _STRIDES_AND_FORMAT)
        except (BufferError, ValueError):
            if str(getattr(value, "dtype", "")) == "bfloat16" and hasattr(value, "view"):  # of ml_dtypes
                bits = _by_buffer(value.view("uint16"), index)
                if bits is not None:
                    bits.kind = "bfloat"
                return bits
            found = _by_dlpack(value, index)
            if found is None:
                fail("argument_type", f"argument {index}: the {type(value).__name__} does not give out its memory")
            return found
    kind = "unsigned_integer" if view.format is None else _kind_of_format(view.format.decode(), value, index)
    if view.shape:
        shape = view.shape[: view.ndim]
        strides = view.strides[: view.ndim] if view.strides else None
    else:
        shape, strides = [] if view.ndim == 0 else [view.len // view.itemsize if view.itemsize else 0], None
    return Tensor(view.buf or 0, view.itemsize, kind, shape, strides, writable, view, index)


class _DLTensor(c.Structure):
    """Of DLPack's stable ABI, https://dmlc.github.io/dlpack/latest/c_api.html."""

    _fields_ = [("data", c.c_void_p), ("device_type", c.c_int32), ("device_id", c.c_int32), ("ndim", c.c_int32), ("code", c.c_uint8), ("bits", c.c_uint8),
                ("lanes", c.c_uint16), ("shape", c.POINTER(c.c_int64)), ("strides", c.POINTER(c.c_int64)), ("byte_offset", c.c_uint64)]  # fmt: skip


class _Versioned(c.Structure):
    _fields_ = [("version", c.c_uint32 * 2), ("manager", c.c_void_p), ("deleter", c.c_void_p), ("flags", c.c_uint64), ("tensor", _DLTensor)]


_capsule_pointer = c.pythonapi.PyCapsule_GetPointer
_capsule_pointer.argtypes = (c.py_object, c.c_char_p)
_capsule_pointer.restype = c.c_void_p
_capsule_name = c.pythonapi.PyCapsule_GetName
_capsule_name.argtypes = (c.py_object,)
_capsule_name.restype = c.c_char_p
_DLPACK_KINDS = {0: "integer", 1: "unsigned_integer", 2: "floating", 4: "bfloat", 5: "complex", 6: "boolean"}
_DLPACK_CPU = (1, 3)  # and memory of the host that CUDA pinned


def _by_dlpack(value: Any, index: int) -> Optional[Tensor]:
    if not hasattr(type(value), "__dlpack__") or not hasattr(type(value), "__dlpack_device__"):
        return None
    device, number = value.__dlpack_device__()
    if device not in _DLPACK_CPU:
        fail("argument_device", f"argument {index}: a {type(value).__name__} on DLPack device ({int(device)}, {number}); this kernel runs on the CPU and takes CPU arrays")
    try:
        # A tensor that is being differentiated does not export itself; its values, detached, are the same memory.
        capsule = (value.detach() if hasattr(value, "detach") else value).__dlpack__()
    except Exception as error:  # whatever a library throws
        fail("argument_type", f"argument {index}: the {type(value).__name__} does not give out its memory: {error}")
    # The capsule keeps the tensor; it is not taken over, so that its own destructor frees it.
    writable = True
    if _capsule_name(capsule) == b"dltensor_versioned":
        versioned = c.cast(_capsule_pointer(capsule, b"dltensor_versioned"), c.POINTER(_Versioned)).contents
        writable = versioned.flags & 1 == 0
        of = versioned.tensor
    else:
        of = c.cast(_capsule_pointer(capsule, b"dltensor"), c.POINTER(_DLTensor)).contents
    if of.bits % 8 or of.code == 3:
        fail("argument_type", f"argument {index}: an array of DLPack type code {of.code}, {of.bits} bits; a kernel takes elements of whole bytes that are numbers")
    item = of.bits * of.lanes // 8
    kind = _DLPACK_KINDS.get(of.code, "other") if of.lanes == 1 else "other"
    strides = [stride * item for stride in of.strides[: of.ndim]] if of.strides else None
    return Tensor((of.data or 0) + of.byte_offset, item, kind, of.shape[: of.ndim] if of.ndim else [], strides, writable, capsule, index)


_INTERFACE_KINDS = {"b": "boolean", "i": "integer", "u": "unsigned_integer", "f": "floating", "c": "complex"}


def _by_interface(value: Any, index: int) -> Optional[Tensor]:
    """What NumPy's __array_interface__ says; PIL's images have it."""
    facts = getattr(value, "__array_interface__", None)
    if not isinstance(facts, dict):
        return None
    type = facts["typestr"]
    item = int(type[2:])
    if type[1] not in _INTERFACE_KINDS or (type[0] == ">" and item > 1):
        fail("argument_type", f"argument {index}: a {value.__class__.__name__} of elements '{type}', which no kernel reads")
    shape = list(facts["shape"])
    strides = list(facts["strides"]) if facts.get("strides") else None
    memory = facts.get("data")
    if isinstance(memory, tuple):
        return Tensor(memory[0], item, _INTERFACE_KINDS[type[1]], shape, strides, not memory[1], value, index)
    held = _by_buffer(memory, index)
    if held is None:
        return None
    address, size = held.address, held.bytes
    tensor = Tensor(address, item, _INTERFACE_KINDS[type[1]], shape, strides, False, held._held, index)
    if size < tensor.bytes:
        fail("argument_type", f"argument {index}: a {value.__class__.__name__} of {tensor.bytes} bytes that gives out {size}")
    return tensor


def take(value: Any, index: int) -> Optional[Tensor]:
    if isinstance(value, Buffer):
        return Tensor(value.address, 1, "other", [value.size], None, value.writable, value.owner, index)
    if isinstance(value, numpy_generic()) and type(value).__name__ != "void":
        return None  # of a number's four or eight bytes nobody means those
    try:
        memoryview(value)
    except TypeError:
        return _by_dlpack(value, index) or _by_interface(value, index)
    except (BufferError, ValueError):
        pass
    return _by_buffer(value, index)
