# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Decompresses zstd, the compression of entries, with Python 3.14's module or the package zstandard (``smelt[store]``)."""

from __future__ import annotations

import functools
import importlib
from typing import Any, Callable, Iterator

from .files import fail


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


def _of_python(zstd: Any, data: bytes) -> _Pieces:
    made = zstd.ZstdDecompressor()
    yield made.decompress(data, _PIECE)
    while not made.eof:
        piece = made.decompress(b"", _PIECE)
        if not piece and made.needs_input:
            raise ValueError("a frame that is cut")
        yield piece
    if made.unused_data:
        raise ValueError("bytes behind the frame")


def _of_zstandard(zstandard: Any, data: bytes) -> _Pieces:
    reader = zstandard.ZstdDecompressor().stream_reader(data)
    while piece := reader.read(_PIECE):
        yield piece


@functools.lru_cache(None)
def _unpacker() -> Callable[[bytes], _Pieces]:
    for name, unpack in (("compression.zstd", _of_python), ("zstandard", _of_zstandard)):
        try:
            return functools.partial(unpack, importlib.import_module(name))
        except ImportError:
            continue
    fail("toolchain_missing", "this entry is compressed by zstd, which Python has from 3.14 on: pip install 'smelt[store]' brings the package zstandard")


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
        except Exception as error:  # each of the two has its own
            fail("corrupt", f"{what} does not unpack: {error}")
        if piece is None:
            break
        found += piece
        if len(found) > size:
            break
    if len(found) != size:
        fail("corrupt", f"{what} does not unpack to the size in its record")
    return bytes(found)
