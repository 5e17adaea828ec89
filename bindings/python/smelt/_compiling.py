# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The part of compile_shader that concerns the compiler: options, errors and warnings (docs/reference/python.md)."""

from __future__ import annotations

import os
import warnings

from . import _logging, _torch_headers
from .errors import ArgumentError, CompileWarning, SourceTypeError


def check_text(source: str) -> None:
    """Raise SourceTypeError for text that is empty or the path of a file."""
    if not source.strip():
        raise SourceTypeError("compile_shader: the text is empty; want Metal Shading Language text")
    is_path = len(source) < 4096 and not any(c in source for c in "\n{};#")
    if is_path and (source.endswith((".metal", ".h", ".ll", ".air", ".metallib", ".smelt")) or os.path.exists(source)):
        other = "load_metallib" if source.endswith((".metallib", ".smelt")) else "compile"
        raise SourceTypeError(
            f"compile_shader: want Metal Shading Language text, and {source!r} looks like the path of a file; "
            f"smelt.{other}({source!r}) takes a path, and compile_shader(pathlib.Path({source!r}).read_text()) its text"
        )


def options(source: bytes, target: object, folders: object, on_cpu: bool, logging: bool) -> dict[str, object]:
    if target is not None and not isinstance(target, str):
        raise ArgumentError(f"target: want one target such as 'macos14', got {target!r}")
    from . import _compiler  # which a session has imported, or said how to get

    asked: dict[str, object] = {}
    default = _compiler.newest_target if on_cpu else _logging.target() if logging else None
    if chosen := target or os.environ.get("SMELT_TARGET") or default:
        asked["targets"] = [chosen]
    if logging:
        asked["definitions"] = [_logging.MACRO]
    if paths := _torch_headers.folders_of(source, folders):
        asked["include_folders"] = paths
    return asked


def advice(message: str, logging: bool) -> str:
    """Return the compiler's message, with Python's names for options."""
    return _logging.advice(message, logging).replace("(--target)", "(target=)")


def warn(said: list[str], drops_messages: bool) -> None:
    """Issue the compiler's warnings at the line of the caller, also for a library from the store."""
    if drops_messages:
        said = [*said, "the source calls os_log, and its messages are dropped: logging=True keeps them"]
    for text in said:
        warnings.warn(text, CompileWarning, stacklevel=3)
