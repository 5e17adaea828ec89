# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Loading and calling: load_metallib and what goes with it. docs/reference/python.md."""

import os

import smelt

from . import _loader, _session

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from typing import Union

    from ._info import FunctionInfo, LibraryInfo
    from ._package import Package
    from .store import Key

    Source = Union[bytes, bytearray, memoryview, str, "os.PathLike[str]", Package, Key]
    Constant = Union[bool, int, float, Sequence[Union[bool, int, float]]]


def _effort(asked: "str | None") -> "str | None":
    effort = asked or os.environ.get("SMELT_CPU_EFFORT") or None
    if effort not in (None, "fast", "balanced", "best"):
        where = "cpu_effort" if asked else "SMELT_CPU_EFFORT"
        raise smelt.ArgumentError(f"{where}: effort {effort!r} is not known; want fast, balanced or best")
    return effort


def _bits(checked: object) -> int:
    if checked in (None, False, "") and not os.environ.get("SMELT_CHECK"):
        return 0
    from ._checks import bits

    return bits(checked)


def _metal(version: object) -> "tuple[int, int] | None":
    if version is None:
        return None
    from ._checks import metal_version

    return metal_version(version)


def _words(keys: "str | Iterable[str]") -> "str | None":
    return (keys if isinstance(keys, str) else " ".join(keys)) or None


def _load(
    source: object,
    device: "_session.DeviceLike",
    as_upstream: bool,
    store: "_session.StoreLike",
    what: str,
    effort: "str | None" = None,
    **options: object,
) -> _loader.Library:
    options = {name: value for name, value in options.items() if value is not None}
    on = _session.device(device)
    if not isinstance(source, (str, bytes, bytearray, memoryview, os.PathLike)):
        from ._package import Package  # which takes as long to import as a kernel to load

        if isinstance(source, Package):
            return load_package(source, on, options, store, as_upstream, effort)
    path = ""
    name = "metallib"
    if isinstance(source, str) and type(source) is not str:
        from .store import Key

        if isinstance(source, Key):
            source, name = _part_of_entry(source, store, what)
            options.setdefault("trust", "any")  # the store decided when it found the entry
    if isinstance(source, bytearray):
        source = bytes(source)  # the caller may change or free it at once
    if isinstance(source, (str, os.PathLike)):
        path = os.fspath(source)
        name = os.path.basename(path)
        source = _loader.map_file(source, what)
    if not isinstance(source, (bytes, memoryview)):
        raise smelt.SourceTypeError(
            f"{what}: want bytes, bytearray, memoryview, a path, a smelt.Package or a smelt.Key, "
            f"got {type(source).__name__}"
        )
    if on.kind == "cpu" and _loader.is_metallib(source):
        return _on_demand(source, name, on, options, store, as_upstream, path, effort)
    try:
        return _loader.load(source, on, options, as_upstream, path)
    except (smelt.TrustError, smelt.UnsupportedTargetError) as refused:
        return _with_code_made_here(source, name, on, options, store, as_upstream, path, effort, refused)


def load_package(
    package: "Package",
    on: _loader.Device,
    options: dict[str, object],
    store: "_session.StoreLike",
    as_upstream: bool,
    effort: "str | None" = None,
) -> _loader.Library:
    options = {**package._options, **options}
    if package._made is not None:
        options["trust"] = "any"  # compiled here, which every policy allows
    try:
        return package._native.load(on, options, as_upstream)
    except (smelt.TrustError, smelt.UnsupportedTargetError) as refused:
        view = package._native.view()
        return _with_code_made_here(view, "package", on, options, store, as_upstream, "", effort, refused)


def _on_demand(
    metallib: "bytes | memoryview",
    name: str,
    on: _loader.Device,
    options: dict[str, object],
    store: "_session.StoreLike",
    as_upstream: bool,
    path: str,
    effort: "str | None",
    package: "Callable[[str], memoryview] | None" = None,
    sandbox: "str | None" = None,
    timeout: "float | None" = None,
) -> _loader.Library:
    """Load a Metal library on the CPU. The code of each kernel is compiled when the kernel is first read."""
    from ._on_demand import OnDemand

    level = on.target.removeprefix("cpu-")
    checked = _bits(options.get("checked"))

    def whole(effort: str) -> memoryview:
        return _session.session(store).cpu_code(metallib, name, level, checked, effort).view()

    code = OnDemand(level, checked, store, _effort(effort), package or whole, sandbox, timeout)
    return _loader.load(metallib, on, options, as_upstream, path, code)


def _with_code_made_here(
    source: "bytes | memoryview",
    name: str,
    on: _loader.Device,
    options: dict[str, object],
    store: "_session.StoreLike",
    as_upstream: bool,
    path: str,
    effort: "str | None",
    refused: "smelt.TrustError | smelt.UnsupportedTargetError",
) -> _loader.Library:
    """Load a package that has no CPU code, or whose CPU code must not run: compile it here, from the Metal library."""
    from ._on_demand import stored

    if options.get("native", True) or on.kind != "cpu":
        raise refused
    _loader.check_signature(source, options, path)
    level = on.target.removeprefix("cpu-")
    checked = _bits(options.get("checked"))
    effort = _effort(effort) or "balanced"
    found = stored(source, level, checked, (effort,), store)
    if found is not None:
        code = found[0]
    else:
        try:
            code = _session.session(store).cpu_code(source, name, level, checked, effort).view()
        except smelt.ToolchainError as missing:
            raise type(refused)(f"{refused.message}\nIts CPU code cannot be made here: {missing}") from refused
    kept = {key: value for key, value in options.items() if key not in ("expect", "trusted_keys")}
    here = {"native": True, "trust": "any", "replaces": "native=False asks not to use the package's own"}
    return _loader.load(code, on, {**kept, **here}, as_upstream, path)


def _part_of_entry(key: "Key", store: "_session.StoreLike", what: str) -> tuple[memoryview, str]:
    entry = _session.store(store)[key]
    for name in entry:
        if name.endswith((".smelt", ".metallib")):
            return entry.view(name), name
    raise smelt.SourceTypeError(f"{what}: entry {key} holds no part named *.smelt or *.metallib: {', '.join(entry)}")


def load_metallib(
    source: "Source",
    *,
    device: "_session.DeviceLike" = None,
    verify: str = "structure",
    expect: "str | None" = None,
    trust: "str | None" = None,
    trusted_keys: "str | Iterable[str]" = (),
    native: bool = True,
    metal: object = None,
    library: "str | None" = None,
    checked: "bool | str" = False,
    allow_empty: bool = False,
    store: "_session.StoreLike" = None,
    cpu_effort: "str | None" = None,
) -> _loader.Library:
    """Load a Metal library or a package, and return its kernels by name.

    Damaged bytes raise an error here. The pipeline of a kernel is built when the kernel is first read.

    Args:
        source: bytes, a path, a ``Package``, or a ``Key`` of an entry of the store.
        device: None (Metal on a Mac, else the CPU), "cpu", "metal", "offline", or a ``Device``.
        verify: checks at load: "none", "structure", "digest" or "full".
        expect: the digest that the file must have: SHA-256 as 64 hexadecimal digits.
        trust: packages to accept: "any", "local" (every package that you name) or "signed". None is SMELT_TRUST, else
            "local".
        trusted_keys: for "signed", keys of which one must have signed the package. Each is NAME:BASE64 or the path of
            a file with such lines.
        native: False ignores a package's CPU code and compiles new code from its Metal library.
        metal: use only slices of exactly this Metal version, such as "3.1".
        library: name of the library to load, if a package has several.
        checked: use CPU code with checks: True for all, or words such as "memory,races". False is SMELT_CHECK.
        allow_empty: accept a library without functions.
        store: the store for CPU code that is compiled here: None (the default store), a folder, a ``Store``, or False
            for none.
        cpu_effort: time to spend on CPU code that is compiled here: "fast", "balanced" or "best". None is
            SMELT_CPU_EFFORT. If that is not set, it is "balanced" for a package; for a plain Metal library, it is
            "fast" at first, and better code replaces the code of kernels that run often (``kernel.effort``).

    Returns:
        The library, whose attributes are its kernels.

    Raises:
        InvalidLibraryError: the bytes are not a Metal library or package, or are damaged.
        UnsupportedTargetError: no slice fits this device.
        TrustError: a required trusted signature is missing.
        IntegrityError: the digest is not the expected one.
        LibraryNotFoundError: the file does not exist.
        SourceTypeError: the source has a type that is not accepted.

    Examples:
        >>> library = smelt.compile('kernel void k(device float* x) { x[0] = 1; }').metallib('macos14')
        >>> dir(smelt.load_metallib(library))
        ['k']
    """
    return _load(
        source, device, False, store, "load_metallib", cpu_effort,
        verify=verify, expect=expect, trust=trust, trusted_keys=_words(trusted_keys), native=native,
        metal=_metal(metal), library=library, checked=_bits(checked),
        allow_empty=allow_empty,
    )  # fmt: skip


def compile_shader(
    source: str,
    *,
    device: "_session.DeviceLike" = None,
    fast_math: bool = False,
    checked: "bool | str" = False,
    store: "_session.StoreLike" = None,
    timeout: "float | None" = None,
    filename: str = "source.metal",
    cpu_effort: "str | None" = None,
    logging: bool = False,
    target: "str | None" = None,
    include_folders: "Iterable[str | os.PathLike[str]]" = (),
    _as_upstream: bool = False,
) -> _loader.Library:
    """Compile Metal source, and return its kernels by name.

    The CPU code of a kernel is compiled when the kernel is first read. Each warning of the compiler causes a CompileWarning.

    Args:
        source: the Metal source, as text.
        device: None (Metal on a Mac, else the CPU), "cpu", "metal", "offline", or a ``Device``.
        fast_math: use fast math mode and fast functions.
        checked: make CPU code with checks: True for all, or words such as "memory,races". False is SMELT_CHECK.
        store: None (the default store), a folder, a ``Store``, or False for none.
        timeout: seconds that the compile may take, and the CPU code of each kernel. None is no limit.
        filename: the name of the source in messages.
        cpu_effort: time to spend on CPU code: "fast", "balanced" or "best"; None as for a plain Metal library in
            ``load_metallib``.
        logging: keep messages of kernels (os_log), and write them to standard error.
        target: a name such as "macos14". None is SMELT_TARGET, else the newest system on the CPU and the default
            target on a GPU.
        include_folders: folders that ``#include`` searches. smelt also finds <c10/metal/...> in the installed torch.

    Returns:
        The library, whose attributes are its kernels.

    Raises:
        ShaderSyntaxError: the source does not compile. It is a SyntaxError with file, line and column.
        SourceTypeError: the source is empty or the path of a file.
        CancelledError: the compile took longer than timeout.

    Examples:
        >>> lib = smelt.compile_shader('kernel void k(device float* x) { x[0] = 1; }')
        >>> x = bytearray(4)
        >>> lib.k(x)
        >>> bytes(x).hex()
        '0000803f'
    """
    from . import _compiling

    if not isinstance(source, str):
        raise smelt.SourceTypeError(f"compile_shader: want Metal Shading Language text, got {type(source).__name__}")
    _compiling.check_text(source)
    on = _session.device(device)
    text = [(filename, source.encode())]
    checks = _bits(checked)
    on_cpu = on.kind == "cpu"
    effort = _effort(cpu_effort)
    session = _session.session(store)
    options: dict[str, object] = {"fast_math": fast_math, "timeout": timeout, "cpu": False, "debug_lines": checks != 0}
    options.update(_compiling.options(text[0][1], target, include_folders, on_cpu, logging))
    if not on_cpu:
        options.update(checked=checks, effort=effort, cpu=True)
    try:
        made = session.make(text, options, None)
    except smelt.SourceTypeError as error:
        raise smelt.SourceTypeError(f"compile_shader: {filename} is not Metal Shading Language text ({error.message})") from None
    except smelt.CompileError as error:
        raise smelt.ShaderSyntaxError(_compiling.advice(error.message, logging), error.code, error.subject) from None
    if not _as_upstream:
        _compiling.warn(made.warnings, "os_log" in source and not logging)
    if not on_cpu:
        options = {"checked": checks, "trust": "any", "allow_empty": True}
        return _loader.load(made.view(), on, options, _as_upstream)
    package = _loader.Package(made.view())
    metallib = package.metallib(package.slices()[0]["target"])

    def whole(effort: str) -> memoryview:
        return _session.session(store).make(text, {**options, "cpu": True, "checked": checks, "effort": effort}).view()

    # The library is the compiler's own, so nobody has to be kept from it.
    return _on_demand(
        metallib, filename, on, {"checked": checks, "allow_empty": True}, store, _as_upstream, "", effort, whole, "never", timeout
    )


def info(library: _loader.Library) -> "LibraryInfo":
    """Return the facts about a library, as a ``LibraryInfo``.

    The facts are not attributes of the library, so that a kernel may have any name.

    Args:
        library: a library that was loaded or compiled.

    Returns:
        The facts, with ``slice_report``.

    Examples:
        >>> lib = smelt.compile_shader('kernel void k(device float* x) { x[0] = 1; }')
        >>> smelt.info(lib).functions
        ('k',)
    """
    from ._info import LibraryInfo

    facts = _loader.info(library)
    return LibraryInfo(
        name=facts["name"],
        functions=tuple(facts["functions"]),
        target=facts["target"],
        digest=facts["digest"],
        device=facts["device"],
        slices=tuple(facts["slices"]),
        slice_report=facts["slice_report"],
        has_reflection=facts["has_reflection"],
        file=facts["file"],
        _code=facts["code"],
    )


def function_info(library: _loader.Library, name: str) -> "FunctionInfo":
    """Return the kind and Metal version of a function, and whether its pipeline can be built here.

    Args:
        library: a library that was loaded or compiled.
        name: the function's name.

    Returns:
        The facts, with ``usable`` and ``reason``.

    Raises:
        FunctionNotFoundError: the library has no such function.

    Examples:
        >>> lib = smelt.compile_shader('kernel void k(device float* x) { x[0] = 1; }')
        >>> smelt.function_info(lib, 'k').kind
        'kernel'
    """
    from ._info import FunctionInfo

    return FunctionInfo(**_loader.function_info(library, name))


def specialize(library: _loader.Library, name: str, constants: "Mapping[str | int, Constant]") -> _loader.Kernel:
    """Return a kernel with values for its function constants.

    Args:
        library: a library that was loaded or compiled.
        name: the kernel's name.
        constants: a value for each constant, by its name or index. Values that the kernel does not use are ignored.

    Returns:
        The kernel.

    Raises:
        ConstantError: a value is missing, unknown, or of the wrong type.
        FunctionNotFoundError: the library has no such kernel.

    Examples:
        >>> lib = smelt.compile_shader('constant float by [[function_constant(0)]];'
        ...                            'kernel void k(device float* x) { x[0] = by; }')
        >>> smelt.specialize(lib, 'k', {'by': 2.5}).name
        'k'
    """
    return _loader.specialize(library, name, dict(constants))


def prepare(
    library: _loader.Library,
    names: "Iterable[str] | None" = None,
    progress: "Callable[[int, int], object] | None" = None,
) -> int:
    """Build pipelines now, several at a time, and return how many are ready.

    Args:
        library: a library that was loaded or compiled.
        names: names of kernels; None for all that need no function constants.
        progress: called as progress(done, total), in pipelines. It may return False to stop.

    Returns:
        The number of pipelines that are ready.

    Examples:
        >>> lib = smelt.compile_shader('kernel void k(device float* x) { x[0] = 1; }')
        >>> smelt.prepare(lib)
        1
    """
    return _loader.prepare(library, list(names or ()), progress)
