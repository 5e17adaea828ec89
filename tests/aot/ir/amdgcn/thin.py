#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""thin.py FOLDER: of what generate.py wrote, keeps what a test can learn from.

Of the other architectures that is IR whose code differs from gfx1100's, without debug info. Removes the rest in place and
prints what it removed."""

import pathlib
import re
import sys

FIRST = "hip-gfx1100"


def code_of(text: str) -> str:
    """Without debug info, attributes, metadata and the architecture's name."""
    text = re.sub(r"^(!\d+ = .*|attributes #.*|!llvm\..*|;.*)\n", "", text, flags=re.M)
    text = re.sub(r", !dbg !\d+|, !\w+(\.\w+)* !\d+| #\d+", "", text)
    return re.sub(r"gfx\d+", "gfx", text)


def without_debug_info(text: str) -> str:
    text = re.sub(r",? !dbg !\d+", "", text)
    text = re.sub(r"^!\d+ = (distinct )?!DI.*\n|^!llvm\.dbg\.cu = .*\n", "", text, flags=re.M)
    rows = dict(re.findall(r"^!(\d+) = (.*)$", text, flags=re.M))
    used = set(re.findall(r"!(\d+)", re.sub(r"^!\d+ = .*\n", "", text, flags=re.M)))
    left = list(used)
    while left:
        for reached in re.findall(r"!(\d+)", rows.get(left.pop(), "")):
            if reached not in used:
                used.add(reached)
                left.append(reached)
    return re.sub(r"^!(\d+) = .*\n", lambda row: row[0] if row[1] in used else "", text, flags=re.M)


def main() -> None:
    root = pathlib.Path(sys.argv[1])
    for path in sorted(root.glob("hip-*/*.llir")):
        first = root / FIRST / path.name
        if path.parent.name == FIRST:
            continue
        text = path.read_text()
        if first.exists() and code_of(text) == code_of(first.read_text()):
            path.unlink()
            path.with_suffix(".json").unlink()
            print(f"{path.parent.name}/{path.stem}")
        else:
            path.write_text(without_debug_info(text))


if __name__ == "__main__":
    main()
