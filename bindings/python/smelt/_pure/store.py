# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Reads the folder of a store: docs/formats/store.md. Only the native module writes its packs and its database."""

from __future__ import annotations

import importlib
import os
import sqlite3
import stat
import struct
from typing import Any, NamedTuple

from . import zstd
from .._entries import Tag
from .files import Cursor, fail, sha256, text
from .signing import Provenance

NEWEST = 5  # version of the schema
APPLICATION_ID = 0x534D4C54
ORIGIN = ".origin"


def xxh3_128(data: bytes | memoryview) -> bytes:
    """Return the checksum of a store's records: XXH3-128 with seed 0 in its canonical form, big-endian."""
    try:
        xxhash: Any = importlib.import_module("xxhash")
    except ImportError:
        fail("toolchain_missing", "the records of a store have XXH3 checksums: pip install 'smelt[store]' brings the package xxhash")
    return bytes(xxhash.xxh3_128_digest(data))


class Found(NamedTuple):
    parts: dict[str, bytes]
    origin: Provenance


def check_owner(folder: str) -> None:
    """Raise an error unless the folder belongs to the user, because smelt trusts its notes on the origin of entries."""
    try:
        facts, link = os.stat(folder), os.lstat(folder)  # whoever made a link to it may have chosen another of ours
    except OSError:
        return  # it is not there, or nothing in it can be read
    if not hasattr(os, "geteuid"):
        return
    if strangers := {facts.st_uid, link.st_uid} - {os.geteuid(), 0}:
        fail("untrusted", f"store {folder}: belongs to user {strangers.pop()}, this is user {os.geteuid()}; kernels from it would run as you. Use "
             "a folder of your own (SMELT_STORE)")  # fmt: skip
    if facts.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        fail("untrusted", f"store {folder}: others may write to it (mode {stat.S_IMODE(facts.st_mode):o}); make it mode 0700")


def key_bytes(key: str) -> bytes:
    if len(key) != 64:
        fail("invalid_argument", f"digest '{key}' has {len(key)} characters; want 64 hexadecimal digits")
    try:
        return bytes.fromhex(key)
    except ValueError:
        fail("invalid_argument", f"digest '{key}' is not hexadecimal")


def _fields(version: str) -> list[tuple[bool, int, str]]:
    return [(part.isascii() and part.isdigit(), int(part) if part.isascii() and part.isdigit() else 0, part) for part in version.split(".")]


def compare_versions(a: str, b: str) -> int:
    """Compare two versions field by field. Numbers compare as numbers; a missing field comes before any other, and a number before a word."""
    for i in range(max(len(a.split(".")), len(b.split(".")))):
        x = _fields(a)[i] if i < len(_fields(a)) and a else (False, 0, "")
        y = _fields(b)[i] if i < len(_fields(b)) and b else (False, 0, "")
        if x[0] and y[0]:
            if x[1] != y[1]:
                return -1 if x[1] < y[1] else 1
        elif x[2] != y[2]:
            if x[0] != y[0]:
                if not x[2] or not y[2]:
                    return -1 if not x[2] else 1
                return -1 if x[0] else 1
            return -1 if x[2].encode() < y[2].encode() else 1
    return 0


def _matches(version: str, wanted: str) -> bool:
    if not wanted:
        return True
    if not set(wanted) & set("<>="):
        return version == wanted or version.startswith(wanted + ".")
    for term in wanted.split(","):
        bare = term.lstrip("<>=")
        sign = term[: len(term) - len(bare)]
        if not bare:
            fail("invalid_argument", f"version range '{term}': no version")
        order = compare_versions(version, bare)
        fits = {">=": order >= 0, ">": order > 0, "<=": order <= 0, "<": order < 0, "=": order == 0, "==": order == 0}.get(sign)
        if fits is None:
            fail("invalid_argument", f"version range '{term}': want >=, >, <=, < or = before a version")
        if not fits:
            return False
    return True


class StoreFolder:
    """A store folder. Any thread may use it, because each call opens its own connection to the database."""

    def __init__(self, path: str) -> None:
        self.path = path

    def _open(self) -> sqlite3.Connection | None:
        """Open the database, or return None if there is no store yet; this counts as an empty store."""
        if not self.path:
            return None
        file = os.path.join(self.path, "store.db")
        check_owner(self.path)
        if not os.path.exists(file):
            return None
        uri = "file:" + file.replace("%", "%25").replace("?", "%3f").replace("#", "%23")
        # Where nothing may be written beside it there is nobody who writes either; without a log all of it is in the file.
        modes = ["?mode=ro"]
        if not os.path.exists(file + "-wal") or not os.path.getsize(file + "-wal"):
            modes.append("?mode=ro&immutable=1")
        for mode in modes:
            try:
                database = sqlite3.connect(uri + mode, uri=True, timeout=10, isolation_level=None)
                self._check(database)
                return database
            except sqlite3.OperationalError as error:
                problem: Exception = error
            except sqlite3.Error as error:
                fail("store_corrupt", f"store {self.path}: {error}")
        fail("io", f"store {self.path}: {problem}")

    def _check(self, database: sqlite3.Connection) -> None:
        version = database.execute("PRAGMA user_version").fetchone()[0]
        application = database.execute("PRAGMA application_id").fetchone()[0]
        if version and application != APPLICATION_ID:
            fail("store_corrupt", f"store database: application_id is {application}, want {APPLICATION_ID}")
        if version > NEWEST:
            oldest = database.execute("SELECT value FROM meta WHERE name='oldest'").fetchone()
            if not oldest or int(oldest[0]) > NEWEST:
                fail("store_newer", f"store {self.path}: version {version}, which a reader of version {oldest[0] if oldest else version} or "
                     f"later opens; this one knows up to {NEWEST}")  # fmt: skip

    def _rows(self, query: str, *values: Any) -> list[tuple[Any, ...]]:
        database = self._open()
        if database is None:
            return []
        try:
            return database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            fail("store_corrupt", f"store {self.path}: {error}")
        finally:
            database.close()

    def find(self, key: str) -> Found | None:
        """Return an entry, or None. As in the native store, a damaged entry counts as missing; verify() reports damage."""
        for _ in range(2):  # a trim may move an entry between the row and the pack
            try:
                return self._find(key)
            except _Gone:
                continue
            except RuntimeError as error:
                if getattr(error, "code", "") in ("corrupt", "truncated"):
                    continue
                raise
        return None

    def _find(self, key: str) -> Found | None:
        # By its number, or SQLite answers with its index's copy of the key: a damaged index leads to another row.
        rows = self._rows("SELECT key,pack,at,bytes,xxh FROM entry WHERE id=(SELECT id FROM entry WHERE key=?)", key_bytes(key))
        if not rows:
            return None
        row, pack, at, size, check = rows[0]
        if bytes(row) != key_bytes(key):
            fail("corrupt", f"store entry {key}: the database leads to another one")
        record = self._pack(pack, at, size)
        if xxh3_128(record) != bytes(check):
            fail("corrupt", f"store entry {key}: its record is damaged")
        return self._parts(key, memoryview(record))

    def _pack(self, pack: int, at: int, size: int) -> bytes:
        try:
            with open(os.path.join(self.path, "packs", f"{pack:06}.pack"), "rb") as file:
                file.seek(at)
                found = file.read(size)
        except OSError as error:
            raise _Gone from error
        if len(found) != size:
            raise _Gone
        return found

    def _parts(self, key: str, record: memoryview) -> Found:
        cursor = Cursor(record, "store record")
        magic, form, count = bytes(cursor.take(4)), cursor.number(2), cursor.number(2)
        if magic != b"SMRE" or form not in (1, 2) or cursor.take(32) != key_bytes(key):
            fail("corrupt", f"store record: not the record of {key}")
        cursor.take(8)  # cost
        if form == 2:
            cursor.take(8 + 16)  # bytes of the record, the store's secret
        parts: dict[str, bytes] = {}
        for i in range(count):
            name_size, kind, codec, _ = struct.unpack("<HBBI", cursor.take(8))
            if kind > 1 or codec > 1:
                fail("corrupt", f"store record: part {i} is of an unknown kind")
            if kind == 0:
                size = cursor.number(8)
                name = text(cursor.take(name_size), "store record: a part's name")
                parts[name] = bytes(cursor.take(size))
                continue
            pack, at, stored, raw = struct.unpack("<QQQQ", cursor.take(32))
            check = bytes(cursor.take(16))
            sha = bytes(cursor.take(32)) if form == 2 else b""
            name = text(cursor.take(name_size), "store record: a part's name")
            parts[name] = self._blob(name, pack, at, stored, raw, codec, check, sha)
        if form == 2:
            cursor.take(16)  # XXH3-128 of what precedes; the row's is of all
        if cursor.left:
            fail("corrupt", f"store record: {cursor.left} bytes left over")
        origin = parts.pop(ORIGIN, None)
        return Found(parts, Provenance.parse(text(origin, ORIGIN)) if origin is not None else Provenance.parse(""))

    def _blob(self, name: str, pack: int, at: int, stored: int, raw: int, codec: int, check: bytes, sha: bytes) -> bytes:
        data = self._pack(pack, at, stored)
        # The row has the same checksum and a SHA-256, which this Python computes a thousand times faster.
        rows = self._rows("SELECT sha256 FROM blob WHERE pack=? AND at=? AND stored=? AND xxh=?", pack, at, stored, check)
        if not rows:
            raise _Gone
        if codec:
            data = zstd.decompress(data, raw, f"store: part '{name}'")
        if len(data) != raw or sha256(data) != (sha or bytes(rows[0][0])).hex():
            fail("corrupt", f"store: part '{name}' is damaged")
        return data

    def entries(self) -> list[tuple[str, int, int, int, int]]:
        """Return (key, bytes, created, used_hour, cost_us) of each entry, in the order of the keys."""
        return [(bytes(row[0]).hex(), row[1], row[2], row[3], row[4]) for row in self._rows("SELECT key,size,created,used,cost_us FROM entry ORDER BY key")]

    def _tag_rows(self) -> list[tuple[Tag, bool]]:
        """Return all rows, oldest first, each with True if a newer row has moved its tag. A row that was tampered with is an error."""
        database = self._open()
        if database is None:
            return []
        try:
            summed = database.execute("PRAGMA user_version").fetchone()[0] >= 5
            rows = database.execute(f"SELECT id,name,version,key,moved,{'sum' if summed else 'NULL'} FROM tag NOT INDEXED ORDER BY id").fetchall()
        except sqlite3.Error as error:
            fail("store_corrupt", f"store {self.path}: {error}")
        finally:
            database.close()
        found = []
        for number, (row, name, version, key, moved, check) in enumerate(rows, 1):
            said = struct.pack("<Q", row) + name.encode() + b"\0" + version.encode() + b"\0" + bytes(key) + struct.pack("<Q", moved)
            past = check is not None and bytes(check) == xxh3_128(said + b"\1")
            if row != number or (check is not None and not past and bytes(check) != xxh3_128(said + b"\0")):
                fail("store_corrupt", f"store {self.path}: row {row} of the tags is not as it was written")
            found.append((Tag(name, version, bytes(key).hex(), moved), past))
        return found

    def tags(self, name: str = "") -> list[Tag]:
        """Return the newest row of each tag, in the order of names and versions."""
        import functools

        def order(a: Tag, b: Tag) -> int:
            if a.name != b.name:
                return -1 if a.name < b.name else 1
            return compare_versions(a.version, b.version) or (a.version > b.version) - (a.version < b.version)

        newest = {(tag.name, tag.version): (tag, past) for tag, past in self._tag_rows()}
        found = [tag for tag, past in newest.values() if not past and name in ("", tag.name)]
        return sorted(found, key=functools.cmp_to_key(order))

    def tag_history(self, name: str, version: str) -> list[Tag]:
        return [tag for tag, _ in self._tag_rows() if (tag.name, tag.version) == (name, version)][::-1]

    def resolve(self, query: str) -> list[Tag]:
        """Return the tags that match a query, newest first; only the exact version, if there is one."""
        name, _, wanted = query.partition("@")
        every = self.tags(name)
        found = [tag for tag in every if _matches(tag.version, wanted)]
        if not found:
            have = ", ".join(f"{tag.name}@{tag.version}" for tag in every)
            fail("not_cached", f"no tag fits '{query}' in store {self.path}; {'it has ' + have if have else 'it has none of that name'}")
        exact = [tag for tag in found if tag.version == wanted]
        return exact or found[::-1]


class _Gone(Exception):
    """A trim moved or removed the entry after its row was read."""
