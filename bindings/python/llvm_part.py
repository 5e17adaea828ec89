# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of LLVM and Clang that some programs use, as one shared library: llvm_part.py OUT PROGRAM...

A distribution has LLVM whole, in two libraries of 200 MB, and not every distribution has version 19. The static libraries of the same packages
have the same objects, so what a set of finished programs needs is known: the symbols that they take from the two. Linked with these as roots,
and without what they do not reach, a quarter is left. The programs stay as they were built; only the name of what they need is another.

Needs llvm-19-dev and libclang-19-dev (static libraries), clang-19, lld-19, patchelf and binutils.
"""

from __future__ import annotations

import pathlib
import re
import subprocess
import sys
import tempfile

NAME = "libsmelt-llvm.so.19"  # no distribution's: a process may have that one too
_REPLACES = ("libLLVM.so.", "libclang-cpp.so.")


def _run(*words: object) -> str:
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True).stdout


def _symbols(file: pathlib.Path, only: str = "") -> set[str]:
    """Names without versions."""
    lines = _run("nm", "-D", *([only] if only else []), file).splitlines()
    return {line.split()[-1].split("@")[0] for line in lines if line.split()}


def _needed(file: pathlib.Path) -> list[str]:
    return re.findall(r"\(NEEDED\).*\[(.*)\]", _run("readelf", "-d", file))


def uses_llvm(file: pathlib.Path) -> bool:
    return any(name.startswith(_REPLACES) for name in _needed(file))


def _of_system(file: pathlib.Path) -> list[pathlib.Path]:
    """The libraries that a program takes LLVM and Clang from here."""
    found = re.findall(r"^\s*(\S+) => (\S+)", _run("ldd", file), re.MULTILINE)
    return [pathlib.Path(path) for name, path in found if name.startswith(_REPLACES)]


def make(out: pathlib.Path, programs: list[pathlib.Path], static: pathlib.Path = pathlib.Path("/usr/lib/llvm-19/lib")) -> None:
    """Links the part that the programs use. Has the programs need it with use()."""
    archives = sorted(static.glob("libclang*.a")) + sorted(static.glob("libLLVM*.a"))
    if not archives:
        sys.exit(f"{static} has no static libraries of LLVM (Debian: llvm-19-dev libclang-19-dev)")
    whole = {library for program in programs for library in _of_system(program)}
    offered = set().union(*(_symbols(library, "--defined-only") for library in whole))
    version = {name for library in whole for name in re.findall(r"Name: (LLVM_\S+)", _run("readelf", "-V", library))}
    wanted = sorted(offered & set().union(*(_symbols(program, "--undefined-only") for program in programs)))
    # Data of templates is one for all, whoever has it first: what a program defines itself is shared too, where the part has it. It is no root:
    # the first archive that has std::vector of something may be one of clang-tidy's checks.
    shared = sorted(offered & set().union(*(_symbols(program) for program in programs)))
    if not wanted or len(version) != 1:
        sys.exit(f"{', '.join(map(str, programs))}: {len(wanted)} symbols of LLVM, versions {sorted(version)}; want some, and one version")
    with tempfile.TemporaryDirectory() as folder:
        script, roots = pathlib.Path(folder) / "map", pathlib.Path(folder) / "roots"
        script.write_text(f"{version.pop()} {{ global:\n" + "".join(f'  "{name}";\n' for name in shared) + "local: *; };\n")
        roots.write_text("".join(f"-Wl,-u,{name}\n" for name in wanted))
        _run("clang++-19", "-shared", "-fuse-ld=lld", "-o", out, f"-Wl,-soname,{NAME}", f"-Wl,--version-script={script}", "-Wl,--gc-sections",
             "-Wl,--undefined-version", "-Wl,--icf=all", "-Wl,-z,pack-relative-relocs", "-Wl,-O2", "-Wl,-Bsymbolic-functions",
             "-Wl,--no-undefined", "-Wl,-s", f"@{roots}", "-Wl,--start-group", *archives,
             "-Wl,--end-group", "-lz", "-lzstd", "-ltinfo", "-lpthread", "-ldl", "-lm")  # fmt: skip


def use(program: pathlib.Path) -> None:
    """A program as it was built then needs the part instead of the two libraries."""
    for name in _needed(program):
        if name.startswith(_REPLACES[0]):
            _run("patchelf", "--replace-needed", name, NAME, program)
        elif name.startswith(_REPLACES[1]):
            _run("patchelf", "--remove-needed", name, program)


if __name__ == "__main__":
    make(pathlib.Path(sys.argv[1]), [pathlib.Path(argument) for argument in sys.argv[2:]])
