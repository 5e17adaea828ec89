# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages: how to compile, open and read them. The reader uses the same class over its own package file (_pure/load.py)."""

from __future__ import annotations

import os

import smelt

from . import _checks

TYPE_CHECKING = False
if TYPE_CHECKING or smelt.edition == "native":
    from . import _loader, _session
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from typing import Any, Union

    from . import _compiler

    SourceLike = Union[str, bytes, bytearray, memoryview, "os.PathLike[str]"]
    LibrariesByName = Mapping[str, _loader.Library]
else:
    # The same classes. By their public name they bring a package along that takes longer to import than a kernel to load.
    from _collections_abc import Mapping, Sequence

    LibrariesByName = Mapping


class Package(LibrariesByName):
    """A ``.smelt`` file: an immutable mapping from names to libraries, each with one slice per target. ``package["name"]``
    loads the library on the default device. ``compile``, ``open`` and ``pack`` return packages."""

    def __init__(
        self,
        native: _loader.Package,
        made: _compiler.CompileResult | None = None,
        options: dict[str, object] | None = None,
    ) -> None:
        self._native = native
        self._made = made  # how it came to be, when it was compiled here
        self._options = options or {}  # of every load
        self._loaded: dict[tuple[str, _loader.Device, int], _loader.Library] = {}

    def __getitem__(self, name: str) -> _loader.Library:
        if name not in self._native.names():
            raise KeyError(f"no library {name!r} in the package; it has {', '.join(self._native.names())}")
        return self._item(name)

    def _item(self, name: str) -> _loader.Library:
        return self._on(name, _session.device(), _checks.bits(None))

    def _on(self, name: str, device: _loader.Device, checked: int) -> _loader.Library:
        key = (name, device, checked)
        found = self._loaded.get(key)
        if found is None:
            found = self._loaded[key] = self._load(device, {"library": name, "checked": checked})
        return found

    def _load(self, device: _loader.Device, options: dict[str, object]) -> _loader.Library:
        from ._load import load_package

        return load_package(self, device, options, None, False)

    def __iter__(self) -> Iterator[str]:
        return iter(self._native.names())

    def __len__(self) -> int:
        return len(self._native.names())

    def __contains__(self, name: object) -> bool:
        return name in self._native.names()

    def __repr__(self) -> str:
        from ._entries import shown

        return f"<smelt.Package of {', '.join(map(shown, self._native.names()))}>"

    # Two packages are one when their bytes are.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Package) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the package to a file. A program that reads the path at the same time sees the old file or the new one,
        never a part of it."""
        self._native.save(path)

    def metallib(self, target: str = "", library: str | None = None) -> bytes:
        """Return the bytes of the Metal library for a target such as "macos14". If there is only one target, it may be
        empty."""
        if not target:
            targets = [t for t in self.targets if not t.startswith("cpu-")]
            if len(targets) != 1:
                has = ", ".join(targets) or "nothing"
                raise smelt.ArgumentError(f"metallib: the package has Metal libraries for {has}; say which")
            target = targets[0]
        return self._native.metallib(target, library)

    def load(
        self, library: str | None = None, *, device: _session.DeviceLike = None, checked: bool | str = False
    ) -> _loader.Library:
        """Load the library of this name, or the only one, on a device."""
        options: dict[str, object] = {"checked": _checks.bits(checked)}
        if library is not None:
            options["library"] = library
        return self._load(_session.device(device), options)

    def prepare(
        self,
        names: Iterable[str] | None = None,
        progress: Callable[[int, int], object] | None = None,
        *,
        device: _session.DeviceLike = None,
        checked: bool | str = False,
    ) -> int:
        """Load the libraries of these names (None for all), build every pipeline that needs no function constants, and
        return the number of pipelines that are ready.

        Call it once when a program starts, so that the first launches need not wait. ``progress(done, total)`` counts
        pipelines and may return False to stop. The kernels stay ready on this device as long as the package exists.
        """
        on = _session.device(device)
        checks = _checks.bits(checked)
        wanted = self._native.names() if names is None else list(names)
        libraries = [self._on(name, on, checks) for name in wanted]
        return _loader.prepare_all(libraries, progress)

    @property
    def libraries(self) -> list[str]:
        """Names of the libraries."""
        return self._native.names()

    @property
    def functions(self) -> list[str]:
        """Names of the functions of all libraries, in the order of the file."""
        return self._native.functions()

    @property
    def targets(self) -> list[str]:
        """Targets of the slices, without repeats."""
        return list(dict.fromkeys(str(s["target"]) for s in self._native.slices()))

    @property
    def slices(self) -> list[dict[str, Any]]:
        """A dict for each slice: library, target, bytes (the size), sha256, missing (functions with a reason)."""
        return self._native.slices()

    def version(self, library: str) -> str:
        """Return the version of a library, or an empty string if it has none."""
        return self._native.version(library)

    def attachments(self, library: str) -> dict[str, bytes]:
        """Return the attachments of a library, as a dict from names to bytes."""
        return {name: self._native.attachment(library, name) for name in self._native.attachment_names(library)}

    @property
    def digest(self) -> str:
        """SHA-256 of the package's content, as 64 hexadecimal digits. A signature does not change it."""
        return self._native.digest

    def __bytes__(self) -> bytes:
        return bytes(self._native.view())

    def __reduce__(self) -> tuple[object, ...]:
        return (_from_bytes, (bytes(self),))

    # How it was made, when it was made here.

    @property
    def key(self) -> str | None:
        """The package's key in the store, for Store.tag; None if it was not compiled in this process."""
        return self._made.key if self._made else None

    @property
    def hit(self) -> bool:
        """True if ``compile`` found the package in the store."""
        return self._made.hit if self._made else False

    @property
    def kernels_kept(self) -> tuple[int, int]:
        """The number of kernels that the store already had when the package was compiled, and the number of all kernels."""
        return self._made.kernels_kept if self._made else (0, 0)

    @property
    def seconds(self) -> float:
        """The time that the compile took, in seconds."""
        return self._made.microseconds * 1e-6 if self._made else 0.0

    @property
    def warnings(self) -> list[str]:
        """Warnings of the compiler, and the reasons why kernels have no CPU code."""
        return [*self._made.warnings, *self._native.missing_cpu_code()] if self._made else []


def _from_bytes(source: bytes) -> Package:
    return Package(_loader.Package(source))


def open(
    source: str | os.PathLike[str] | bytes | memoryview,
    *,
    expect: str | None = None,
    trust: str | None = None,
    trusted_keys: str | Iterable[str] = (),
    native: bool = True,
) -> Package:
    """Open a package: map a file without reading it, or use bytes.

    Args:
        source: a path or bytes.
        expect: the digest that the package must have: SHA-256 as 64 hexadecimal digits.
        trust: packages to accept, as for ``load_metallib``.
        trusted_keys: keys for "signed", as for ``load_metallib``.
        native: False ignores the package's CPU code, as for ``load_metallib``.

    Returns:
        The package.

    Raises:
        InvalidLibraryError: the bytes are not a package, or are damaged.
        IntegrityError: the digest is not the expected one.
        TrustError: a required trusted signature is missing.
        LibraryNotFoundError: the file does not exist.

    Examples:
        >>> package = smelt.open(bytes(smelt.compile('kernel void k(device float* x) { x[0] = 1; }')))
        >>> package.functions
        ['k']
    """
    from ._load import _words

    path = ""
    if not isinstance(source, (bytes, memoryview)):
        path = os.fspath(source)
        source = _loader.map_file(source, "open")
    package = _loader.Package(source, path)
    if expect is not None:
        _loader.check_expected(source, {"expect": expect}, path)
    keys = _words(trusted_keys)
    asked = {"trust": trust, "trusted_keys": keys, "native": native}
    options: dict[str, object] = {name: value for name, value in asked.items() if value is not None}
    if trust is not None or keys is not None:
        _loader.check_signature(source, options, path)
    return Package(package, None, options)


def pack(packages: Sequence[Package]) -> Package:
    """Join packages into one, like ``smelt pack``. Slices of the same library become one library.

    If all packages were compiled in this process, the CPU code of the result can run without a trusted signature.

    Args:
        packages: the packages to join.

    Returns:
        The new package.

    Raises:
        SourceTypeError: an element is not a Package.

    Examples:
        >>> one = smelt.compile('kernel void k(device float* x) { x[0] = 1; }', name='one')
        >>> two = smelt.compile('kernel void k(device float* x) { x[0] = 1; }', name='two')
        >>> smelt.pack([one, two]).libraries
        ['one', 'two']
    """
    if isinstance(packages, Package) or not all(isinstance(package, Package) for package in packages):
        given = "a smelt.Package" if isinstance(packages, Package) else ", ".join(type(package).__name__ for package in packages)
        raise smelt.SourceTypeError(f"pack: want a list of smelt.Package (smelt.open reads a file), got {given}")
    packed = Package(_loader.pack([package._native for package in packages]))
    if packages and all(package._made is not None for package in packages):
        packed._options["trust"] = "any"  # compiled here
    if not all(package._options.get("native", True) for package in packages):
        packed._options["native"] = False
    return packed


def make(
    sources: Sequence[tuple[str, bytes | memoryview]],
    options: Mapping[str, object],
    required: bool,
    store: _session.StoreLike,
    progress: Callable[[str, int, int], object] | None,
) -> Package:
    """Compile a package, for smelt.compile (_request.py)."""
    made = _session.session(store).make(sources, options, progress)
    package = Package(_loader.Package(made.view()), made)
    if required and (missing := package._native.missing_cpu_code()):
        raise smelt.UnsupportedError("compile: cpu='required', and " + "; ".join(missing))
    return package


