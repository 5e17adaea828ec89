# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keeps PyTorch Inductor's remote caches (FX graphs, AOTAutograd, autotuning, PGO) on smelt's remotes:

    import smelt.compat.inductor_cache
    smelt.compat.inductor_cache.install()          # before torch compiles anything
    TORCHINDUCTOR_FX_GRAPH_REMOTE_CACHE=1          # and similar variables: Inductor's own switches choose its caches

smelt puts an entry into the local store and then sends it to SMELT_REMOTE in the background; it looks for entries in the same order.
Inductor unpickles an entry, which can run any code as your user. So an entry without a trusted signature is a miss, unless
SMELT_TRUST=any (docs/guide/remotes.md). A remote that is down delays a process by at most a second, and is tried again later.

Interface: torch._inductor.remote_cache, RemoteCacheBackend and RemoteCache.backend_override_cls, read at PyTorch 07a5ea1 and run with PyTorch 2.11.
"""

from __future__ import annotations

from typing import Any

from .. import _store
from ..store import Store


def backend_class() -> type[Any]:
    """Return a class torch._inductor.remote_cache.RemoteCacheBackend over the default store and its remotes."""
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
    """A mapping from text keys to bytes, in a store."""

    def __init__(self, store: Store | None = None) -> None:
        self._store = store or Store()

    def get(self, key: str) -> bytes | None:
        entry = self._store.get(_store.sha256("inductor remote", key))
        return None if entry is None else entry["data"]

    def put(self, key: str, data: bytes) -> None:
        self._store.put(_store.sha256("inductor remote", key), {"data": data})


def install() -> None:
    """Make the caches that Inductor creates after this call use smelt's remotes instead of Redis."""
    from torch._inductor import remote_cache

    backend = backend_class()
    shared: list[Any] = []

    def make() -> Any:
        if not shared:
            shared.append(backend())
        return shared[0]

    remote_cache.RedisRemoteCache.backend_override_cls = staticmethod(make)
