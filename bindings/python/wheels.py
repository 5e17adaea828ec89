# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The wheels of a finished build: wheels.py BUILD_FOLDER OUT_FOLDER [smelt|smelt-remote|smelt-compiler|pure ...].

smelt has the loader and the store, and the libraries they stand on that are no part of every Linux (in smelt/_libs). smelt-remote
adds servers behind the store; it is the half of the code that few need, and what it needs for TLS is not inside. smelt-compiler
adds the compiler and the command, with the part of LLVM and Clang that they use (llvm_part.py).

Each has the modules for every Python that the build made them for (SMELT_PYTHONS), and its tag says for which, and the oldest glibc they run
with. One wheel for all of them: what differs is 2 MB for each, and a folder then has one file that smelt-*.whl means.

pure is a second wheel of smelt, for every other system: the edition "reader", in Python alone. It lies in OUT_FOLDER/mac.

Needs Python 3.9, patchelf, and what llvm_part.py needs.
"""

from __future__ import annotations

import base64
import ctypes
import hashlib
import pathlib
import platform
import re
import subprocess
import sys
import tempfile
import zipfile
import zlib
from typing import Any

import llvm_part

if sys.version_info >= (3, 11):
    import tomllib
else:
    try:
        import tomli as tomllib  # pip installs it for a build (pyproject.toml)
    except ImportError:
        from pip._vendor import tomli as tomllib

ROOT = pathlib.Path(__file__).resolve().parents[2]

# What every Linux with the same C library has; all else is inside the wheel or named here.
SYSTEM = {"libc.so.6", "libm.so.6", "libstdc++.so.6", "libgcc_s.so.1", "libdl.so.2", "libpthread.so.0", "librt.so.1",
          "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}  # fmt: skip
# libcurl is nowhere: cache/remote/src/curl_library.cpp opens it when a remote is named. It is never inside: a fault in TLS is mended by the
# distribution, not by a new wheel of ours.
COMPONENTS = {"smelt": "python", "smelt-remote": "python-remote", "smelt-compiler": "python-compiler"}
MODULES = {"smelt": "_loader", "smelt-remote": "_remote", "smelt-compiler": "_compiler"}
SUMMARIES = {"smelt-remote": "Servers behind the store of smelt. Opens the machine's libcurl (Debian: libcurl4)",
             "smelt-compiler": "The compiler of smelt, and the command"}  # fmt: skip
# Opened by name: by signing/src/ed25519.cpp when a signature is looked at, by cache/remote/src/hiredis_library.cpp when a Redis remote is
# named, by service/sandbox/src/seccomp_library.cpp when a child is sandboxed.
OPENED = {"smelt": {"libhogweed.so.6", "libgmp.so.10"}, "smelt-remote": set(), "smelt-compiler": {"libseccomp.so.2"}}
# hiredis has another number in each Debian: the module says which it was built with.
HIREDIS = re.compile(rb"libhiredis\.so\.[0-9.]+")
# What another wheel brings into smelt/_libs, for those that need that wheel; without numbers.
WITH_SMELT = {"libhogweed", "libgmp", "libfmt", "libnettle", "libsqlite3", "libzstd", "libxxhash"}
WITH_REMOTE = {"libhiredis"}
SHARED = {"smelt": set(), "smelt-remote": WITH_SMELT, "smelt-compiler": WITH_SMELT | WITH_REMOTE}


def needed(file: pathlib.Path) -> set[str]:
    text = subprocess.run(["readelf", "-d", file], check=True, capture_output=True, text=True).stdout
    return set(re.findall(r"\(NEEDED\).*\[(.*)\]", text))


def found_at(file: pathlib.Path) -> dict[str, str]:
    """Library name to path, as the dynamic linker of this machine has it."""
    text = subprocess.run(["ldd", file], check=True, capture_output=True, text=True).stdout
    return dict(re.findall(r"^\s*(\S+) => (\S+)", text, re.MULTILINE))


def system_library(name: str) -> str:
    text = subprocess.run(["/sbin/ldconfig", "-p"], check=True, capture_output=True, text=True).stdout
    found = re.search(rf"^\s*{re.escape(name)} .* => (\S+)", text, re.MULTILINE)
    return found[1] if found else sys.exit(f"{name} was not found on this machine")


def binaries(tree: pathlib.Path) -> list[pathlib.Path]:
    return [path for path in tree.rglob("*") if path.is_file() and path.open("rb").read(4) == b"\x7fELF"]


def take_libraries(tree: pathlib.Path, allowed: set[str], opened: set[str]) -> None:
    """Copies into smelt/_libs what the wheel's files need and neither the system nor `allowed` has, and what that needs."""
    folder = tree / "smelt" / "_libs"
    while True:
        have = {path.name for path in folder.glob("*")} if folder.exists() else set()
        missing = {name: system_library(name) for name in opened - have}
        for file in binaries(tree):
            places = found_at(file)
            for name in needed(file) - SYSTEM - have:
                if name.split(".so")[0] in allowed:
                    continue
                if name not in places:
                    sys.exit(f"{file.name} needs {name}, which was not found on this machine")
                missing[name] = places[name]
        if not missing:
            return
        folder.mkdir(exist_ok=True)
        for name, path in missing.items():
            subprocess.run(["strip", "--strip-unneeded", "-o", folder / name, pathlib.Path(path).resolve()], check=True)


# The first glibc of whose time a libstdc++ is: https://gcc.gnu.org/onlinedocs/libstdc++/manual/abi.html and glibc's dates of release.
LIBSTDCXX = {28: (2, 31), 29: (2, 34), 30: (2, 35), 31: (2, 38), 32: (2, 39), 33: (2, 40), 34: (2, 42)}


def platform_tag(tree: pathlib.Path) -> str:
    """manylinux_2_N (PEP 600): the oldest glibc that has every symbol which the files take from the system."""
    least = (2, 17)
    for file in binaries(tree):
        text = subprocess.run(["readelf", "-V", "-W", file], check=True, capture_output=True, text=True).stdout
        least = max([least, *((int(major), int(minor)) for major, minor in re.findall(r"GLIBC_(\d+)\.(\d+)", text))])
        if "GLIBC_ABI_DT_RELR" in text:  # relative relocations in short (llvm_part.py)
            least = max(least, (2, 36))
        newest = max((int(minor) for minor in re.findall(r"GLIBCXX_3\.4\.(\d+)", text)), default=0)
        if newest > max(LIBSTDCXX):
            sys.exit(f"{file.name} needs GLIBCXX_3.4.{newest}, which LIBSTDCXX in wheels.py does not date")
        least = max([least, *(glibc for minor, glibc in LIBSTDCXX.items() if minor <= newest)])
    return f"manylinux_{least[0]}_{least[1]}_{platform.machine()}"


def take_llvm(tree: pathlib.Path) -> None:
    """LLVM's part, for what needs it; then each file's libraries are those of the wheel."""
    users = [file for file in binaries(tree) if llvm_part.uses_llvm(file)]
    if not users:
        return
    libs = tree / "smelt" / "_libs"
    libs.mkdir(parents=True, exist_ok=True)
    llvm_part.make(libs / llvm_part.NAME, users)
    for file in users:
        llvm_part.use(file)


def python_tags(tree: pathlib.Path, module: str) -> list[tuple[str, str]]:
    """("cp39", "cp39"), ..., ("cp314", "cp314t"): the Pythons that a module was made for, and their ABIs."""
    found = [re.match(rf"{module}\.cpython-3(\d+)(t?)-", path.name) for path in (tree / "smelt").glob(f"{module}.*.so")]
    return [(f"cp3{minor}", f"cp3{minor}{free}") for minor, free in sorted((int(one[1]), one[2]) for one in found if one)]


def look_beside(tree: pathlib.Path) -> None:
    """RPATH and not RUNPATH: it holds for the libraries of a library too, which are a distribution's as they are."""
    for file in binaries(tree):
        folder = file.parent.relative_to(tree / "smelt").as_posix()
        to = {"_libs": "$ORIGIN", ".": "$ORIGIN/_libs", "_bin": "$ORIGIN/../_libs"}[folder]
        subprocess.run(["patchelf", "--force-rpath", "--set-rpath", to, file], check=True)


def metadata(name: str, version: str, project: dict[str, Any], needs: tuple[str, ...] = ()) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {name}", f"Version: {version}"]
    if name == "smelt":
        lines += [f"Summary: {project['description']}", "Provides-Extra: numpy", 'Requires-Dist: numpy; extra == "numpy"',
                  "Provides-Extra: remote", f'Requires-Dist: smelt-remote=={version}; extra == "remote"',
                  "Provides-Extra: compiler", f'Requires-Dist: smelt-compiler=={version}; extra == "compiler"',
                  "Provides-Extra: store", *(f"Requires-Dist: {one}" for one in needs)]  # fmt: skip
    else:
        lines += [f"Summary: {SUMMARIES[name]}", f"Requires-Dist: smelt=={version}"]
        lines += [f"Requires-Dist: smelt-remote=={version}"] if name == "smelt-compiler" else []
    lines += [f"Requires-Python: {project['requires-python']}", f"License: {project['license']['text']}",
              f"Keywords: {','.join(project['keywords'])}", *(f"Classifier: {line}" for line in project["classifiers"])]  # fmt: skip
    if name != "smelt":
        return "\n".join(lines) + "\n"
    return "\n".join([*lines, "Description-Content-Type: text/markdown", "", (ROOT / "README.md").read_text()])


# Of the edition "reader"; what stands on compiled modules is not in its wheel.
PURE = ["__init__.py", "__main__.py", "_checks.py", "_command.py", "_entries.py", "_folder.py", "_info.py", "_installed.py", "_logging.py", "_package.py", "_padded.py", "errors.py", "py.typed", "selftest.py", "store.py",
        "_pure", "_selftest", "_request.py", "_signature.py", "_stages.py", "_torch_headers.py",
        "compat/__init__.py", "compat/doctor.py", "compat/torch.py", "compat/inductor.py"]  # fmt: skip


def entry_points(project: dict[str, Any]) -> str:
    sections = {"console_scripts": project["scripts"], **project["entry-points"]}
    return "\n".join(
        f"[{section}]\n" + "".join(f"{name} = {value}\n" for name, value in entries.items())
        for section, entries in sections.items()
    )


def deflated(data: bytes) -> bytes:
    """A stream of DEFLATE, by libdeflate where it is there: LLVM's part is 1 MB smaller than by zlib."""
    try:
        library = ctypes.CDLL("libdeflate.so.0")
    except OSError:
        packs = zlib.compressobj(9, zlib.DEFLATED, -15)
        return packs.compress(data) + packs.flush()
    pointer, size = ctypes.c_void_p, ctypes.c_size_t
    library.libdeflate_alloc_compressor.restype = pointer
    library.libdeflate_deflate_compress_bound.argtypes, library.libdeflate_deflate_compress_bound.restype = [pointer, size], size
    library.libdeflate_deflate_compress.argtypes, library.libdeflate_deflate_compress.restype = [pointer, ctypes.c_char_p, size, pointer, size], size
    library.libdeflate_free_compressor.argtypes = [pointer]
    packs = library.libdeflate_alloc_compressor(10)
    room = ctypes.create_string_buffer(library.libdeflate_deflate_compress_bound(packs, len(data)))
    used = library.libdeflate_deflate_compress(packs, data, len(data), room, len(room))
    library.libdeflate_free_compressor(packs)
    return room.raw[:used]


def write_wheel(wheel: pathlib.Path, tree: pathlib.Path, about: dict[str, str]) -> None:
    """All files of a tree, and those of dist-info; the same build gives the same bytes."""
    stem = "-".join(wheel.name.split("-")[:2])
    record = []
    with open(wheel, "wb") as file, zipfile.ZipFile(file, "w") as archive:

        def add(inside: str, data: bytes, mode: int = 0o644) -> None:
            entry = zipfile.ZipInfo(inside, (1980, 1, 1, 0, 0, 0))
            entry.external_attr = (0o100000 | mode) << 16
            archive.writestr(entry, deflated(data))
            # What was stored is the stream, and not the bytes: the entry says so, in both of its places.
            entry.compress_type, entry.CRC, entry.file_size = zipfile.ZIP_DEFLATED, zlib.crc32(data), len(data)
            end = file.tell()
            file.seek(entry.header_offset)
            file.write(entry.FileHeader())
            file.seek(end)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{inside},sha256={digest},{len(data)}\n")

        for path in sorted(path for path in tree.rglob("*") if path.is_file()):
            add(path.relative_to(tree).as_posix(), path.read_bytes(), path.stat().st_mode & 0o777)
        for name, text in about.items():
            add(f"{stem}.dist-info/{name}", text.encode())
        add(f"{stem}.dist-info/RECORD", "".join([*record, f"{stem}.dist-info/RECORD,,\n"]).encode())


def version_of(build: pathlib.Path) -> str:
    cache = (build / "CMakeCache.txt").read_text()
    return re.search(r"^CMAKE_PROJECT_VERSION:STATIC=(.*)$", cache, re.MULTILINE)[1]  # type: ignore[index]


def make_pure(build: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    version = version_of(build)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    source = build / "python" / "smelt"
    for needed in ("_pure/facts.json", "_selftest/kernels.smelt"):
        if not (source / needed).exists():
            sys.exit(f"{source / needed} is missing: build the target smelt_python")
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for name in PURE:
            whole = source / name
            for path in sorted(whole.rglob("*")) if whole.is_dir() else [whole]:
                if path.is_file() and path.suffix != ".pyc":
                    to = tree / "smelt" / path.relative_to(source)
                    to.parent.mkdir(parents=True, exist_ok=True)
                    to.write_bytes(path.read_bytes())
                    to.chmod(0o644)
        (out / "mac").mkdir(parents=True, exist_ok=True)
        wheel = out / "mac" / f"smelt-{version}-py3-none-any.whl"
        about = metadata("smelt", version, project, ('xxhash; extra == "store"', 'zstandard; python_version < "3.14" and extra == "store"'))
        scripts = "[console_scripts]\nsmelt = smelt._command:main\n"
        write_wheel(wheel, tree, {"METADATA": about, "entry_points.txt": scripts,
                                  "WHEEL": "Wheel-Version: 1.0\nGenerator: smelt\nRoot-Is-Purelib: true\nTag: py3-none-any\n"})  # fmt: skip
    return wheel


def make(name: str, build: pathlib.Path, out: pathlib.Path) -> pathlib.Path:
    if name == "pure":
        return make_pure(build, out)
    version = version_of(build)
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        command = ["cmake", "--install", build, "--component", COMPONENTS[name], "--prefix", folder, "--strip"]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        module = MODULES[name]
        pythons = python_tags(tree, module)
        if not pythons:
            sys.exit(f"{build} has no {module}: build the target smelt_python")
        opened = OPENED[name]
        if name == "smelt-remote":
            opened = opened | {found.decode() for path in (tree / "smelt").glob(f"{module}.*.so") for found in HIREDIS.findall(path.read_bytes())}
        if name == "smelt-compiler":
            subprocess.run([build / "bin" / "smelt_metal_headers", "--pack", tree / "smelt" / "_headers"], check=True)
        take_llvm(tree)
        take_libraries(tree, SHARED[name], opened)
        look_beside(tree)
        platforms = platform_tag(tree)
        tag = "-".join([*(".".join(dict.fromkeys(column)) for column in zip(*pythons)), platforms])
        out.mkdir(parents=True, exist_ok=True)
        wheel = out / f"{name.replace('-', '_')}-{version}-{tag}.whl"
        about = {"METADATA": metadata(name, version, project),
                 "WHEEL": "Wheel-Version: 1.0\nGenerator: smelt\nRoot-Is-Purelib: false\n" + "".join(f"Tag: {python}-{abi}-{platforms}\n" for python, abi in pythons)}  # fmt: skip
        if name == "smelt":
            about["entry_points.txt"] = entry_points(project)
        write_wheel(wheel, tree, about)
    return wheel


def main() -> None:
    build, out = (pathlib.Path(argument) for argument in sys.argv[1:3])
    for name in sys.argv[3:] or [*COMPONENTS, "pure"]:
        wheel = make(name, build, out)
        print(f"{wheel} {wheel.stat().st_size / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
