# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a call of a kernel passes, as bytes and memory: the rules of docs/reference/python.md#call, as python/src/arguments.cpp and
argument_check.cpp have them."""

from __future__ import annotations

import ctypes as c
import struct
import sys
import warnings
from typing import Any, NamedTuple, Optional

from .files import fail

WHOLE = ("integer", "unsigned_integer", "boolean")
_SCALARS = {"float": ("floating", 4), "half": ("floating", 2), "double": ("floating", 8), "bfloat": ("bfloat", 2), "int": ("integer", 4),
            "short": ("integer", 2), "long": ("integer", 8), "uint": ("unsigned_integer", 4), "ushort": ("unsigned_integer", 2),
            "ulong": ("unsigned_integer", 8), "uchar": ("unsigned_integer", 1), "bool": ("boolean", 1)}  # fmt: skip
_FLOATS = {2: "<e", 4: "<f", 8: "<d"}
_CASTS = {"fp16": ("floating", 2), "bf16": ("bfloat", 2), "fp32": ("floating", 4), "bool": ("boolean", 1),
          **{f"int{bits}": ("integer", bits // 8) for bits in (8, 16, 32, 64)},
          **{f"uint{bits}": ("unsigned_integer", bits // 8) for bits in (8, 16, 32, 64)}}  # fmt: skip
_STRUCTURES = "a record array (numpy.array([(...)], dtype)), a ctypes.Structure or bytes"


class Parameter(NamedTuple):
    """A buffer that a kernel declares. kind is empty where the type is no number, vector or matrix of them."""

    name: str = ""
    type_name: str = ""
    size: int = 0
    known: bool = False
    writes: bool = False
    is_constant: bool = False
    is_conditional: bool = False
    kind: str = ""
    component: int = 0
    rows: int = 1
    columns: int = 1
    pitch: int = 0

    @property
    def numbers(self) -> int:
        return self.rows * self.columns

    @property
    def is_structure(self) -> bool:
        """IR without types says "char" of everything, and MSL's char is raw bytes, too."""
        return self.known and not self.kind and self.type_name not in ("", "char")

    @property
    def takes_addresses(self) -> bool:
        return not self.kind or (self.kind in WHOLE and self.component == 8)

    @property
    def takes_double(self) -> bool:
        return not self.known or not self.kind or self.type_name.startswith("double")


def layout_of(type_name: str, size: int) -> dict[str, Any]:
    """ "packed_float3", "half2x4" (columns, then rows), "atomic_uint": what its elements are; empty for what is none of these."""
    name = type_name
    packed = name.startswith("packed_")
    name = name[7:] if packed else name
    name = name[7:] if name.startswith("atomic_") else name
    rows = columns = 1
    if name[-1:] in ("2", "3", "4"):
        rows, name = int(name[-1]), name[:-1]
        if name.endswith("x"):
            if name[-2:-1] not in ("2", "3", "4"):
                return {}
            columns, name = int(name[-2]), name[:-2]
    if name not in _SCALARS:
        return {}
    kind, component = _SCALARS[name]
    pitch = component * (4 if rows == 3 and not packed else rows)
    if pitch * columns != size:  # a type of somebody else's by that name
        return {}
    return {"kind": kind, "component": component, "rows": rows, "columns": columns, "pitch": pitch}


class Bound(NamedTuple):
    """What was passed for one argument."""

    how: str = "nothing"  # array, inlined, list
    element: str = "other"
    item: int = 0
    bytes: int = 0
    writable: bool = False
    contiguous: bool = True
    overlaps: bool = False
    is_list: bool = False
    guessed: bool = False


# --- memory


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

    __slots__ = ("_held", "address", "bytes", "contiguous", "count", "item", "kind", "rank", "writable")

    def __init__(self, address: int, item: int, kind: str, shape: list[int], strides: Optional[list[int]], writable: bool, held: Any, index: int) -> None:
        self.address = address
        self.item = item
        self.kind = kind
        self.rank = len(shape)
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


def _numpy_generic() -> Any:
    numpy = sys.modules.get("numpy")
    return numpy.generic if numpy is not None else ()


def is_number(value: object) -> bool:
    return isinstance(value, (int, float))


def _number_of_numpy(value: Any) -> Any:
    """A NumPy scalar as Python's number; None for all else."""
    if is_number(value) or not isinstance(value, _numpy_generic()):
        return None
    number = value.item()
    if not is_number(number) and not isinstance(number, complex) and isinstance(number, _numpy_generic()):
        number = float(number)
    return number if is_number(number) else None


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


def _take(value: Any, index: int) -> Optional[Tensor]:
    if isinstance(value, Buffer):
        return Tensor(value.address, 1, "other", [value.size], None, value.writable, value.owner, index)
    if isinstance(value, _numpy_generic()) and type(value).__name__ != "void":
        return None  # of a number's four or eight bytes nobody means those
    try:
        memoryview(value)
    except TypeError:
        return _by_dlpack(value, index)
    except (BufferError, ValueError):
        pass
    return _by_buffer(value, index)


# --- numbers


def _bfloat(value: float) -> bytes:
    """Rounded to nearest, ties to even."""
    if value != value:
        return b"\xc0\x7f"
    try:
        bits = struct.unpack("<I", struct.pack("<f", value))[0]
    except OverflowError:
        bits = 0x7F800000 | (0x80000000 if value < 0 else 0)
    return struct.pack("<H", ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16) & 0xFFFF)


def _float(value: float, size: int) -> bytes:
    """As C converts it: what is too large is infinite."""
    try:
        return struct.pack(_FLOATS[size], value)
    except OverflowError:
        return struct.pack(_FLOATS[size], float("inf") if value > 0 else float("-inf"))


def _declared(value: Any, want: Parameter) -> Optional[bytes]:
    """A number in the type that the kernel declares; None for one that it has no value for."""
    if not is_number(value):
        return None
    if want.kind == "boolean":
        return b"\1" if value else b"\0"
    if want.kind not in WHOLE:
        try:
            number = float(value)
            if want.kind == "bfloat":
                struct.pack("<f", number)
                return _bfloat(number)
            return struct.pack(_FLOATS[want.component], number)
        except OverflowError:
            return None
    if isinstance(value, float):
        if not value.is_integer():
            return None
        value = int(value)
    try:
        return int(value).to_bytes(want.component, "little", signed=want.kind == "integer")
    except OverflowError:
        return None


def _cast(value: Any, kind: str, size: int, index: int) -> bytes:
    """As PyTorch's arg_casts convert."""
    if kind == "boolean":
        return b"\1" if value else b"\0"
    if kind == "bfloat":
        return _bfloat(float(value))
    if kind == "floating":
        return _float(float(value), size)
    bits: int
    if isinstance(value, float):
        bits = int(value) if -(2**63) <= value < (2**64 if kind == "unsigned_integer" and size == 8 else 2**63) else -(2**63)
    elif not -(2**63) <= value < (2**64 if kind == "unsigned_integer" and size == 8 else 2**63):
        fits = 0 <= value < 2**64
        fail("argument_type", f"argument {index}: {value} does not fit a signed 64-bit integer{' (the cast ' + repr('uint64') + ' would hold it)' if fits else ''}")
    else:
        bits = int(value)
    return (bits & ((1 << 8 * size) - 1)).to_bytes(size, "little")


def _plain(value: Any, index: int) -> bytes:
    """As PyTorch passes a number: float32 or int64."""
    return _cast(value, "floating", 4, index) if isinstance(value, float) else _cast(value, "integer", 8, index)


class Casts:
    def __init__(self, asked: Any = None) -> None:
        self._all: Optional[str] = None
        self._some: dict[int, str] = {}
        if asked is None:
            return
        if isinstance(asked, str):
            self._all = self._word(asked, "arg_casts")
        elif isinstance(asked, dict):
            for index, word in asked.items():
                if not isinstance(index, int) or index < 0:
                    fail("invalid_argument", f"arg_casts: keys are argument indexes; got {index!r}")
                self._some[index] = self._word(word, f"arg_casts of argument {index}")
        else:
            fail("invalid_argument", f"arg_casts: want None, a word, or a dict of words by argument index; got {type(asked).__name__}")

    @staticmethod
    def _word(word: object, where: str) -> str:
        if not isinstance(word, str):
            fail("invalid_argument", f"{where}: want a word such as 'fp16' or 'int32', got {type(word).__name__}")
        if word not in _CASTS and word != "declared":
            fail("cast_unknown", f"{where}: '{word}' is not known; want fp16, bf16, fp32, int8, int16, int32, int64, uint8, uint16, uint32, uint64, bool or declared")
        return word

    def of(self, index: int) -> Optional[str]:
        return self._some.get(index, self._all)


# --- a call's arguments


class Arguments:
    """Binds the arguments of one call. by_type: numbers in the type that the kernel declares, else as PyTorch passes them."""

    def __init__(self, kernel: str, declared: list[Parameter], by_type: bool) -> None:
        self._kernel = kernel
        self._declared = declared
        self._by_type = by_type
        self.bound: list[Bound] = []
        self._tensors: list[Tensor] = []
        self._first: Optional[Tensor] = None
        self.binding: list[tuple[int, Any, int]] = []  # index, bytes or an address, size

    def release(self) -> None:
        for tensor in self._tensors:
            tensor.release()

    def _place(self, index: int) -> str:
        name = self._declared[index].name if index < len(self._declared) else ""
        return f"argument {index} '{name}'" if name else f"argument {index}"

    def bind(self, arguments: tuple[Any, ...], casts: Casts) -> None:
        for index, value in enumerate(arguments):
            want = self._declared[index] if index < len(self._declared) else Parameter()
            if value is _GAP:
                self.bound.append(Bound())
            elif value is None:
                if want.known and not want.is_conditional:
                    fail("argument_type", f"{self._place(index)}: None is for an argument that a function constant takes away, and this one is always there")
                self.bound.append(Bound())
            else:
                self.bound.append(self._bind(index, value, casts.of(index), want))

    def _inline(self, index: int, data: bytes) -> None:
        self.binding.append((index, data, len(data)))

    def _bind(self, index: int, value: Any, cast: Optional[str], want: Parameter) -> Bound:
        if is_number(value):
            return self._scalar(index, value, cast, want)
        if isinstance(value, (list, tuple)):
            return self._list(index, list(value), cast, want)
        tensor = _take(value, index)
        if tensor is None:
            number = _number_of_numpy(value) if self._by_type else None
            if number is not None:
                return self._scalar(index, number, cast, want)
            fail("argument_type", f"{self._place(index)}: want an array (buffer protocol or DLPack), int, float, or a list or tuple of these; got {type(value).__name__}")
        self._tensors.append(tensor)
        if not isinstance(value, Buffer):  # of bytes at an address nobody can count the elements
            self._first = self._first or tensor
        if tensor.rank == 0 and want.known and not want.writes:
            return self._number_in_array(index, tensor, want)
        self.binding.append((index, tensor.address, tensor.bytes))
        return Bound("array", tensor.kind, tensor.item, tensor.bytes, tensor.writable, tensor.contiguous, tensor.overlaps)

    def _number_in_array(self, index: int, tensor: Tensor, want: Parameter) -> Bound:
        """Its bytes. As PyTorch does, 64-bit floating point becomes 32-bit."""
        data = tensor.as_bytes()
        item = tensor.item
        if tensor.kind in ("floating", "complex") and item == (8 if tensor.kind == "floating" else 16) and not want.takes_double:
            data = b"".join(_float(value, 4) for (value,) in struct.iter_unpack("<d", data))
            item //= 2
        self._inline(index, data)
        return Bound("inlined", tensor.kind, item, len(data))

    def _refuse(self, index: int, value: Any, want: Parameter) -> None:
        fail("argument_type", f"{self._place(index)} wants {want.type_name}, and {value!r} is no such number; arg_casts={{{index}: 'int32'}}, for example, converts it")

    def _scalar(self, index: int, value: Any, cast: Optional[str], want: Parameter) -> Bound:
        if want.kind and (cast == "declared" or (self._by_type and cast is None)):
            if want.size != want.component:
                fail("argument_mismatch", f"{self._place(index)} wants {want.type_name}, and the call passes one number; pass a list of {want.numbers}")
            data = _declared(value, want)
            if data is None:
                self._refuse(index, value, want)
            assert data is not None
            self._inline(index, data)
            return Bound("inlined", want.kind, want.component, len(data))
        converted = cast is not None and cast != "declared"
        data = _cast(value, *_CASTS[cast], index) if converted else _plain(value, index)  # type: ignore[index]
        kind = _CASTS[cast][0] if converted else "floating" if isinstance(value, float) else "integer"  # type: ignore[index]
        self._inline(index, data)
        may_be_meant = not isinstance(value, float) and want.size <= 4  # a whole number of four bytes may be an enumeration
        return Bound("inlined", kind, len(data), len(data), guessed=self._by_type and cast is None and want.is_structure and not may_be_meant)

    def _list(self, index: int, values: list[Any], cast: Optional[str], want: Parameter) -> Bound:
        if not values:
            fail("argument_empty", f"{self._place(index)}: an empty list; want at least one element")
        if self._by_type:
            values = [value if (number := _number_of_numpy(value)) is None else number for value in values]
        if not is_number(values[0]):
            return self._addresses(index, values)
        if want.kind and (cast == "declared" or (self._by_type and cast is None)):
            return self._declared_list(index, values, want)
        floats = isinstance(values[0], float)
        parts = []
        for i, value in enumerate(values):
            if not is_number(value) or (isinstance(value, float) and not floats):
                fail("argument_type", f"{self._place(index)}: element {i} of a list that begins with {type(values[0]).__name__} is {type(value).__name__}; lists are of one kind")
            number = float(value) if floats else value
            parts.append(_cast(number, *_CASTS[cast], index) if cast and cast != "declared" else _plain(number, index))
        data = b"".join(parts)
        self._inline(index, data)
        kind = _CASTS[cast][0] if cast and cast != "declared" else "floating" if floats else "integer"
        return Bound("inlined", kind, len(parts[0]), len(data), is_list=True, guessed=self._by_type and cast is None and want.is_structure)

    def _declared_list(self, index: int, values: list[Any], want: Parameter) -> Bound:
        if len(values) % want.numbers:
            fail("argument_mismatch", f"{self._place(index)} wants {want.type_name}, which are {want.numbers} numbers; the call passes a list of {len(values)}")
        data = bytearray(len(values) // want.rows * want.pitch)
        for i, value in enumerate(values):
            number = _declared(value, want)
            if number is None:
                self._refuse(index, value, want)
            assert number is not None
            at = i // want.rows * want.pitch + i % want.rows * want.component
            data[at : at + len(number)] = number
        self._inline(index, bytes(data))
        return Bound("inlined", want.kind, want.component, len(data), is_list=True)

    def _addresses(self, index: int, values: list[Any]) -> Bound:
        writable = True
        addresses = []
        for i, value in enumerate(values):
            tensor = None if isinstance(value, (list, tuple)) or is_number(value) else _take(value, index)
            if tensor is None:
                if i == 0:
                    fail("argument_type", f"argument {index}: a list of {type(value).__name__}; want arrays, ints or floats")
                fail("argument_type", f"argument {index}: element {i} of a list that begins with an array is {type(value).__name__}")
            self._tensors.append(tensor)
            writable = writable and tensor.writable
            addresses.append(tensor.address)
        data = struct.pack(f"<{len(addresses)}Q", *addresses)
        self._inline(index, data)
        return Bound("list", "other", 8, len(data), writable)

    def first_count(self) -> Optional[int]:
        """Elements of the first array: how many threads there are where nobody says."""
        if self._first is None:
            return None
        if self._first.overlaps:
            fail("argument_type", f"threads was not given, and the first array has {self._first.count} elements in {self._first.bytes} bytes (a broadcast view has "
                 "stride 0): a thread for each would read past it. Pass threads=, or a contiguous copy (numpy.ascontiguousarray)")  # fmt: skip
        return self._first.count

    # --- whether they are what the kernel wants

    def _wants(self, i: int) -> str:
        want = self._declared[i]
        name = f" '{want.name}'" if want.name else ""
        return f"kernel '{self._kernel}', argument {i}{name}: wants {want.type_name} ({want.size} byte{'' if want.size == 1 else 's'})"

    def check(self, how: str) -> None:
        all_fit = len(self.bound) <= len(self._declared)
        for i, (want, given) in enumerate(zip(self._declared, self.bound)):
            if not want.known or given.how == "nothing" or _fits(want, given):
                continue
            all_fit = False
            self._check_memory(i, want, given, how != "off")
        if all_fit or how == "off" or not self._declared:
            return
        text = self._mismatch()
        if not text:
            return
        if how == "error":
            fail("argument_mismatch", text)
        from ..errors import ArgumentWarning

        warnings.warn(text, ArgumentWarning, stacklevel=4)

    def _check_memory(self, i: int, want: Parameter, given: Bound, strictly: bool) -> None:
        if given.how == "array" and not given.writable and want.writes:
            fail("argument_type", f"argument {i}: kernel '{self._kernel}' may write to it, and the array is read-only; pass a copy")
        if given.how == "array" and (given.element, given.item) in (("floating", 8), ("complex", 16)) and not want.takes_double:
            fail("argument_mismatch", f"argument {i}: kernel '{self._kernel}' wants {want.type_name}, and the array holds 64-bit floating point, which Metal has not; "
                 "convert it (float32 or complex64)")  # fmt: skip
        if strictly:
            self._check_form(i, want, given)
        if given.bytes < want.size and not (given.bytes == 0 and given.how == "array"):
            fail("argument_mismatch", f"{self._wants(i)}, the call passes {given.bytes} bytes, and the kernel would read past them; {_advice(want)}")

    def _check_form(self, i: int, want: Parameter, given: Bound) -> None:
        if given.how == "inlined" and not want.is_constant and want.writes:
            fail("argument_mismatch", f"{self._wants(i)} in memory that it may write to, the call passes {'a list' if given.is_list else 'a scalar'}, of which the kernel "
                 "has a copy: its result would be lost. Pass an array that keeps it (numpy.array, array.array, a tensor)")  # fmt: skip
        if given.how == "list" and not want.takes_addresses:
            fail("argument_mismatch", f"{self._wants(i)}, the call passes a list of arrays, which stands for their addresses. Pass one array; a kernel that takes several "
                 "by one buffer declares pointers")  # fmt: skip
        if given.how == "array" and not given.contiguous:
            why = f"its elements overlap in {given.bytes} bytes: a broadcast view has stride 0" if given.overlaps else "a slice with a step, a transposed or a cut view"
            back = " and copy the result back" if want.writes else ""
            fail("argument_mismatch", f"{self._wants(i)}, the call passes an array that does not lie in order ({why}), and a kernel sees the memory, not the view. Pass a "
                 f"contiguous copy (numpy.ascontiguousarray, tensor.contiguous()){back}; or check=\"off\" to a kernel that is told the strides")  # fmt: skip
        if given.guessed:
            fail("argument_mismatch", f"{self._wants(i)}, the call passes numbers, and nothing says which members they are. Pass {_STRUCTURES}")
        if given.how != "list" and given.element == "other" and given.item > 1 and want.size > 1:
            if given.item != want.size if want.is_structure else given.item % want.size:
                fail("argument_mismatch", f"{self._wants(i)}, the call passes structures of {given.item} bytes. Members lie at multiples of their own size, and three "
                     "components take the room of four (numpy.dtype([...], align=True) pads; a float3 member is 16 bytes)")  # fmt: skip

    def want_bytes(self) -> None:
        """Of a launch that runs: a constant that is empty cannot be read."""
        for i, (want, given) in enumerate(zip(self._declared, self.bound)):
            if want.known and want.is_constant and want.size and not given.bytes and given.how != "nothing":
                fail("argument_mismatch", f"{self._wants(i)}, the call passes nothing (0 bytes); {_advice(want)}")

    def _mismatch(self) -> str:
        if len(self.bound) > len(self._declared):
            return f"kernel '{self._kernel}' has {len(self._declared)} buffer arguments, the call passes {len(self.bound)}"
        for i, (want, given) in enumerate(zip(self._declared, self.bound)):
            if not want.kind or given.how in ("list", "nothing"):
                continue
            # One-byte elements are raw bytes to anybody; whole numbers of more bytes than wanted still begin with the value.
            if given.element == "other" or (given.item == 1 and given.element in WHOLE):
                continue
            # NumPy has no bfloat16; its bits stand in arrays of uint16.
            if want.kind == "bfloat" and given.element == "unsigned_integer" and given.item == 2:
                continue
            kinds_agree = given.element in WHOLE if want.kind in WHOLE else want.kind == given.element
            sizes_agree = given.item == want.component or (
                given.how == "inlined" and want.kind in WHOLE and given.item >= want.component and given.bytes == given.item)  # fmt: skip
            if not kinds_agree or not sizes_agree:
                return f"{self._wants(i)}, the call passes {_element_name(given.element, given.item)}; {_advice(want)}"
        return ""


class _Gap:
    """An argument that a call by names leaves out."""


_GAP = _Gap()


def in_positions(kernel: str, declared: list[Parameter], arguments: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """Arguments by position, with those that were passed by name where they belong."""
    positions = list(arguments)
    known = {want.name: i for i, want in enumerate(declared) if want.name}
    for name, value in named.items():
        if name not in known:
            raise TypeError(f"kernel '{kernel}' has no argument '{name}'; it takes {', '.join(known) or 'its buffers'} by position or name, and threads, threadgroups, "
                            "group_size, arg_casts, error_buf_idx, threadgroup_memory and check by name")  # fmt: skip
        index = known[name]
        if index < len(arguments):
            raise TypeError(f"kernel '{kernel}' got argument {index} '{name}' by position and by name")
        positions += [_GAP] * (index + 1 - len(positions))
        positions[index] = value
    return tuple(positions)


def leaves_out(arguments: tuple[Any, ...]) -> bool:
    return any(value is None or value is _GAP for value in arguments)


def _fits(want: Parameter, given: Bound) -> bool:
    if not want.kind or given.element != want.kind or given.item != want.component or given.bytes < want.size:
        return False
    if given.how == "array":
        return given.contiguous and (given.writable or not want.writes) and given.item <= 4
    return given.how == "inlined" and (want.is_constant or not want.writes)


def _element_name(kind: str, size: int) -> str:
    names = {"boolean": "bool", "integer": f"int{size * 8}", "unsigned_integer": f"uint{size * 8}", "floating": f"float{size * 8}", "bfloat": "bfloat16",
             "complex": f"complex{size * 8}"}  # fmt: skip
    return names.get(kind, f"elements of {size} bytes")


def _advice(want: Parameter) -> str:
    if not want.kind:
        return f"pass {_STRUCTURES} of {want.size} bytes" if want.is_structure else f"pass at least {want.size} bytes"
    if want.numbers == 1:
        return f"pass an array of {_element_name(want.kind, want.component)}"
    return f"pass a list of {want.numbers} numbers, or an array of {_element_name(want.kind, want.component)} with {want.size // want.component} for each"
