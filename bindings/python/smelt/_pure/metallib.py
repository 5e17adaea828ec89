# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads and checks Metal libraries: docs/formats/metallib.md, whose section 14 lists the checks. It does not read the bitcode inside modules."""

from __future__ import annotations

import struct
from bisect import bisect_left
from typing import NamedTuple, NoReturn

from .files import Cursor, fail, is_zero, sha256, u16, u32, u64

MAGIC = b"MTLB"
_HEADER = struct.Struct("<4sHHHBBHBBQ8Q")
_MOST_FUNCTIONS = 1 << 20
_MOST_TAGS = 256
_MOST_PADDING = 16384
_MOST_NODES = 1 << 16

KINDS = ("vertex", "fragment", "kernel", "unqualified", "visible", "external", "intersection", "mesh", "object")
# Mach-O's platforms; what is not here is iOS or its like.
_PLATFORMS = {1: "macOS", 6: "macOS", 3: "tvOS", 8: "tvOS", 4: "watchOS", 9: "watchOS", 11: "visionOS", 12: "visionOS"}
_FIXED = {"TYPE": 1, "HASH": 32, "OFFT": 24, "VERS": 8, "MDSZ": 8, "SOFF": 8, "RFLT": 8, "TESS": 1, "LAYR": 1}
# Header extension: tag to section.
_SECTIONS = {"HSRC": "sources", "HSRD": "sources", "HDYN": "dynamic header", "VLST": "variables", "ILST": "imports",
             "RLST": "reflection", "SLST": "scripts"}  # fmt: skip


class Tag(NamedTuple):
    name: str
    payload: memoryview
    at: int


class Function(NamedTuple):
    name: str
    kind: str
    metal: tuple[int, int, int]
    sha256: str
    module: memoryview


class Metallib(NamedTuple):
    platform: str
    os: tuple[int, int, int]
    patch: int
    functions: tuple[Function, ...]


def version_text(version: tuple[int, int, int]) -> str:
    return ".".join(map(str, version if version[2] else version[:2]))


def _corrupt(message: str) -> NoReturn:
    fail("corrupt", message)


def _tags(cursor: Cursor, what: str, wide: bool = False, repeats: str = "") -> list[Tag]:
    found: list[Tag] = []
    while True:
        at = cursor.offset
        if cursor.left < 4:
            _corrupt(f"{what}: no ENDT before its end at byte {at + cursor.left}")
        letters = bytes(cursor.take(4))
        if letters == b"ENDT":
            return found
        if not all(0x20 <= c <= 0x7E for c in letters):
            _corrupt(f"{what}: want a tag name at byte {at}, found {letters.hex(' ')}")
        name = letters.decode()
        if len(found) == _MOST_TAGS:
            _corrupt(f"{what}: more than {_MOST_TAGS} tags at byte {at}")
        if name != repeats and any(one.name == name for one in found):
            _corrupt(f"{what}: a second {name} at byte {at}")
        length_size = 4 if wide or name in ("RBUF", "RBUZ", "SBUF") else 2
        if cursor.left < length_size:
            _corrupt(f"{what}: {name} at byte {at} ends before its length; want ENDT before")
        length = cursor.number(length_size)
        if length > cursor.left:
            _corrupt(f"{what}: {name} at byte {at} claims {length} bytes, {cursor.left} are left")
        payload_at = cursor.offset
        found.append(Tag(name, cursor.take(length), payload_at))


def _whole_text(payload: memoryview, what: str, at: int) -> bytes:
    cursor = Cursor(payload, what, at)
    found = cursor.cstring()
    if cursor.left:
        _corrupt(f"{what}: {cursor.left} bytes left over at byte {cursor.offset}")
    return found


def _is_utf8(name: bytes) -> bool:
    try:
        name.decode()
    except UnicodeDecodeError:
        return False
    return True


def _check_constants(payload: memoryview, at: int) -> None:
    cursor = Cursor(payload, "function constants", at)
    for _ in range(cursor.number(2)):
        cursor.cstring()
        cursor.take(3)  # its type, its index
        if (active := cursor.number(1)) > 1:
            _corrupt(f"function constants: want 0 or 1 at byte {cursor.offset - 1}, found {active}")
    if cursor.left:
        _corrupt(f"function constants: {cursor.left} bytes left over at byte {cursor.offset}")


def _check_metadata(tags: list[Tag]) -> None:
    by_name = {one.name: one for one in tags}
    for one in tags:
        if one.name == "CNST":
            _check_constants(one.payload, one.at)
        elif one.name == "DEBI":
            cursor = Cursor(one.payload, "debug location", one.at)
            cursor.number(4)
            cursor.cstring()
            if cursor.left:
                _corrupt(f"debug location: {cursor.left} bytes left over at byte {cursor.offset}")
        elif one.name == "DEPF":
            _whole_text(one.payload, "path of the .air file", one.at)
    attributes, types = by_name.get("VATT"), by_name.get("VATY")
    if types and not attributes:
        _corrupt(f"vertex types at byte {types.at}: VATY without VATT")
    if types and len(types.payload) < 2:
        _corrupt(f"vertex types at byte {types.at}: no count")
    if attributes:
        cursor = Cursor(attributes.payload, "vertex attributes", attributes.at)
        count = cursor.number(2)
        for _ in range(count):
            cursor.cstring()
            cursor.number(2)
        if cursor.left:
            _corrupt(f"vertex attributes: {cursor.left} bytes left over at byte {cursor.offset}")
        if types and (u16(types.payload, 0) != count or len(types.payload) - 2 != count):
            _corrupt(f"vertex attributes at byte {attributes.at}: VATT has {count}, VATY differs")


def _metadata(section: memoryview, at: int, what: str) -> dict[int, list[Tag]]:
    """Return the tags of each group, by its offset from the start of the section."""
    groups: dict[int, list[Tag]] = {}
    cursor = Cursor(section, what, at)
    while cursor.left:
        start = cursor.at
        size = cursor.number(4)
        tags = _tags(cursor, what)
        whole = cursor.at - start
        if size not in (whole, whole - 4):  # the dialects of the linker and of the tool
            _corrupt(f"{what}: group at byte {at + start} claims {size} bytes; its tags end after {whole}")
        _check_metadata(tags)
        groups[start] = tags
    return groups


class _Flat:
    """The head of a flatbuffer, to check that its offsets stay inside the data."""

    def __init__(self, data: memoryview) -> None:
        self.data = data

    def number(self, at: int, size: int) -> int:
        if at < 0 or at + size > len(self.data):
            _corrupt(f"reflection: want {size} bytes at its byte {at}, it has {len(self.data)}")
        return int.from_bytes(self.data[at : at + size], "little")

    def follow(self, at: int) -> int:
        distance = self.number(at, 4)
        target = at + distance
        if not distance or len(self.data) - target < 4:
            _corrupt(f"reflection: offset at its byte {at} leads to {target}, it has {len(self.data)} bytes")
        return target

    def table(self, at: int) -> tuple[int, int, int, int]:
        raw = self.number(at, 4)
        vtable = at - (raw - (1 << 32) if raw >> 31 else raw)
        if vtable < 0:
            _corrupt(f"reflection: table at its byte {at} has its vtable before the buffer")
        vtable_size, size = self.number(vtable, 2), self.number(vtable + 2, 2)
        if vtable_size < 4 or vtable_size % 2 or size < 4 or vtable_size > len(self.data) - vtable or size > len(self.data) - at:
            _corrupt(f"reflection: table at its byte {at} leaves the buffer")
        return at, vtable, vtable_size, size

    def field(self, table: tuple[int, int, int, int], index: int, size: int) -> int:
        at, vtable, vtable_size, table_size = table
        entry = 4 + 2 * index
        if entry + 2 > vtable_size:
            return 0
        offset = self.number(vtable + entry, 2)
        if not offset:
            return 0
        if offset > table_size or size > table_size - offset:
            _corrupt(f"reflection: field {index} of the table at its byte {at} is outside the table")
        return at + offset

    def vector(self, table: tuple[int, int, int, int], index: int) -> tuple[int, int]:
        field = self.field(table, index, 4)
        if not field:
            return 0, 0
        at = self.follow(field)
        count = self.number(at, 4)
        if count > _MOST_NODES or count * 4 > len(self.data) - at - 4:
            _corrupt(f"reflection: vector at its byte {at} claims {count} elements")
        return at + 4, count


def _check_reflection(data: memoryview, at: int) -> None:
    if len(data) < 8 or data[4:8] != b"AIRR":
        _corrupt(f"reflection at byte {at}: want identifier AIRR at its byte 4")
    flat = _Flat(data)
    root = flat.table(flat.follow(0))
    flat.field(root, 0, 12)
    nodes, count = flat.vector(root, 1)
    for i in range(count):
        node = flat.table(flat.follow(nodes + 4 * i))
        flat.field(node, 0, 4)
        typed = flat.field(node, 1, 4)
        if typed:
            flat.table(flat.follow(typed))
    flat.vector(root, 4)
    flat.vector(root, 9)


def _reflection(section: memoryview, at: int) -> set[int]:
    cursor = Cursor(section, "reflection list", at)
    count = cursor.number(4)
    if count * 8 > cursor.left:
        _corrupt(f"reflection list at byte {at}: claims {count} entries, has {cursor.left} bytes")
    starts = set()
    for _ in range(count):
        start = cursor.at
        size = cursor.number(4)
        tags = _tags(cursor, "reflection entry")
        if cursor.at - start != size:
            _corrupt(f"reflection list: entry at byte {at + start} claims {size} bytes; its tags end after {cursor.at - start}")
        for one in tags:
            if one.name == "RBUF":
                padding = -one.at % 16
                if padding > len(one.payload) or not is_zero(one.payload[:padding]):
                    _corrupt(f"reflection at byte {one.at}: want {padding} zero bytes before its buffer")
                _check_reflection(one.payload[padding:], one.at + padding)
        starts.add(start)
    if cursor.left:
        _corrupt(f"reflection list at byte {at}: {cursor.left} bytes after the last entry")
    return starts


def _sources(section: memoryview, at: int, with_folder: bool) -> set[int]:
    cursor = Cursor(section, "sources", at)
    count = cursor.number(4)
    cursor.cstring()
    if with_folder:
        cursor.cstring()
    if count * 8 > cursor.left:
        _corrupt(f"sources at byte {at}: claim {count} archives, have {cursor.left} bytes")
    starts = set()
    for _ in range(count):
        size = cursor.number(4)
        start = cursor.at
        tags = _tags(cursor, "source archive", wide=True)
        if cursor.at - start != size:
            _corrupt(f"sources: an archive claims {size} bytes; its tags end after {cursor.at - start}")
        for one in tags:
            if one.name == "SARC":
                Cursor(one.payload, "source archive's id", one.at).cstring()
        starts.add(start)
    if cursor.left:
        _corrupt(f"sources at byte {at}: {cursor.left} bytes after the last archive")
    return starts


def _check_module(blob: memoryview, at: int) -> None:
    """Check a module: its wrapper, the magic number of bitcode, the lengths of its blocks, and the zeros around it."""
    if len(blob) < 4:
        _corrupt(f"module at byte {at}: {len(blob)} bytes hold no bitcode")
    wrapped = False
    offset, size = 0, len(blob)
    if u32(blob, 0) == 0x0B17C0DE:
        wrapped = True
        if len(blob) < 20:
            _corrupt(f"module at byte {at}: wrapper needs 20 bytes, the blob has {len(blob)}")
        offset, size = u32(blob, 8), u32(blob, 12)
        if offset < 20 or offset > len(blob) or size > len(blob) - offset:
            _corrupt(f"module at byte {at}: wrapper says {size} bytes at {offset}, the blob has {len(blob)}")
        if not is_zero(blob[20:offset]) or not is_zero(blob[offset + size :]):
            _corrupt(f"module at byte {at}: bytes around its bitcode that nothing explains; want zeros")
    elif u32(blob, 0) != 0xDEC04342:
        _corrupt(f"module at byte {at}: starts with {bytes(blob[:4]).hex()}; want LLVM bitcode or its wrapper")
    cursor = Cursor(blob[offset : offset + size], "bitcode", at + offset)
    if cursor.number(4) != 0xDEC04342:
        _corrupt(f"bitcode at byte {at + offset}: want 'BC' C0 DE")
    while cursor.left:
        if not wrapped and is_zero(cursor.data[cursor.at :]):
            return
        block_at = cursor.offset
        head = cursor.number(4)
        if head & 3 != 1 or head & 1 << 9 or head & 1 << 13 or head >> 14:
            _corrupt(f"bitcode at byte {at + offset}: want a block at byte {block_at}, found {head:#010x}")
        words = cursor.number(4)
        if words * 4 > cursor.left:
            _corrupt(f"bitcode at byte {at + offset}: block at byte {block_at} claims {words * 4} bytes, {cursor.left} are left")
        cursor.take(words * 4)


class _Links(NamedTuple):
    public: int
    private: int
    module: int
    size: int | None
    source: int | None
    reflection: int | None


class _Reader:
    def __init__(self, image: memoryview, check_hashes: bool, allow_newer: bool) -> None:
        self.image = image
        self.allow_newer = allow_newer
        self.found: list[tuple[int, int, str]] = []
        self.check_hashes = check_hashes

    def read(self) -> Metallib:
        image = self.image
        if image[:4] != MAGIC:
            fail("not_metallib", "not a Metal library: want a file that starts with 'MTLB', or a package, which starts with 'SMLT'")
        if len(image) < 88:
            fail("truncated", f"header: want 88 bytes, the file has {len(image)}")
        (_, macos_and_major, minor, patch, _, wide_and_platform, os_major, os_minor, os_patch, size, list_at, list_size,
         public_at, public_size, private_at, private_size, bitcode_at, bitcode_size) = _HEADER.unpack_from(image)  # fmt: skip
        self._check_version((macos_and_major & 0x7FFF, minor, patch))
        if size > len(image):
            fail("truncated", f"header says the library has {size} bytes, the file has {len(image)}")
        if size < len(image):
            _corrupt(f"header says the library has {size} bytes, the file has {len(image) - size} more")
        public = self._place("public metadata", public_at, public_size)
        private = self._place("private metadata", private_at, private_size)
        bitcode = self._place("bitcode", bitcode_at, bitcode_size)
        heads, extension = self._list_and_extension(list_at, list_size)
        open_groups = _metadata(public, public_at, "public metadata")
        closed_groups = _metadata(private, private_at, "private metadata")
        for name, links in ((name, links) for name, links, *_ in heads):
            if links.public not in open_groups or links.private not in closed_groups:
                _corrupt(f"function '{name}': OFFT leads to no metadata group")
        modules = self._modules(heads, bitcode, bitcode_at)
        self._named_sections(extension, [links for _, links, *_ in heads])
        self._explain_every_byte()
        functions = [Function(name, kind, (versions[2], versions[3], 0), digest, module) for (name, _, kind, digest, versions), module in zip(heads, modules)]
        if self.check_hashes:
            for one in functions:
                if sha256(one.module) != one.sha256:
                    _corrupt(f"function '{one.name}': HASH is {one.sha256}, its module hashes to {sha256(one.module)}")
        number = wide_and_platform & 0x7F
        platform = ("macOS" if macos_and_major & 0x8000 else "iOS") if not number else _PLATFORMS.get(number, "iOS")
        return Metallib(platform, (os_major, os_minor, os_patch), patch, tuple(functions))

    def _check_version(self, version: tuple[int, int, int]) -> None:
        if version[:2] == (1, 2) and 2 <= version[2] <= 9:
            return
        spelled = ".".join(map(str, version))
        if version[:2] < (1, 2) or (version[:2] == (1, 2) and version[2] < 2):
            fail("unsupported", f"container {spelled}; want 1.2.2 or later")
        if not (self.allow_newer and version[:2] == (1, 2)):
            fail("format_newer", f"container {spelled} is newer than 1.2.9, the newest known")

    def _place(self, what: str, at: int, size: int) -> memoryview:
        if at < 88 or at > len(self.image) or size > len(self.image) - at:
            _corrupt(f"{what}: {size} bytes at byte {at} are not inside the library's {len(self.image)} bytes behind its header")
        self.found.append((at, size, what))
        return self.image[at : at + size]

    def _list_and_extension(self, at: int, size: int) -> tuple[list[tuple[str, _Links, str, str, tuple[int, ...]]], list[Tag]]:
        whole = len(self.image)
        if size > whole or at < 88 or at > whole or size + 4 > whole - at:
            _corrupt(f"function list: {size} + 4 bytes at byte {at} are not inside the library's {whole} bytes")
        cursor = Cursor(self.image[at : at + size + 4], "function list", at)
        count = cursor.number(4)
        if count > _MOST_FUNCTIONS or count * 8 > cursor.left:
            _corrupt(f"function list at byte {at}: claims {count} functions, has {cursor.left} bytes")
        heads = [self._function(cursor, i) for i in range(count)]
        if cursor.left:
            _corrupt(f"function list at byte {at}: {cursor.left} bytes after its last function")
        list_end = at + 4 + size
        end = min([whole, *(start for start, _, _ in self.found if start >= list_end)])
        between = self.image[list_end:end]
        extension: list[Tag] = []
        extension_size = 0
        if len(between) and between[0]:
            after = Cursor(between, "header extension", list_end)
            extension = _tags(after, "header extension")
            extension_size = after.at
            seen = set()
            for one in extension:
                section = _SECTIONS.get(one.name)
                if (section or one.name == "UUID") and len(one.payload) != 16:
                    _corrupt(f"header extension: {one.name} at byte {one.at} has {len(one.payload)} bytes, want 16")
                if section:
                    if section in seen:
                        _corrupt(f"header extension: {one.name} at byte {one.at} names the {section} a second time")
                    seen.add(section)
                    self._place(section, u64(one.payload, 0), u64(one.payload, 8))
        self._place("functions", at, size + 4 + extension_size)
        return heads, [one for one in extension if one.name in _SECTIONS]

    def _function(self, cursor: Cursor, index: int) -> tuple[str, _Links, str, str, tuple[int, ...]]:
        what = f"function {index}"
        at = cursor.offset
        size = cursor.number(4)
        if size < 8 or size - 4 > cursor.left:
            _corrupt(f"{what} at byte {at}: group claims {size} bytes, the list has {cursor.left + 4} left")
        group = Cursor(cursor.take(size - 4), what, at + 4)
        tags = {one.name: one for one in _tags(group, what)}
        if group.left:
            _corrupt(f"{what} at byte {at}: ENDT is {group.left} bytes before the end of its group")
        for one in tags.values():
            if len(one.payload) != _FIXED.get(one.name, len(one.payload)):
                _corrupt(f"{what}: {one.name} at byte {one.at} has {len(one.payload)} bytes, want {_FIXED[one.name]}")
            if one.name == "NAME" and not _is_utf8(_whole_text(one.payload, "function name", one.at)):
                _corrupt(f"{what}: name at byte {one.at} is not UTF-8")
        for needed in ("NAME", "HASH", "OFFT", "VERS"):
            if needed not in tags:
                _corrupt(f"{what} at byte {at}: no {needed}")

        def number(name: str) -> int | None:
            return u64(tags[name].payload, 0) if name in tags else None

        name = bytes(tags["NAME"].payload[:-1]).decode()
        kind = tags["TYPE"].payload[0] if "TYPE" in tags else len(KINDS)
        offsets = struct.unpack("<3Q", tags["OFFT"].payload)
        links = _Links(offsets[0], offsets[1], offsets[2], number("MDSZ"), number("SOFF"), number("RFLT"))
        return (name, links, KINDS[kind] if kind < len(KINDS) else "unqualified", bytes(tags["HASH"].payload).hex(),
                struct.unpack("<4H", tags["VERS"].payload))  # fmt: skip

    def _modules(self, heads: list[tuple[str, _Links, str, str, tuple[int, ...]]], section: memoryview, at: int) -> list[memoryview]:
        starts = sorted({links.module for _, links, *_ in heads})
        sizes: dict[int, int] = {}
        for name, links, *_ in heads:
            start = links.module
            if start > len(section):
                _corrupt(f"function '{name}': module at {start} of the bitcode section, which has {len(section)} bytes")
            k = bisect_left(starts, start)
            following = min(starts[k + 1], len(section)) if k + 1 < len(starts) else len(section)
            size = links.size if links.size is not None else following - start
            if size > len(section) - start:
                _corrupt(f"function '{name}': module of {size} bytes at {start} of the bitcode section, which has {len(section)}")
            if sizes.setdefault(start, size) != size:
                _corrupt(f"function '{name}': module at {start} of the bitcode section has {size} bytes here, {sizes[start]} for another")
        end = 0
        for start in starts:
            if start != end:
                _corrupt(f"bitcode: module at {start} of the section, the one before ends at {end} (byte {at + end} of the file)")
            end = start + sizes[start]
            _check_module(section[start:end], at + start)
        if end != len(section):
            _corrupt(f"bitcode: {len(section) - end} bytes at byte {at + end} belong to no function")
        return [section[links.module : links.module + sizes[links.module]] for _, links, *_ in heads]

    def _named_sections(self, extension: list[Tag], links: list[_Links]) -> None:
        has_reflection = False
        for one in extension:
            at, size = u64(one.payload, 0), u64(one.payload, 8)
            section = self.image[at : at + size]
            if one.name in ("HSRC", "HSRD"):
                starts = _sources(section, at, one.name == "HSRD")
                if any(link.source is not None and link.source not in starts for link in links):
                    _corrupt("SOFF of a function leads to no source archive")
            elif one.name == "RLST":
                has_reflection = True
                starts = _reflection(section, at)
                if any(link.reflection is not None and link.reflection not in starts for link in links):
                    _corrupt("RFLT of a function leads to no reflection entry")
            elif one.name == "HDYN":
                cursor = Cursor(section, "dynamic header", at)
                for tag in _tags(cursor, "dynamic header", repeats="DYNL"):
                    if tag.name in ("NAME", "DYNL"):
                        _whole_text(tag.payload, "dynamic header's name", tag.at)
                if cursor.left:
                    _corrupt(f"dynamic header at byte {at}: {cursor.left} bytes after its ENDT")
        if not has_reflection and any(link.reflection is not None for link in links):
            _corrupt("RFLT of a function, and no reflection list")

    def _explain_every_byte(self) -> None:
        end, before = 88, "header"
        for at, size, what in [*sorted(self.found, key=lambda found: found[:2]), (len(self.image), 0, "end of file")]:
            if at < end:
                _corrupt(f"{what} at byte {at} overlaps the {before}, which ends at byte {end}")
            if at - end >= _MOST_PADDING or not is_zero(self.image[end:at]):
                _corrupt(f"{at - end} bytes at byte {end}, between {before} and {what}, that nothing explains")
            end, before = at + size, what


def read_metallib(data: bytes | memoryview, verify: str = "structure") -> Metallib:
    """Read a Metal library. ``verify`` is that of smelt.load_metallib."""
    return _Reader(memoryview(data).cast("B"), verify in ("digest", "full"), verify == "none").read()
