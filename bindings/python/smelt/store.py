# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The store: entries of named parts by key, published together or not at all, shared by all processes of a user. The reader's is the same over
its own reading of the folder (_pure/entries.py)."""

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
    """Part name to bytes. Holds a copy of the bytes: nothing that happens to the store afterwards changes them."""

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
        """The part without a copy."""
        value = self._native.view(name)
        if value is None:
            raise KeyError(name)
        return value

    def files(self, folder: str | os.PathLike[str]) -> dict[str, str]:
        """Parts as files of a folder: name to path. Files that are there and unchanged are left alone."""
        return self._native.files(os.fspath(folder))

    def __repr__(self) -> str:
        return f"<smelt entry of {', '.join(map(shown, self._names))}>"


def _warn(text: str) -> None:
    warnings.warn(text, RuntimeWarning, stacklevel=2)


def _remotes() -> Any:
    """The store with servers behind it; imported for a store that has remotes."""
    try:
        from . import _remote
    except ImportError as missing:
        from ._installed import how_to_get

        raise StoreError(f"remotes cannot be loaded ({missing}). {how_to_get('remote')}") from missing
    return _remote


class Store:
    """A store folder. All methods from any thread; any number of processes per folder; a forked child opens its own."""

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
        """max_bytes: the budget on disk, 0 for none; None: SMELT_STORE_MAX_SIZE, else 5 GiB.
        verify: when bytes are compared with their checksums: "first_use" in this process, "always", or "never".
        remotes: URLs of servers behind the store, nearest first (docs/guide/remotes.md); None: those of SMELT_REMOTE.
        What is not here is asked for there, and kept; what is put goes there in the background."""
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
        """The entry, or None. A damaged one is dropped, counted and absent."""
        found = self._native.find(key)
        return None if found is None else Entry(found)

    def get_all(self, keys: Iterable[str]) -> list[Entry | None]:
        return [None if found is None else Entry(found) for found in self._native.find_all(list(keys))]

    def __getitem__(self, key: str) -> Entry:
        found = self.get(key)
        if found is None:
            raise CacheMissError(f"no entry {key} in store {self.path}", subject=key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and len(key) == 64 and self._native.find(key) is not None

    def put(self, key: str, parts: Mapping[str, Bytes], *, cost: float = 0.0, compress: bool = False) -> None:
        """All parts in one transaction; afterwards any process finds them. cost: seconds it took to make them, which
        trim weighs. compress: smaller, and copied at each get."""
        if not parts:
            raise ArgumentError(f"put {key}: no parts")
        self._native.put(key, dict(parts), int(cost * 1e6), compress)

    def put_all(self, entries: Mapping[str, Mapping[str, Bytes]]) -> None:
        """Several entries in one transaction."""
        self._native.put_all([(key, dict(parts)) for key, parts in entries.items()])

    def remove(self, key: str) -> bool:
        return self._native.remove(key)

    def entries(self) -> list[EntryFacts]:
        return list(self.iter_entries())

    def iter_entries(self) -> Iterator[EntryFacts]:
        """The same, by key, without all of them in memory at once."""
        last = ""
        while some := self._native.entries(last, 1024):
            for facts in some:
                yield EntryFacts(*facts)
            last = some[-1][0]

    def tag(self, name: str, key: str, *, move: bool = False) -> None:
        """"flash_attn@2.1.0" stands for key from now on. Moving a tag that exists needs move."""
        bare, at, version = name.partition("@")
        if not bare or not at or not version:
            raise ArgumentError(f"tag {name!r}: want NAME@VERSION")
        self._native.tag(bare, version, key, move)

    def tags(self, name: str = "") -> list[Tag]:
        return [Tag(*tag) for tag in self._native.tags(name)]

    def tag_history(self, name: str) -> list[Tag]:
        """Where NAME@VERSION pointed over time, newest first."""
        bare, _, version = name.partition("@")
        return [Tag(*tag) for tag in self._native.tag_history(bare, version)]

    def resolve(self, query: str) -> Key:
        """The key of the newest that fits: "name", "name@2", "name@2.1.0" or "name@>=2.1,<3"."""
        return Key(self._native.resolve(query)[0][2])

    def candidates(self, query: str) -> list[Tag]:
        """All that fit, newest first."""
        return [Tag(*tag) for tag in self._native.resolve(query)]

    def stat(self) -> dict[str, Any]:
        return self._native.stat()

    def remote_stat(self) -> list[dict[str, Any]]:
        """For each remote that processes have used with this store and that have ended: hits, misses, errors, bytes..."""
        rows: list[dict[str, Any]] = _remotes().statistics(self.path)
        return rows

    def counters(self) -> dict[str, int]:
        """Of this process."""
        return self._native.counters()

    def verify(self) -> list[str]:
        """Reads and hashes everything; one line for each damage."""
        return self._native.verify()

    def flush(self, timeout: float = 30) -> bool:
        """Waits until what was put has been sent to the remotes; False when that takes longer than `timeout` seconds."""
        return self._native.flush(int(timeout * 1000))

    def trim(self, max_bytes: int | None = None, *, unused_hours: int | None = None) -> int:
        """Evicts least recently used and cheapest entries; returns how many went. Tagged ones stay. max_bytes: what may
        stay, 0 for nothing; None: the store's budget. unused_hours: entries that nobody has used for so long go."""
        return self._trimmed(max_bytes, unused_hours)

    def clear(self, *, tagged: bool = False) -> int:
        """Removes all entries, with tagged=True the tags and theirs, too; returns how many went."""
        return self._trimmed(0, None, tagged)

    def _trimmed(self, max_bytes: int | None, unused_hours: int | None, tagged: bool = False) -> int:
        removed, _, _, busy = self._native.trim(max_bytes, unused_hours, tagged)
        if busy:
            raise StoreError(f"store {self.path}: another process is trimming", "store_locked")
        return removed

    def reset_counters(self) -> None:
        """Sets the counters of stat() to zero."""
        self._native.reset_counters()

    def export(self, names: Iterable[str]) -> bytes:
        """Compiled libraries (keys or NAME@VERSION) as the bytes of one package."""
        return self._native.export_package(list(names))

    def import_package(self, source: Bytes, *, move: bool = False) -> list[str]:
        """Files every library of a package under a key of its own (returned), and tags those with a version. A tag that
        points elsewhere already stays, with a warning that names both keys; ``move=True`` moves it."""
        keys, moves = self._native.import_package(source, move)
        for tag, there, here in moves if not move else ():
            _warn(f"tag {tag} points at {there} and stays there; import_package(..., move=True) points it at {here}")
        return keys
