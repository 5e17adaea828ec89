#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows that the model test finds what it is for: takes one protection out at a time, and expects a finding.

    mendings.py BUILD [NAME...]        BUILD: a build folder of the preset dev (no unity build)

Each is one edit of a copy of a source; its object stands before the libraries when service_histories is linked again.
Prints a line for each, and exits 1 when one was not found.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[3]
HISTORIES = 800

# Name: the source, and what of it is replaced by what.
MENDINGS = {
    "an unsigned entry is not used by who signs": ("trust/src/policy.cpp", {"    if (!fine) return {};\n": "    (void)fine;\n"}),
    "joined kernels keep their origins": ("service/src/build_package.cpp", {"    result.origin += part->origin;\n": ""}),
    "a second key keeps the origin": (
        "service/src/find_or_make.cpp",
        {"found.origin.derived(), {}": "trust::Provenance::made_here(), {}"},
    ),
    "who only reads asks the policy": ("service/stored/src/stored.cpp", {"    if (fine) continue;\n": "    (void)fine;\n    continue;\n"}),
    "a pull takes what proves its key": (
        "remote/src/tiered_store.cpp",
        {"if (question.proves && !question.proves(record.key, parts)) {": "if (false) {"},
    ),
    "an unchecked answer to a checked question": (
        "service/src/asked.cpp",
        {"    if (slice.checked != asked.checked)\n": "    if (false)\n", "if (kernel.checked != asked.checked)": "if (false)"},
    ),
}


class Build:
    def __init__(self, folder: pathlib.Path, work: pathlib.Path):
        self.folder, self.work = folder.resolve(), work
        commands = subprocess.run(
            ["ninja", "-t", "commands", "service_histories"], cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout.splitlines()
        self.compiles = [c for c in commands if " -c " in c]
        link = [c for c in commands if "-o bin/service_histories" in c][-1]
        self.link = re.sub(r"^: && | && :$", "", link)

    def without(self, source: str, edits: dict[str, str]) -> pathlib.Path:
        path = ROOT / source
        text = path.read_text()
        for old, new in edits.items():
            if text.count(old) != 1:
                sys.exit(f"mendings: {source} has {text.count(old)} times: {old!r}")
            text = text.replace(old, new)
        changed = self.work / path.name
        changed.write_text(text)
        compiled = next(c for c in self.compiles if c.endswith(f"-c {path}"))
        for option in ("-o", "-MF", "-MT"):
            compiled = re.sub(rf" {option} \S+", f" {option} {self.work}/{'object.o' if option == '-o' else 'object.d'}", compiled)
        compiled = compiled.replace(f"-c {path}", f"-I{path.parent} -Wno-error -c {changed}")
        subprocess.run(compiled, shell=True, cwd=self.folder, check=True)
        program = self.work / "histories"
        subprocess.run(
            self.link.replace("-o bin/service_histories", f"{self.work}/object.o -o {program}"), shell=True, cwd=self.folder, check=True
        )
        return program


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    missed = 0
    for name in sys.argv[2:] or MENDINGS:
        with tempfile.TemporaryDirectory(prefix="smelt-mendings-") as folder:
            program = Build(pathlib.Path(sys.argv[1]), pathlib.Path(folder)).without(*MENDINGS[name])
            said = subprocess.run([program, "--count", str(HISTORIES)], capture_output=True, text=True)
        found = said.returncode != 0
        missed += not found
        lines = said.stdout.strip().splitlines() or said.stderr.strip().splitlines() or [""]
        print(f"{'found' if found else 'MISSED'}: without '{name}': {lines[-1]}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
