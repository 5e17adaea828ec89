# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The function smelt.compile, which reads the request for the native edition (_package.py) and the reader (_pure/request.py)."""

from __future__ import annotations

import os

import smelt

from . import _checks, _torch_headers, errors

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import NoReturn, Union

    from . import _session
    from ._package import Package

    SourceLike = Union[str, bytes, bytearray, memoryview, "os.PathLike[str]"]
else:
    # The same classes. By their public name they bring a package along that takes longer to import than a kernel to load.
    from _collections_abc import Mapping, Sequence


def _fail(code: str, message: str, subject: str = "") -> NoReturn:
    raise errors.from_code(code, message, subject)


def _source(source: object, index: int) -> tuple[str, bytes | memoryview]:
    """Return the name for messages and the bytes of a source, given as text of IR or Metal source, as bytes, or as a path."""
    if isinstance(source, (bytes, memoryview)):
        return f"source {index}", source
    if isinstance(source, bytearray):
        return f"source {index}", bytes(source)
    if isinstance(source, str) and ("\n" in source or (not os.path.exists(source) and not _is_like_path(source))):
        return f"source {index}", source.encode()
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        return path, _read(path)
    _fail("source_type", f"compile: want IR or MSL as text or bytes, or a path; got {type(source).__name__}")


def _is_like_path(text: str) -> bool:
    """Return True if a single line that names no file is more likely a mistyped path than a program."""
    return len(text) < 4096 and not any(c in text for c in "{};%@=")


def _read(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        _fail("file_not_found", f"compile: no file {path!r}", path)
    except OSError as error:
        _fail("io", f"compile: {path}: {error.strerror}", path)


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
    _fail("invalid_argument", f"metadata: want a dict, JSON text or a path, got {type(metadata).__name__}")


def _texts(what: str, values: object) -> list[str]:
    """Return a list of texts. A single text is a list with one element, not a list of its letters."""
    if isinstance(values, (str, os.PathLike)):
        return [os.fspath(values)]
    try:
        return [os.fspath(one) for one in values]  # type: ignore[attr-defined]
    except TypeError:
        _fail("invalid_argument", f"{what}: want a sequence of str, got {values!r}")


def _renamed(
    sources: list[tuple[str, bytes | memoryview]], filename: str | Sequence[str] | None
) -> list[tuple[str, bytes | memoryview]]:
    if filename is None:
        return sources
    names = [filename] if isinstance(filename, str) else list(filename)
    if len(names) != len(sources):
        _fail("invalid_argument", f"filename: {len(names)} names for {len(sources)} sources; want one for each")
    return [(name, source) for name, (_, source) in zip(names, sources)]


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
    """Compile Metal source, LLVM IR or Metal libraries to a package, or find it in the store.

    Args:
        source: text, bytes or a path, or a list of these.
        targets: names such as "macos14"; None is SMELT_TARGET, else macos14.
        cpu: add CPU code for this machine (True), for named levels ("x86-64-v3"), or none (False). If a kernel gets no
            CPU code, ``warnings`` of the package says why; with "required", this raises UnsupportedError.
        metadata: Triton's JSON of a kernel: a dict, text or a path.
        threadgroup_memory: for IR, the size of the unsized threadgroup array, in bytes.
        threads_per_threadgroup: the number of threads of the largest threadgroup.
        fast_math: use fast math mode and fast functions.
        progress: called from any thread as progress(stage, done, total). It may return False to end the compile.
        kernels: for IR, functions to treat as kernels.
        functions: compile only these.
        include_folders: for Metal source, folders that ``#include`` searches, as -I. smelt also finds <c10/metal/...> in
            the installed torch.
        definitions: for Metal source, macros to define, as -D: "NAME=VALUE" or a dict.
        language: Metal version of the source, such as "3.1"; None is the target's version.
        debug_lines: keep line tables.
        pack_scalars: put all scalar arguments into one buffer.
        no_overlap: promise that no two buffers of a launch overlap.
        relaxed_atomics: use relaxed atomics where the target has no stronger order.
        cpu_only: for IR, allow double precision, 64-bit atomics and up to 64 MiB of threadgroup memory. A kernel
            that uses them gets CPU code only.
        checked: make CPU code with checks: True for all, or words such as "memory,races".
        name: name of the library in its package; default: the name of its first kernel.
        version: version of the library, such as "2.1.0".
        store: None (the default store), a folder, a ``Store``, or False for none.
        timeout: seconds that the compile may take. The store keeps the kernels that are ready by then.
        max_memory: bytes of memory that the process may use during the compile.
        sandbox: which inputs to compile in child processes that cannot open files: "auto" is Metal libraries, "always"
            is also LLVM IR, "never" is none. None is SMELT_SANDBOX, else "auto".
        cpu_effort: time to spend on CPU code: "fast", "balanced" or "best"; None is SMELT_CPU_EFFORT, else "balanced".
        filename: the name of the source in messages, or a list with a name for each source.
        logging: for Metal source, keep messages of kernels (os_log), as -fmetal-enable-logging.

    Returns:
        The package. ``hit`` says whether the store had it.

    Raises:
        CompileError: a source does not compile.
        UnsupportedError: this build or target lacks a feature, or a kernel gets no CPU code and cpu is "required".
        CancelledError: the compile reached timeout or max_memory, or progress returned False.
        SourceTypeError: a source is neither text, bytes nor a path.

    Examples:
        >>> package = smelt.compile('kernel void k(device float* x) { x[0] = 1; }', targets=['macos14', 'ios17'], cpu=False)
        >>> package.targets
        ['macos14', 'ios17']
    """
    is_one = isinstance(source, (str, bytes, bytearray, memoryview, os.PathLike))
    sources: Sequence[object] = [source] if is_one or not isinstance(source, Sequence) else source
    if targets is None:
        targets = os.environ.get("SMELT_TARGET") or ()
    required = cpu == "required"
    levels = [] if isinstance(cpu, bool) or required else _texts("cpu", cpu)
    if cpu_only and not (bool(cpu) or levels):
        _fail("invalid_argument", "compile: cpu_only=True makes CPU code alone, and cpu=False makes none")
    if isinstance(definitions, Mapping):
        definitions = [f"{n}={v}" for n, v in definitions.items()]
    defined = _texts("definitions", definitions)
    if logging:
        from ._logging import MACRO

        defined = [*defined, MACRO]
    # Of options.def, by its names.
    options: dict[str, object] = {
        "metadata": _metadata(metadata),
        "threadgroup_memory": threadgroup_memory,
        "threads_per_threadgroup": threads_per_threadgroup,
        "kernels": _texts("kernels", kernels),
        "functions": _texts("functions", functions),
        "definitions": defined,
        "debug_lines": debug_lines,
        "pack_scalars": pack_scalars,
        "no_overlap": no_overlap,
        "relaxed_atomics": relaxed_atomics,
        "cpu_only": cpu_only,
    }
    options.update({
        "targets": _texts("targets", targets),
        "cpu": bool(cpu) or bool(levels),
        "levels": levels,
        "fast_math": fast_math,
        "language": _checks.metal_version(language, "language"),
        "checked": _checks.bits(checked),
        "name": name,
        "version": version,
        "timeout": timeout,
        "max_memory": max_memory,
        "sandbox": sandbox,
        "effort": cpu_effort,
    })
    named = _renamed([_source(one, index) for index, one in enumerate(sources)], filename)
    folders = _texts("include_folders", include_folders)
    options["include_folders"] = [*folders, *_torch_headers.wanted_by((text for _, text in named), folders)]
    if smelt.edition == "reader":
        from ._pure import request

        return request.make(named, options, required, store, progress)
    from . import _package

    return _package.make(named, options, required, store, progress)
