#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""traced.py SECURITY.md PROGRAM [PYTHON]: what smelt opens, runs and writes in hostile surroundings is in the table "What is
opened" of SECURITY.md. PROGRAM is the command; PYTHON an interpreter that finds the package. Both compile, load, run and store
under strace, while the current folder, TMPDIR and PATH are a folder that everybody may write to and that has files of the
names that are looked for; environments leave out HOME, or name another user's. Exit 77: skipped, strace cannot be used."""

import fnmatch
import os
import pathlib
import re
import subprocess
import sys
import tempfile

STRANGER = 65534
KERNEL = "#include <metal_stdlib>\nkernel void one(device float* x, uint i [[thread_position_in_grid]]) { x[i] = metal::saturate(x[i]); }\n"
# What a lookup in the wrong folder would find.
BAIT = [
    *("libzstd.so.1 libsqlite3.so.0 libseccomp.so.2 libcurl.so.4 libhogweed.so.6 libnettle.so.8 libfmt.so.9 libstdc++.so.6 libpng16.so.16 "
      "libastcenc.so libastcenc.so.5 libLLVM.so.19.1 libclang-cpp.so.19.1 libsmelt.so.1 libsmelt-aot.so libsmelt-compiler.so.1 smelt-compile-child "
      "smelt metal_stdlib metal-headers/x.pch _headers/x.pch .clangd .clang-format compile_commands.json trusted-keys smelt.ini "
      "sitecustomize.py usercustomize.py numpy.py smelt.py json.py ctypes.py").split()]  # fmt: skip
PYTHON_CODE = """
import sys, array, smelt
library = smelt.compile_shader(open(sys.argv[1]).read())
x = array.array("f", [2.0] * 4)
library.one(x)
assert x.tolist() == [1.0] * 4, x
smelt.load_metallib(sys.argv[2]).one(x)
"""


def rows(page):
    """The patterns in the table's first column, and what they may be opened for: "r" or "rw"."""
    found = []
    table = pathlib.Path(page).read_text().split("## What is opened\n")[1].split("\n## ")[0]
    for line in table.splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if line.startswith("|") and "`" in cells[0]:
            found += [(pattern, "rw" if cells[1].startswith("read, written") else "r") for pattern in re.findall(r"`([^`]*)`", cells[0])]
    assert len(found) > 10, "SECURITY.md has no table"
    return found


def places(pattern, names):
    """The glob patterns of one row."""
    named = re.match(r"([A-Z]+)(/.*)?$", pattern)
    if not named:
        return [pattern]
    return [str(place) + (named[2] or "") for place in names[named[1]]]


CALL = re.compile(r"^\d+ +(\w+)\((.*)$")


def events(trace, folder):
    """(call, path, writes) of a trace by `strace -f -y`; paths are absolute."""
    for line in trace.read_text(errors="replace").splitlines():
        call = CALL.match(line)
        if not call or "<unfinished" in line and '"' not in line:
            continue
        name, rest = call[1], call[2]
        if name not in ("open", "openat", "openat2", "creat", "execve", "execveat", "mkdir", "mkdirat", "rename", "renameat", "renameat2", "unlink", "unlinkat",
                        "symlink", "symlinkat", "link", "linkat", "truncate", "chmod", "fchmodat", "chown", "fchownat", "mknod", "mknodat"):  # fmt: skip
            continue
        if "O_DIRECTORY" in rest or "O_PATH" in rest:
            continue  # a folder, to look at its owner and to go on from there
        writes = name not in ("open", "openat", "openat2", "execve", "execveat") or re.search(r"O_(WRONLY|RDWR|CREAT|TRUNC)", rest) is not None
        words = rest.split("[", 1)[0] if name.startswith("execve") else rest
        for at, text in re.findall(r'(?:(?:AT_FDCWD|\d+)<([^>]*)>, )?"((?:[^"\\]|\\.)*)"', words):
            path = text.encode().decode("unicode_escape")
            yield name, os.path.normpath(os.path.join(at or folder, path)), writes


def main(words):
    page, program = words[:2]
    python = words[2] if len(words) > 2 else ""
    table = rows(page)
    probe = subprocess.run(["strace", "-f", "-o", os.devnull, "true"], capture_output=True) if subprocess.call(["sh", "-c", "command -v strace > /dev/null"]) == 0 else None
    if probe is None or probe.returncode != 0:
        print("SKIPPED: needs strace, and a system that lets it trace")
        sys.exit(77)
    with tempfile.TemporaryDirectory(prefix="smelt-traced-") as scratch:
        run_all(pathlib.Path(scratch).resolve(), table, program, python)


def run_all(scratch, table, program, python):
    hostile, given, home, strangers = (scratch / name for name in ("hostile", "given", "home", "strangers"))
    for folder in (hostile, given, home, strangers / ".cache/smelt/metal-headers"):
        folder.mkdir(parents=True)
    for name in BAIT:
        (hostile / name).parent.mkdir(exist_ok=True)
        (hostile / name).write_bytes(b"\x7fELF or whatever else it was taken for")
        (hostile / name).chmod(0o777)
    (strangers / ".cache/smelt/smelt-store").write_text("smelt store\n")
    hostile.chmod(0o777)
    if os.geteuid() == 0:
        for folder, _, files in [*os.walk(hostile), *os.walk(strangers)]:
            for path in (folder, *(os.path.join(folder, file) for file in files)):
                os.chown(path, STRANGER, STRANGER)
    scratch.chmod(0o755)
    (given / "one.metal").write_text(KERNEL)
    (given / "use.py").write_text(PYTHON_CODE)
    data = ["f32[4]"]
    metal, package, library = given / "one.metal", given / "one.smelt", given / "one.metallib"
    commands = [
        [program, "compile", metal, "-o", package],
        [program, "compile", metal, "--no-cpu", "--target", "macos14", "-o", library],
        [program, "compile", metal, "--timeout", "100", "--std", "metal3.2", "-o", given / "limited.smelt"],
        [program, "compile", library, "--sandbox", "always", "-o", given / "again.smelt"],
        [program, "verify", package, library],
        [program, "inspect", library],
        [program, "run", package, "one", "--threads", "4", *data],
        [program, "store", "stat"],
    ]
    if python:
        commands.append([python, given / "use.py", metal, library])
    plain = {"PATH": f"{hostile}:.::/usr/bin:/bin", "TMPDIR": str(hostile), "LD_LIBRARY_PATH": "", "LD_PRELOAD": "", "PYTHONDONTWRITEBYTECODE": "1"}
    if "PYTHONPATH" in os.environ:
        plain["PYTHONPATH"] = os.environ["PYTHONPATH"]
    store = home / ".cache/smelt"
    surroundings = [  # environment, and the store's folder
        ({"HOME": str(home)}, store),
        ({}, None),
        ({"HOME": "home", "XDG_CACHE_HOME": "cache", "XDG_CONFIG_HOME": "config"}, None),
        ({"HOME": str(strangers)}, strangers / ".cache/smelt"),
        ({"HOME": str(home), "SMELT_STORE": str(hostile)}, hostile),
    ]
    names = {
        "PREFIX": [pathlib.Path(os.path.realpath(program)).parents[1]],
        "GIVEN": [given],
        "CONFIG": [home / ".config/smelt", strangers / ".config/smelt"],
        "LIBRARIES": ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib"],
        "PYTHON": [],
    }
    if python:
        asked = subprocess.run([python, "-c", "import sys, os, smelt; print(sys.prefix, sys.base_prefix, os.path.dirname(os.path.dirname(smelt.__file__)), sep='\\n')"],
                               capture_output=True, text=True, check=True, cwd="/", env={**plain, "PATH": os.environ["PATH"]}).stdout.split()  # fmt: skip
        names["PYTHON"] = [asked[2], *(f"{one}/{below}" for one in asked[:2] for below in ("lib/python*", "local/lib/python*", "bin", "pyvenv.cfg"))]
    bad, ran = {}, 0
    for extra, folder in surroundings:
        own = folder is not None and (folder == store)
        refused = folder is not None and not own and os.geteuid() == 0
        names["STORE"] = [folder] if own or (folder is not None and not refused) else []
        patterns = [(place, use) for pattern, use in table for place in places(pattern, names)]
        for command in commands:
            if command[1:3] == ["store", "stat"] and not own:
                continue
            trace = scratch / "trace"
            done = subprocess.run(["strace", "-f", "-y", "-qq", "-s", "4000", "-e", "trace=%file", "-e", "signal=none", "-o", trace, *command], cwd=hostile,
                                  env={**plain, **extra}, capture_output=True, text=True, errors="replace")  # fmt: skip
            if done.returncode != 0:
                sys.exit(f"{command} in {extra}: exit {done.returncode}\n{done.stdout}{done.stderr}")
            ran += 1
            for call, path, writes in events(trace, str(hostile)):
                if call.startswith("mkdir") and folder is not None and path in map(str, folder.parents):
                    continue  # the folders above a new store
                if not any(fnmatch.fnmatchcase(path, place) and (use == "rw" or not writes) for place, use in patterns):
                    bad.setdefault((path, "written" if writes else "opened", call), (command, extra))
    for (path, how, call), (command, extra) in bad.items():
        print(f"{path}: {how} ({call}) by {' '.join(map(str, command))} in {extra}; SECURITY.md's table has no row for it")
    print(f"{ran} runs")
    if bad:
        sys.exit(1)


main(sys.argv[1:])
