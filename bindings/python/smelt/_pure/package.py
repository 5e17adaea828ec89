# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads packages of formats 1 to 4: docs/formats/package.md. Opening a package checks every row, as the loader does; a part is hashed when it is used."""

from __future__ import annotations

import struct
from typing import Any, NamedTuple, NoReturn

from .files import fail, is_zero, sha256, text, u16, u32

NEWEST = 4
OLDEST = 1
HEADER = struct.Struct("<4sHHQQQQQ32s32s")
MOST_SIGNATURE_BYTES = 8192
ALIGNMENT = 64

FUNCTION_KINDS = ("kernel", "vertex", "fragment", "unqualified", "visible", "external", "intersection", "mesh", "object")
_ARGUMENT_KINDS = 8
_STAGE_KINDS = (9, 10)  # from format 3 on
_ACCESSES = 5
_MEMBER_KINDS = 3
PLATFORMS = ("none", "macOS", "iOS", "tvOS", "watchOS", "visionOS")

_MANIFEST = struct.Struct("<10I")
_LIBRARY = struct.Struct("<6I32s8I")
_TAG = struct.Struct("<2I")
_FUNCTION = struct.Struct("<13I")
_ARGUMENT = struct.Struct("<6I4B3I")
_CONSTANT = struct.Struct("<6I")
_SLICE = struct.Struct("<2I4B2I3H3H3HHQQ32s32sII")
_PRESENCE = struct.Struct("<2I3H3HI")
_ATTACHMENT = struct.Struct("<2IQQ32s")
_MEMBER = struct.Struct("<9IBBH")

Version = tuple[int, int, int]


class Part(NamedTuple):
    what: str
    bytes: memoryview
    sha256: str

    def checked(self) -> memoryview:
        """Return the bytes, after checking them against the hash in the manifest."""
        found = sha256(self.bytes)
        if found != self.sha256:
            fail("digest_mismatch", f"part '{self.what}' hashes to {found}, the manifest says {self.sha256}")
        return self.bytes


class Function(NamedTuple):
    name: str
    kind: str
    arguments: tuple[str, ...]


class Presence(NamedTuple):
    """A note on a function in a slice: why it is missing, or its Metal version."""

    missing: bool
    reason: str
    metal: Version


class Slice(NamedTuple):
    target: str
    is_cpu: bool
    platform: str
    os: Version
    metal: Version
    family: int
    part: Part
    functions: tuple[Presence, ...]


class Library(NamedTuple):
    name: str
    compiler: str
    version: str
    functions: tuple[Function, ...]
    slices: tuple[Slice, ...]
    attachments: tuple[Part, ...]


def _version(row: tuple[Any, ...], at: int) -> Version:
    return row[at], row[at + 1], row[at + 2]


def looks_like_package(data: bytes | memoryview) -> bool:
    return bytes(data[:4]) == b"SMLT"


def _corrupt(message: str) -> NoReturn:
    fail("corrupt", f"package: {message}")


def _is_signature(line: bytes) -> bool:
    return len(line) <= 256 and b":" in line and all(0x20 < c < 0x7F for c in line)


class _Pool:
    """The strings of the manifest. A string that is not UTF-8 is the error `corrupt`, because this reader returns text."""

    def __init__(self, data: memoryview) -> None:
        self.data = data

    def get(self, offset: int, size: int, what: str, may_be_empty: bool = False) -> str:
        if offset + size > len(self.data):
            _corrupt(f"{what}: text of {size} bytes at {offset} is outside the pool of {len(self.data)}")
        raw = bytes(self.data[offset : offset + size])
        if (not raw and not may_be_empty) or b"\0" in raw:
            _corrupt(f"{what} is {'text with a NUL in it' if raw else 'empty'}")
        return text(raw, f"package: {what}")


class _Rows:
    """Rows of a child table. The rows of a parent begin where those of the parent before it end."""

    def __init__(self, what: str, rows: list[tuple[Any, ...]]) -> None:
        self.what = what
        self.rows = rows
        self.next = 0

    def take(self, first: int, count: int) -> range:
        if first != self.next:
            _corrupt(f"{self.what} begin at row {first}, want {self.next}")
        self.next += count
        if self.next > len(self.rows):  # one of the parents says too much; all are named by the last check otherwise
            _corrupt(f"{len(self.rows)} rows of {self.what}, {self.next} are used")
        return range(first, first + count)

    def end(self) -> None:
        if self.next != len(self.rows):
            _corrupt(f"{len(self.rows)} rows of {self.what}, {self.next} are used")


class PackageFile:
    """An open package. `bytes` is the package without its signatures."""

    def __init__(self, data: bytes | memoryview) -> None:
        self.bytes = memoryview(data).cast("B") if not isinstance(data, bytes) else memoryview(data)
        self.signatures: tuple[str, ...] = ()
        self._parts: dict[int, tuple[int, bytes]] = {}
        self._next_part = self._end = 0
        self._read_header()
        self._read_tables()
        self._check_gaps()

    # --- the header and what follows the package

    def _read_header(self) -> None:
        data = self.bytes
        if len(data) < 8 or data[:4] != b"SMLT":
            _corrupt(f'the first bytes are not "SMLT" and two format numbers ({len(data)} bytes in all)')
        self.format, oldest = u16(data, 4), u16(data, 6)
        if oldest > NEWEST:
            fail("format_newer", f"package: written in format {self.format}, which asks for a reader of format {oldest} or later; this "
                 f"reader knows {OLDEST} to {NEWEST}. Use a newer smelt, or build the package with an older one")  # fmt: skip
        if self.format < OLDEST or self.format < oldest:
            _corrupt(f"format {self.format} with oldest reader {oldest} was never written")
        if len(data) < HEADER.size:
            fail("truncated", f"package: {len(data)} bytes; the header alone has {HEADER.size}: it is cut short; copy it again")
        (_, _, _, size, self._manifest_at, manifest_size, self._parts_at, parts_size, manifest_hash, digest) = HEADER.unpack_from(data)
        if len(data) < size:
            fail("truncated", f"package: the header says {size} bytes, there are {len(data)}: it is cut short; copy it again")
        if size < HEADER.size:
            _corrupt(f"the header says {size} bytes, fewer than it has itself")
        if len(data) > size:
            self._read_signatures(data[size:], size)
        self.bytes = data = data[:size]
        self.digest: str = digest.hex()
        if sha256(data[:80]) != self.digest:
            fail("digest_mismatch", "package: the header does not hash to the digest at offset 80")
        self._manifest_end = self._manifest_at + manifest_size
        if (self._manifest_at != HEADER.size or manifest_size > size or self._manifest_end > self._parts_at
                or self._parts_at > size or parts_size != size - self._parts_at):  # fmt: skip
            _corrupt(f"manifest of {manifest_size} bytes at {self._manifest_at} and parts of {parts_size} bytes at {self._parts_at} "
                     f"do not fill a file of {size}")  # fmt: skip
        self._manifest = data[self._manifest_at : self._manifest_end]
        if sha256(self._manifest) != manifest_hash.hex():
            fail("digest_mismatch", "package: the manifest does not hash to the digest in the header")

    def _read_signatures(self, block: memoryview, size: int) -> None:
        if len(block) < 8 or len(block) > MOST_SIGNATURE_BYTES or block[:4] != b"SMSG" or u32(block, 4) != len(block):
            _corrupt(f"the header says {size} bytes, and the {len(block)} after them are not signatures")
        *lines, rest = bytes(block[8:]).split(b"\n")
        if rest or not all(_is_signature(line) for line in lines):
            _corrupt("a signature does not read NAME:BASE64")
        self.signatures = tuple(line.decode() for line in lines)

    # --- the manifest

    def _read_tables(self) -> None:
        manifest = self._manifest
        if len(manifest) < _MANIFEST.size:
            _corrupt(f"manifest of {len(manifest)} bytes")
        counts = _MANIFEST.unpack_from(manifest)
        text_bytes, members = counts[8], counts[9]
        tables: list[list[tuple[Any, ...]]] = []
        at, fits = _MANIFEST.size, True
        for row, count in zip((_LIBRARY, _TAG, _FUNCTION, _ARGUMENT, _CONSTANT, _SLICE, _PRESENCE, _ATTACHMENT, _MEMBER),
                              (*counts[:8], members)):  # fmt: skip
            fits = fits and count * row.size <= len(manifest) - at
            if fits:
                tables.append(list(row.iter_unpack(manifest[at : at + count * row.size])))
                at += count * row.size
        if not fits or text_bytes != len(manifest) - at or (members and self.format < 2):
            _corrupt(f"the manifest's tables and {text_bytes} bytes of text do not fill its {len(manifest)} bytes")
        self._pool = _Pool(manifest[at:])
        names = ("libraries", "tags", "functions", "arguments", "constants", "slices", "notes on functions", "attachments", "members")
        (libraries, tags, functions, arguments, constants, slices, presences, attachments, member_rows) = (
            _Rows(name, rows) for name, rows in zip(names, tables)
        )
        heads = self._check_libraries(libraries, tags, functions, slices, attachments)
        for tag in tags.rows:
            self._pool.get(tag[0], tag[1], "tag")
        spans = self._check_functions(functions, arguments, constants, heads)
        self._check_members(arguments, member_rows)
        argument_names = [self._argument(row) for row in arguments.rows]
        for constant in constants.rows:
            self._check_constant(constant)
        pieces = self._check_slices(heads, slices, presences, attachments)
        presence_rows = [self._presence(i, row) for i, row in enumerate(presences.rows)]
        made = [Function(name, kind, tuple(argument_names[k] for k in taken)) for name, kind, taken in spans]
        self.libraries = tuple(
            Library(head.name, head.compiler, head.version, tuple(made[k] for k in head.functions),
                    tuple(one._replace(functions=tuple(presence_rows[k] for k in notes)) for one, notes in found),
                    tuple(attached))
            for head, (found, attached) in zip(heads, pieces)
        )  # fmt: skip

    def _check_libraries(self, libraries: _Rows, tags: _Rows, functions: _Rows, slices: _Rows, attachments: _Rows) -> list[_Head]:
        heads = []
        for row in libraries.rows:
            name = self._pool.get(row[0], row[1], "library name")
            compiler = self._pool.get(row[2], row[3], "compiler", True)
            version = self._pool.get(row[4], row[5], "version", True)
            tags.take(row[7], row[8])
            heads.append(_Head(name, compiler, version, functions.take(row[9], row[10]), slices.take(row[11], row[12]),
                               attachments.take(row[13], row[14])))  # fmt: skip
        for table in (tags, functions, slices, attachments):
            table.end()
        names = sorted(head.name for head in heads)
        for before, after in zip(names, names[1:]):
            if before == after:
                _corrupt(f"two libraries are named '{after}'")
        return heads

    def _check_functions(self, functions: _Rows, arguments: _Rows, constants: _Rows, heads: list[_Head]) -> list[tuple[str, str, range]]:
        spans: list[tuple[str, str, range]] = []
        for row in functions.rows:
            name = self._pool.get(row[0], row[1], "function name")
            taken = arguments.take(row[2], row[3])
            constants.take(row[4], row[5])
            if row[6] >= len(FUNCTION_KINDS):
                _corrupt(f"function '{name}' has kind {row[6]}")
            if self.format >= 4 and row[7] >> 16 > 3:
                _corrupt(f"function '{name}' has a position of {row[7] >> 16} dimensions")
            spans.append((name, FUNCTION_KINDS[row[6]], taken))
        arguments.end()
        constants.end()
        for head in heads:
            before = b""
            for k, at in enumerate(head.functions):
                by_name = functions.rows[at][12]
                if by_name >= len(head.functions):
                    _corrupt(f"library '{head.name}': function {k} in name order is {by_name} of {len(head.functions)}")
                after = spans[head.functions[by_name]][0].encode()
                if k and before >= after:
                    _corrupt(f"library '{head.name}': function names '{before.decode()}' and '{after.decode()}' are not in order")
                before = after
        return spans

    def _argument(self, row: tuple[Any, ...]) -> str:
        name = self._pool.get(row[0], row[1], "argument name", True)
        self._pool.get(row[2], row[3], "argument type", True)
        kind, access, flags = row[6], row[7], row[9]
        known = kind < _ARGUMENT_KINDS or (self.format >= 3 and kind in _STAGE_KINDS)
        if not known or access >= _ACCESSES or flags > 3:
            _corrupt(f"argument '{name}' has kind {kind}, access {access}, flags {flags}")
        return name

    def _check_members(self, arguments: _Rows, members: _Rows) -> None:
        before = 0
        for row in members.rows:
            name = self._pool.get(row[0], row[1], "member name", True)
            self._pool.get(row[2], row[3], "member type", True)
            argument, (kind, access, zero) = row[4], row[9:12]
            if argument >= len(arguments.rows) or argument < before:
                _corrupt(f"member '{name}' is of argument {argument} of {len(arguments.rows)}, after one of {before}")
            before = argument
            if kind >= _MEMBER_KINDS or access >= _ACCESSES or zero:
                _corrupt(f"member '{name}' has kind {kind}, access {access}")

    def _check_constant(self, row: tuple[Any, ...]) -> None:
        name = self._pool.get(row[0], row[1], "constant name", True)
        self._pool.get(row[2], row[3], "constant type")
        if row[5] > 1:
            _corrupt(f"constant '{name}' is required {row[5]} times")

    def _check_slices(self, heads: list[_Head], slices: _Rows, presences: _Rows, attachments: _Rows) -> list[tuple[list[tuple[Slice, range]], list[Part]]]:
        pieces = []
        for head in heads:
            found = []
            for k in head.slices:
                row = slices.rows[k]
                target = self._pool.get(row[0], row[1], "slice target")
                kind, platform, checked, zero = row[2:6]
                family, offset, size, digest = row[17:21]
                first_presence, zero_end = row[22:24]
                if kind not in (1, 2) or platform >= len(PLATFORMS) or checked > 15 or (checked != 0 and checked % 2 == 0) or zero or zero_end:
                    _corrupt(f"slice '{target}' has kind {kind}, platform {platform}, checked {checked}")
                notes = presences.take(first_presence, len(head.functions))
                part = self._part(offset, size, digest, target)
                found.append((Slice(target, kind == 2, PLATFORMS[platform], _version(row, 8), _version(row, 11), family, part, ()), notes))
            attached = []
            for k in head.attachments:
                name_at, name_size, offset, size, digest = attachments.rows[k]
                name = self._pool.get(name_at, name_size, "attachment name")
                attached.append(self._part(offset, size, digest, name))
            pieces.append((found, attached))
        presences.end()
        return pieces

    def _presence(self, index: int, row: tuple[Any, ...]) -> Presence:
        reason = self._pool.get(row[0], row[1], "reason", True)
        if row[8] > 1:
            _corrupt(f"note {index} on a function is neither present nor missing")
        return Presence(row[8] == 1, reason, _version(row, 2))

    # --- parts and the gaps between them

    def _part(self, offset: int, size: int, digest: bytes, what: str) -> Part:
        whole = len(self.bytes)
        if size > whole or offset > whole - size:
            _corrupt(f"part '{what}': {size} bytes at {offset} are outside the file of {whole}")
        part = Part(what, self.bytes[offset : offset + size], digest.hex())
        if offset in self._parts:  # equal parts are stored once
            if self._parts[offset] != (size, digest):
                _corrupt(f"part '{what}' overlaps another at {offset}")
            return part
        expected = self._next_part if self._parts else self._parts_at
        if offset != expected or offset % ALIGNMENT:
            _corrupt(f"part '{what}' begins at {offset}, want {expected}")
        if not size:
            _corrupt(f"part '{what}' is empty")
        self._parts[offset] = (size, digest)
        self._end = offset + size
        self._next_part = -(-self._end // ALIGNMENT) * ALIGNMENT
        return part

    def _check_gaps(self) -> None:
        if not self._parts:
            self._end = self._parts_at
        if self._end != len(self.bytes):
            _corrupt(f"the last part ends at {self._end}, the file at {len(self.bytes)}")
        if self._parts_at - self._manifest_end >= ALIGNMENT:
            _corrupt(f"manifest ends at {self._manifest_end}, parts begin at {self._parts_at}")
        if not is_zero(self.bytes[self._manifest_end : self._parts_at]):
            _corrupt("bytes between manifest and parts are not zero")
        at = self._parts_at
        for offset in sorted(self._parts):
            if not is_zero(self.bytes[at:offset]):
                _corrupt(f"bytes before the part at {offset} are not zero")
            at = offset + self._parts[offset][0]

    # --- questions

    def library(self, name: str) -> Library | None:
        return next((one for one in self.libraries if one.name == name), None)

    def check_all_parts(self) -> None:
        for library in self.libraries:
            for one in library.slices:
                one.part.checked()
            for attachment in library.attachments:
                attachment.checked()

    @property
    def statement(self) -> bytes:
        """The bytes that signatures of the package sign."""
        return f"smelt-package 1\ndigest {self.digest}\n".encode()


class _Head(NamedTuple):
    name: str
    compiler: str
    version: str
    functions: range
    slices: range
    attachments: range

