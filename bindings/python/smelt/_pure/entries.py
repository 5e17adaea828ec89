# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The store for reading, with its remotes."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Union

from . import misses
from .. import store
from .._entries import Key
from .._folder import default_folder
from .device import left
from .files import fail
from .remote import Remote
from .store import StoreFolder, key_bytes
from .signing import Policy, Provenance, Source

if TYPE_CHECKING:
    StoreLike = Union[None, bool, str, "os.PathLike[str]", "Store"]


class _Parts(dict[str, bytes]):
    """The parts of an entry, with the methods of smelt._store.Entry."""

    def names(self) -> list[str]:
        return list(self)

    def view(self, name: str) -> memoryview | None:
        return memoryview(self[name]) if name in self else None

    def files(self, folder: str) -> NoReturn:
        left("Entry.files")


class _Native:
    """The methods of smelt._store.Store that the reader supports; the others raise UnsupportedError."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.tags = store._folder.tags
        self.tag_history = store._folder.tag_history
        self.resolve = store._folder.resolve

    def find(self, key: str) -> _Parts | None:
        """Return an entry. One with CPU code that no trusted key signed counts as absent, as it does for the compiled modules."""
        key = key_bytes(key).hex()
        found = self._store._find(key)
        if found is None:
            return None
        if found.use != "yes":
            self._store._refuse(key, "no trusted key signed it, and it is more than Metal libraries (smelt.compile_shader and smelt.load_metallib take those)")
            return None
        return _Parts(found.parts)

    def find_all(self, keys: list[str]) -> list[_Parts | None]:
        return [self.find(key) for key in keys]

    def entries(self, after: str, _: int) -> list[tuple[str, int, int, int, int]]:
        return [] if after else self._store._folder.entries()

    def flush(self, _: int) -> bool:
        return True  # nothing is put

    def __getattr__(self, name: str) -> NoReturn:
        left(f"Store.{name.replace('export_package', 'export')}")


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)


class _Found(NamedTuple):
    parts: dict[str, bytes]
    use: str  # "yes" or "metal_only"


class Store(store.Store):
    """A store folder, only for reading. Entries from remotes are kept beside it, in the layout of a remote. Any number of threads and processes may use it."""

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, read_only: bool = False, max_bytes: int | None = None, durable: bool = False,
        verify: str = "first_use", remotes: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        self.path = os.fspath(path) if path is not None else default_folder()
        self.remotes = os.environ.get("SMELT_REMOTE", "").split() if remotes is None else list(remotes)
        self._folder = StoreFolder(self.path)
        self._remotes = [Remote(url, _warn) for url in self.remotes]
        self._told: set[str] = set()
        self._native: Any = _Native(self)

    def _refuse(self, key: str, why: str) -> None:
        if why not in self._told:
            self._told.add(why)
            _warn(f"{key}: the entry is not used: {why}")

    def _find(self, key: str) -> _Found | None:
        """Find an entry of which at least the Metal libraries may be used: in the folder, among the kept entries, on the remotes in their order."""
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

    def remote_stat(self) -> NoReturn:
        left("Store.remote_stat")


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
