# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads arguments that several functions have: ``checked`` (docs/reference/python.md, docs/guide/races.md) and Metal versions."""

import os

import smelt

_BITS = {"memory": 1, "races": 2, "init": 4, "sync": 8}
_ALL = 15


def bits(checked: object) -> int:
    """Return the checks as the bits that the compiled modules use. True is all checks; False and None are SMELT_CHECK."""
    if checked is None or checked is False or checked == "":
        words = os.environ.get("SMELT_CHECK", "")
        return _of_words(words, "SMELT_CHECK") if words else 0
    if isinstance(checked, str):
        return _of_words(checked, "checked")
    if isinstance(checked, (list, tuple, set, frozenset)):
        return _of_words(",".join(str(word) for word in checked), "checked")
    if isinstance(checked, int) and not isinstance(checked, bool):
        return checked & _ALL
    return _ALL


def _of_words(text: str, where: str) -> int:
    if text in ("none", "0"):
        return 0
    if text in ("all", "1", "true"):
        return _ALL
    found = 0
    for word in text.split(","):
        bit = _BITS.get(word.strip())
        if bit is None:
            raise smelt.ArgumentError(f"{where} {text!r}: {word!r} is not a check; want memory, races, init, sync, all or none")
        found |= bit
    return found | 1


def metal_version(metal: object, what: str = "metal") -> "tuple[int, int] | None":
    """Return a Metal version, given as "3.1", "metal3.1" or (3, 1), as a tuple of major and minor; None if none is given."""
    if metal is None:
        return None
    try:
        if isinstance(metal, str):
            major, minor = metal.removeprefix("metal").split(".")
            return int(major), int(minor)
        if isinstance(metal, tuple):
            major, minor = metal
            return int(major), int(minor)
    except ValueError:
        pass
    want = "a pair of numbers" if isinstance(metal, tuple) else "a version such as '3.1'"
    raise smelt.ArgumentError(f"{what}: want {want}, got {metal!r}")
