# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Textures and samplers by the C interface, as bindings/python/src/texture.cpp has them."""

from __future__ import annotations

import ctypes as c
from typing import Any, Optional

from . import capi
from .argument_check import element_name
from .files import fail
from .memory import Tensor, take

_TYPES = ("texture1d", "texture1d_array", "texture2d", "texture2d_array", "texture2d_ms", "texturecube", "texturecube_array", "texture3d",
          "texture2d_ms_array", "texture_buffer")  # fmt: skip
_ELEMENTS = {("boolean", 1): 1, ("integer", 1): 2, ("unsigned_integer", 1): 3, ("integer", 2): 4, ("unsigned_integer", 2): 5, ("integer", 4): 6,
             ("unsigned_integer", 4): 7, ("integer", 8): 8, ("unsigned_integer", 8): 9, ("floating", 2): 10, ("bfloat", 2): 11, ("floating", 4): 12}  # fmt: skip
_LETTERS = "B?bBhHiIqQeHf"
_SIZES = (1, 1, 1, 1, 2, 2, 4, 4, 8, 8, 2, 2, 4)


def check_at(place: str, call: Any, *arguments: Any) -> None:
    """A failure says where it was."""
    from ..errors import Error, from_code

    try:
        capi.check(call(*arguments))
    except Error as error:
        raise from_code(error.code, f"{place}: {error.message}", error.subject) from None


def array_of(tensor: Tensor) -> Optional[capi.Array]:
    """None where Metal has no such elements."""
    element = _ELEMENTS.get((tensor.kind, tensor.item))
    if element is None:
        return None
    shape = (c.c_uint64 * max(tensor.rank, 1))(*tensor.shape)
    strides = None if tensor.strides is None else (c.c_int64 * max(tensor.rank, 1))(*tensor.strides)
    return capi.Array(data=tensor.address, shape=shape, strides=strides, rank=tensor.rank, element=element)


def _over(tensor: Tensor, place: str, type: Optional[str], format: int) -> capi.Handle:
    made = array_of(tensor)
    if made is None:
        fail("argument_mismatch", f"{place}: an array of {element_name(tensor.kind, tensor.item)}, which no pixel format has; convert it (array.astype(numpy.float32))")
    array: capi.Array = made
    name = type.encode() if type else None
    loader = capi.loader()

    def open(out: Any) -> int:
        check_at(place, loader.texture_wrap_array, c.byref(array), name, len(name or b""), format, None, None, out)
        return 0

    return capi.Handle(loader, "texture", open)


def _over_blocks(tensor: Tensor, format: int, name: str, type: Optional[str], sizes: dict[str, Any]) -> capi.Handle:
    """Over the blocks of a compressed format: bytes, whatever elements the array has."""
    if sizes["width"] is None or sizes["height"] is None:
        fail("invalid_argument", f"Texture: blocks of {name} do not say how many texels they are; want width= and height=")
    if not tensor.contiguous:
        fail("argument_mismatch", f"Texture: blocks of {name} that do not lie in order; pass a contiguous copy")
    number = _TYPES.index((type or "texture2d").partition("<")[0].replace("depth", "texture"))
    options = capi.TextureOptions(type=number, pixel_format=format, samples=1, **sizes)
    loader = capi.loader()

    def open(out: Any) -> int:
        check_at("Texture", loader.texture_wrap, c.byref(options), tensor.address, tensor.bytes, 0, None, None, out)
        return 0

    return capi.Handle(loader, "texture", open)


class Texture:
    """Texels that a kernel reads, writes and samples: an array's memory, or with mipmaps a copy with all levels."""

    def __init__(self, array: Any, format: Optional[str] = None, *, type: Optional[str] = None, mipmaps: bool = False, width: Optional[int] = None,
                 height: Optional[int] = None, depth: int = 1, array_length: int = 1, levels: int = 1) -> None:  # fmt: skip
        loader = capi.loader()
        sizes: dict[str, Any] = {"width": width, "height": height, "depth": depth, "array_length": array_length, "levels": levels}
        number = c.c_uint32()
        facts = capi.PixelFormatInfo()
        if format is not None:
            check_at("Texture", loader.pixel_format_named, format.encode(), len(format.encode()), c.byref(number))
            capi.check(loader.pixel_format_get_info(number, c.byref(facts)))
        if type is not None and type.partition("<")[0].replace("depth", "texture") not in _TYPES:
            fail("invalid_argument", f"Texture: '{type}' is no type; want texture2d, texture3d, texturecube, depth2d, ...")
        tensor = take(array, 0)
        if tensor is None:
            fail("argument_type", f"Texture: want an array (buffer protocol, DLPack or __array_interface__), got {array.__class__.__name__}")
        assert tensor is not None
        self._tensor: Optional[Tensor] = tensor
        self._array = array
        self.writable = tensor.writable
        self.is_compressed = facts.block_width > 1
        if self.is_compressed:
            self.handle = _over_blocks(tensor, number.value, str(format), type, sizes)
            if mipmaps:
                capi.check(loader.texture_generate_mipmaps(self.handle.pointer))  # says why not
        elif sizes != {"width": None, "height": None, "depth": 1, "array_length": 1, "levels": 1}:
            fail("invalid_argument", "Texture: sizes are for compressed formats; of others the array's shape says them")
        else:
            self.handle = _over(tensor, "Texture", type, number.value)
            if mipmaps:
                self._copy_with_levels()
        info = self._info()
        self.type: str = _TYPES[info.type]
        capi.check(loader.pixel_format_get_info(info.pixel_format, c.byref(facts)))
        self.format: str = capi.text_at(facts.name, facts.name_length)
        self._element, self._channels = facts.element, facts.channels
        self._block = (facts.block_width, facts.block_height)
        self.width: int = info.width
        self.height: int = info.height
        self.depth: int = info.depth
        self.array_length: int = info.array_length
        self.levels: int = info.levels
        self.samples: int = info.samples
        self._layers: int = info.layers

    def __del__(self) -> None:
        if getattr(self, "_tensor", None) is not None:
            self._tensor.release()  # type: ignore[union-attr]

    def __repr__(self) -> str:
        return f"<smelt.Texture {self.type} {self.format} of {self.width} x {self.height} x {max(self.depth, self._layers)}>"

    def _info(self) -> capi.TextureInfo:
        info = capi.TextureInfo()
        capi.check(capi.loader().texture_get_info(self.handle.pointer, c.byref(info)))
        return info

    def _part(self, level: int, layer: int) -> capi.TexturePart:
        part = capi.TexturePart()
        capi.check(capi.loader().texture_get_part(self.handle.pointer, level, layer, c.byref(part)))
        return part

    def _copy_with_levels(self) -> None:
        loader = capi.loader()
        info = self._info()
        sources = [self._part(0, layer) for layer in range(info.layers)]
        options = capi.TextureOptions(**{field[0]: getattr(info, field[0]) for field in capi.TextureOptions._fields_[1:]})
        options.levels = max(info.width, info.height, info.depth).bit_length()
        before = self.handle
        self.handle = capi.Handle(loader, "texture", lambda out: loader.texture_create(c.byref(options), out))
        for layer, source in enumerate(sources):
            into = self._part(0, layer)
            for row in range(into.height * into.depth):
                c.memmove(into.data + row * into.row_bytes, source.data + row * source.row_bytes, into.row_bytes)
        capi.check(loader.texture_generate_mipmaps(self.handle.pointer))
        del before
        if self._tensor is not None:
            self._tensor.release()
        self._tensor = self._array = None
        self.writable = True

    def level(self, level: int = 0, layer: int = 0) -> Any:
        """Its texels, as an object that numpy.asarray takes."""
        return _Level(self, self._part(level, layer))


class _Level:
    def __init__(self, texture: Texture, part: capi.TexturePart) -> None:
        self._texture = texture
        item = _SIZES[texture._element]
        texel = item * max(texture._channels, 1)
        lengths = [(part.depth, part.slice_bytes)] if texture.type == "texture3d" else []
        if texture.type not in ("texture1d", "texture1d_array", "texture_buffer"):
            lengths.append((-(-part.height // texture._block[1]), part.row_bytes))
        lengths.append((-(-part.width // texture._block[0]), texel * texture.samples))
        if texture.samples > 1:
            lengths.append((texture.samples, texel))
        if texture._channels > 1:
            lengths.append((texture._channels, item))
        kind = {"e": "f", "f": "f", "?": "b"}.get(_LETTERS[texture._element], "i" if _LETTERS[texture._element].islower() else "u")
        self.__array_interface__ = {"version": 3, "shape": tuple(length for length, _ in lengths), "strides": tuple(stride for _, stride in lengths),
                                    "typestr": f"<{kind}{item}", "data": (part.data, not texture.writable)}  # fmt: skip


class Sampler:
    """How a kernel samples, in the words of Metal source: Sampler("filter::linear, lod_clamp(0, 2)"), Sampler(filter="linear", lod_clamp=(0, 2))."""

    def __init__(self, words: str = "", **states: Any) -> None:
        parts = [words] if words else []
        for name, value in states.items():
            if isinstance(value, str):
                parts.append(f"{name}::{value}")
            else:
                parts.append(f"{name}({', '.join(str(one) for one in (value if isinstance(value, (list, tuple)) else [value]))})")
        self._words = ", ".join(parts)
        encoded = self._words.encode()
        self.handle = capi.Handle(capi.loader(), "sampler", lambda out: capi.loader().sampler_parse(encoded, len(encoded), out))

    def __repr__(self) -> str:
        return f"<smelt.Sampler '{self._words}'>"


def is_image(argument: dict[str, Any]) -> bool:
    return argument["kind"] in ("texture", "sampler")


class TextureArguments:
    """Textures and samplers of one call."""

    def __init__(self) -> None:
        self.binding: list[tuple[str, int, capi.Handle]] = []  # "texture" or "sampler", slot
        self.written: Optional[list[int]] = None  # how large the first texture is that the kernel writes to
        self._tensors: list[Tensor] = []

    def release(self) -> None:
        for tensor in self._tensors:
            tensor.release()

    def bind(self, argument: dict[str, Any], value: Any, position: int) -> None:
        place = f"argument {position} '{argument['name']}' ({argument['type_name']})"
        if value is None:
            if not argument["conditional"]:
                fail("argument_type", f"{place}: None is for an argument that a function constant takes away, and this one is always there")
            return
        count = argument["array_size"]
        values = [value]
        if count != 1:
            if not isinstance(value, (list, tuple)) or len(value) != count:
                got = f"one of {len(value)}" if isinstance(value, (list, tuple)) else type(value).__name__
                fail("argument_mismatch", f"{place}: an array of {count}; want a list of as many, got {got}")
            values = list(value)
        for i, one in enumerate(values):
            self._bind_slot(argument, argument["index"] + i, one, place)

    def _bind_slot(self, argument: dict[str, Any], slot: int, value: Any, place: str) -> None:
        if argument["kind"] == "sampler":
            if not isinstance(value, Sampler):
                fail("argument_type", f"{place}: want a smelt.Sampler, got {type(value).__name__}")
            self.binding.append(("sampler", slot, value.handle))
            return
        if isinstance(value, Texture):
            # A launch says of blocks that kernels cannot write them at all.
            writable, handle = value.writable or value.is_compressed, value.handle
        else:
            tensor = take(value, int(place.split()[1]))
            if tensor is None:
                fail("argument_type", f"{place}: want a smelt.Texture or an array (buffer protocol, DLPack or __array_interface__), got {type(value).__name__}")
            assert tensor is not None
            self._tensors.append(tensor)
            writable = tensor.writable
            handle = None
        if argument["writes"] and not writable:
            fail("argument_type", f"{place}: the kernel writes to it, and the {type(value).__name__} gives out what may not be written; pass an array of its own "
                 "(numpy.array)")  # fmt: skip
        if handle is None:
            handle = _over(self._tensors[-1], place, argument["type_name"], 0)
        if argument["writes"] and self.written is None:
            self.written = _grid_of(handle)
        self.binding.append(("texture", slot, handle))


def _grid_of(handle: capi.Handle) -> list[int]:
    info = capi.TextureInfo()
    capi.check(capi.loader().texture_get_info(handle.pointer, c.byref(info)))
    name = _TYPES[info.type]
    if name in ("texture1d", "texture_buffer"):
        return [info.width]
    if name == "texture1d_array":
        return [info.width, info.layers]
    if name in ("texture2d", "texture2d_ms"):
        return [info.width, info.height]
    return [info.width, info.height, info.depth if name == "texture3d" else info.layers]
