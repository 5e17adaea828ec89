# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks Ed25519 signatures (RFC 8032). It makes none, so it handles no secret data and need not run in constant time. Points are added in
extended coordinates, with formulas that are valid for every pair of points of the curve. A check takes a few milliseconds."""

from __future__ import annotations

import hashlib

_P = 2**255 - 19
_Q = 2**252 + 27742317777372353535851937790883648493
_D = -121665 * pow(121666, _P - 2, _P) % _P
_ROOT = pow(2, (_P - 1) // 4, _P)  # of -1

_Point = tuple[int, int, int, int]  # X, Y, Z, T with x = X/Z, y = Y/Z, xy = T/Z

# The points whose order divides 8 by their y: as many words for nobody's key (signing/src/ed25519.cpp refuses the same).
_SMALL_ORDER = frozenset(
    int.from_bytes(bytes.fromhex(one), "little")
    for one in (
        "0100000000000000000000000000000000000000000000000000000000000000",
        "ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f",
        "0000000000000000000000000000000000000000000000000000000000000000",
        "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05",
        "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a",
    )
)


def _add(a: _Point, b: _Point) -> _Point:
    m = (a[1] - a[0]) * (b[1] - b[0]) % _P
    n = (a[1] + a[0]) * (b[1] + b[0]) % _P
    c = 2 * a[3] * b[3] * _D % _P
    d = 2 * a[2] * b[2] % _P
    e, f, g, h = n - m, d - c, d + c, n + m
    return e * f % _P, g * h % _P, f * g % _P, e * h % _P


def _times(scalar: int, point: _Point) -> _Point:
    result: _Point = (0, 1, 1, 0)
    while scalar:
        if scalar & 1:
            result = _add(result, point)
        point = _add(point, point)
        scalar >>= 1
    return result


def _x_of(y: int, sign: int) -> int | None:
    """Return the x coordinate of the point with this y and this lowest bit of x; None if the curve has no such point."""
    square = (y * y - 1) * pow(_D * y * y + 1, _P - 2, _P) % _P
    x = pow(square, (_P + 3) // 8, _P)
    if (x * x - square) % _P:
        x = x * _ROOT % _P
    if (x * x - square) % _P or (not x and sign):
        return None
    return _P - x if x & 1 != sign else x


def _decode(data: bytes) -> _Point | None:
    number = int.from_bytes(data, "little")
    y, sign = number & (1 << 255) - 1, number >> 255
    if y >= _P:
        return None
    x = _x_of(y, sign)
    return None if x is None else (x, y, 1, x * y % _P)


_BASE_Y = 4 * pow(5, _P - 2, _P) % _P
_BASE_X = _x_of(_BASE_Y, 0) or 0
_BASE: _Point = (_BASE_X, _BASE_Y, 1, _BASE_X * _BASE_Y % _P)


def why_no_key(key: bytes) -> str:
    """Return why 32 bytes are not a valid public key, or an empty string if they are one."""
    y = int.from_bytes(key, "little") & (1 << 255) - 1
    if y >= _P:
        return "another spelling of a point that has one already"
    if y in _SMALL_ORDER:
        return "a point of small order, under which anybody's signature holds"
    return ""


def _encode(point: _Point) -> bytes:
    inverse = pow(point[2], _P - 2, _P)
    x, y = point[0] * inverse % _P, point[1] * inverse % _P
    return (y | (x & 1) << 255).to_bytes(32, "little")


def verify(key: bytes, message: bytes, signature: bytes) -> bool:
    if len(key) != 32 or len(signature) != 64 or why_no_key(key):
        return False
    point = _decode(key)
    scalar = int.from_bytes(signature[32:], "little")
    if point is None or scalar >= _Q:
        return False
    challenge = int.from_bytes(hashlib.sha512(signature[:32] + key + message).digest(), "little") % _Q
    # [S]B - [k]A must be R, and be spelled as R is: without the cofactor, as nettle does it.
    minus = (_P - point[0], point[1], 1, _P - point[3])
    return _encode(_add(_times(scalar, _BASE), _times(challenge, minus))) == signature[:32]
