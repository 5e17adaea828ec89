#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""thin.py FOLDER: of what generate.py wrote, keeps what a test can learn from.

Of the other architectures that is IR whose code differs from gfx1100's, but for LEFT_OUT. Debug info stays where a test
reads lines. Removes the rest in place and prints what it removed."""

import pathlib
import re
import sys

FIRST = "hip-gfx1100"
WITH_LINES = {"hip-gfx1100/spin_count", "hip-gfx1100/programs"}
# What has no operation of its own: each is in IR that stays, or alone in test_constructs.cpp against its definition.
LEFT_OUT = {
    # ds.swizzle with the constants of one_warp and row_sum_wide.
    "hip-gfx1030": {"argmax_row", "cross_entropy", "linear_scan", "rms_norm_f16", "sort_row", "sum_atomic",
                    # fdot2, in test_constructs.cpp; products without WMMA, as in matmul_i8.
                    "flash_attention", "matmul_bf16", "matmul_f16_tiles", "matmul_f32_tiles"},
    # Philox as in random_integers, functions as in `functions`; conversions as in widen_e4m3 and add_bf16.
    "hip-gfx1100": {"normal_noise", "widen_e4m3_bf16"},
    # The WMMA of matmul_f16_f16, of scaled_e2m1, and twice that of matmul_fp8 with other elements.
    "hip-gfx1200": {"flash_attention", "matmul_bf16", "matmul_bf8", "matmul_i8", "matmul_f16_tiles", "matmul_f32_tiles"},
}  # fmt: skip


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
        architecture = path.parent.name
        first = root / FIRST / path.name
        text = path.read_text()
        repeats = architecture != FIRST and first.exists() and code_of(text) == code_of(first.read_text())
        if repeats or path.stem in LEFT_OUT.get(architecture, ()):
            path.unlink()
            path.with_suffix(".json").unlink()
            print(f"{architecture}/{path.stem}")
        elif f"{architecture}/{path.stem}" not in WITH_LINES:
            path.write_text(without_debug_info(text))


if __name__ == "__main__":
    main()
