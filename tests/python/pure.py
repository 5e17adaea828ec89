# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the reader in Python alone have in common."""

import functools
import hashlib
import os
import pathlib
import shutil
import struct
import subprocess
import sys

import smelt

PACKAGE = pathlib.Path(smelt.__file__).resolve().parent
COMMAND = PACKAGE.parents[1] / "bin" / "smelt"
ROOT = pathlib.Path(__file__).resolve().parents[2]
SHARED = pathlib.Path(os.environ.get("SMELT_SHARED") or ROOT.parent / "shared")


def pythons():
    """This one, and the others of 3.9 and newer that pyenv has."""
    found = {sys.version_info[:2]: sys.executable}
    root = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    for folder in sorted(root.glob("3.*")) if root.is_dir() else []:
        version = tuple(map(int, folder.name.split(".")[:2])) if folder.name.replace(".", "").isdigit() else (0, 0)
        if version >= (3, 9) and (folder / "bin" / "python").exists():
            found.setdefault(version, str(folder / "bin" / "python"))
    return [found[version] for version in sorted(found)]


@functools.lru_cache(None)
def has_zstd(python):
    """Whether that Python can unpack what remotes have."""
    look = "import importlib.util as u; print(any(u.find_spec(n) for n in ('zstandard', 'compression')))"
    return subprocess.run([python, "-I", "-c", look], check=True, capture_output=True, text=True).stdout.strip() == "True"


def copy_without_modules(folder):
    """A copy of smelt without its compiled modules."""
    shutil.copytree(PACKAGE, folder / "smelt", ignore=shutil.ignore_patterns("__pycache__", "*.so", "_bin", "_libs"))
    return folder


def resealed(data):
    """A package whose digests fit its bytes again: of the manifest, and of the header."""
    data = bytearray(data)
    if len(data) >= 112:
        at, size = struct.unpack_from("<QQ", data, 16)
        if at + size <= len(data):
            data[48:80] = hashlib.sha256(data[at : at + size]).digest()
        data[80:112] = hashlib.sha256(data[:80]).digest()
    return bytes(data)


def smelt_command(*words, **environment):
    done = subprocess.run([COMMAND, *map(str, words)], capture_output=True, text=True, env={**os.environ, **environment})
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout.strip()
