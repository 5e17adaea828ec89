# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""PyTorch Inductor's remote caches (FX graphs, AOTAutograd, autotuning, PGO) on smelt's remotes:

    import smelt.compat.inductor_cache
    smelt.compat.inductor_cache.install()          # before torch compiles anything
    TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE=1    # and the like: Inductor's own switches decide what is asked for

Entries are kept in the local store first, then sent to SMELT_REMOTE in the background; they are found in that order. Inductor
unpickles what it gets, which runs as you: without a trusted signature an entry is a miss, unless SMELT_TRUST=any
(docs/guide/remotes.md). A remote that is down costs a process a second at most and is tried again later.

Interface: torch._inductor.remote_cache, RemoteCacheBackend and RemoteCache.backend_override_cls, read at PyTorch 07a5ea1 and run with PyTorch 2.11.
"""

from __future__ import annotations

from typing import Any

from .. import _store
from ..store import Store


def backend_class() -> type[Any]:
    """A torch._inductor.remote_cache.RemoteCacheBackend over the default store and its remotes."""
    from torch._inductor.remote_cache import RemoteCacheBackend

    class SmeltRemoteCacheBackend(RemoteCacheBackend):  # type: ignore[misc]
        def __init__(self, store: Store | None = None) -> None:
            super().__init__()
            self._entries = Entries(store)

        def _get(self, key: str) -> bytes | None:
            return self._entries.get(key)

        def _put(self, key: str, data: bytes) -> None:
            self._entries.put(key, data)

    return SmeltRemoteCacheBackend


class Entries:
    """Bytes by text key, in a store."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store or Store()

    def get(self, key: str) -> bytes | None:
        entry = self._store.get(_store.sha256("inductor remote", key))
        return None if entry is None else entry["data"]

    def put(self, key: str, data: bytes) -> None:
        self._store.put(_store.sha256("inductor remote", key), {"data": data})


def install() -> None:
    """Inductor's Redis caches use smelt's remotes from now on, for caches that are made after this call."""
    from torch._inductor import remote_cache

    backend = backend_class()
    shared: list[Any] = []

    def make() -> Any:
        if not shared:
            shared.append(backend())
        return shared[0]

    remote_cache.RedisRemoteCache.backend_override_cls = staticmethod(make)
