# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What `import smelt` gives where there are no compiled modules: the same names, meaning the same, as far as there are any here.
docs/reference/python.md#without-compiled-modules."""

from __future__ import annotations

import json
import os
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn, Union

from . import choice, keys, misses
from .choice import Candidate, Choice, Target
from .files import fail, read_file, sha256
from .metallib import MAGIC, Metallib, read_metallib, version_text
from .package import Library as Rows
from .package import PackageFile, looks_like_package
from .remote import Remote
from .store import StoreFolder, compare_versions, default_folder, key_bytes
from .trust import Policy, Provenance, Source, parse_level
from .store import Tag as Tag

if TYPE_CHECKING:
    from .._info import FunctionInfo, LibraryInfo

    DeviceLike = Union[None, str, "Device"]
    StoreLike = Union[None, bool, str, "os.PathLike[str]", "Store"]

_PART = "library.smelt"
_LEFT = "is left to the compiled modules (the wheel smelt for this Python and system), and this copy of smelt is Python alone"


def left(what: str) -> NoReturn:
    fail("unsupported", f"{what} {_LEFT}")


# --- devices


class Device:
    """A Mac's GPU, or what a Mac of some system would take ("offline")."""

    def __init__(self, kind: str = "automatic", *, threads: int = 0, cpu_level: str = "", target: str | None = None, launch_limit: float = 0.0) -> None:
        if kind not in ("automatic", "metal", "cpu", "offline"):
            fail("invalid_argument", f"device '{kind}': want automatic, metal, cpu or offline")
        if kind == "cpu":
            left("running kernels on the CPU")
        if target is not None and kind != "offline":
            fail("invalid_argument", f"target: only an offline device pretends; got kind '{kind}'")
        here = choice.this_machine()
        if kind == "metal" and here is None:
            import sys

            fail("device_unavailable", f"there is no Metal on {sys.platform}, only on a Mac")
        if target is not None:
            row = keys.target(target)
            if not row["name"].startswith("macos"):
                left(f"pretending to be a device of {target}")
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
        fail("invalid_argument", f"device: want None, 'metal', 'offline' or a smelt.Device, got {type(asked).__name__}")
    return Device(asked or "automatic")


# --- libraries


class _Function(NamedTuple):
    name: str
    kind: str
    metal: tuple[int, int, int]
    missing: str | None


class _Loaded(NamedTuple):
    """What is known of a library; a class of its own, since a library has no public attribute but its kernels."""

    name: str
    functions: dict[str, _Function]
    choice: Choice
    target: Target
    slice_target: str
    digest: str
    file: memoryview
    is_package: bool
    metallib: Any  # () -> memoryview, checked
    gpu: list[Any]


class Library:
    """Kernels by name, on the GPU by way of PyTorch or PyObjC. Nothing is given to either before a kernel is read."""

    def __init__(self, loaded: _Loaded) -> None:
        self.__loaded = loaded

    def __getitem__(self, name: str) -> Any:
        usable = _usable(self.__loaded, name)
        if usable is not None:
            fail(*usable)
        from . import gpu

        if not self.__loaded.gpu:
            self.__loaded.gpu.append(gpu.load(bytes(self.__loaded.metallib()), self.__loaded.target))
        return getattr(self.__loaded.gpu[0], name)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name.endswith("__"):
            raise AttributeError(name)
        return self[name]

    def __contains__(self, name: object) -> bool:
        return name in self.__loaded.functions

    def __dir__(self) -> list[str]:
        return list(self.__loaded.functions)

    def __copy__(self) -> Library:
        return self

    def __deepcopy__(self, _: object) -> Library:
        return self

    def __repr__(self) -> str:
        return f"<smelt library of {len(self.__loaded.functions)} functions for {self.__loaded.slice_target}>"


def _loaded(library: Library) -> _Loaded:
    if not isinstance(library, Library):
        fail("source_type", f"want a smelt.Library, got {type(library).__name__}")
    found: _Loaded = library._Library__loaded
    return found


def _usable(loaded: _Loaded, name: str) -> tuple[str, str, str] | None:
    """None, or why a function cannot be used: code, message, subject."""
    function = loaded.functions.get(name)
    if function is None:
        import difflib

        near = difflib.get_close_matches(name, loaded.functions, 3)
        return "function_not_found", f"no function '{name}'; {'did you mean ' + ', '.join(near) if near else 'it has ' + ', '.join(loaded.functions)}", name
    if function.kind != "kernel":
        return "function_kind", f"function '{name}' is a {function.kind} function; only kernels can be dispatched", name
    if function.missing is not None:
        return "unsupported", f"kernel '{name}' has no code for device {loaded.target.device}: {function.missing}", name
    if function.metal > loaded.target.metal:
        return ("unsupported_language", f"kernel '{name}' needs Metal {version_text(function.metal)}, device {loaded.target.device} has "
                f"{version_text(loaded.target.metal)}", name)  # fmt: skip
    return None


def _check_empty(functions: Iterable[str], what: str, allowed: bool) -> None:
    if not allowed and not list(functions):
        fail("empty_library", f"{what} holds no function. A failed link leaves such files; pass allow_empty if it is meant")


def _load_rows(whole: memoryview, file: PackageFile, rows: Rows, on: Target, verify: str, metal: tuple[int, int] | None, allow_empty: bool) -> Library:
    what = f"library '{rows.name}'"
    _check_empty((one.name for one in rows.functions), what, allow_empty)
    candidates = [Candidate(one.target, one.is_cpu, one.platform, one.os, one.metal, one.family, one.part.sha256) for one in rows.slices]
    found = choice.choose(candidates, on, what, metal)
    best = rows.slices[found.usable[0]]
    if verify == "digest":
        best.part.checked()
    functions = {}
    for i, function in enumerate(rows.functions):
        # The best slice that holds it: kernels may be missing in one and there in another. Which one torch is given is the best alone.
        note = best.functions[i]
        functions[function.name] = _Function(function.name, function.kind, note.metal, note.reason if note.missing else None)
    return Library(_Loaded(rows.name, functions, found, on, best.target, file.digest, whole, True, best.part.checked, []))


def _load_metallib(data: memoryview, library: Metallib, on: Target, metal: tuple[int, int] | None, allow_empty: bool) -> Library:
    _check_empty((one.name for one in library.functions), "the metallib", allow_empty)
    language = min((one.metal for one in library.functions), default=(0, 0, 0))
    name = f"{library.platform} {version_text(library.os)}"
    found = choice.choose([Candidate(name, False, library.platform, library.os, language, 0, "")], on, "the metallib", metal)
    functions = {one.name: _Function(one.name, one.kind, one.metal, None) for one in library.functions}
    return Library(_Loaded("", functions, found, on, name, sha256(data), data, False, lambda: data, []))


# --- packages


class Package(Mapping[str, Library]):
    """A ``.smelt`` file: libraries by name, each with one slice per target. Immutable."""

    def __init__(self, data: bytes | memoryview, made: _Made | None = None, options: dict[str, Any] | None = None) -> None:
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
        return f"<smelt.Package of {', '.join(self.libraries)}>"

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

    def load(self, library: str | None = None, *, device: DeviceLike = None, checked: bool = False) -> Library:
        """The named library, or the only one, on a device."""
        options = {**self._options, **({} if library is None else {"library": library})}
        return _load(self, device, False, None, "load", checked=checked, **options)

    def prepare(self, names: Iterable[str] | None = None, progress: Any = None, *, device: DeviceLike = None, checked: bool = False) -> int:
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
        """Nothing is compiled here: what was found was a hit."""
        return self._made is not None

    @property
    def kernels_kept(self) -> tuple[int, int]:
        return (0, 0)

    @property
    def seconds(self) -> float:
        return self._made.seconds if self._made else 0.0

    @property
    def warnings(self) -> list[str]:
        return []


class _Made(NamedTuple):
    key: str
    seconds: float


def _policy(trust: str | None, trusted_keys: str | Iterable[str] | None) -> tuple[Policy, bool]:
    """And whether the caller said something."""
    words = "" if not trusted_keys else trusted_keys if isinstance(trusted_keys, str) else " ".join(trusted_keys)
    if trust is not None:
        parse_level(trust)
    policy = Policy.from_environment(trust, words, needs_keys=False)
    if words and policy.level != "signed":
        fail("invalid_argument", f"trusted_keys: trust is '{policy.level}', which takes packages that nobody signed, too; pass trust=\"signed\"")
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


class _At:
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


def _metal_version(metal: object) -> tuple[int, int] | None:
    if metal is None:
        return None
    try:
        if isinstance(metal, str):
            major, minor = (metal[5:] if metal.startswith("metal") else metal).split(".")
            return int(major), int(minor)
        if isinstance(metal, tuple):
            return int(metal[0]), int(metal[1])
    except (ValueError, IndexError):
        pass
    fail("invalid_argument", f"metal: want a version such as '3.1', got {metal!r}")


def _load(
    source: Any, on: DeviceLike, as_upstream: bool, store: StoreLike, what: str, effort: str | None = None, *, verify: str = "structure",
    expect: str | None = None, trust: str | None = None, trusted_keys: Any = (), native: bool = True, metal: object = None,
    library: str | None = None, checked: bool = False, allow_empty: bool = False,
) -> Library:  # fmt: skip
    if verify not in ("none", "structure", "digest", "full"):
        fail("invalid_argument", f"verify: '{verify}'; want none, structure, digest or full")
    target = device(on)._target
    if checked:
        left("code that bounds every access")
    version = _metal_version(metal)
    path = ""
    if isinstance(source, Package):
        package: Package | None = source
        data = source._whole
        if source._made is not None and trust is None:
            trust = "any"  # the store decided when it was found
    else:
        package = None
        if isinstance(source, Key):
            source = _part_of_entry(source, store, what)
            trust = trust or "any"  # likewise
        if isinstance(source, (str, os.PathLike)):
            path = os.fspath(source)
            source = read_file(source, what)
        if not isinstance(source, (bytes, bytearray, memoryview)):
            fail("source_type", f"{what}: want bytes, bytearray, memoryview, a path, a smelt.Package or a smelt.Key, got {type(source).__name__}")
        data = memoryview(bytes(source) if isinstance(source, bytearray) else source).cast("B")
    with _At(path):
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
            return _load_rows(package._whole, file, package._rows(library), target, verify, version, allow_empty)
        _check_expected(sha256(data), expect)
        _check_signature(data, None, trust, trusted_keys)
        return _load_metallib(data, read_metallib(data, verify), target, version, allow_empty)


def load_metallib(
    source: Any, *, device: DeviceLike = None, verify: str = "structure", expect: str | None = None, trust: str | None = None,
    trusted_keys: str | Iterable[str] = (), native: bool = True, metal: object = None, library: str | None = None, checked: bool = False,
    allow_empty: bool = False, store: StoreLike = None, cpu_effort: str | None = None,
) -> Library:  # fmt: skip
    """Kernels by name, from a Metal library or a package. Bad bytes fail here. As with compiled modules, but for CPU code."""
    return _load(source, device, False, store, "load_metallib", verify=verify, expect=expect, trust=trust, trusted_keys=trusted_keys,
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
    with _At(path):
        package = Package(source, None, {"trust": trust, "trusted_keys": trusted_keys, "native": native})
        _check_expected(package.digest, expect)
        if trust is not None or trusted_keys:
            _check_signature(package._whole, package._file, trust, trusted_keys)
    return package


def info(library: Library) -> LibraryInfo:
    from .._info import LibraryInfo

    loaded = _loaded(library)
    return LibraryInfo(
        name=loaded.name, functions=tuple(loaded.functions), target=loaded.slice_target, digest=loaded.digest, device=loaded.target.device,
        slices=tuple({"target": one[0], "chosen": one[1], "code": one[2], "line": one[3]} for one in loaded.choice.notes),
        slice_report=loaded.choice.report, has_reflection=loaded.is_package, file=loaded.file,
    )  # fmt: skip


def function_info(library: Library, name: str) -> FunctionInfo:
    from .._info import FunctionInfo

    loaded = _loaded(library)
    why = _usable(loaded, name)
    if why is not None and why[0] == "function_not_found":
        fail(*why)
    function = loaded.functions[name]
    return FunctionInfo(name, function.kind, version_text(function.metal), why is None, why[1] if why else "")


def specialize(library: Library, name: str, constants: Mapping[Any, Any]) -> NoReturn:
    left("specialize: a value for a function constant, which torch's loader does not take,")


def prepare(library: Library, names: Iterable[str] | None = None, progress: Any = None) -> NoReturn:
    left("prepare: building pipelines before they are used, which torch's loader does not do,")


class Buffer:
    """Memory by its address, which torch's loader does not take."""

    def __init__(self, *_: Any, **__: Any) -> None:
        left("smelt.Buffer")


class Kernel:
    """Kernels are those of PyTorch or PyObjC here."""

    def __init__(self, *_: Any, **__: Any) -> None:
        left("smelt.Kernel")


def pack(packages: Sequence[Package]) -> NoReturn:
    left("pack: writing packages")


# --- the store and what is behind it


class Key(str):
    """64 hex digits, so that load_metallib can tell a key from a path."""


class Entry(Mapping[str, bytes]):
    """Part name to bytes."""

    def __init__(self, parts: dict[str, bytes]) -> None:
        self._parts = parts

    def __getitem__(self, name: str) -> bytes:
        return self._parts[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    def view(self, name: str) -> memoryview:
        return memoryview(self._parts[name])

    def files(self, folder: str | os.PathLike[str]) -> NoReturn:
        left("Entry.files")

    def __repr__(self) -> str:
        return f"<smelt entry of {', '.join(self._parts)}>"


class EntryFacts(NamedTuple):
    key: str
    bytes: int
    created: int
    used_hour: int
    cost_us: int


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=4)


class _Found(NamedTuple):
    parts: dict[str, bytes]
    use: str  # "yes" or "metal_only"


class Store:
    """A store folder, read; what comes from remotes is kept beside it, in the layout of a remote. Any thread, any number of processes."""

    def __init__(
        self, path: str | os.PathLike[str] | None = None, *, read_only: bool = False, max_bytes: int = 5 << 30, durable: bool = False,
        verify: str = "first_use", remotes: Iterable[str] | None = None,
    ) -> None:  # fmt: skip
        self.path: str = os.fspath(path) if path is not None else default_folder()
        self.remotes: list[str] = os.environ.get("SMELT_REMOTE", "").split() if remotes is None else list(remotes)
        self._folder = StoreFolder(self.path)
        self._remotes = [Remote(url, _warn) for url in self.remotes]
        self._told: set[str] = set()

    def __repr__(self) -> str:
        return f"<smelt.Store {self.path}>"

    def __fspath__(self) -> str:
        return self.path

    def _refuse(self, key: str, why: str) -> None:
        if why not in self._told:
            self._told.add(why)
            _warn(f"{key}: the entry is not used: {why}")

    def _find(self, key: str) -> _Found | None:
        """What may be used, at least its Metal libraries: of the folder, of what was kept, of the remotes in their order."""
        found = self._folder.find(key)
        if found is not None:
            use = Policy.from_environment(needs_keys=False).use(found.origin)
            if use == "yes":
                return _Found(found.parts, use)
            policy = Policy.from_environment()
            use = policy.use(found.origin)
            if use != "no":
                return _Found(found.parts, use)
            self._refuse(key, policy.explain_origin(found.origin))
        if not self._remotes:
            return None
        policy = Policy.from_environment()
        kept = misses.kept(self.path)
        for one in (kept, *self._remotes):
            arrived = one.find(key)
            if arrived is None:
                continue
            record, parts = arrived
            if ".origin" in parts:  # a store's own to write
                continue
            signer = policy.signer(record.statement, record.signatures) if record.signatures and policy.keys else None
            origin = Provenance(False, (Source(False, one.address.shown, signer, False),), record.signatures)
            use = policy.use(origin)
            if use == "no":
                self._refuse(key, policy.explain_origin(origin))
                continue
            if one is not kept:
                misses.keep(self.path, record, parts)
            return _Found(parts, use)
        return None

    def get(self, key: str) -> Entry | None:
        """The entry, or None. One whose CPU code nobody trusted signed is absent, as where compiled modules read it."""
        key = key_bytes(key).hex()
        found = self._find(key)
        if found is None:
            return None
        if found.use != "yes":
            self._refuse(key, "no trusted key signed it, and it is more than Metal libraries (smelt.compile_shader and smelt.load_metallib take those)")
            return None
        return Entry(found.parts)

    def get_all(self, keys: Iterable[str]) -> list[Entry | None]:
        return [self.get(key) for key in keys]

    def __getitem__(self, key: str) -> Entry:
        found = self.get(key)
        if found is None:
            fail("not_cached", f"no entry {key} in store {self.path}", key)
        return found

    def __contains__(self, key: object) -> bool:
        return isinstance(key, str) and len(key) == 64 and self.get(key) is not None

    def entries(self) -> list[EntryFacts]:
        return [EntryFacts(*facts) for facts in self._folder.entries()]

    def tags(self, name: str = "") -> list[Tag]:
        return self._folder.tags(name)

    def tag_history(self, name: str) -> list[Tag]:
        bare, _, version = name.partition("@")
        return self._folder.tag_history(bare, version)

    def resolve(self, query: str) -> Key:
        return Key(self._folder.resolve(query)[0].key)

    def candidates(self, query: str) -> list[Tag]:
        return self._folder.resolve(query)

    def put(self, key: str, parts: Mapping[str, Any], *, cost: float = 0.0, compress: bool = False) -> NoReturn:
        left("Store.put")

    def put_all(self, entries: Mapping[str, Mapping[str, Any]]) -> NoReturn:
        left("Store.put_all")

    def remove(self, key: str) -> NoReturn:
        left("Store.remove")

    def tag(self, name: str, key: str, *, move: bool = False) -> NoReturn:
        left("Store.tag")

    def stat(self) -> NoReturn:
        left("Store.stat")

    def remote_stat(self) -> NoReturn:
        left("Store.remote_stat")

    def counters(self) -> NoReturn:
        left("Store.counters")

    def verify(self) -> NoReturn:
        left("Store.verify")

    def trim(self, max_bytes: int = 0) -> NoReturn:
        left("Store.trim")

    def export(self, names: Iterable[str]) -> NoReturn:
        left("Store.export")

    def import_package(self, source: Any, *, move: bool = False) -> NoReturn:
        left("Store.import_package")


def _store(asked: StoreLike) -> Store:
    return asked if isinstance(asked, Store) else Store(None if asked is None or asked is True else os.fspath(asked))  # type: ignore[arg-type]


def _part_of_entry(key: Key, store: StoreLike, what: str) -> bytes:
    on = _store(store)
    found = on._find(key_bytes(key).hex())
    if found is None:
        fail("not_cached", f"no entry {key} in store {on.path}", key)
    for name, data in found.parts.items():
        if name.endswith((".smelt", ".metallib")):
            return data
    fail("source_type", f"{what}: entry {key} holds no part named *.smelt or *.metallib: {', '.join(found.parts)}")


def _held_to(data: bytes, options: keys.Options) -> str:
    """Why a package is not what was asked for; empty when it is. As service/src/asked.hpp."""
    from ..errors import Error

    try:
        file = PackageFile(data)
        if len(file.libraries) != 1:
            return "another number of libraries"
        rows = file.libraries[0]
        targets = {one.target for one in rows.slices if not one.is_cpu}
        names = [one.name for one in rows.functions]
        if rows.compiler != keys.facts().compiler:
            return "another compiler"
        if options.name and rows.name != options.name:
            return "another library"
        if rows.version != options.version:
            return "another version"
        if (targets != set(options.targets)) if options.targets else not targets:
            return "Metal libraries for other targets"
        if not names and options.functions:
            return "no functions"
        if options.functions and not set(names) <= set(options.functions):
            return "other functions"
        if any(one.is_cpu for one in rows.slices):
            return "CPU code that nobody asked for"
        file.check_all_parts()
        for one in rows.slices:
            inside = sorted(function.name for function in read_metallib(one.part.bytes, "full").functions)
            if inside != sorted(name for name, note in zip(names, one.functions) if not note.missing):
                return "Metal libraries of other functions"
    except Error as error:
        return f"damage: {error}"
    return ""


def _look(sources: list[tuple[str, bytes]], options: keys.Options, store: StoreLike) -> Package | None:
    """By either key, in the store and behind it."""
    import time

    start = time.perf_counter()
    if store is False:
        return None
    on = _store(store)
    raw = keys.raw_key(sources, options)
    for key in filter(None, dict.fromkeys((raw, keys.normalised_key(sources, options)))):
        found = on._find(key)
        if found is None or _PART not in found.parts:
            continue
        wrong = _held_to(found.parts[_PART], options)
        if wrong:
            on._refuse(key, f"it is not what was asked for: the package has {wrong}")
            continue
        return Package(found.parts[_PART], _Made(raw, time.perf_counter() - start))
    return None


def _miss(what: str, sources: list[tuple[str, bytes]], options: keys.Options, store: StoreLike) -> NoReturn:
    if store is False:
        fail("not_cached", f"{what}: this copy of smelt has no compiler, and store=False asks for no store")
    on = _store(store)
    key = keys.raw_key(sources, options)
    noted = misses.note(on.path, key, sources, options)
    where = f"store {on.path}" + (f" or {' '.join(remote.address.shown for remote in on._remotes)}" if on._remotes else " (SMELT_REMOTE names no other)")
    how = ("It is noted: python -m smelt misses -o misses.json, and on a build machine of the same smelt "
           f"({keys.facts().compiler.split(') ')[0]})): smelt compile --from misses.json") if noted else "It could not be noted"  # fmt: skip
    fail("not_cached", f"{what}: {sources[0][0]} for {', '.join(options.targets) or 'the default target'} is not in {where}, and this copy of smelt "
         f"has no compiler. {how}", key)  # fmt: skip


def _own_target(on: Device) -> str:
    asked = os.environ.get("SMELT_TARGET", "")
    if asked:
        return keys.target(asked)["name"]  # type: ignore[no-any-return]
    known = [row for row in keys.facts().targets if row["name"].startswith("macos") and tuple(row["os"]) <= on._target.os]
    if not known:
        fail("unsupported_os", f"Metal libraries are made for {keys.facts().targets[0]['name']} and later; this is {on.target}")
    return max(known, key=lambda row: tuple(row["os"]))["name"]  # type: ignore[no-any-return]


def compile_shader(
    source: str, *, device: DeviceLike = None, fast_math: bool = False, checked: bool = False, store: StoreLike = None,
    timeout: float | None = None, filename: str = "source.metal", cpu_effort: str | None = None, _as_upstream: bool = False,
) -> Library:  # fmt: skip
    """A library of Metal Shading Language text that was compiled elsewhere: found in the store or a remote, or a CacheMissError that says
    how it gets there."""
    if not isinstance(source, str):
        fail("source_type", f"compile_shader: want Metal Shading Language text, got {type(source).__name__}")
    if checked:
        left("code that bounds every access")
    on = globals()["device"](device)
    text = [(filename, source.encode())]
    if keys.kind_of(text[0][1]) != "msl":
        fail("source_type", f"compile_shader: {filename} is no Metal Shading Language text")
    # For this system alone: of another's, __METAL_VERSION__ has another value.
    options = keys.Options(targets=(_own_target(on),), fast_math=fast_math)
    found = _look(text, options, store)
    if found is None:
        _miss("compile_shader", text, options, store)
    return _load(found, on, _as_upstream, store, "compile_shader", allow_empty=True)


def _several(names: Any) -> tuple[str, ...]:
    return (os.fspath(names),) if isinstance(names, (str, os.PathLike)) else tuple(os.fspath(one) for one in names)


def _source(source: Any, index: int) -> tuple[str, bytes]:
    if isinstance(source, (bytes, bytearray, memoryview)):
        return f"source {index}", bytes(source)
    like_path = isinstance(source, str) and len(source) < 4096 and not any(c in source for c in "{};%@=\n")
    if isinstance(source, str) and ("\n" in source or (not os.path.exists(source) and not like_path)):
        return f"source {index}", source.encode()
    if isinstance(source, (str, os.PathLike)):
        return os.fspath(source), read_file(source, "compile")
    fail("source_type", f"compile: want IR or MSL as text or bytes, or a path; got {type(source).__name__}")


def _metadata(metadata: object) -> str:
    if metadata is None:
        return ""
    if isinstance(metadata, Mapping):
        return json.dumps(dict(metadata))
    if isinstance(metadata, bytes):
        return metadata.decode()
    if isinstance(metadata, str) and metadata.lstrip().startswith("{"):
        return metadata
    if isinstance(metadata, (str, os.PathLike)):
        return read_file(metadata, "compile").decode()
    fail("invalid_argument", f"metadata: want a dict, JSON text or a path, got {type(metadata).__name__}")


def compile(
    source: Any, targets: str | Sequence[str] | None = None, cpu: Any = True, metadata: object = None, threadgroup_memory: int | None = None,
    threads_per_threadgroup: int | None = None, fast_math: bool = False, progress: Any = None, *, kernels: Any = (), functions: Any = (),
    include_folders: Any = (), definitions: Any = (), language: Any = None, debug_lines: bool = False, pack_scalars: bool = False,
    no_overlap: bool = False, relaxed_atomics: bool = False, cpu_only: bool = False, checked: bool = False, name: str = "", version: str = "",
    store: StoreLike = None, timeout: float | None = None, max_memory: int | None = None, sandbox: str | None = None,
    cpu_effort: str | None = None, filename: str | Sequence[str] | None = None,
) -> Package:  # fmt: skip
    """A package that was compiled elsewhere for the same request, without CPU code (cpu=False); else a CacheMissError that says how it gets
    there."""
    if cpu or cpu_only or checked:
        left("compile: CPU code (cpu=False asks for Metal libraries alone)")
    single = isinstance(source, (str, bytes, bytearray, memoryview, os.PathLike))
    sources = [_source(one, index) for index, one in enumerate([source] if single or not isinstance(source, Sequence) else source)]
    if filename is not None:
        names = [filename] if isinstance(filename, str) else list(filename)
        if len(names) != len(sources):
            fail("invalid_argument", f"filename: {len(names)} names for {len(sources)} sources; want one for each")
        sources = [(new, data) for new, (_, data) in zip(names, sources)]
    if targets is None:
        targets = [os.environ["SMELT_TARGET"]] if os.environ.get("SMELT_TARGET") else []
    wanted = keys.Options(
        targets=_several(targets), fast_math=fast_math, metadata=_metadata(metadata), threadgroup_memory=threadgroup_memory,
        threads_per_threadgroup=threads_per_threadgroup, kernels=_several(kernels), functions=_several(functions),
        include_folders=_several(include_folders),
        definitions=tuple(f"{n}={v}" for n, v in definitions.items()) if isinstance(definitions, Mapping) else _several(definitions),
        language=_metal_version(language), debug_lines=debug_lines, pack_scalars=pack_scalars, no_overlap=no_overlap,
        relaxed_atomics=relaxed_atomics, name=name, version=version,
    )  # fmt: skip
    found = _look(sources, wanted, store)
    if found is None:
        _miss("compile", sources, wanted, store)
    return found
