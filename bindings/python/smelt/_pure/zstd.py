# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompresses zstd, the compression of entries on remotes, with the first of these that exists:
Python 3.14's module, the package zstandard, the system's libzstd, pure Python."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable, Iterator

from . import unzstd
from .files import fail

_LIBRARIES = ("libzstd.so.1", "libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib", "/usr/local/lib/libzstd.1.dylib", "/opt/local/lib/libzstd.1.dylib")


def frame_size(data: bytes) -> int | None:
    """Return the decompressed size that a frame states; None if the data is not a frame, or states no size."""
    if len(data) < 6 or data[:4] != b"\x28\xb5\x2f\xfd":
        return None
    descriptor = data[4]
    single = descriptor >> 5 & 1
    size = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    at = 5 + (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3]
    if not size or len(data) < at + size:
        return None
    return int.from_bytes(data[at : at + size], "little") + (256 if size == 2 else 0)


_Pieces = Iterator[bytes]
_PIECE = 1 << 20  # bytes, at most, that are unpacked before whoever waits is asked again


def _of_python() -> Callable[[bytes], _Pieces] | None:
    try:
        zstd: Any = importlib.import_module("compression.zstd")
    except ImportError:
        return None

    def unpack(data: bytes) -> _Pieces:
        made = zstd.ZstdDecompressor()
        yield made.decompress(data, _PIECE)
        while not made.eof:
            piece = made.decompress(b"", _PIECE)
            if not piece and made.needs_input:
                raise ValueError("a frame that is cut")
            yield piece
        if made.unused_data:
            raise ValueError("bytes behind the frame")

    return unpack


def _of_zstandard() -> Callable[[bytes], _Pieces] | None:
    try:
        zstandard: Any = importlib.import_module("zstandard")
    except ImportError:
        return None

    def unpack(data: bytes) -> _Pieces:
        reader = zstandard.ZstdDecompressor().stream_reader(data)
        while piece := reader.read(_PIECE):
            yield piece

    return unpack


def _of_library() -> Callable[[bytes], _Pieces] | None:
    import ctypes

    class Buffer(ctypes.Structure):  # ZSTD_inBuffer and ZSTD_outBuffer
        _fields_ = [("at", ctypes.c_char_p), ("size", ctypes.c_size_t), ("used", ctypes.c_size_t)]

    for name in _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.ZSTD_createDStream.restype = ctypes.c_void_p
        library.ZSTD_freeDStream.argtypes = [ctypes.c_void_p]
        library.ZSTD_decompressStream.restype = ctypes.c_size_t
        library.ZSTD_decompressStream.argtypes = [ctypes.c_void_p, ctypes.POINTER(Buffer), ctypes.POINTER(Buffer)]

        def unpack(data: bytes) -> _Pieces:
            stream, room = library.ZSTD_createDStream(), ctypes.create_string_buffer(_PIECE)
            given = Buffer(data, len(data), 0)
            try:
                left = 1
                while left:
                    made = Buffer(ctypes.cast(room, ctypes.c_char_p), _PIECE, 0)
                    left = library.ZSTD_decompressStream(stream, made, given)
                    if left > 1 << 63 or (left and not made.used and given.used == given.size):  # an error is a number below zero
                        raise ValueError("a frame that is damaged or cut")
                    yield room.raw[: made.used]
            finally:
                library.ZSTD_freeDStream(stream)
            if given.used != given.size:
                raise ValueError("bytes behind the frame")

        return unpack
    return None


@functools.lru_cache(None)
def _unpacker() -> Callable[[bytes], _Pieces]:
    return _of_python() or _of_zstandard() or _of_library() or unzstd.pieces


def decompress(data: bytes | memoryview, size: int, what: str, may_go_on: Callable[[], None] = lambda: None) -> bytes:
    """Decompress a frame of `size` bytes. Callers must check a checksum of the result, because not all damage is found here.

    `may_go_on` is called before each MiB. It may raise an error to stop, because a few kilobytes can decompress to 256 MiB.
    """
    data = bytes(data)
    if frame_size(data) != size:
        fail("corrupt", f"{what} announces another size than its record")
    found = bytearray()
    pieces = _unpacker()(data)
    while True:
        may_go_on()
        try:
            piece = next(pieces, None)
        except Exception as error:  # each of the four has its own
            fail("corrupt", f"{what} does not unpack: {error}")
        if piece is None:
            break
        found += piece
        if len(found) > size:
            break
    if len(found) != size:
        fail("corrupt", f"{what} does not unpack to the size in its record")
    return bytes(found)
