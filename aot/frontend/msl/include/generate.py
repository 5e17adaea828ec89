#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes smelt/swizzles2.h, swizzles3.h and swizzles4.h beside itself: one line per swizzle of a vector.

Run it after a change and commit what it writes. `--check` writes nothing and fails when a file is out of date.
"""
import itertools
import pathlib
import sys

LETTERS, COLOURS = "xyzw", "rgba"


def swizzles(width):
    lines = [
        "/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */",
        f"// Swizzles of vectors of {width}. Written by generate.py; read by smelt/vector.h.",
        "// clang-format off",
    ]
    for count in (2, 3, 4):
        for picked in itertools.product(range(width), repeat=count):
            kind = "WRITE" if len(set(picked)) == count else "READ"
            name = "".join(LETTERS[i] for i in picked)
            colours = "".join(COLOURS[i] for i in picked)
            lines.append(f"__SMELT_{kind}({count}, {name}, {colours}, {', '.join(map(str, picked))})")
    return "\n".join(lines) + "\n"


def main():
    folder = pathlib.Path(__file__).resolve().parent / "smelt"
    stale = []
    for width in (2, 3, 4):
        path, text = folder / f"swizzles{width}.h", swizzles(width)
        if "--check" in sys.argv[1:]:
            if not path.exists() or path.read_text() != text:
                stale.append(path.name)
        else:
            path.write_text(text)
    if stale:
        sys.exit("out of date, run aot/frontend/msl/include/generate.py: " + ", ".join(stale))


if __name__ == "__main__":
    main()
