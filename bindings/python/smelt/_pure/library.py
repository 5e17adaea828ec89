# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Libraries: kernels by name, and facts about them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from . import choice
from .choice import Candidate, Choice, Target
from .device import left
from .files import fail, sha256
from .metallib import Metallib, version_text
from .package import Library as Rows
from .package import PackageFile

if TYPE_CHECKING:
    from .._info import FunctionInfo, LibraryInfo


class _Function(NamedTuple):
    name: str
    kind: str
    metal: tuple[int, int, int]
    missing: str | None


class _Loaded(NamedTuple):
    """Facts about a library. They are in a separate class, because a library has no public attributes except its kernels."""

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
    """Kernels by name, which run on the GPU through PyTorch or PyObjC. The library is passed to PyTorch or PyObjC when a kernel is first read."""

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
    """Return None if a function can be used, else the code, message and subject of the error."""
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


def from_package(whole: memoryview, file: PackageFile, rows: Rows, on: Target, verify: str, metal: tuple[int, int] | None, allow_empty: bool) -> Library:
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


def from_metallib(data: memoryview, library: Metallib, on: Target, metal: tuple[int, int] | None, allow_empty: bool) -> Library:
    _check_empty((one.name for one in library.functions), "the metallib", allow_empty)
    language = min((one.metal for one in library.functions), default=(0, 0, 0))
    name = f"{library.platform} {version_text(library.os)}"
    found = choice.choose([Candidate(name, False, library.platform, library.os, language, 0, "")], on, "the metallib", metal)
    functions = {one.name: _Function(one.name, one.kind, one.metal, None) for one in library.functions}
    return Library(_Loaded("", functions, found, on, name, sha256(data), data, False, lambda: data, []))


def specialize(library: Library, name: str, constants: Mapping[Any, Any]) -> NoReturn:
    left("specialize: a value for a function constant, which torch's loader does not take,")


def prepare(library: Library, names: Iterable[str] | None = None, progress: Any = None) -> NoReturn:
    left("prepare: building pipelines before they are used, which torch's loader does not do,")


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
