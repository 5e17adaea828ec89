"""What one process has once: the default device, and a session (compiler and store) for each store folder."""

from __future__ import annotations

import os
import threading
from typing import Union

from . import _smelt
from .errors import ArgumentError

DeviceLike = Union[None, str, _smelt.Device]
# None for the default folder, False for none, a folder, or a smelt.Store (which is a path to its folder).
StoreLike = Union[None, bool, str, "os.PathLike[str]"]

_lock = threading.Lock()
_devices: dict[tuple[str, str], _smelt.Device] = {}
_sessions: dict[tuple[object, ...], _smelt.Session] = {}


def _after_fork() -> None:
    # A child opens its own; the parent's are kept where they are, since closing them is the parent's to do.
    global _sessions, _lock
    _lock = threading.Lock()
    _left_behind.append(_sessions)
    _sessions = {}


_left_behind: list[object] = []
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def device(asked: DeviceLike = None) -> _smelt.Device:
    if isinstance(asked, _smelt.Device):
        return asked
    if asked is not None and not isinstance(asked, str):
        raise ArgumentError(
            f"device: want None, 'cpu', 'metal', 'offline' or a smelt.Device, got {type(asked).__name__}"
        )
    kind = asked or "automatic"
    key = (kind, os.environ.get("SMELT_CPU", ""))
    with _lock:
        found = _devices.get(key)
        if found is None:
            found = _devices[key] = _smelt.Device(kind)
        return found


def store_folder(store: StoreLike) -> str:
    if store is None or isinstance(store, bool):
        return _smelt.default_store_folder()
    return os.fspath(store)


def session(store: StoreLike = None) -> _smelt.Session:
    folder = "" if store is False else store_folder(store)
    offline = os.environ.get("SMELT_OFFLINE", "")
    key = (folder, store is False, offline)
    with _lock:
        found = _sessions.get(key)
        if found is None:
            found = _sessions[key] = _smelt.Session(folder, use_store=store is not False)
        return found
