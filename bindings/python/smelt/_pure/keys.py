# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Computes the keys of a compile request without a compiler: docs/formats/key.md."""

from __future__ import annotations

import hashlib
import json
import os
import re
from typing import Any, NamedTuple

from .files import fail

_MOST_FILES = 4096
_BLANK = " \t\r\f\v"
_PLACES = (b"__LINE__", b"__FILE", b"__BASE_FILE__", b"__builtin_LINE", b"__builtin_FILE", b"__builtin_COLUMN", b"source_location")


class Facts(NamedTuple):
    """Facts about a build of the compiler, which are part of its keys."""

    version: str
    format: str
    compiler: str
    headers: str
    header_names: frozenset[str]
    targets: tuple[dict[str, Any], ...]
    default_target: str
    flags: tuple[tuple[str, str], ...]  # of a compile: its name, and what keys call it


_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "facts.json")


def _read() -> Facts | None:
    """Return the facts about the build, or None in a copy that was not built."""
    try:
        with open(_PATH, encoding="utf-8") as file:
            read = json.load(file)
    except OSError:
        return None
    return Facts(read["version"], read["format"], read["compiler"], read["headers"], frozenset(read["header_names"]), tuple(read["targets"]), read["default_target"],
                 tuple((name, member) for name, member in read["flags"]))  # fmt: skip


_facts = _read()
version = _facts.version if _facts else "0"


def facts() -> Facts:
    if _facts is None:
        fail("toolchain_missing", f"keys: this copy of smelt was made by no build, so whose compiler to ask for is not known (no {_PATH})")
    return _facts


class Hasher:
    """SHA-256 of a sequence of fields: for each, its length as eight bytes (little-endian), then its bytes."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def field(self, value: str | bytes | memoryview | int) -> None:
        if isinstance(value, int):
            value = value.to_bytes(8, "little")
        elif isinstance(value, str):
            value = value.encode("utf-8", "surrogateescape")
        self._hash.update(len(value).to_bytes(8, "little"))
        self._hash.update(value)

    def version(self, version: tuple[int, ...]) -> None:
        for number in (*version, 0, 0, 0)[:3]:
            self.field(number)

    def flag(self, name: str, value: bool) -> None:
        self.field(name)
        self.field(int(value))

    def number(self, name: str, value: int | None) -> None:
        self.field(name)
        self.field(int(value is not None))
        self.field(value or 0)

    def digest(self) -> str:
        return self._hash.hexdigest()


class Options(NamedTuple):
    """Options of smelt.compile, under the same names, without those for CPU code, which the reader cannot run."""

    targets: tuple[str, ...] = ()
    fast_math: bool = False
    metadata: str = ""
    threadgroup_memory: int | None = None
    threads_per_threadgroup: int | None = None
    kernels: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    include_folders: tuple[str, ...] = ()
    definitions: tuple[str, ...] = ()
    language: tuple[int, int] | None = None
    flags: frozenset[str] = frozenset()
    name: str = ""
    version: str = ""

    def differing(self) -> dict[str, Any]:
        """Return the options that differ from their defaults."""
        plain = Options()
        named = {name: list(value) if isinstance(value, tuple) else value
                 for name, value in self._asdict().items() if name != "flags" and value != getattr(plain, name)}  # fmt: skip
        return named | dict.fromkeys(sorted(self.flags), True)


def target(name: str) -> dict[str, Any]:
    for row in facts().targets:
        if not name.startswith(row["name"]):
            continue
        rest = name[len(row["name"]) :]
        if not rest:
            return row
        minor = re.match(r"\.(\d{1,5})\Z", rest, re.ASCII)
        if minor and int(minor[1]) <= 255:
            major = row["os"][0]
            end = f"{major}.0.0"
            return {**row, "name": name, "os": [major, int(minor[1]), 0], "triple": row["triple"][: -len(end)] + f"{major}.{int(minor[1])}.0"}
    known = ", ".join(row["name"] for row in facts().targets)
    fail("invalid_argument", f"target '{name}' is not known; the targets are {known} (and minor versions, as in macos14.2)")


# --- what a source is

_IR_WORDS = ("define ", "declare ", "target datalayout", "target triple", "source_filename", "module asm", "attributes #")
_SIGNATURES = (b"BC\xc0\xde", b"\xde\xc0\x17\x0b", b"\xca\xfe\xba\xbe", b"\xca\xfe\xba\xbf", b"\xcb\xfe\xba\xbe", b"\xbe\xba\xfe\xcb",
               b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xfe\xed\xfa\xcf", b"\xfe\xed\xfa\xce", b"\x7fELF", b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"BZh",
               b"\xfd7zXZ", b"PK\x03\x04", b"!<arch>\n", b"\x03\x02\x23\x07", b"SMLT", b"SQLite format 3", b"BLTM", b"version https://git-lfs")  # fmt: skip
_SPACE = b" \t\r\n\f\v"


def _is_text(data: bytes) -> bool:
    return all(c >= 0x20 or c in b"\n\r\t\f\v" for c in data)


def _begins_ir(line: bytes) -> bool:
    if line.startswith(tuple(word.encode() for word in _IR_WORDS)):
        return True
    if not line or line[:1] not in (b"@", b"%", b"!", b"$", b"^") or b"=" not in line:
        return False
    return len(line) > 1 and not set(line[1 : line.index(b"=")]) & set(b"();")


def _first_code(data: bytes) -> bytes:
    while True:
        data = data.lstrip(_SPACE)
        close = b"\n" if data.startswith((b";", b"//")) else b"*/" if data.startswith(b"/*") else b""
        if not close:
            return data
        end = data.find(close, 2 if close == b"*/" else 0)
        if end < 0:
            return b""
        data = data[end + len(close) :]


def _is_foreign_text(data: bytes) -> bool:
    """Return True if bytes are text that is neither Metal source nor IR."""
    head = data[:16384]
    if not all(c != 0x7F if c >= 0x20 else c in b"\t\n\r\f" for c in head):
        return False
    code = head.lstrip(b" \t\r\n")
    if not code:
        return True
    lower = code[:64].lower()
    if lower.startswith((b"<!doctype html", b"<html", b"<?xml")) or code.startswith(b"metallib text"):
        return True
    if code[:1] == b"{" or (code[:1] == b"[" and not code.startswith(b"[[")):
        return True
    return code.startswith((b".version", b"//\n// Generated by LLVM NVPTX", b"module {", b"module attributes", b"#loc", b".text", b".amdgcn_target"))


def kind_of(data: bytes, name: str = "") -> str:
    """Return the kind of an input: "msl", "ir" (text), "bitcode", "metallib", "universal" or "unknown". A blank
    file with the name of a Metal source is "msl"."""
    if len(data) >= 4:
        magics = {b"BC\xc0\xde": "bitcode", b"\xde\xc0\x17\x0b": "bitcode", b"MTLB": "metallib", b"\xca\xfe\xba\xbe": "universal",
                  b"\xbe\xba\xfe\xcb": "universal", b"\xcb\xfe\xba\xbe": "universal"}  # fmt: skip
        if data[:4] in magics:
            return magics[data[:4]]
    blank = len(data) - len(data.lstrip(_SPACE))
    if blank == len(data) and name.endswith(".metal"):
        return "msl"
    if blank == len(data) or not _is_text(data[:4096]):
        return "unknown"
    if _begins_ir(_first_code(data).partition(b"\n")[0]) or data[blank : blank + 1] == b";":
        return "ir"
    if len(data) < 4:
        return "msl"
    return "unknown" if data.startswith(_SIGNATURES) or _is_foreign_text(data) else "msl"


# --- Metal source: includes and comments


def _names_in(source: bytes) -> list[tuple[bytes, bool]]:
    """Return the names in directives that may be files, each with True if it is in quotes."""
    names = []
    for line in source.split(b"\n"):
        line = line.lstrip(_BLANK.encode())
        if not line.startswith(b"#"):
            continue
        line = line[1:].lstrip(_BLANK.encode())
        includes = line.startswith((b"include", b"import")) or b"__has_include" in line
        if not includes and not line.startswith(b"define"):
            continue
        at = 0
        while at < len(line):
            close = b'"' if line[at : at + 1] == b'"' else b">" if includes and line[at : at + 1] == b"<" else b""
            if close:
                end = line.find(close, at + 1)
                if end < 0:
                    break
                names.append((line[at + 1 : end], close == b'"'))
                at = end
            at += 1
    return names


def _normal(path: str) -> str:
    """Normalise a path like C++'s lexically_normal: remove dots and doubled slashes, but keep a slash at the end."""
    found = os.path.normpath(path)
    if found.startswith("//"):
        found = found[1:]
    return found


def _includes(source: bytes, name: str, folders: tuple[str, ...]) -> tuple[list[tuple[str, bytes]], list[str]]:
    """Return the included files, each once in the order of the first use, and the names for which there is no file."""
    files: list[tuple[str, bytes]] = []
    missing: list[str] = []
    seen: set[str] = set()
    library = facts().header_names

    def scan(data: bytes, folder: str) -> None:
        for raw, is_quoted in _names_in(data):
            wanted = os.fsdecode(raw)
            if wanted in library:
                continue
            candidates = [wanted] if wanted.startswith("/") else [os.path.join(place, wanted) for place in ([folder] if is_quoted else []) + list(folders)]
            found = next((one for one in candidates if os.path.isfile(one)), None)
            if found is None:
                if wanted not in missing:
                    missing.append(wanted)
                continue
            path = _normal(found)
            if len(files) >= _MOST_FILES or path in seen:
                continue
            seen.add(path)
            try:
                with open(found, "rb") as file:
                    files.append((path, file.read()))
            except OSError:
                pass

    scan(source, os.path.dirname(name))
    at = 0
    while at < len(files):
        scan(files[at][1], os.path.dirname(files[at][0]))
        at += 1
    return files, missing


def without_comments(data: bytes) -> bytes:
    """Return the source without comments and unnecessary blanks. Source that needs a real lexer is returned unchanged."""
    out = bytearray()
    in_directive = wants_blank = False
    line_is_empty = True
    at, size = 0, len(data)
    blanks = _BLANK.encode()
    while at < size:
        two = data[at : at + 2]
        c = data[at : at + 1]
        if two == b"//":
            at = data.find(b"\n", at)
            at = size if at < 0 else at
            if 0 < at < size and data[at - 1 : at] == b"\\":
                return data
        elif two == b"/*":
            end = data.find(b"*/", at + 2)
            if end < 0:
                return data
            at = end + 2
            wants_blank = True
        elif c == b"\n":
            continued = data[at - 1 : at] == b"\\" or data[max(at - 2, 0) : at] == b"\\\r" if at > 0 else False
            if not line_is_empty and in_directive and not continued:
                out += b"\n"
            else:
                wants_blank = True
            if not continued:
                in_directive = False
                line_is_empty = True
            at += 1
        elif c in blanks:
            wants_blank = True
            at += 1
        else:
            if line_is_empty and c == b"#":
                in_directive = True
                if out and out[-1:] != b"\n":
                    out += b"\n"
                wants_blank = False
            if wants_blank and out and out[-1:] != b"\n":
                out += b" "
            wants_blank = line_is_empty = False
            if c in (b'"', b"'"):
                if c == b'"' and at > 0 and data[at - 1 : at] == b"R":
                    return data
                begin = at
                at += 1
                while at < size and data[at : at + 1] not in (c, b"\n"):
                    at += 2 if data[at : at + 1] == b"\\" and at + 1 < size else 1
                if at < size and data[at : at + 1] == c:
                    at += 1
                out += data[begin:at]
            else:
                # A run of what needs no look of its own is taken at once.
                run = _PLAIN.match(data, at)
                end = run.end() if run else at + 1
                out += data[at:end]
                at = end
    return bytes(out)


_PLAIN = re.compile(rb"[^/\n \t\r\f\v\"'#]+")


def _asks_for_its_place(data: bytes) -> bool:
    return any(word in data for word in _PLACES)


def _add_msl(hasher: Hasher, name: str, data: bytes, options: Options, normalised: bool) -> None:
    hasher.field("msl")
    hasher.field(facts().headers)
    hasher.field(len(options.definitions))
    for one in options.definitions:
        hasher.field(one)
    for _ in range(4):  # undefinitions, flags for warnings, system folders, forced includes: of the command alone
        hasher.field(0)
    files, missing = _includes(data, name, options.include_folders)
    shows_places = "debug_lines" in options.flags or any(map(_asks_for_its_place, [data, *(one for _, one in files), *(one.encode() for one in options.definitions)]))
    hasher.flag("places", shows_places)
    hidden = "" if name.startswith("/") else os.path.join(os.getcwd(), "")

    def add(path: str, found: bytes) -> None:
        if hidden and path.startswith(hidden):
            path = path[len(hidden) :]
        if shows_places:
            hasher.field(path)
        hasher.field(without_comments(found) if normalised and not shows_places else found)

    add(name, data)
    hasher.field(len(files))
    for path, found in files:
        add(path, found)
    for one in missing:
        hasher.field(one)


def _add_options(hasher: Hasher, options: Options) -> None:
    of = facts()
    hasher.field(of.format)
    hasher.field(of.compiler)
    hasher.field("math")
    hasher.field(2 if options.fast_math else 0)  # fast or safe
    hasher.flag("fast_functions", options.fast_math)
    for name, member in of.flags:
        if name in options.flags:
            hasher.field(member)
    hasher.flag("language", options.language is not None)
    hasher.version(options.language or (0, 0))
    rows = [target(name) for name in sorted(set(options.targets))]
    hasher.field(len(rows))
    for row in rows:
        hasher.field(row["name"])
        hasher.field(row["triple"])
        for version in (row["os"], row["air"], row["metal"]):
            hasher.version(tuple(version))
        hasher.field(row["container_patch"])
    for names, flag in ((options.kernels, "object"), (options.functions, "")):
        distinct = sorted({one.encode() for one in names})
        hasher.field(len(distinct))
        for one in distinct:
            hasher.field(one)
        if flag:
            hasher.flag(flag, False)
    fields = sorted([("package", "1"), ("checked", "0"), ("name", options.name), ("version", options.version), ("effort", "balanced")],
                    key=lambda pair: (pair[0].encode(), pair[1].encode()))  # fmt: skip
    hasher.field(len(fields))
    for name, value in fields:
        hasher.field(name)
        hasher.field(value)


def _begun(kind: str, options: Options) -> Hasher:
    hasher = Hasher()
    hasher.field(kind)
    _add_options(hasher, options)
    hasher.number("threadgroup_memory", options.threadgroup_memory)
    hasher.number("threads_per_threadgroup", options.threads_per_threadgroup)
    return hasher


def raw_key(sources: list[tuple[str, bytes]], options: Options) -> str:
    """Return the key that depends on the bytes of the sources."""
    hasher = _begun("raw", options)
    hasher.field(options.metadata)
    hasher.field(len(sources))
    for name, data in sources:
        if kind_of(data, name) == "msl":
            _add_msl(hasher, name, data, options, False)
        else:
            hasher.field(data)
    return hasher.digest()


def normalised_key(sources: list[tuple[str, bytes]], options: Options) -> str | None:
    """Return the key that ignores comments and blanks, or None if computing it needs LLVM or the launch metadata."""
    if options.metadata or any(kind_of(data, name) != "msl" for name, data in sources):
        return None
    hasher = _begun("normalised", options)
    hasher.field(len(sources))
    for name, data in sources:
        _add_msl(hasher, name, data, options, True)
    return hasher.digest()
