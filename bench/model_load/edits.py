# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A history of edits of one source with 100 kernels: which share of the kernels does each cache find after an edit? smelt and
ccache run; Triton's rule (the hash of a kernel's text and of what it calls) is computed. series.py prints the rates."""

from __future__ import annotations

import copy
import hashlib
import pathlib
import re
import shutil
import subprocess

# (what, on what): a comment or a number in a kernel, a blank line, a helper of kernels 0 to 19, a kernel more, a kernel less,
# an option, a return to the version so many edits before.
HISTORY = [
    ("comment", 3), ("number", 3), ("number", 3), ("number", 4), ("blank", 50), ("undo", 1), ("number", 70), ("number", 71),
    ("undo", 2), ("helper", 0), ("number", 10), ("helper", 0), ("undo", 1), ("add", 0), ("number", 100), ("comment", 100),
    ("remove", 55), ("undo", 1), ("option", 0), ("number", 20), ("number", 20), ("option", 0), ("number", 21), ("comment", 0),
    ("number", 99), ("number", 98), ("number", 97), ("undo", 3), ("helper", 0), ("undo", 1),
]  # fmt: skip


class Version:
    """One state of the edited file."""

    def __init__(self) -> None:
        self.kernels: list[tuple[str, str, int, str]] = [("", f"k{i}", i, "helped" if i < 20 else "") for i in range(100)]
        self.helper, self.gaps, self.options = 1, 0, list[str]()

    def edited(self, what: str, on: int) -> Version:
        made = copy.copy(self)
        made.kernels = list(self.kernels)
        if what in ("comment", "number"):
            comment, name, value, helped = made.kernels[on]
            made.kernels[on] = (comment + "  // why\n", name, value, helped) if what == "comment" else (comment, name, value + 1000, helped)
        elif what == "blank":
            made.gaps += 1
        elif what == "helper":
            made.helper += 1
        elif what == "add":
            made.kernels.append(("", f"k{len(made.kernels)}", 5, ""))
        elif what == "remove":
            del made.kernels[on]
        elif what == "option":
            made.options = [] if made.options else ["-DEXTRA=1"]
        return made

    def kernel_texts(self) -> list[str]:
        helper = f"static float helped(float v) {{ return v * {self.helper}; }}\n"
        return [(helper if helped else "") + f"{name} {value}\n{comment}" for comment, name, value, helped in self.kernels]

    def text(self) -> str:
        lines = ["#include <metal_stdlib>\nusing namespace metal;\n", "#ifdef EXTRA\nconstant int extra = EXTRA;\n#endif\n", f"static float helped(float v) {{ return v * {self.helper}; }}\n"]
        for comment, name, value, helped in self.kernels:
            lines.append(f"kernel void {name}(device float* y, uint i [[thread_position_in_grid]]) {{\n{comment}"
                         f"  y[i] = {helped}(y[i]) + {value}.0f;\n}}\n")  # fmt: skip
        return "".join(lines[:3]) + "\n" * self.gaps + "".join(lines[3:])

    def c_text(self) -> str:
        lines = [f"static float helped(float v) {{ return v * {self.helper}; }}\n"]
        lines += [f"void {name}(float* y, unsigned i) {{\n{comment}  y[i] = {helped}(y[i]) + {value}.0f;\n}}\n"
                  for comment, name, value, helped in self.kernels]  # fmt: skip
        return lines[0] + "\n" * self.gaps + "".join(lines[1:])


def versions() -> list[Version]:
    made = [Version()]
    for what, on in HISTORY:
        made.append(made[-1 - on] if what == "undo" else made[-1].edited(what, on))
    return made


def smelt_misses(smelt: str, version: Version, folder: pathlib.Path, environment: dict[str, str]) -> int:
    (folder / "all.metal").write_text(version.text())
    command = [smelt, "compile", "all.metal", "-o", "all.smelt", "-v", *version.options]
    said = subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)
    found = re.search(r"(\d+) of (\d+) kernels from the store", said.stderr + said.stdout)
    return int(found[2]) - int(found[1]) if found else 0  # a hit of the whole says no counts


def ccache_misses(version: Version, folder: pathlib.Path, environment: dict[str, str]) -> int:
    def misses() -> int:
        shown = subprocess.run(["ccache", "--print-stats"], env=environment, check=True, capture_output=True, text=True).stdout
        return int(dict(line.split() for line in shown.splitlines())["cache_miss"])

    (folder / "all.c").write_text(version.c_text())
    before = misses()
    subprocess.run(["ccache", "clang-19", "-O2", *version.options, "-c", "all.c", "-o", "all.o"], cwd=folder, env=environment,
                   check=True, capture_output=True)  # fmt: skip
    return len(version.kernels) if misses() > before else 0


def hit_rates(smelt: str, folder: pathlib.Path, environment: dict[str, str]) -> dict[str, float]:
    """Percent of the kernels over all edits, by cache. The first compile does not count."""
    missed = {"smelt": 0, "Triton's rule": 0} | ({"ccache, one file": 0} if shutil.which("ccache") else {})
    seen: set[str] = set()
    history = versions()
    for number, version in enumerate(history):
        keys = {hashlib.sha256((text + str(version.options)).encode()).hexdigest() for text in version.kernel_texts()}
        now = {"smelt": smelt_misses(smelt, version, folder, environment), "Triton's rule": len(keys - seen)}
        if "ccache, one file" in missed:
            now["ccache, one file"] = ccache_misses(version, folder, environment)
        seen |= keys
        if number:
            missed = {name: count + now[name] for name, count in missed.items()}
    kernels = sum(len(version.kernels) for version in history[1:])
    return {name: 100 * (1 - count / kernels) for name, count in missed.items()}
