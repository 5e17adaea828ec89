# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The store, and what is behind it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Union

from . import misses
from .._entries import EntryFacts, Key, Tag, shown
from .._folder import default_folder
from .device import left
from .files import fail
from .remote import Remote
from .store import StoreFolder, key_bytes
from .signing import Policy, Provenance, Source

if TYPE_CHECKING:
    StoreLike = Union[None, bool, str, "os.PathLike[str]", "Store"]


class Entry(Mapping[str, bytes]):
    """Part name to bytes."""

    def __init__(self, parts: dict[str, bytes]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> bytes:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def view(self, name: str) -> memoryview:
        return memoryview(self._parts[name])

    def files(self, folder: str | os.PathLike[str]) -> NoReturn:
        left("Entry.files")

    def __repr__(self) -> str:
        return f"<smelt entry of {', '.join(map(shown, self._parts))}>"


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)


class _Found(NamedTuple):
    parts: dict[str, bytes]
    use: str  # "yes" or "metal_only"


class Store:
    """A store folder, read; what comes from remotes is kept beside it, in the layout of a remote. Any thread, any number of processes."""

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, read_only: bool = False, max_bytes: int = 5 << 30, durable: bool = False,
        verify: str = "first_use", remotes: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        self.path: str = os.fspath(path) if path is not None else default_folder()
        self.remotes: list[str] = os.environ.get("SMELT_REMOTE", "").split() if remotes is None else list(remotes)
        self._folder = StoreFolder(self.path)
        self._remotes = [Remote(url, _warn) for url in self.remotes]
        self._told: set[str] = set()

    def __repr__(self) -> str:
        return f"<smelt.Store {self.path}>"

    def __fspath__(self) -> str:
        return self.path

    def _refuse(self, key: str, why: str) -> None:
        if why not in self._told:
            self._told.add(why)
            _warn(f"{key}: the entry is not used: {why}")

    def _find(self, key: str) -> _Found | None:
        """What may be used, at least its Metal libraries: of the folder, of what was kept, of the remotes in their order."""
        found = self._folder.find(key)
        if found is not None:
            use = Policy.from_environment(needs_keys=False).use(found.origin)
            if use == "yes":
                return _Found(found.parts, use)
            policy = Policy.from_environment()
            use = policy.use(found.origin)
            if use != "no":
                return _Found(found.parts, use)
            self._refuse(key, policy.explain_origin(found.origin))
        if not self._remotes:
            return None
        policy = Policy.from_environment()
        kept = misses.kept(self.path)
        for one in filter(None, (kept, *self._remotes)):
            arrived = one.find(key)
            if arrived is None:
                continue
            record, parts = arrived
            if ".origin" in parts:  # a store's own to write
                continue
            signer = policy.signer(record.statement, record.signatures) if record.signatures and policy.keys else None
            origin = Provenance(False, (Source(False, one.address.shown, signer, False),), record.signatures)
            use = policy.use(origin)
            if use == "no":
                self._refuse(key, policy.explain_origin(origin))
                continue
            if one is not kept:
                misses.keep(self.path, record, parts)
            return _Found(parts, use)
        return None

    def get(self, key: str) -> Entry | None:
        """The entry, or None. One whose CPU code nobody trusted signed is absent, as where compiled modules read it."""
        key = key_bytes(key).hex()
        found = self._find(key)
        if found is None:
            return None
        if found.use != "yes":
            self._refuse(key, "no trusted key signed it, and it is more than Metal libraries (smelt.compile_shader and smelt.load_metallib take those)")
            return None
        return Entry(found.parts)

    def get_all(self, keys: Iterable[str]) -> list[Entry | None]:
        return [self.get(key) for key in keys]

    def __getitem__(self, key: str) -> Entry:
        found = self.get(key)
        if found is None:
            fail("not_cached", f"no entry {key} in store {self.path}", key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and len(key) == 64 and self.get(key) is not None

    def entries(self) -> list[EntryFacts]:
        return [EntryFacts(*facts) for facts in self._folder.entries()]

    def tags(self, name: str = "") -> list[Tag]:
        return self._folder.tags(name)

    def tag_history(self, name: str) -> list[Tag]:
        bare, _, version = name.partition("@")
        return self._folder.tag_history(bare, version)

    def resolve(self, query: str) -> Key:
        return Key(self._folder.resolve(query)[0].key)

    def candidates(self, query: str) -> list[Tag]:
        return self._folder.resolve(query)

    def put(self, key: str, parts: Mapping[str, Any], *, cost: float = 0.0, compress: bool = False) -> NoReturn:
        left("Store.put")

    def put_all(self, entries: Mapping[str, Mapping[str, Any]]) -> NoReturn:
        left("Store.put_all")

    def remove(self, key: str) -> NoReturn:
        left("Store.remove")

    def tag(self, name: str, key: str, *, move: bool = False) -> NoReturn:
        left("Store.tag")

    def stat(self) -> NoReturn:
        left("Store.stat")

    def remote_stat(self) -> NoReturn:
        left("Store.remote_stat")

    def counters(self) -> NoReturn:
        left("Store.counters")

    def verify(self) -> NoReturn:
        left("Store.verify")

    def flush(self, timeout: float = 30) -> bool:
        return True  # nothing is put

    def trim(self, max_bytes: int = 0) -> NoReturn:
        left("Store.trim")

    def export(self, names: Iterable[str]) -> NoReturn:
        left("Store.export")

    def import_package(self, source: Any, *, move: bool = False) -> NoReturn:
        left("Store.import_package")


def store_of(asked: StoreLike) -> Store:
    return asked if isinstance(asked, Store) else Store(None if asked is None or asked is True else os.fspath(asked))  # type: ignore[arg-type]


def part_of_entry(key: Key, store: StoreLike, what: str) -> bytes:
    on = store_of(store)
    found = on._find(key_bytes(key).hex())
    if found is None:
        fail("not_cached", f"no entry {key} in store {on.path}", key)
    for name, data in found.parts.items():
        if name.endswith((".smelt", ".metallib")):
            return data
    fail("source_type", f"{what}: entry {key} holds no part named *.smelt or *.metallib: {', '.join(found.parts)}")
