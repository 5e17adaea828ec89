# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""zstd, by what there is: Python's own (3.14), the package zstandard, the machine's libzstd, else in Python. Entries of remotes are packed with it."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable

from . import unzstd
from .files import fail

_LIBRARIES = ("libzstd.so.1", "libzstd.1.dylib", "/opt/homebrew/lib/libzstd.1.dylib", "/usr/local/lib/libzstd.1.dylib", "/opt/local/lib/libzstd.1.dylib")


def frame_size(data: bytes) -> int | None:
    """Bytes that a frame says it unpacks to; None when it is no frame, or does not say."""
    if len(data) < 6 or data[:4] != b"\x28\xb5\x2f\xfd":
        return None
    descriptor = data[4]
    single = descriptor >> 5 & 1
    size = (1 if single else 0, 2, 4, 8)[descriptor >> 6]
    at = 5 + (0 if single else 1) + (0, 1, 2, 4)[descriptor & 3]
    if not size or len(data) < at + size:
        return None
    return int.from_bytes(data[at : at + size], "little") + (256 if size == 2 else 0)


def _of_python() -> Callable[[bytes, int], bytes] | None:
    try:
        zstd: Any = importlib.import_module("compression.zstd")
    except ImportError:
        return None

    def unpack(data: bytes, size: int) -> bytes:
        # A byte more than there may be: what unpacks to more is seen without unpacking all of it.
        made = zstd.ZstdDecompressor()
        found: bytes = made.decompress(data, size + 1)
        return found if made.eof and not made.unused_data else b""

    return unpack


def _of_zstandard() -> Callable[[bytes, int], bytes] | None:
    try:
        zstandard: Any = importlib.import_module("zstandard")
    except ImportError:
        return None

    def unpack(data: bytes, size: int) -> bytes:
        return bytes(zstandard.ZstdDecompressor().decompress(data, max_output_size=size))

    return unpack


def _of_library() -> Callable[[bytes, int], bytes] | None:
    import ctypes

    for name in _LIBRARIES:
        try:
            library = ctypes.CDLL(name)
        except OSError:
            continue
        library.ZSTD_decompress.restype = ctypes.c_size_t
        library.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]

        def unpack(data: bytes, size: int) -> bytes:
            room = ctypes.create_string_buffer(size or 1)
            return room.raw[:size] if library.ZSTD_decompress(room, size, data, len(data)) == size else b""

        return unpack
    return None


@functools.lru_cache(None)
def _unpacker() -> Callable[[bytes, int], bytes]:
    return _of_python() or _of_zstandard() or _of_library() or unzstd.decompress


def decompress(data: bytes | memoryview, size: int, what: str) -> bytes:
    """`size` bytes; whoever asks knows how many there are to be. Other damage is for his checksum to find."""
    data = bytes(data)
    if frame_size(data) != size:
        fail("corrupt", f"{what} announces another size than its record")
    try:
        found = _unpacker()(data, size)
    except Exception as error:  # each of the four has its own
        fail("corrupt", f"{what} does not unpack: {error}")
    if len(found) != size:
        fail("corrupt", f"{what} does not unpack to the size in its record")
    return found
