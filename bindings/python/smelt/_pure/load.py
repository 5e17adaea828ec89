# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Opens packages, and loads the kernels of packages and Metal libraries."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from . import misses
from .. import _package
from .._checks import bits as checks_of
from .._checks import metal_version
from .._entries import Key
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


class _File(PackageFile):
    """A package file, with the methods of smelt._loader.Package."""

    def __init__(self, data: bytes | memoryview) -> None:
        self._whole = memoryview(data).cast("B")
        super().__init__(self._whole)

    def view(self) -> memoryview:
        return self._whole

    def rows(self, name: str | None) -> Rows:
        if name is not None:
            found = self.library(name)
            if found is None:
                fail("invalid_argument", f"the package has no library '{name}'; it has {', '.join(self.names())}")
            return found
        if len(self.libraries) != 1:
            fail("invalid_argument", f"the package has {len(self.libraries)} libraries ({', '.join(self.names())}); say which: library=")
        return self.libraries[0]

    def names(self) -> list[str]:
        return [one.name for one in self.libraries]

    def functions(self) -> list[str]:
        return [function.name for one in self.libraries for function in one.functions]

    def slices(self) -> list[dict[str, Any]]:
        return [
            {"library": rows.name, "target": one.target, "bytes": len(one.part.bytes), "sha256": one.part.sha256,
             "missing": [(function.name, note.reason) for function, note in zip(rows.functions, one.functions) if note.missing]}
            for rows in self.libraries for one in rows.slices
        ]  # fmt: skip

    def version(self, library: str) -> str:
        return self.rows(library).version

    def attachment_names(self, library: str) -> list[str]:
        return [one.what for one in self.rows(library).attachments]

    def attachment(self, library: str, name: str) -> bytes:
        return next(bytes(one.checked()) for one in self.rows(library).attachments if one.what == name)

    def metallib(self, target: str, library: str | None = None) -> bytes:
        rows = self.rows(library)
        for one in rows.slices:
            if not one.is_cpu and one.target == target:
                return bytes(one.part.checked())
        known = ", ".join(one.target for one in rows.slices if not one.is_cpu)
        fail("invalid_argument", f"library '{rows.name}' has no metallib for '{target}'; it has {known or 'none'}")

    def save(self, path: str | os.PathLike[str]) -> None:
        misses.write_whole(os.fspath(path), bytes(self._whole))

    def missing_cpu_code(self) -> list[str]:
        return []


class Package(_package.Package):
    __doc__ = _package.Package.__doc__

    def __init__(self, data: bytes | memoryview, made: Made | None = None, options: dict[str, Any] | None = None) -> None:
        self._file = _File(data)
        self._items: dict[str, Library] = {}
        super().__init__(self._file, made, options)  # type: ignore[arg-type]

    def _item(self, name: str) -> Any:
        if name not in self._items:
            self._items[name] = self.load(name)
        return self._items[name]

    def load(self, library: str | None = None, *, device: Any = None, checked: bool | str = False) -> Any:
        """Load the library of this name, or the only one, on a device."""
        options: dict[str, Any] = {**self._options, **({} if library is None else {"library": library})}
        return load_any(self, device, False, None, "load", checked=checked, **options)

    def prepare(self, *_: Any, **__: Any) -> NoReturn:
        left("Package.prepare")

    def __reduce__(self) -> tuple[object, ...]:
        return Package, (bytes(self),)


class Made(NamedTuple):
    """The facts that smelt._compiler reports about a result. Here a package is always found, never compiled."""

    key: str
    microseconds: int
    hit: bool = True
    kernels_kept: tuple[int, int] = (0, 0)
    warnings: tuple[str, ...] = ()


def _policy(trust: str | None, trusted_keys: str | Iterable[str] | None) -> tuple[Policy, bool]:
    """Return the policy, and whether the caller gave trust or trusted_keys."""
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
    """A context in which the message of an error begins with the path of the file, once."""

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
        data = source._file.view()
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
            return from_package(package._file.view(), file, package._file.rows(library), target, verify, version, allow_empty)
        _check_expected(sha256(data), expect)
        _check_signature(data, None, trust, trusted_keys)
        return from_metallib(data, read_metallib(data, verify), target, version, allow_empty)


def load_metallib(
    source: Any, *, device: DeviceLike = None, verify: str = "structure", expect: str | None = None, trust: str | None = None,
    trusted_keys: str | Iterable[str] = (), native: bool = True, metal: object = None, library: str | None = None, checked: bool | str = False,
    allow_empty: bool = False, store: StoreLike = None, cpu_effort: str | None = None,
) -> Library:  # fmt: skip
    """Load a Metal library or a package, and return its kernels by name, as in the native edition but without CPU code. Damaged bytes raise an error here."""
    return load_any(source, device, False, store, "load_metallib", verify=verify, expect=expect, trust=trust, trusted_keys=trusted_keys,
                 native=native, metal=metal, library=library, checked=checked, allow_empty=allow_empty)  # fmt: skip


def open(
    source: str | os.PathLike[str] | bytes | memoryview, *, expect: str | None = None, trust: str | None = None,
    trusted_keys: str | Iterable[str] = (), native: bool = True,
) -> Package:  # fmt: skip
    """Open a package, from a path or bytes, as in the native edition."""
    path = ""
    if not isinstance(source, (bytes, memoryview)):
        path = os.fspath(source)
        source = read_file(source, "open")
    with At(path):
        package = Package(source, None, {"trust": trust, "trusted_keys": trusted_keys, "native": native})
        _check_expected(package.digest, expect)
        if trust is not None or trusted_keys:
            _check_signature(package._file.view(), package._file, trust, trusted_keys)
    return package
