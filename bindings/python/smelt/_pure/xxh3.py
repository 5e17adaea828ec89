# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""XXH3-128 with seed 0, the checksum of a store's records (the algorithm: https://github.com/Cyan4973/xxHash/blob/dev/doc/xxhash_spec.md).
It is slow, so it is used only for records, which have a few hundred bytes; larger parts have a SHA-256."""

from __future__ import annotations

_M32 = 0xFFFFFFFF
_M64 = 0xFFFFFFFFFFFFFFFF
_P32_1, _P32_2, _P32_3 = 0x9E3779B1, 0x85EBCA77, 0xC2B2AE3D
_P1, _P2, _P3, _P4, _P5 = (0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x85EBCA77C2B2AE63, 0x27D4EB2F165667C5)
_MX1, _MX2 = 0x165667919E3779F9, 0x9FB21C651E98DF25
_SECRET = bytes.fromhex(
    "b8fe6c3923a44bbe7c01812cf721ad1cded46de9839097db7240a4a4b7b3671fcb79e64eccc0e578825ad07dccff7221b8084674f743248ee03590e6813a264c"
    "3c2852bb91c300cb88d0658b1b532ea371644897a20df94e3819ef46a9deacd8a8fa763fe39c343ff9dcbbc7c70b4f1d8a51e04bcdb45931c89f7ec9d9787364"
    "eac5ac8334d3ebc3c581a0fffa1363eb170ddd51b7f0da49d316552629d4689e2b16be587d47a1fc8ff8b8d17ad031ce45cb3a8f95160428afd7fbcabb4b407e"
)


def _u32(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def _u64(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _swap32(x: int) -> int:
    return int.from_bytes(x.to_bytes(4, "little"), "big")


def _swap64(x: int) -> int:
    return int.from_bytes(x.to_bytes(8, "little"), "big")


def _avalanche(h: int) -> int:
    h ^= h >> 37
    h = h * _MX1 & _M64
    return h ^ h >> 32


def _avalanche64(h: int) -> int:
    h ^= h >> 33
    h = h * _P2 & _M64
    h ^= h >> 29
    h = h * _P3 & _M64
    return h ^ h >> 32


def _fold(a: int, b: int) -> int:
    product = a * b
    return (product ^ product >> 64) & _M64


def _mix16(data: bytes, at: int, secret: int) -> int:
    return _fold(_u64(data, at) ^ _u64(_SECRET, secret), _u64(data, at + 8) ^ _u64(_SECRET, secret + 8))


def _mix32(low: int, high: int, data: bytes, a: int, b: int, secret: int) -> tuple[int, int]:
    low = (low + _mix16(data, a, secret) & _M64) ^ (_u64(data, b) + _u64(data, b + 8) & _M64)
    high = (high + _mix16(data, b, secret + 16) & _M64) ^ (_u64(data, a) + _u64(data, a + 8) & _M64)
    return low, high


def _up_to_16(data: bytes) -> tuple[int, int]:
    n = len(data)
    if not n:
        return (_avalanche64(_u64(_SECRET, 64) ^ _u64(_SECRET, 72)), _avalanche64(_u64(_SECRET, 80) ^ _u64(_SECRET, 88)))
    if n <= 3:
        low = data[0] << 16 | data[n >> 1] << 24 | data[-1] | n << 8
        swapped = _swap32(low)
        high = (swapped << 13 | swapped >> 19) & _M32
        return (_avalanche64(low ^ _u32(_SECRET, 0) ^ _u32(_SECRET, 4)), _avalanche64(high ^ _u32(_SECRET, 8) ^ _u32(_SECRET, 12)))
    if n <= 8:
        keyed = (_u32(data, 0) | _u32(data, n - 4) << 32) ^ _u64(_SECRET, 16) ^ _u64(_SECRET, 24)
        product = keyed * (_P1 + (n << 2) & _M64)
        low, high = product & _M64, product >> 64
        high = high + (low << 1) & _M64
        low ^= high >> 3
        low ^= low >> 35
        low = low * _MX2 & _M64
        low ^= low >> 28
        return low, _avalanche(high)
    flip_low, flip_high = _u64(_SECRET, 32) ^ _u64(_SECRET, 40), _u64(_SECRET, 48) ^ _u64(_SECRET, 56)
    first, last = _u64(data, 0), _u64(data, n - 8)
    product = (first ^ last ^ flip_low) * _P1
    low, high = product & _M64, product >> 64
    low = low + ((n - 1) << 54) & _M64
    last ^= flip_high
    high = high + last + (last & _M32) * (_P32_2 - 1) & _M64
    low ^= _swap64(high)
    product = low * _P2
    return _avalanche(product & _M64), _avalanche((product >> 64) + high * _P2 & _M64)


def _finish_middle(low: int, high: int, n: int) -> tuple[int, int]:
    total = low + high & _M64
    rest = low * _P1 + high * _P4 + n * _P2 & _M64
    return _avalanche(total), -_avalanche(rest) & _M64


def _up_to_240(data: bytes) -> tuple[int, int]:
    n = len(data)
    low, high = n * _P1 & _M64, 0
    if n <= 128:
        for i in range((n - 1) // 32, -1, -1):
            low, high = _mix32(low, high, data, 16 * i, n - 16 * (i + 1), 32 * i)
        return _finish_middle(low, high, n)
    for i in range(4):
        low, high = _mix32(low, high, data, 32 * i, 32 * i + 16, 32 * i)
    low, high = _avalanche(low), _avalanche(high)
    for i in range(4, n // 32):
        low, high = _mix32(low, high, data, 32 * i, 32 * i + 16, 3 + 32 * (i - 4))
    low, high = _mix32(low, high, data, n - 16, n - 32, 136 - 17 - 16)
    return _finish_middle(low, high, n)


def _stripe(lanes: list[int], data: bytes, at: int, secret: int) -> None:
    for i in range(8):
        value = _u64(data, at + 8 * i)
        key = value ^ _u64(_SECRET, secret + 8 * i)
        lanes[i ^ 1] = lanes[i ^ 1] + value & _M64
        lanes[i] = lanes[i] + (key & _M32) * (key >> 32) & _M64


def _merge(lanes: list[int], secret: int, start: int) -> int:
    total = start
    for i in range(4):
        total += _fold(lanes[2 * i] ^ _u64(_SECRET, secret + 16 * i), lanes[2 * i + 1] ^ _u64(_SECRET, secret + 16 * i + 8))
    return _avalanche(total & _M64)


def _long(data: bytes) -> tuple[int, int]:
    n = len(data)
    lanes = [_P32_3, _P1, _P2, _P3, _P4, _P32_2, _P5, _P32_1]
    per_block = (len(_SECRET) - 64) // 8
    block = 64 * per_block
    blocks = (n - 1) // block
    for b in range(blocks):
        for s in range(per_block):
            _stripe(lanes, data, b * block + 64 * s, 8 * s)
        for i in range(8):
            lane = lanes[i]
            lanes[i] = ((lane ^ lane >> 47) ^ _u64(_SECRET, len(_SECRET) - 64 + 8 * i)) * _P32_1 & _M64
    for s in range((n - 1 - blocks * block) // 64):
        _stripe(lanes, data, blocks * block + 64 * s, 8 * s)
    _stripe(lanes, data, n - 64, len(_SECRET) - 64 - 7)
    low = _merge(lanes, 11, n * _P1 & _M64)
    high = _merge(lanes, len(_SECRET) - 64 - 11, ~(n * _P2) & _M64)
    return low, high


def xxh3_128(data: bytes | memoryview) -> bytes:
    """Return the hash in its canonical form: big-endian, the high half first."""
    data = bytes(data)
    low, high = _up_to_16(data) if len(data) <= 16 else _up_to_240(data) if len(data) <= 240 else _long(data)
    return high.to_bytes(8, "big") + low.to_bytes(8, "big")
