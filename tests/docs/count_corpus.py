#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Counts the Apple-built libraries and modules that the tests read: the figures of docs/reference/evidence.md, "Inputs".

A module is a bitcode wrapper of 20 bytes (docs/formats/metallib.md 7) with bitcode in it; two are one when the bitcode is.
"""

from __future__ import annotations

import hashlib
import os
import pathlib
import struct

ROOT = pathlib.Path(__file__).resolve().parents[2]
WRAPPER = bytes.fromhex("dec0170b")
BITCODE = bytes.fromhex("4243c0de")


def modules(library: bytes) -> set[bytes]:
    found, at = set(), library.find(WRAPPER)
    while at >= 0:
        if at + 24 <= len(library):
            offset, size = struct.unpack_from("<II", library, at + 8)
            bitcode = library[at + offset : at + offset + size]
            if offset == 20 and len(bitcode) == size and bitcode.startswith(BITCODE):
                found.add(hashlib.sha256(bitcode).digest())
        at = library.find(WRAPPER, at + 4)
    return found


def count(name: str, folders: list[pathlib.Path]) -> None:
    files = [path for folder in folders for path in sorted(folder.rglob("*.metallib"))]
    libraries = {path.read_bytes() for path in files}
    distinct = set().union(*(modules(library) for library in libraries)) if libraries else set()
    print(f"{name}: {len(files)} files, {len(libraries)} distinct, {len(distinct):,} distinct modules")


def main() -> None:
    shared = ROOT / "tests/data/metallibs"
    corpus = pathlib.Path(os.environ.get("SMELT_CORPUS", ROOT / "build/corpus"))
    count("fixtures", [shared])
    count("npm", [corpus])
    count("together", [shared, corpus])


if __name__ == "__main__":
    main()
