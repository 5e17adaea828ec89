# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Records misses, until a build machine gets the list (docs/formats/misses.md), and keeps entries from remotes. Both are beside the store's
folder, to which only the compiled modules write: FOLDER-pure/misses/KEY.json and FOLDER-pure/mirror, which has the layout of a remote."""

from __future__ import annotations

import base64
import json
import os
import tempfile
from typing import TYPE_CHECKING, Any

from .remote import Record, Remote, write_record
from .store import check_owner

if TYPE_CHECKING:
    from .keys import Options

FORMAT = "misses 1"
_MOST = 4096  # misses that are kept


def folder_of(store: str) -> str:
    """Return the folder for misses, or an empty string if there is no store. The folder must belong to the user, because its content is compiled or used."""
    if not store:
        return ""
    folder = os.path.abspath(store) + "-pure"
    check_owner(folder)
    return folder


def write_whole(path: str, data: bytes) -> None:
    """Write a file so that readers see the old content or the new, never a part."""
    folder = os.path.dirname(os.path.abspath(path))
    descriptor, temporary = tempfile.mkstemp(dir=folder, prefix=".smelt-")
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        os.replace(temporary, path)
    except BaseException:
        try:
            os.unlink(temporary)
        except OSError:
            pass
        raise


def _make_own(folder: str) -> None:
    """Make each missing folder of a path, accessible only to the user. (os.makedirs applies its mode only to the last one.)"""
    if not folder or os.path.isdir(folder):
        return
    _make_own(os.path.dirname(folder))
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        pass


def _try_write(path: str, data: bytes) -> bool:
    """Try to write a file, and return whether that worked. If not, the next process asks the remotes again."""
    try:
        _make_own(os.path.dirname(path))
        write_whole(path, data)
    except OSError:
        return False
    return True


def note(store: str, key: str, sources: list[tuple[str, bytes]], options: Options) -> bool:
    rows = []
    for name, data in sources:
        try:
            rows.append({"name": name, "text": data.decode()})
        except UnicodeDecodeError:
            rows.append({"name": name, "base64": base64.b64encode(data).decode()})
    entry = {"key": key, "sources": rows, "options": options.differing()}
    if not (own := folder_of(store)):
        return False
    folder = os.path.join(own, "misses")
    path = os.path.join(folder, f"{key}.json")
    if os.path.exists(path):
        return True
    try:
        if len(os.listdir(folder)) >= _MOST:
            return False
    except OSError:
        pass
    return _try_write(path, json.dumps(entry, indent=1).encode())


def noted(store: str) -> list[dict[str, Any]]:
    if not (own := folder_of(store)):
        return []
    folder = os.path.join(own, "misses")
    try:
        names = sorted(name for name in os.listdir(folder) if name.endswith(".json"))
    except OSError:
        return []
    found = []
    for name in names:
        try:
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                found.append(json.load(file))
        except (OSError, ValueError):
            pass  # written by nobody of ours, or gone
    return found


def forget(store: str) -> int:
    folder = os.path.join(folder_of(store), "misses")
    gone = 0
    for entry in noted(store):
        try:
            os.unlink(os.path.join(folder, f"{entry['key']}.json"))
            gone += 1
        except (OSError, KeyError):
            pass
    return gone


def kept(store: str) -> Remote | None:
    """Return the entries kept from remotes, or None if there are none. Each find checks them again."""
    own = folder_of(store)
    folder = os.path.join(own, "mirror")
    if not own or not os.path.isdir(folder):
        return None
    from urllib.parse import quote

    return Remote("file://" + quote(os.path.abspath(folder)), lambda _: None)


def keep(store: str, record: Record, parts: dict[str, bytes]) -> None:
    """Keep an entry from a remote, unpacked, so that the next process needs no zstd. Blobs are written first, because a record without its blobs is a miss."""
    if not (own := folder_of(store)):
        return
    folder = os.path.join(own, "mirror")
    plain = record._replace(parts=tuple(part._replace(codec="none", blob_bytes=part.bytes, blob=part.sha256) for part in record.parts))
    for part in plain.parts:
        path = os.path.join(folder, "cas", part.blob)
        if not os.path.exists(path) and not _try_write(path, parts[part.name]):
            return
    _try_write(os.path.join(folder, "ac", plain.key), write_record(plain).encode())
