# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packages: compiling them, opening them, and what they hold."""

from __future__ import annotations

import os

import smelt

from . import _checks, _loader, _session

TYPE_CHECKING = False
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
    """A ``.smelt`` file: libraries by name, each with one slice per target. Iterates over the names; an item is the
    library loaded on the default device. Immutable."""

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
        return f"<smelt.Package of {', '.join(self._native.names())}>"

    # Two packages are one when their bytes are.
    def __eq__(self, other: object) -> bool:
        return isinstance(other, Package) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the file; readers see the old one or the new one."""
        self._native.save(path)

    def metallib(self, target: str = "", library: str | None = None) -> bytes:
        """The Metal library for a target ("macos14"); the only one there is when target is empty."""
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
        """The named library, or the only one, on a device."""
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
        """Loads the libraries of these names (all when None) and builds every pipeline that needs no function
        constants, several at a time: what a model does once, before its first token. progress(done, total) counts
        pipelines of all libraries and may return False to stop. Afterwards items and their kernels are ready on this
        device, as long as the package is kept. Returns how many pipelines are ready."""
        on = _session.device(device)
        checks = _checks.bits(checked)
        wanted = self._native.names() if names is None else list(names)
        libraries = [self._on(name, on, checks) for name in wanted]
        return _loader.prepare_all(libraries, progress)

    @property
    def libraries(self) -> list[str]:
        return self._native.names()

    @property
    def functions(self) -> list[str]:
        """Names of the functions of all libraries, in the order of the file."""
        return self._native.functions()

    @property
    def targets(self) -> list[str]:
        """What there are slices for, without repeats."""
        return list(dict.fromkeys(str(s["target"]) for s in self._native.slices()))

    @property
    def slices(self) -> list[dict[str, Any]]:
        """One dict a slice: library, target, bytes, sha256, missing (function, reason)."""
        return self._native.slices()

    def version(self, library: str) -> str:
        return self._native.version(library)

    def attachments(self, library: str) -> dict[str, bytes]:
        """Bytes that travel with a library."""
        return {name: self._native.attachment(library, name) for name in self._native.attachment_names(library)}

    @property
    def digest(self) -> str:
        """SHA-256 of the bytes, in hex."""
        return self._native.digest

    def __bytes__(self) -> bytes:
        return bytes(self._native.view())

    def __reduce__(self) -> tuple[object, ...]:
        return (_from_bytes, (bytes(self),))

    # How it was made, when it was made here.

    @property
    def key(self) -> str | None:
        """What the store files it under; give it to Store.tag."""
        return self._made.key if self._made else None

    @property
    def hit(self) -> bool:
        """Whether it came from the store, and nothing was compiled."""
        return self._made.hit if self._made else False

    @property
    def kernels_kept(self) -> tuple[int, int]:
        """Of one that was compiled here: how many of its kernels the store had by themselves, and how many it has."""
        return self._made.kernels_kept if self._made else (0, 0)

    @property
    def seconds(self) -> float:
        return self._made.microseconds * 1e-6 if self._made else 0.0

    @property
    def warnings(self) -> list[str]:
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
    """A package: a file, which is mapped and not read, or bytes.

    expect: the digest that it must have, in hex. trust, trusted_keys: whether it is taken at all; native: whether its
    CPU code runs; as for load_metallib."""
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
    """The libraries of several packages in one, as `smelt pack` joins them: slices of one library become one library. Packages
    that were compiled in this process make one whose CPU code runs here too."""
    packed = Package(_loader.pack([package._native for package in packages]))
    if packages and all(package._made is not None for package in packages):
        packed._options["trust"] = "any"  # compiled here
    if not all(package._options.get("native", True) for package in packages):
        packed._options["native"] = False
    return packed


def _source(source: object, index: int) -> tuple[str, bytes | memoryview]:
    """Text of IR or MSL, bytes of anything, or a path: (name for messages, bytes)."""
    if isinstance(source, (bytes, memoryview)):
        return f"source {index}", source
    if isinstance(source, bytearray):
        return f"source {index}", bytes(source)
    if isinstance(source, str) and ("\n" in source or (not os.path.exists(source) and not _is_like_path(source))):
        return f"source {index}", source.encode()
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return path, _read(path)
    raise smelt.SourceTypeError(f"compile: want IR or MSL as text or bytes, or a path; got {type(source).__name__}")


def _read(path: str) -> bytes:
    import builtins

    try:
        with builtins.open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        raise smelt.LibraryNotFoundError(f"compile: no file {path!r}", subject=path) from None
    except OSError as error:
        raise smelt.LibraryIOError(f"compile: {path}: {error.strerror}", subject=path) from None


def _is_like_path(text: str) -> bool:
    """One line that is no file: a path with a mistake, rather than a whole program on one line."""
    return len(text) < 4096 and not any(c in text for c in "{};%@=")


def _metadata(metadata: object) -> str | None:
    if metadata is None:
        return None
    if isinstance(metadata, str) and metadata.lstrip().startswith("{"):
        return metadata
    if isinstance(metadata, Mapping):
        import json

        return json.dumps(dict(metadata))
    if isinstance(metadata, bytes):
        return metadata.decode()
    if isinstance(metadata, (str, os.PathLike)):
        return _read(os.fspath(metadata)).decode()
    raise smelt.ArgumentError(f"metadata: want a dict, JSON text or a path, got {type(metadata).__name__}")


def compile(
    source: SourceLike | Sequence[SourceLike],
    targets: str | Sequence[str] | None = None,
    cpu: bool | str | Sequence[str] = True,
    metadata: object = None,
    threadgroup_memory: int | None = None,
    threads_per_threadgroup: int | None = None,
    fast_math: bool = False,
    progress: Callable[[str, int, int], object] | None = None,
    *,
    kernels: Sequence[str] = (),
    functions: Sequence[str] = (),
    include_folders: Sequence[str | os.PathLike[str]] = (),
    definitions: Sequence[str] | Mapping[str, object] = (),
    language: str | tuple[int, int] | None = None,
    debug_lines: bool = False,
    pack_scalars: bool = False,
    no_overlap: bool = False,
    relaxed_atomics: bool = False,
    cpu_only: bool = False,
    checked: bool | str = False,
    name: str = "",
    version: str = "",
    store: _session.StoreLike = None,
    timeout: float | None = None,
    max_memory: int | None = None,
    sandbox: str | None = None,
    cpu_effort: str | None = None,
    filename: str | Sequence[str] | None = None,
    logging: bool = False,
) -> Package:
    """A package from IR (text or bitcode), MSL or Metal libraries, from the store when it has it.

    source: text, bytes or a path, or several. filename: what messages call them, one for each. targets: "macos14" and
    the like. cpu: CPU code for this machine (True), for named levels ("x86-64-v3"), or none (False); a kernel that has
    none is among the warnings, and with "required" (for this machine) an UnsupportedError. metadata: Triton's JSON
    beside a kernel. progress(stage, done, total) is called from any thread; when it returns False compiling ends.
    kernels: functions that are kernels besides those marked so. functions: make only these. include_folders,
    definitions: of MSL, as -I and -D. cpu_only: of IR, takes double precision, all atomics of 64 bits and up to 64 MiB of
    threadgroup memory, which no Apple GPU has; a kernel with them gets CPU code alone. store: None for the default, a folder or smelt.Store, False to work without one.
    timeout, max_memory: seconds that compiling may take, and bytes that the process may hold meanwhile; then it is a
    CancelledError. Kernels that were ready are kept in the store. sandbox: "auto" compiles Metal libraries in child
    processes that can open nothing, "always" LLVM IR too, "never" nothing; None is SMELT_SANDBOX, else auto.
    cpu_effort: time that CPU code may take to make, "fast", "balanced" or "best"; None is SMELT_CPU_EFFORT, else
    balanced. logging: of MSL, messages of kernels (os_log, Metal 3.2) are kept, as -fmetal-enable-logging asks.
    """
    is_one = isinstance(source, (str, bytes, bytearray, memoryview, os.PathLike))
    sources: Sequence[object] = [source] if is_one or not isinstance(source, Sequence) else source
    if targets is None:
        from_environment = os.environ.get("SMELT_TARGET", "")
        targets = [from_environment] if from_environment else []
    required = cpu == "required"
    checks = _checks.bits(checked)
    levels = [] if isinstance(cpu, bool) or required else [cpu] if isinstance(cpu, str) else list(cpu)
    if cpu_only and not (bool(cpu) or levels):
        raise smelt.ArgumentError("compile: cpu_only=True, and cpu=False wants no CPU code")
    if isinstance(language, str):
        from ._load import _metal_version

        language = _metal_version(language)
    defined = [f"{n}={v}" for n, v in definitions.items()] if isinstance(definitions, Mapping) else _several(definitions)
    if logging:
        from ._logging import MACRO

        defined = [*defined, MACRO]
    options = {
        "targets": [targets] if isinstance(targets, str) else list(targets),
        "cpu": bool(cpu) or bool(levels),
        "levels": levels,
        "metadata": _metadata(metadata),
        "threadgroup_memory": threadgroup_memory,
        "threads_per_threadgroup": threads_per_threadgroup,
        "fast_math": fast_math,
        "kernels": _several(kernels),
        "functions": _several(functions),
        "include_folders": [os.fspath(folder) for folder in _several(include_folders)],
        "definitions": defined,
        "language": language,
        "debug_lines": debug_lines,
        "pack_scalars": pack_scalars,
        "no_overlap": no_overlap,
        "relaxed_atomics": relaxed_atomics,
        "cpu_only": cpu_only,
        "checked": checks,
        "name": name,
        "version": version,
        "timeout": timeout,
        "max_memory": max_memory,
        "sandbox": sandbox,
        "effort": cpu_effort,
    }
    named = _renamed([_source(one, index) for index, one in enumerate(sources)], filename)
    made = _session.session(store).make(named, options, progress)
    package = Package(_loader.Package(made.view()), made)
    if required and (missing := package._native.missing_cpu_code()):
        raise smelt.UnsupportedError("compile: cpu='required', and " + "; ".join(missing))
    return package


def _several(names: Any) -> list[Any]:
    """One name by itself is a list of one, not of its letters."""
    return [names] if isinstance(names, (str, os.PathLike)) else list(names)


def _renamed(
    sources: list[tuple[str, bytes | memoryview]], filename: str | Sequence[str] | None
) -> list[tuple[str, bytes | memoryview]]:
    if filename is None:
        return sources
    names = [filename] if isinstance(filename, str) else list(filename)
    if len(names) != len(sources):
        raise smelt.ArgumentError(f"filename: {len(names)} names for {len(sources)} sources; want one for each")
    return [(name, source) for name, (_, source) in zip(names, sources)]


