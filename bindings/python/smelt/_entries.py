# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys, tags and facts about the entries of a store, for both editions."""

from __future__ import annotations

from typing import NamedTuple


def shown(text: str) -> str:
    """Escape control characters as \\xNN, so that names from untrusted files cannot control the terminal."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


class Key(str):
    """A key of the store: a string of 64 hexadecimal digits. ``load_metallib`` treats it as a key, not as a path."""


class Tag(NamedTuple):
    name: str
    version: str
    key: str
    moved: int
    """Seconds since 1970."""


class EntryFacts(NamedTuple):
    key: str
    bytes: int
    created: int
    """Seconds since 1970."""
    used_hour: int
    """Hours since 1970."""
    cost_us: int
