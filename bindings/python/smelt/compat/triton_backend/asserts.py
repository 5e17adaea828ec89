# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Supports tl.device_assert: reads the messages from the text of Triton's IR, and makes the exception for a failed assertion of a launch."""

from __future__ import annotations

import re
from typing import Any

_ASSERT = re.compile(r'\btt\.assert [^\n]*?"((?:[^"\\]|\\.)*)"[^\n]*?loc\(([^\n]*)\)')
_ALIAS = re.compile(r"^(#loc\d*) = loc\((.*)\)$", re.MULTILINE)
_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+):\d+')
_NAME = re.compile(r"#loc\d*")
_ESCAPE = re.compile(r"\\([0-9A-Fa-f]{2}|.)")
_MOST_HOPS = 16
NO_LINE = 0xFFFFFFFF


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if len(found[1]) == 2 else {"n": "\n", "t": "\t"}.get(found[1], found[1]), text)


def _place(location: str, aliases: dict[str, str]) -> tuple[str, int]:
    """Return the file and line of the innermost place that a location names."""
    for _ in range(_MOST_HOPS):
        place, alias = _PLACE.search(location), _NAME.search(location)
        if place and (not alias or place.start() < alias.start()):
            return _unescaped(place[1]), int(place[2])
        if not alias or alias[0] not in aliases:
            break
        location = aliases[alias[0]]
    return "", 0


def asserts_of(text: str) -> list[list[Any]]:
    """Return [message, file, line] of each tt.assert in the text of a module of Triton's IR. File and line are "" and 0 if the IR names no place."""
    aliases = dict(_ALIAS.findall(text))
    return [[_unescaped(message), *_place(location, aliases)] for message, location in _ASSERT.findall(text)]


def failure(kernel: str, line: int, asserts: list[Any]) -> RuntimeError:
    """Make the error that a launch raises if the kernel reported this line."""
    found = [one for one in asserts if one[2] == line] or asserts
    said = " or ".join(f"{message!r} ({file}:{at})" if at else repr(message) for message, file, at in found)
    where = "" if line == NO_LINE or any(one[2] == line for one in asserts) else f", line {line}"
    return RuntimeError(f"device_assert failed in kernel {kernel}{where}: {said or 'no message'}")
