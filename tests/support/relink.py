# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A test program with one source of the product changed, without touching the source or the build: the source is compiled
to an object of its own, which stands before the libraries when the program is linked again.

Whoever uses this asks whether tests find a change: scripts/mutants, tests/service/histories/mendings.py.
"""

from __future__ import annotations

import pathlib
import re
import subprocess


class Relink:
    """A build folder of any preset, whose programs are built. In a unity build the whole unit is compiled again."""

    def __init__(self, folder: pathlib.Path):
        self.folder = folder.resolve()
        cache = (self.folder / "CMakeCache.txt").read_text()
        self.sources = pathlib.Path(re.search(r"^CMAKE_HOME_DIRECTORY:INTERNAL=(.*)$", cache, re.M)[1])
        self.links: dict[str, str] = {}
        self.compiles: dict[str, str] = {}  # by the file that is compiled
        self.units: dict[str, str] = {}  # source to the unit that includes it

    def add(self, program: str) -> None:
        if program in self.links:
            return
        commands = subprocess.run(
            ["ninja", "-t", "commands", program], cwd=self.folder, check=True, capture_output=True, text=True
        ).stdout.splitlines()
        link = next(c for c in reversed(commands) if f"-o bin/{program} " in c)
        self.links[program] = re.sub(r"^: && | && :$", "", link)
        for command in commands:
            if " -c " not in command:
                continue
            file = command.rsplit(" -c ", 1)[1]
            self.compiles[file] = command
            if "/Unity/" in file:
                for source in re.findall(r'#include "(.*)"', pathlib.Path(file).read_text()):
                    self.units[source] = file

    def knows(self, source: str) -> bool:
        path = str(self.sources / source)
        return path in self.compiles or path in self.units

    def command(self, source: str) -> str:
        path = str(self.sources / source)
        return self.compiles[self.units.get(path, path)]

    def compiling(self, source: str, text: bytes, work: pathlib.Path) -> str:
        """A command for a shell in the build folder that makes work/object.o of the source with this text."""
        path = self.sources / source
        changed = work / path.name
        changed.write_bytes(text)
        file = str(path)
        if unit := self.units.get(file):
            whole = work / f"unit_{path.name}"
            whole.write_text(pathlib.Path(unit).read_text().replace(f'#include "{file}"', f'#include "{changed}"'))
            file, changed = unit, whole
        command = self.compiles[file].replace(f" -c {file}", f" -I{path.parent} -w -O1 -g0 -c {changed}")
        for option, name in (("-o", "object.o"), ("-MF", "object.d"), ("-MT", "object.d")):
            command = re.sub(rf" {option} \S+", f" {option} {work}/{name}", command)
        return command

    def linking(self, program: str, work: pathlib.Path) -> str:
        """Likewise one that makes work/PROGRAM with work/object.o."""
        return self.links[program].replace(f"-o bin/{program} ", f"-fuse-ld=lld {work}/object.o -o {work}/{program} ")
