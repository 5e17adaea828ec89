# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Objects of which a process has one each: the devices, and for each folder a store and a compiler session."""

import os
from _thread import allocate_lock  # threading costs an import as long as loading a package

import smelt

from . import _loader

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Union

    from . import _compiler
    from .store import Store

    DeviceLike = Union[None, str, _loader.Device]
    # None for the default folder, False for none, a folder, or a smelt.Store (which is a path to its folder).
    StoreLike = Union[None, bool, str, "os.PathLike[str]"]

_lock = allocate_lock()
_devices: dict[tuple[str, str], _loader.Device] = {}
_stores: "dict[str, Store]" = {}
_sessions: "dict[tuple[object, ...], _compiler.Session]" = {}


def _after_fork() -> None:
    # A child opens its own; the parent's are kept where they are, since closing them is the parent's to do.
    global _sessions, _lock
    _lock = allocate_lock()
    _left_behind.append(_sessions)
    _sessions = {}


_left_behind: list[object] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def device(asked: "DeviceLike" = None) -> _loader.Device:
    if isinstance(asked, _loader.Device):
        return asked
    if asked is not None and not isinstance(asked, str):
        raise smelt.ArgumentError(
            f"device: want None, 'cpu', 'metal', 'offline' or a smelt.Device, got {type(asked).__name__}"
        )
    kind = asked or "automatic"
    key = (kind, os.environ.get("SMELT_CPU", ""))
    with _lock:
        found = _devices.get(key)
        if found is None:
            found = _devices[key] = _loader.Device(kind)
        return found


def store_folder(store: "StoreLike") -> str:
    if store is None or isinstance(store, bool):
        from ._folder import default_folder

        return default_folder()
    return os.fspath(store)


def store(asked: "StoreLike" = None) -> "Store":
    from .store import Store

    folder = store_folder(asked)
    with _lock:
        found = _stores.get(folder)
        if found is None:
            try:
                found = Store(folder)
            except smelt.LibraryIOError:
                found = Store(folder, read_only=True)  # what cannot be written may still be read
            _stores[folder] = found
        return found


def session(store: "StoreLike" = None) -> "_compiler.Session":
    try:
        from . import _compiler
    except ImportError as missing:
        from ._installed import how_to_get

        raise smelt.ToolchainError(
            f"the compiler of smelt cannot be loaded ({missing}). {how_to_get('compiler')}. It needs LLVM and Clang 19 "
            "(Debian: libllvm19 libclang-cpp19)"
        ) from missing

    folder = "" if store is False else store_folder(store)
    offline = os.environ.get("SMELT_OFFLINE", "")
    remotes = getattr(store, "remotes", None)  # of a smelt.Store; else those of SMELT_REMOTE
    key = (folder, store is False, offline, None if remotes is None else tuple(remotes))
    with _lock:
        found = _sessions.get(key)
        if found is None:
            found = _sessions[key] = _compiler.Session(folder, use_store=store is not False, remotes=remotes)
        return found
