# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The store: entries of named parts by key. The parts of an entry are published together or not at all; all processes of a user share the store.
The reader uses the same classes over its own code that reads the folder (_pure/entries.py)."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, Union

from . import edition
from ._entries import EntryFacts as EntryFacts
from ._entries import Key as Key
from ._entries import Tag as Tag
from ._entries import shown
from ._folder import default_folder
from .errors import ArgumentError, CacheMissError, StoreError

if TYPE_CHECKING or edition == "native":
    from . import _store

Bytes = Union[bytes, bytearray, memoryview]


class Entry(Mapping[str, bytes]):
    """An entry of the store: a mapping from the names of its parts to bytes. It is a copy, so later changes of the store do
    not affect it."""

    __slots__ = ("_native", "_names")

    def __init__(self, native: _store.Entry) -> None:
        self._native = native
        self._names: list[str] = native.names()

    def __getitem__(self, name: str) -> bytes:
        value = self._native.get(name)
        if value is None:
            raise KeyError(name)
        return value

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def view(self, name: str) -> memoryview:
        """Return a part without copying it."""
        value = self._native.view(name)
        if value is None:
            raise KeyError(name)
        return value

    def files(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Write the parts as files into a folder, and return a dict from names to paths. A file that already has the right
        bytes is not written again."""
        return self._native.files(os.fspath(folder))

    def __repr__(self) -> str:
        return f"<smelt entry of {', '.join(map(shown, self._names))}>"


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _remotes() -> Any:
    """Return the module for remotes. It is imported only for a store that has remotes."""
    try:
        from . import _remote
    except ImportError as missing:
        from ._installed import how_to_get

        raise StoreError(f"remotes cannot be loaded ({missing}). {how_to_get('remote')}") from missing
    return _remote


class Store:
    """A store in a folder. Any number of threads and processes may use it; a forked child process opens it again by itself.

    Args:
        path: the folder; None is SMELT_STORE, else $XDG_CACHE_HOME/smelt, else ~/.cache/smelt.
        read_only: refuse to write.
        max_bytes: largest size on disk in bytes, 0 for no limit; None is SMELT_STORE_MAX_SIZE, else 5 GiB.
        durable: sync each put to the disk.
        verify: when to compare bytes with their checksums: at their "first_use" in this process, "always" or "never".
        remotes: URLs of servers, nearest first (docs/guide/remotes.md); None is SMELT_REMOTE. The store asks them on a
            miss and keeps the entries that they return. It sends new entries to them in the background.

    Raises:
        StoreError: the store is damaged, or a newer version wrote it.
        TrustError: another user owns the folder or may write to it.
        CacheMissError: ``store[key]`` or ``resolve`` found nothing.
    """

    def __init__(
        self,
        path: str | os.PathLike[str] | None = None,
        *,
        read_only: bool = False,
        max_bytes: int | None = None,
        durable: bool = False,
        verify: str = "first_use",
        remotes: Iterable[str] | None = None,
    ) -> None:
        self.path: str = os.fspath(path) if path is not None else default_folder()
        self.remotes: list[str] = os.environ.get("SMELT_REMOTE", "").split() if remotes is None else list(remotes)
        native: Any = _store
        if self.remotes:
            native = _remotes()
        self._native: _store.Store = native.Store(
            self.path,
            read_only=read_only,
            max_bytes=max_bytes,
            durable=durable,
            verify=verify,
            warn=_warn,
            remotes=self.remotes,
        )

    def __repr__(self) -> str:
        return f"<smelt.Store {self.path}>"

    def __fspath__(self) -> str:
        return self.path

    def get(self, key: str) -> Entry | None:
        """Return the entry of a key, or None if there is none. A damaged entry is removed, counted, and treated as missing."""
        found = self._native.find(key)
        return None if found is None else Entry(found)

    def get_all(self, keys: Iterable[str]) -> list[Entry | None]:
        """Return a list with the entry of each key, or None for a key without an entry."""
        return [None if found is None else Entry(found) for found in self._native.find_all(list(keys))]

    def __getitem__(self, key: str) -> Entry:
        found = self.get(key)
        if found is None:
            raise CacheMissError(f"no entry {key} in store {self.path}", subject=key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and len(key) == 64 and self._native.find(key) is not None

    def put(self, key: str, parts: Mapping[str, Bytes], *, cost: float = 0.0, compress: bool = False) -> None:
        """Publish an entry. After the call, every process finds all parts of the entry.

        Args:
            key: 64 hexadecimal digits.
            parts: a dict from names to bytes.
            cost: time in seconds that it took to make the parts. ``trim`` keeps expensive entries longer.
            compress: use less space, but decompress the parts at each ``get``.
        """
        if not parts:
            raise ArgumentError(f"put {key}: no parts")
        self._native.put(key, dict(parts), int(cost * 1e6), compress)

    def put_all(self, entries: Mapping[str, Mapping[str, Bytes]]) -> None:
        """Publish several entries in one transaction."""
        self._native.put_all([(key, dict(parts)) for key, parts in entries.items()])

    def remove(self, key: str) -> bool:
        """Remove the entry of a key. Return False if there was none."""
        return self._native.remove(key)

    def entries(self) -> list[EntryFacts]:
        """Return a list with facts about all entries."""
        return list(self.iter_entries())

    def iter_entries(self) -> Iterator[EntryFacts]:
        """Iterate over facts about all entries, in the order of their keys, with only a few in memory."""
        last = ""
        while some := self._native.entries(last, 1024):
            for facts in some:
                yield EntryFacts(*facts)
            last = some[-1][0]

    def tag(self, name: str, key: str, *, move: bool = False) -> None:
        """Give a key a name and version, such as "flash_attn@2.1.0". An existing tag moves only with ``move=True``."""
        bare, at, version = name.partition("@")
        if not bare or not at or not version:
            raise ArgumentError(f"tag {name!r}: want NAME@VERSION")
        self._native.tag(bare, version, key, move)

    def tags(self, name: str = "") -> list[Tag]:
        """Return all tags, or those with this name."""
        return [Tag(*tag) for tag in self._native.tags(name)]

    def tag_history(self, name: str) -> list[Tag]:
        """Return the keys to which the tag NAME@VERSION has pointed, newest first."""
        bare, _, version = name.partition("@")
        return [Tag(*tag) for tag in self._native.tag_history(bare, version)]

    def resolve(self, query: str) -> Key:
        """Return the key of the newest version that matches "name", "name@2", "name@2.1.0" or "name@>=2.1,<3"."""
        return Key(self._native.resolve(query)[0][2])

    def candidates(self, query: str) -> list[Tag]:
        """Return the tags of all versions that match a query, newest first."""
        return [Tag(*tag) for tag in self._native.resolve(query)]

    def stat(self) -> dict[str, Any]:
        """Return sizes and counters of the store."""
        return self._native.stat()

    def remote_stat(self) -> list[dict[str, Any]]:
        """Return a dict for each remote: hits, misses, errors, bytes and more, added up over processes that have ended."""
        rows: list[dict[str, Any]] = _remotes().statistics(self.path)
        return rows

    def counters(self) -> dict[str, int]:
        """Return the counters of this process: hits, misses and others."""
        return self._native.counters()

    def verify(self) -> list[str]:
        """Read and hash every entry, and return a line of text for each damaged one."""
        return self._native.verify()

    def flush(self, timeout: float = 30) -> bool:
        """Wait until new entries have been sent to the remotes. Return False if that takes longer than ``timeout`` seconds."""
        return self._native.flush(int(timeout * 1000))

    def trim(self, max_bytes: int | None = None, *, unused_hours: int | None = None) -> int:
        """Remove entries without a tag, least recently used and cheapest first, and return how many were removed.

        Args:
            max_bytes: bytes that may remain, 0 for none; None is the store's largest size.
            unused_hours: also remove entries that have not been used for this many hours.
        """
        return self._trimmed(max_bytes, unused_hours)

    def clear(self, *, tagged: bool = False) -> int:
        """Remove all entries without a tag, or, with ``tagged=True``, all entries and tags. Return how many were removed."""
        return self._trimmed(0, None, tagged)

    def _trimmed(self, max_bytes: int | None, unused_hours: int | None, tagged: bool = False) -> int:
        removed, _, _, busy = self._native.trim(max_bytes, unused_hours, tagged)
        if busy:
            raise StoreError(f"store {self.path}: another process is trimming", "store_locked")
        return removed

    def reset_counters(self) -> None:
        """Set the counters of ``stat()`` and of this process to zero."""
        self._native.reset_counters()

    def export(self, names: Iterable[str]) -> bytes:
        """Return compiled libraries, given by key or NAME@VERSION, as the bytes of one package."""
        return self._native.export_package(list(names))

    def import_package(self, source: Bytes, *, move: bool = False) -> list[str]:
        """Put each library of a package into the store, tag those that have a version, and return their keys.

        If a tag exists already, it keeps its key, and a warning names both keys; ``move=True`` moves the tag.
        """
        keys, moves = self._native.import_package(source, move)
        for tag, there, here in moves if not move else ():
            _warn(f"tag {tag} points at {there} and stays there; import_package(..., move=True) points it at {here}")
        return keys
