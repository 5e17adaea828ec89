#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""search_paths.py FOLDER...: every program and library in the folders has the dynamic linker look in absolute folders
alone. An empty element of a search path, or a relative one, is the current folder, and so is a needed library named by a
relative path: whoever made that folder would choose the code that runs.

search_paths.py --install BUILD: the same of everything that `cmake --install` puts somewhere."""

import pathlib
import re
import subprocess
import sys
import tempfile


def is_linked(file):
    """Whether it is an ELF program or shared library (e_type 2 and 3), not an object file."""
    with file.open("rb") as opened:
        head = opened.read(18)
    return head[:4] == b"\x7fELF" and head[16] in (2, 3)


def wrong(text):
    """What `readelf -d -l` shows of one file that leads elsewhere than to absolute folders."""
    for kind, path in re.findall(r"\((RPATH|RUNPATH)\).*\[(.*)\]", text):
        for element in path.split(":"):
            if not element.startswith(("/", "$ORIGIN/")) and element != "$ORIGIN":
                yield f"{kind} [{path}] has the element '{element}'"
    for kind, name in re.findall(r"\((NEEDED|AUXILIARY|FILTER)\).*\[(.*)\]", text):
        if "/" in name and not name.startswith("/"):
            yield f"{kind} [{name}]"
    for name in re.findall(r"program interpreter: (.*)\]", text):
        if not name.startswith("/"):
            yield f"interpreter {name}"


def check(folders):
    bad, count = [], 0
    for folder in folders:
        for file in sorted(pathlib.Path(folder).rglob("*")):
            if file.is_symlink() or not file.is_file() or not is_linked(file):
                continue
            count += 1
            shown = subprocess.run(["readelf", "-W", "-d", "-l", file], check=True, capture_output=True, text=True).stdout
            bad += [f"{file}: {why}" for why in wrong(shown)]
    print(f"{count} programs and libraries")
    if count == 0:
        sys.exit(f"none in {' '.join(map(str, folders))}")
    if bad:
        sys.exit("\n".join(bad))


def main(words):
    for path in ("/usr/lib:", ":/usr/lib", "lib", "/a::/b", ".", "$ORIGINAL"):
        assert list(wrong(f" 0x1d (RUNPATH)  Library runpath: [{path}]")), path
    assert not list(wrong(" 0x1d (RUNPATH)  Library runpath: [$ORIGIN/../lib:/usr/lib]"))
    if words[0] != "--install":
        return check(words)
    build = pathlib.Path(words[1])
    # As each script of an installation names its components.
    components = {one for script in build.rglob("cmake_install.cmake") for one in re.findall(r'STREQUAL "([\w-]+)"', script.read_text())}
    with tempfile.TemporaryDirectory(prefix="smelt-search-") as folder:
        for component in sorted(components - {"Unspecified"}):
            subprocess.run(["cmake", "--install", build, "--prefix", folder, "--component", component], check=True, stdout=subprocess.DEVNULL)
        check([folder])


main(sys.argv[1:])
