# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages, and the kernels of them and of Metal libraries."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from . import misses
from .._checks import bits as checks_of
from .._checks import metal_version
from .._entries import Key, shown
from .device import device as device_of
from .device import left
from .entries import part_of_entry
from .files import check_kinds, fail, read_file, sha256
from .library import Library, from_metallib, from_package
from .metallib import read_metallib
from .package import Library as Rows
from .package import PackageFile, looks_like_package
from .store import key_bytes
from .signing import Policy, parse_level

if TYPE_CHECKING:
    from .device import DeviceLike
    from .entries import StoreLike


class Package(Mapping[str, Library]):
    """A ``.smelt`` file: libraries by name, each with one slice per target. Immutable."""

    def __init__(self, data: bytes | memoryview, made: Made | None = None, options: dict[str, Any] | None = None) -> None:
        self._whole = memoryview(data).cast("B")
        self._file = PackageFile(self._whole)
        self._made = made
        self._options = options or {}
        self._items: dict[str, Library] = {}

    def __getitem__(self, name: str) -> Library:
        if self._file.library(name) is None:
            raise KeyError(f"no library {name!r} in the package; it has {', '.join(self.libraries)}")
        if name not in self._items:
            self._items[name] = self.load(name)
        return self._items[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.libraries)

    def __len__(self) -> int:
        return len(self._file.libraries)

    def __contains__(self, name: object) -> bool:
        return name in self.libraries

    def __repr__(self) -> str:
        return f"<smelt.Package of {', '.join(map(shown, self.libraries))}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Package) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def __bytes__(self) -> bytes:
        return bytes(self._whole)

    def __reduce__(self) -> tuple[object, ...]:
        return (Package, (bytes(self),))

    def _rows(self, name: str | None) -> Rows:
        if name is not None:
            found = self._file.library(name)
            if found is None:
                fail("invalid_argument", f"the package has no library '{name}'; it has {', '.join(self.libraries)}")
            return found
        if len(self._file.libraries) != 1:
            fail("invalid_argument", f"the package has {len(self)} libraries ({', '.join(self.libraries)}); say which: library=")
        return self._file.libraries[0]

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file; readers see the old one or the new one."""
        misses.write_whole(os.fspath(path), bytes(self))

    def metallib(self, target: str = "", library: str | None = None) -> bytes:
        """The Metal library for a target ("macos14"); the only one there is when target is empty."""
        if not target:
            targets = [one for one in self.targets if not one.startswith("cpu-")]
            if len(targets) != 1:
                fail("invalid_argument", f"metallib: the package has Metal libraries for {', '.join(targets) or 'nothing'}; say which")
            target = targets[0]
        rows = self._rows(library)
        for one in rows.slices:
            if not one.is_cpu and one.target == target:
                return bytes(one.part.checked())
        known = ", ".join(one.target for one in rows.slices if not one.is_cpu)
        fail("invalid_argument", f"library '{rows.name}' has no metallib for '{target}'; it has {known or 'none'}")

    def load(self, library: str | None = None, *, device: DeviceLike = None, checked: bool | str = False) -> Library:
        """The named library, or the only one, on a device."""
        options = {**self._options, **({} if library is None else {"library": library})}
        return load_any(self, device, False, None, "load", checked=checked, **options)

    def prepare(self, names: Iterable[str] | None = None, progress: Any = None, *, device: DeviceLike = None, checked: bool | str = False) -> int:
        left("Package.prepare")

    @property
    def libraries(self) -> list[str]:
        return [one.name for one in self._file.libraries]

    @property
    def functions(self) -> list[str]:
        return [function.name for one in self._file.libraries for function in one.functions]

    @property
    def targets(self) -> list[str]:
        return list(dict.fromkeys(str(one["target"]) for one in self.slices))

    @property
    def slices(self) -> list[dict[str, Any]]:
        """One dict a slice: library, target, bytes, sha256, missing (function, reason)."""
        return [
            {"library": rows.name, "target": one.target, "bytes": len(one.part.bytes), "sha256": one.part.sha256,
             "missing": [(function.name, note.reason) for function, note in zip(rows.functions, one.functions) if note.missing]}
            for rows in self._file.libraries for one in rows.slices
        ]  # fmt: skip

    def version(self, library: str) -> str:
        return self._rows(library).version

    def attachments(self, library: str) -> dict[str, bytes]:
        return {one.what: bytes(one.checked()) for one in self._rows(library).attachments}

    @property
    def digest(self) -> str:
        return self._file.digest

    @property
    def key(self) -> str | None:
        return self._made.key if self._made else None

    @property
    def hit(self) -> bool:
        """Nothing was compiled."""
        return self._made is not None

    @property
    def kernels_kept(self) -> tuple[int, int]:
        return 0, 0

    @property
    def seconds(self) -> float:
        return self._made.seconds if self._made else 0.0

    @property
    def warnings(self) -> list[str]:
        return []


class Made(NamedTuple):
    key: str
    seconds: float


def _policy(trust: str | None, trusted_keys: str | Iterable[str] | None) -> tuple[Policy, bool]:
    """And whether the caller said something."""
    words = "" if not trusted_keys else trusted_keys if isinstance(trusted_keys, str) else " ".join(trusted_keys)
    if trust is not None:
        parse_level(trust)
    policy = Policy.from_environment(trust, words, needs_keys=False)
    if words and policy.level != "signed":
        fail("invalid_argument", f"trusted_keys needs trust=\"signed\"; trust is '{policy.level}', which accepts unsigned packages")
    return policy, trust is not None or bool(words)


def _check_signature(data: memoryview, file: PackageFile | None, trust: str | None, trusted_keys: Any) -> None:
    policy, said = _policy(trust, trusted_keys)
    if policy.allows_file(False):
        return
    if file is None:
        if said:
            fail("untrusted", "a Metal library carries no signature, and trust is signed. Make a package of it and sign that: smelt compile "
                 "X.metallib -o X.smelt, smelt sign X.smelt")  # fmt: skip
        return
    if not policy.signer(file.statement, file.signatures):
        fail("untrusted", f"the package is not signed by a key that is trusted: {policy.explain(file.signatures)}. Or have its CPU code made "
             'here, from its Metal library: trust="local", native=False (--trust local --no-native)')  # fmt: skip


def _check_expected(found: str, expect: str | None) -> None:
    if expect is not None and found != key_bytes(expect).hex():
        fail("digest_mismatch", f"the content digest is {found}, the caller expects {expect}")


class At:
    """Errors of a file begin with its path, once."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __enter__(self) -> None:
        pass

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        from ..errors import Error

        if isinstance(error, Error) and self.path and not error.message.startswith(self.path + ": "):
            error.message = f"{self.path}: {error.message}"
            error.args = (error.message,)
            error.subject = error.subject or self.path


def load_any(
    source: Any, on: DeviceLike, as_upstream: bool, store: StoreLike, what: str, effort: str | None = None, *, verify: str = "structure",
    expect: str | None = None, trust: str | None = None, trusted_keys: Any = (), native: bool = True, metal: object = None,
    library: str | None = None, checked: bool | str = False, allow_empty: bool = False,
) -> Library:  # fmt: skip
    checks = checks_of(checked)
    check_kinds("a str", verify=verify, expect=expect, trust=trust, library=library)
    if verify not in ("none", "structure", "digest", "full"):
        fail("invalid_argument", f"verify: '{verify}'; want none, structure, digest or full")
    target = device_of(on)._target
    if checks:
        left("code that bounds every access")
    version = metal_version(metal)
    path = ""
    if isinstance(source, Package):
        package: Package | None = source
        data = source._whole
        if source._made is not None and trust is None:
            trust = "any"  # the store decided when it was found
    else:
        package = None
        if isinstance(source, Key):
            source = part_of_entry(source, store, what)
            trust = trust or "any"  # likewise
        if isinstance(source, (str, os.PathLike)):
            path = os.fspath(source)
            source = read_file(source, what)
        if not isinstance(source, (bytes, bytearray, memoryview)):
            fail("source_type", f"{what}: want bytes, bytearray, memoryview, a path, a smelt.Package or a smelt.Key, got {type(source).__name__}")
        data = memoryview(bytes(source) if isinstance(source, bytearray) else source).cast("B")
    with At(path):
        if package is None and looks_like_package(data):
            package = Package(data)
        if package is not None:
            file = package._file
            _check_expected(file.digest, expect)
            _check_signature(data, file, trust, trusted_keys)
            if verify == "full":
                file.check_all_parts()
            if not file.libraries:
                fail("empty_library", "the package holds no library")
            if library is None and len(file.libraries) != 1:
                known = ", ".join(f"'{one}'" for one in package.libraries)
                fail("invalid_argument", f"the package holds {len(package)} libraries; say which one: {known}")
            return from_package(package._whole, file, package._rows(library), target, verify, version, allow_empty)
        _check_expected(sha256(data), expect)
        _check_signature(data, None, trust, trusted_keys)
        return from_metallib(data, read_metallib(data, verify), target, version, allow_empty)


def load_metallib(
    source: Any, *, device: DeviceLike = None, verify: str = "structure", expect: str | None = None, trust: str | None = None,
    trusted_keys: str | Iterable[str] = (), native: bool = True, metal: object = None, library: str | None = None, checked: bool | str = False,
    allow_empty: bool = False, store: StoreLike = None, cpu_effort: str | None = None,
) -> Library:  # fmt: skip
    """Kernels by name, from a Metal library or a package. Bad bytes fail here. As with compiled modules, but for CPU code."""
    return load_any(source, device, False, store, "load_metallib", verify=verify, expect=expect, trust=trust, trusted_keys=trusted_keys,
                 native=native, metal=metal, library=library, checked=checked, allow_empty=allow_empty)  # fmt: skip


def open(
    source: str | os.PathLike[str] | bytes | memoryview, *, expect: str | None = None, trust: str | None = None,
    trusted_keys: str | Iterable[str] = (), native: bool = True,
) -> Package:  # fmt: skip
    """A package: a file, or bytes. As with compiled modules."""
    path = ""
    if not isinstance(source, (bytes, memoryview)):
        path = os.fspath(source)
        source = read_file(source, "open")
    with At(path):
        package = Package(source, None, {"trust": trust, "trusted_keys": trusted_keys, "native": native})
        _check_expected(package.digest, expect)
        if trust is not None or trusted_keys:
            _check_signature(package._whole, package._file, trust, trusted_keys)
    return package
