# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shared by all readers: errors with codes, and reads that check bounds."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from typing import Any, NoReturn

from .. import errors

Bytes = memoryview


def fail(code: str, message: str, subject: str = "") -> NoReturn:
    raise errors.from_code(code, message, subject)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "a str": lambda value: isinstance(value, str),
    "a number": lambda value: isinstance(value, (int, float)),
    "a whole number": lambda value: isinstance(value, int) and value >= 0,
    "a sequence of str": lambda value: isinstance(value, (str, os.PathLike)) or all(isinstance(one, (str, os.PathLike)) for one in value),
}


def check_kinds(kind: str, **values: object) -> None:
    """Raise an error unless each of the values is None or of this kind. The names are those of keyword arguments."""
    for name, value in values.items():
        try:
            fits = value is None or _KINDS[kind](value)
        except TypeError:
            fits = False
        if not fits:
            fail("invalid_argument", f"{name}: want {kind}, got {value!r}")


def sha256(data: bytes | memoryview) -> str:
    return hashlib.sha256(data).hexdigest()


def u16(data: memoryview, at: int) -> int:
    return int.from_bytes(data[at : at + 2], "little")


def u32(data: memoryview, at: int) -> int:
    return int.from_bytes(data[at : at + 4], "little")


def u64(data: memoryview, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def is_zero(data: memoryview) -> bool:
    return not any(data)


class Cursor:
    """Reads bytes from front to back. Reading past the end is the error `truncated`, as in the C++ readers."""

    def __init__(self, data: memoryview, what: str, base: int = 0) -> None:
        self.data = data
        self.what = what
        self.base = base
        self.at = 0

    @property
    def offset(self) -> int:
        return self.base + self.at

    @property
    def left(self) -> int:
        return len(self.data) - self.at

    def take(self, count: int) -> memoryview:
        if count > self.left:
            fail("truncated", f"{self.what}: want {count} bytes at byte {self.offset}, {self.left} are left")
        self.at += count
        return self.data[self.at - count : self.at]

    def number(self, count: int) -> int:
        return int.from_bytes(self.take(count), "little")

    def cstring(self) -> bytes:
        rest = bytes(self.data[self.at :])
        end = rest.find(b"\0")
        if end < 0:
            fail("corrupt", f"{self.what}: text at byte {self.offset} has no end")
        self.at += end + 1
        return rest[:end]


def text(data: bytes | memoryview, what: str) -> str:
    try:
        return str(data, "utf-8")
    except UnicodeDecodeError:
        fail("corrupt", f"{what} is not UTF-8")


def read_file(path: str | os.PathLike[str], what: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        fail("file_not_found", f"{what}: no file {os.fspath(path)!r}", os.fspath(path))
    except OSError as error:
        fail("io", f"{what}: {os.fspath(path)}: {error.strerror}", os.fspath(path))
