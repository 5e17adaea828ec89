# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The device for which a library is loaded."""

from __future__ import annotations

import sys
from typing import NoReturn, Union

from . import choice, keys
from .choice import Target
from .files import fail

DeviceLike = Union[None, str, "Device"]


def left(what: str) -> NoReturn:
    from .._installed import why_reader

    fail("unsupported", f"{what} needs the compiled modules. {why_reader()}")


class Device:
    """The GPU of this Mac, or a Mac with a given system ("offline"), for which libraries are only described."""

    def __init__(self, kind: str = "automatic", *, threads: int = 0, cpu_level: str = "", target: str | None = None, launch_limit: float = 0.0) -> None:
        if kind not in ("automatic", "metal", "cpu", "offline"):
            fail("invalid_argument", f"device '{kind}': want automatic, metal, cpu or offline")
        if target is not None and kind != "offline":
            fail("invalid_argument", f"target: only an offline device can have another target; got kind '{kind}'")
        here = choice.this_machine()
        if kind == "cpu":
            left("running kernels on the CPU")
        if kind == "metal" and here is None:
            fail("device_unavailable", f"there is no Metal on {sys.platform}, only on a Mac")
        if target is not None:
            row = keys.target(target)
            if not row["name"].startswith("macos"):
                left(f"an offline device for {target}")
            self._target = Target(row["name"], "macOS", (row["os"][0], row["os"][1], 0), (row["metal"][0], row["metal"][1], 0), 0, f"offline {row['name']}")
        else:
            self._target = here if here is not None and kind != "offline" else choice.OFFLINE
        self.kind: str = "metal" if self._target.device == "metal" else "offline"
        self.name: str = self._target.device
        self.target: str = self._target.name

    def __repr__(self) -> str:
        return f"<smelt.Device {self.name}>"


def device(asked: DeviceLike = None) -> Device:
    if isinstance(asked, Device):
        return asked
    if asked is not None and not isinstance(asked, str):
        fail("invalid_argument", f"device: want None, 'metal', 'cpu', 'offline' or a smelt.Device, got {type(asked).__name__}")
    kind = asked or "automatic"
    if kind not in _opened:
        _opened[kind] = Device(kind)
    return _opened[kind]


_opened: dict[str, Device] = {}
