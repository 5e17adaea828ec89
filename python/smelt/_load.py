"""Loading and calling: load_metallib and what goes with it. docs/reference/python.md."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Union

from . import _session, _smelt
from ._package import Package
from .errors import ArgumentError, CompileError, ShaderSyntaxError, SourceTypeError, ToolchainError
from .store import Key

Source = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]", Package, Key]
Constant = Union[bool, int, float, Sequence[Union[bool, int, float]]]


def _metal_version(metal: object) -> tuple[int, int] | None:
    """"3.1", "metal3.1" or (3, 1)."""
    if metal is None:
        return None
    try:
        if isinstance(metal, str):
            major, minor = metal.removeprefix("metal").split(".")
            return int(major), int(minor)
        if isinstance(metal, tuple):
            major, minor = metal
            return int(major), int(minor)
    except ValueError:
        pass
    raise ArgumentError(f"metal: want a version such as '3.1', got {metal!r}")


def _load(
    source: object,
    device: _session.DeviceLike,
    as_upstream: bool,
    store: _session.StoreLike,
    what: str,
    **options: object,
) -> _smelt.Library:
    options = {name: value for name, value in options.items() if value is not None}
    on = _session.device(device)
    if isinstance(source, Package):
        return source._native.load(on, options, as_upstream)
    if isinstance(source, Key):
        from .store import Store

        entry = Store(_session.store_folder(store))[source]
        for name in entry:
            if name.endswith((".smelt", ".metallib")):
                return _session.session(store).load(entry.view(name), name, on, options, False, as_upstream)
        raise SourceTypeError(f"{what}: entry {source} holds no part named *.smelt or *.metallib: {', '.join(entry)}")
    if isinstance(source, bytearray):
        source = bytes(source)  # the caller may change or free it at once
    if isinstance(source, (bytes, memoryview)):
        return _session.session(store).load(source, "metallib", on, options, False, as_upstream)
    if isinstance(source, (str, os.PathLike)):
        return _session.session(store).load(source, os.path.basename(os.fspath(source)), on, options, True, as_upstream)
    raise SourceTypeError(
        f"{what}: want bytes, bytearray, memoryview, a path, a smelt.Package or a smelt.Key, "
        f"got {type(source).__name__}"
    )


def load_metallib(
    source: Source,
    *,
    device: _session.DeviceLike = None,
    verify: str = "structure",
    trust: str | None = None,
    metal: object = None,
    library: str | None = None,
    checked: bool = False,
    allow_empty: bool = False,
    store: _session.StoreLike = None,
) -> _smelt.Library:
    """Kernels by name, from a Metal library or a package. Bad bytes fail here; pipelines are built when a kernel is
    first read.

    verify: "none", "structure", "digest" or "full". trust: None, "signed" or "signed_by:NAME". metal: take only slices
    of exactly this Metal version. library: which one, when a package holds several. checked: CPU code that bounds
    every access. store: where CPU code of plain Metal libraries is kept (False: nowhere).
    """
    return _load(
        source, device, False, store, "load_metallib",
        verify=verify, trust=trust, metal=_metal_version(metal), library=library, checked=checked,
        allow_empty=allow_empty,
    )  # fmt: skip


def compile_shader(
    source: str,
    *,
    device: _session.DeviceLike = None,
    fast_math: bool = False,
    checked: bool = False,
    store: _session.StoreLike = None,
    _as_upstream: bool = False,
) -> _smelt.Library:
    """A library from Metal Shading Language text, at once. A mistake in the text is a SyntaxError."""
    if not isinstance(source, str):
        raise SourceTypeError(f"compile_shader: want Metal Shading Language text, got {type(source).__name__}")
    on = _session.device(device)
    options = {"fast_math": fast_math, "checked": checked}
    try:
        package = _session.session(store).make([("source.metal", source.encode())], options, None)
    except SourceTypeError as error:
        raise ToolchainError(
            f"compile_shader: no MSL yet: this build of smelt does not compile Metal Shading Language text. "
            f"Compile it to a Metal library with Apple's tools and use load_metallib ({error.message})"
        ) from None
    except CompileError as error:
        raise ShaderSyntaxError(error.message, error.code, error.subject) from None
    return package.load(on, {"checked": checked} if checked else {}, _as_upstream)


@dataclass(frozen=True)
class FunctionInfo:
    name: str
    kind: str
    metal_version: str
    usable: bool
    reason: str


@dataclass(frozen=True)
class LibraryInfo:
    """What is known of a loaded library. slices: one dict each, with target, chosen, code and line."""

    name: str
    functions: tuple[str, ...]
    target: str
    digest: str
    device: str
    slices: tuple[dict[str, Any], ...]
    slice_report: str
    has_reflection: bool


def info(library: _smelt.Library) -> LibraryInfo:
    """Everything of a library that is not a kernel; the library itself carries none of it, so that a kernel may have
    any name."""
    facts = _smelt.info(library)
    return LibraryInfo(
        name=facts["name"],
        functions=tuple(facts["functions"]),
        target=facts["target"],
        digest=facts["digest"],
        device=facts["device"],
        slices=tuple(facts["slices"]),
        slice_report=facts["slice_report"],
        has_reflection=facts["has_reflection"],
    )


def function_info(library: _smelt.Library, name: str) -> FunctionInfo:
    """Kind and Metal version of one function, and whether its pipeline can be built here."""
    return FunctionInfo(**_smelt.function_info(library, name))


def specialize(library: _smelt.Library, name: str, constants: Mapping[str | int, Constant]) -> _smelt.Kernel:
    """The kernel with values for its function constants, by name or index."""
    return _smelt.specialize(library, name, dict(constants))


def prepare(
    library: _smelt.Library,
    names: Iterable[str] | None = None,
    progress: Callable[[int, int], object] | None = None,
) -> int:
    """Builds the pipelines of names (all when None), several at a time. progress(done, total) may return False to stop.
    Returns how many are ready."""
    return _smelt.prepare(library, list(names or ()), progress)
