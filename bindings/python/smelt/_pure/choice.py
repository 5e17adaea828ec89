# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Chooses the slice of a library for a machine: docs/design/loader.md 3.7."""

from __future__ import annotations

import platform
import sys
from typing import NamedTuple

from .files import fail
from .metallib import version_text
from .package import Version


class Target(NamedTuple):
    name: str
    platform: str
    os: Version
    metal: Version
    family: int
    device: str


class Candidate(NamedTuple):
    """The properties of a slice that decide the choice."""

    target: str
    is_cpu: bool
    platform: str
    os: Version
    metal: Version
    family: int
    sha256: str


class Choice(NamedTuple):
    usable: tuple[int, ...]  # best first; never empty
    notes: tuple[tuple[str, bool, str, str], ...]  # target, chosen, code, line

    @property
    def report(self) -> str:
        return "\n".join(note[3] for note in self.notes)


# Metal's language of each macOS (docs/formats/air.md 1.2).
_LANGUAGES = {15: (3, 2, 0), 14: (3, 1, 0), 13: (3, 0, 0), 12: (2, 4, 0)}
# The highest GPU family of Apple's processors, by the first words of their names; newer ones have at least the newest here.
_FAMILIES = {"M1": 7, "M2": 8, "M3": 9, "M4": 9}
OFFLINE = Target("macos27", "macOS", (27, 0, 0), (4, 1, 0), 9, "offline")
_ORDER = {"unsupported_platform": 1, "unsupported_os": 2, "unsupported_language": 3, "unsupported_family": 4, "untrusted": 5}


def language_of(os_major: int) -> Version:
    if os_major >= 27:
        return (4, 1, 0)
    return (4, 0, 0) if os_major == 26 else _LANGUAGES.get(os_major, (2, 3, 0))


def _processor() -> str:
    import subprocess

    try:
        done = subprocess.run(["/usr/sbin/sysctl", "-n", "machdep.cpu.brand_string"], capture_output=True, text=True, timeout=5)
    except (OSError, subprocess.SubprocessError):
        return ""
    return done.stdout.strip()


def family_of(processor: str) -> int:
    """Return the Apple GPU family of a processor, or 0 if the processor is not Apple's or not known."""
    words = processor.split()
    if len(words) < 2 or words[0] != "Apple":
        return 0
    if words[1] in _FAMILIES:
        return _FAMILIES[words[1]]
    return 9 if words[1][:1] == "M" and words[1][1:].isdigit() and int(words[1][1:]) > 4 else 0


def this_machine() -> Target | None:
    """Return the target that describes this machine, or None if it is not a Mac."""
    if sys.platform != "darwin":
        return None
    numbers = [int(word) for word in platform.mac_ver()[0].split(".") if word.isdigit()]
    major, minor, patch = [*numbers, 0, 0, 0][:3]
    if major == 16:  # what programs are told that were linked for an older system
        major, minor, patch = 26, 0, 0
    return Target(f"macos{major}", "macOS", (major, minor, patch), language_of(major), family_of(_processor()), "metal")


def _reject(one: Candidate, device: Target, metal: tuple[int, int] | None) -> tuple[str, str] | None:
    if one.is_cpu:
        return "unsupported_platform", f"is CPU code, device runs {device.platform} libraries"
    if one.platform not in ("none", device.platform):
        return "unsupported_platform", f"needs {one.platform}, device has {device.platform}"
    if one.os > device.os:
        return "unsupported_os", f"needs {one.platform} {version_text(one.os)}, device has {version_text(device.os)}"
    if metal is not None and one.metal != (*metal, 0):
        return "unsupported_language", f"is Metal {version_text(one.metal)}, the caller forces {version_text((*metal, 0))}"
    if one.metal > device.metal:
        return "unsupported_language", f"needs Metal {version_text(one.metal)}, device has {version_text(device.metal)}"
    if one.family > device.family:
        has = f"Apple{device.family}" if device.family else "none"
        return "unsupported_family", f"needs GPU family Apple{one.family}, device has {has}"
    return None


def choose(candidates: list[Candidate], device: Target, what: str, metal: tuple[int, int] | None = None) -> Choice:
    closest = "unsupported_platform"
    notes: list[tuple[str, bool, str, str]] = []
    usable = []
    for i, one in enumerate(candidates):
        rejection = _reject(one, device, metal)
        if rejection is None:
            usable.append(i)
            notes.append((one.target, False, "ok", ""))
            continue
        code, why = rejection
        notes.append((one.target, False, code, f"{one.target}: {why}"))
        if _ORDER[code] > _ORDER[closest]:
            closest = code
    usable.sort(key=lambda i: candidates[i].sha256)
    usable.sort(key=lambda i: (candidates[i].metal, candidates[i].family, candidates[i].os), reverse=True)
    for rank, i in enumerate(usable):
        target = candidates[i].target
        notes[i] = (target, not rank, "ok", f"{target}: chosen" if not rank else f"{target}: usable, another fits better")
    choice = Choice(tuple(usable), tuple(notes))
    if not usable:
        lines = f":\n{choice.report}" if candidates else ""
        fail(closest, f"{what}: none of its {len(candidates)} slices runs on {device.device}{lines}")
    return choice
