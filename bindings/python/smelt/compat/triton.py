# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes stock Triton keep its compiled kernels in a smelt store:

    TRITON_CACHE_MANAGER=smelt.compat.triton:CacheManager

A compile result of Triton is a *group* of files under one key. smelt keeps it as one entry of the store, published in one
transaction, so a process finds all files of the group or none. Equal bytes are kept once. The entry does not contain paths,
so the store can be moved. Triton needs paths that it can open, so smelt also writes the members as files into
``<store>/files/triton/<key>/`` when Triton requests them. It does not write files again that exist unchanged, but restores
deleted or edited ones. If a member is damaged in the store, the whole group is a miss and is compiled again.

If several threads and processes miss the same group, one compiles and the others wait. If that process dies, the operating
system releases its lock, and the next process compiles.

Interfaces: docs/design/loader.md 2.3 to 2.5.
"""

from __future__ import annotations

import json
import os
import stat
import sys
import tempfile
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import _store
from ..errors import Error, IntegrityError
from ..store import Store

_WAIT_MILLISECONDS = 120_000
"""For somebody else who compiles the same; then it is compiled here too."""
_SWEEP_SECONDS = 24 * 3600
_GROUP, _FILE, _NAMES = "triton group", "triton file", "triton names"


class _Tier:
    """A store folder for Triton: the store, the folder with copies of its files, and counters."""

    def __init__(self, path: str) -> None:
        # Most finds only look whether the mirror is whole, and touch no bytes. Those that write files check what they
        # write, against the stamps.
        self.store = Store(path, verify="never")
        self.native = self.store._native
        self.files = os.path.join(_mirror_root(self.store.path), "triton")
        self.counts = {"hits": 0, "misses": 0, "waited": 0, "puts": 0, "damaged": 0, "failed": 0}
        self._swept = False

    def count(self, what: str) -> None:
        self.counts[what] += 1

    def sweep_sometimes(self) -> None:
        """Once a day, delete the copies of files whose entries are gone."""
        if self._swept:
            return
        self._swept = True
        mark = os.path.join(self.files, ".swept")
        try:
            if time.time() - os.stat(mark).st_mtime < _SWEEP_SECONDS:
                return
            os.utime(mark)
            sweep(self.store.path)
        except FileNotFoundError:
            os.makedirs(self.files, exist_ok=True)
            with open(mark, "w"):
                pass
        except OSError:
            pass


def _mirror_root(store: str) -> str:
    if os.access(store, os.W_OK):
        return os.path.join(store, "files")
    # A store that we may only read: a private folder of our own, one per store.
    root = os.path.join(tempfile.gettempdir(), f"smelt-{os.getuid()}")
    os.makedirs(root, mode=0o700, exist_ok=True)
    facts = os.lstat(root)
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o022:
        root = tempfile.mkdtemp(prefix="smelt-")
    return os.path.join(root, _store.sha256("mirror", os.path.abspath(store))[:16])


_tiers: dict[str, _Tier | None] = {}
_tiers_lock = threading.Lock()
_mine = threading.local()


def _after_fork() -> None:
    global _tiers_lock
    _tiers_lock = threading.Lock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def _tier(path: str | None = None) -> _Tier | None:
    """Return the store folder, or None if the store cannot be opened. Then a message says so once, and Triton's plain folders are used."""
    if path is None:
        from .._folder import default_folder

        path = default_folder()
    try:
        return _tiers[path]
    except KeyError:
        pass
    with _tiers_lock:
        if path not in _tiers:
            try:
                _tiers[path] = _Tier(path)
            except Error as error:
                text = f"smelt.compat.triton: {error}; going on with plain folders"
                warnings.warn(text, RuntimeWarning, stacklevel=3)
                _tiers[path] = None
        return _tiers[path]


def _held_here() -> set[str]:
    """Return the keys that this thread is compiling, for which it must not wait."""
    held: set[str] | None = getattr(_mine, "held", None)
    if held is None:
        held = _mine.held = set()
    return held


def _as_bytes(data: object) -> bytes:
    if isinstance(data, (bytes, bytearray, memoryview)):
        return bytes(data)
    return str(data).encode()


class CacheManager:
    """Triton's cache manager for one key. Triton creates one for each use of a key; threads do not share it."""

    def __init__(self, key: str, override: bool = False, dump: bool = False) -> None:
        self.key = key
        self._plain: _PlainFolder | None = None
        self._flight: _store.Flight | None = None
        self._flight_key = ""
        self._flight_of: set[str] = set()
        self._pending: dict[str, bytes] = {}
        self._is_group = False
        self._began = 0.0
        if override or dump:
            self._plain = _PlainFolder(_plain_root("override" if override and not dump else "dump"), key)
            return
        tier = _tier()
        if tier is None:
            self._plain = _PlainFolder(_plain_root("cache"), key)
            return
        self._tier = tier
        self._folder = os.path.join(tier.files, key)

    @property
    def cache_dir(self) -> str:
        return self._plain.folder if self._plain else self._folder

    # ---- files

    def has_file(self, filename: str) -> bool:
        return self.get_file(filename) is not None

    def get_file(self, filename: str) -> str | None:
        """Return the path of a file under this key, which any process may have put there; None if there is none."""
        if self._plain:
            return self._plain.get_file(filename)
        if filename in self._pending:
            return self._write(filename, self._pending[filename])
        path = self._stored_file(filename)
        if path is None and filename.endswith(".so"):  # built by a C compiler, for seconds
            if self._take_flight(_store.sha256(_FILE, self.key, filename)):
                path = self._stored_file(filename)
        self._tier.count("misses" if path is None else "hits")
        return path

    def put(self, data: object, filename: str, binary: bool = True) -> str:
        """Keep bytes, or the text of any other object, under a name, and return the path of a file that contains them."""
        if self._plain:
            return self._plain.put(data, filename)
        payload = _as_bytes(data)
        path = self._write(filename, payload)
        self._pending[filename] = payload
        if not self._is_group:  # members of a group are published with it
            self._publish(lambda: self._put_file(filename, payload))
            self._land()
        return path

    # ---- groups

    def get_group(self, filename: str) -> dict[str, str] | None:
        """Return the paths of all files of a group by name, or None."""
        if self._plain:
            return self._plain.get_group(filename)
        self._is_group = True
        key = _store.sha256(_GROUP, self.key, filename)
        group = self._stored_group(key)
        if group is None and self._take_flight(key):
            group = self._stored_group(key)
        if group is not None:
            self._land()
        self._tier.count("misses" if group is None else "hits")
        self._began = time.monotonic()
        return group

    def put_group(self, filename: str, group: Mapping[str, str]) -> str:
        """Publish the files as one group."""
        if self._plain:
            return self._plain.put_group(filename, group)
        try:
            self._publish(lambda: self._put_group(filename, group))
        finally:
            self._land()
            self._pending.clear()
        return os.path.join(self._folder, filename)

    # ---- inside

    def _put_group(self, filename: str, group: Mapping[str, str]) -> None:
        members: dict[str, bytes] = {}
        for name, path in group.items():
            payload = self._pending.get(name)
            if payload is None:
                with open(path, "rb") as file:
                    payload = file.read()
            members[name] = payload
        native = self._tier.native
        cost = int((time.monotonic() - self._began) * 1e6) if self._began else 0
        names_key = _store.sha256(_NAMES, self.key)
        known = native.find(names_key)
        where: dict[str, str] = json.loads(known.get("names") or b"{}") if known else {}
        where.update(dict.fromkeys(members, filename))
        names = {"names": json.dumps(where, sort_keys=True).encode()}
        native.put_files(_store.sha256(_GROUP, self.key, filename), members, cost, names_key, names)

    def _put_file(self, filename: str, payload: bytes) -> None:
        self._tier.native.put_files(_store.sha256(_FILE, self.key, filename), {filename: payload})

    def _stored_group(self, key: str) -> dict[str, str] | None:
        try:
            entry = self._tier.native.find(key)
            return None if entry is None else entry.files(self._folder)
        except IntegrityError:
            # Whoever checks at every find drops the entry and counts it.
            Store(self._tier.store.path, verify="always").get(key)
            self._tier.count("damaged")
            return None
        except Error:
            self._tier.count("failed")
            return None

    def _stored_file(self, filename: str) -> str | None:
        found = self._stored_group(_store.sha256(_FILE, self.key, filename))
        if found is None:
            names = self._tier.native.find(_store.sha256(_NAMES, self.key))
            group = json.loads(names.get("names") or b"{}").get(filename) if names else None
            if group is None:
                return None
            found = self._stored_group(_store.sha256(_GROUP, self.key, group)) or {}
        return found.get(filename)

    def _write(self, filename: str, payload: bytes) -> str:
        return _store.write_file(self._folder, filename, payload)

    def _publish(self, work: Callable[[], None]) -> None:
        """Publish an entry. A failure only means that a later process compiles again."""
        try:
            work()
            self._tier.count("puts")
            self._tier.sweep_sometimes()
        except Error as error:
            self._tier.count("failed")
            warnings.warn(f"smelt.compat.triton: not kept: {error}", RuntimeWarning, stacklevel=3)

    def _take_flight(self, key: str) -> bool:
        """Return True if the caller must look again, because another process may have published the entry in the meantime."""
        held = _held_here()
        if self._flight is not None or key in held or self._tier.native.read_only:
            return False
        try:
            flight = self._tier.native.flight(key, _WAIT_MILLISECONDS)
        except Error:
            return False
        if flight.held:
            self._flight, self._flight_key, self._flight_of = flight, key, held
            held.add(key)
        if flight.waited:
            self._tier.count("waited")
        return flight.waited

    def _land(self) -> None:
        if self._flight is not None:
            self._flight = None
            self._flight_of.discard(self._flight_key)

    def __del__(self) -> None:
        # A compile that failed: whoever waits goes on.
        if getattr(self, "_flight", None) is not None:
            self._land()


class RemoteCacheBackend:
    """Triton's remote back end (TRITON_REMOTE_CACHE_BACKEND) over a store: the folder $SMELT_REMOTE_STORE, which several
    machines or users may share, else the default store."""

    def __init__(self, key: str) -> None:
        self.key = key
        self._store = _remote_store()

    def get(self, filenames: Iterable[str]) -> dict[str, bytes]:
        names = list(filenames)
        keys = [_store.sha256("triton remote", self.key, name) for name in names]
        found = zip(names, self._store._native.find_all(keys))
        values = {name: entry.get("data") for name, entry in found if entry is not None}
        return {name: value for name, value in values.items() if value is not None}

    def put(self, filename: str, data: object) -> None:
        self._store.put(_store.sha256("triton remote", self.key, filename), {"data": _as_bytes(data)})


_remote: dict[str, Store] = {}


def _remote_store() -> Store:
    from .._folder import default_folder

    path = os.environ.get("SMELT_REMOTE_STORE") or default_folder()
    if path not in _remote:
        _remote[path] = Store(path)
    return _remote[path]


class _PlainFolder:
    """Plain files, for TRITON_KERNEL_OVERRIDE and TRITON_KERNEL_DUMP, whose files people read and edit, and if there is
    no store. A group is a list of names."""

    def __init__(self, root: str, key: str) -> None:
        self.folder = os.path.join(root, key)

    def get_file(self, filename: str) -> str | None:
        path = os.path.join(self.folder, filename)
        return path if os.path.exists(path) else None

    def put(self, data: object, filename: str) -> str:
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, filename)
        descriptor, temporary = tempfile.mkstemp(dir=self.folder, prefix=".tmp.")
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(_as_bytes(data))
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        return path

    def get_group(self, filename: str) -> dict[str, str] | None:
        record = self.get_file(f"__grp__{filename}")
        if record is None:
            return None
        with open(record, encoding="utf-8") as file:
            names = json.load(file).get("child_paths") or []
        group = {name: self.get_file(os.path.basename(name)) for name in names}
        return None if None in group.values() else {name: path for name, path in group.items() if path is not None}

    def put_group(self, filename: str, group: Mapping[str, str]) -> str:
        return self.put(json.dumps({"child_paths": sorted(group)}), f"__grp__{filename}")


def _plain_root(kind: str) -> str:
    """Return the folder in which Triton keeps its own cache."""
    knobs: Any = sys.modules.get("triton.knobs")
    if knobs is not None:
        asked = getattr(knobs.cache, "dir" if kind == "cache" else f"{kind}_dir", None)
        if asked:
            return str(os.fspath(asked))
    asked = os.environ.get(f"TRITON_{kind.upper()}_DIR", "").strip()
    home = os.environ.get("TRITON_HOME") or os.path.expanduser("~")
    return asked or os.path.join(home, ".triton", kind)


def counters() -> dict[str, int]:
    """Return the counters of this process: hits and misses of groups and files, waits for another compile, puts, and failures."""
    tier = _tier()
    return dict(tier.counts) if tier else {}


def sweep(store: str | None = None) -> int:
    """Delete copies of files whose entries the store has evicted, if they are older than a day, and return the number of
    deleted keys. This also happens by itself once a day."""
    tier = _tier(store)
    if tier is None:
        return 0
    removed = 0
    now = time.time()
    try:
        folders = list(os.scandir(tier.files))
    except FileNotFoundError:
        return 0
    for folder in folders:
        if not folder.is_dir(follow_symlinks=False) or now - folder.stat().st_mtime < _SWEEP_SECONDS:
            continue
        files = os.listdir(folder.path)
        keys = [_store.sha256(_NAMES, folder.name), *(_store.sha256(_FILE, folder.name, name) for name in files)]
        if any(entry is not None for entry in tier.native.find_all(keys)):
            continue
        for name in files:
            os.unlink(os.path.join(folder.path, name))
        os.rmdir(folder.path)
        removed += 1
    return removed


def load_binary(name: str, blob: bytes, shared: int, device: object = None) -> tuple[Any, Any, int, int, int]:
    """Load a kernel, like a Triton driver's load_binary, and return module, function, registers, spills and the largest
    number of threads.

    Args:
        name: the kernel's name.
        blob: the Metal library or package.
        shared: bytes of threadgroup memory.
        device: the device; None is the default.

    Raises:
        OutOfResources: the kernel needs too much threadgroup memory. Triton's autotuner then drops the configuration.
    """
    from .. import _session
    from .._load import _load
    from ..errors import GroupSizeError, ResourceError

    on = _session.device(None if isinstance(device, int) else device)  # type: ignore[arg-type]
    most = on.limits["max_threadgroup_memory"]
    if shared > most:
        raise _out_of_resources(shared, most, "threadgroup memory")
    try:
        module = _load(blob, on, True, None, "load_binary")
        function = module[name]
    except (ResourceError, GroupSizeError) as error:
        raise _out_of_resources(shared, most, str(error)) from error
    return module, function, 0, 0, function.max_threads_per_threadgroup


def _out_of_resources(required: int, limit: int, name: str) -> Exception:
    try:
        from triton.runtime.errors import OutOfResources
    except ImportError:
        from ..errors import ResourceError

        return ResourceError(f"out of resource: {name}, Required: {required}, Hardware limit: {limit}")
    made: Exception = OutOfResources(required, limit, name)
    return made
