# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""All exceptions of smelt (docs/reference/errors.md). They derive from Error, which is a RuntimeError, so that handlers
written for PyTorch's loader catch them. Some have a second base class that Python programs expect.

``code`` is the stable name of the error ("not_metallib"), the same as in C and C++. ``subject`` is the file, function or key
that it concerns.
"""

from __future__ import annotations

import errno


class Error(RuntimeError):
    """Base class of smelt's exceptions. ``code`` is a stable name; ``subject`` is the file, function or key concerned."""

    code: str = "invalid_argument"
    subject: str = ""

    def __init__(self, message: str = "", code: str | None = None, subject: str = "") -> None:
        super().__init__(message)
        self.message = message
        if code is not None:
            self.code = code
        self.subject = subject

    def __str__(self) -> str:
        return self.message

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.code, self.subject))


class ArgumentError(Error):
    """An argument is wrong. Codes: invalid_argument, threads_missing, rank_mismatch, buffer_index, argument_*, cast_unknown."""


class GroupZeroError(ArgumentError, ValueError):
    """A component of the group size is 0."""

    code = "group_zero"


class GroupSizeError(Error, ValueError):
    """The threadgroup has more threads than allowed, or not the number that the kernel requires."""

    code = "group_too_large"


class SourceTypeError(Error, TypeError):
    """The source has a type that is not accepted."""

    code = "source_type"


class LibraryIOError(Error, OSError):
    """A file cannot be read or written."""

    code = "io"


class LibraryNotFoundError(LibraryIOError, FileNotFoundError):
    """The file does not exist."""

    code = "file_not_found"

    def __init__(self, message: str = "", code: str | None = None, subject: str = "") -> None:
        super().__init__(message, code, subject)
        self.errno = errno.ENOENT


class InvalidLibraryError(Error):
    """The bytes are not a Metal library or package, or are damaged."""

    code = "corrupt"


class UnsupportedTargetError(Error):
    """No slice fits this system, Metal version, GPU or processor."""

    code = "unsupported_os"


class UnsupportedError(Error):
    """This build or this target does not support the feature that the message names."""

    code = "unsupported"


class TrustError(Error):
    """A required trusted signature is missing."""

    code = "untrusted"


class IntegrityError(Error):
    """The bytes do not have the expected digest."""

    code = "digest_mismatch"


class FunctionNotFoundError(Error, AttributeError):
    """The library has no function of that name; the message lists similar names."""

    code = "function_not_found"


class FunctionKindError(Error):
    """Functions of this kind do not run here."""

    code = "function_kind"


class ConstantError(Error, ValueError):
    """A function constant is missing, unknown, or has a value of the wrong type."""

    code = "constant_missing"


class PipelineError(Error):
    """The pipeline cannot be built, or recursion in a launch is too deep."""

    code = "pipeline_failed"


class ResourceError(Error):
    """The kernel needs more threadgroup memory than the device has."""

    code = "threadgroup_memory_too_large"


class CheckError(Error):
    """Checked code found an error. ``findings`` is a list of dicts, one for each finding (docs/guide/races.md)."""

    code = "data_race"
    findings: list[dict[str, object]] = []

    def __init__(
        self, message: str = "", code: str | None = None, subject: str = "", findings: list[dict[str, object]] | None = None
    ) -> None:
        super().__init__(message, code, subject)
        self.findings = findings or []

    def __reduce__(self) -> tuple[object, ...]:
        return (type(self), (self.message, self.code, self.subject, self.findings))


class BoundsError(CheckError, IndexError):
    """Checked code: a thread accessed memory outside a buffer."""

    code = "buffer_bounds"


class RaceError(CheckError):
    """Checked code: two threads of a launch access the same bytes, one of them writes, and no barrier orders the accesses."""

    code = "data_race"


class UnwrittenError(CheckError):
    """Checked code: a value that was never written decides a branch or an address, or is stored."""

    code = "unwritten"


class DivergenceError(CheckError):
    """Checked code: not all threads reach a barrier or an operation of their SIMD group."""

    code = "divergence"


class CancelledError(Error, TimeoutError):
    """A compile or a launch ended on request, or at a limit of time or memory. (Ctrl-C is a KeyboardInterrupt.)"""

    code = "cancelled"


class OutOfMemoryError(Error, MemoryError):
    """There is not enough memory for an input or the buffers of a launch."""

    code = "out_of_memory"


class DeviceError(Error):
    """There is no device of that kind, or the device cannot run kernels."""

    code = "device_unavailable"


class CacheMissError(Error, KeyError):
    """The store has no such entry, and compiling is forbidden or impossible."""

    code = "not_cached"


class StoreError(Error):
    """The store is damaged, locked by another process, or written by a newer version."""

    code = "store_corrupt"


class CompileError(Error):
    """The source does not compile; the message lists all errors with file, line and column."""

    code = "compile_failed"


class ShaderSyntaxError(CompileError, SyntaxError):
    """Metal source does not compile. ``msg`` is the message, as in any SyntaxError."""

    def __init__(self, message: str = "", code: str | None = None, subject: str = "") -> None:
        super().__init__(message, code, subject)
        self.msg = message


class ToolchainError(Error):
    """This build has no compiler for the request."""

    code = "toolchain_missing"


class KernelReportedError(Error):
    """A kernel wrote into its error buffer (error_buf_idx)."""

    code = "kernel_reported"


class CompileWarning(UserWarning):
    """A warning of the compiler about the source of compile_shader, with file and line."""


class ArgumentWarning(UserWarning):
    """With check="warn", an argument differs from the kernel's declaration."""


_BY_CODE: dict[str, type[Error]] = {
    one.code: one for one in list(globals().values()) if isinstance(one, type) and issubclass(one, Error) and not issubclass(one, CheckError)
}
for _kind, _codes in (
    (ArgumentError, "invalid_argument"),
    (InvalidLibraryError, "not_metallib truncated format_newer empty_library"),
    (UnsupportedTargetError, "unsupported_platform unsupported_language unsupported_family"),
    (ConstantError, "constant_unknown constant_type"),
    (StoreError, "store_locked store_newer"),
    (CompileError, "compile_failed"),
    (BoundsError, "buffer_bounds"),
):
    _BY_CODE.update(dict.fromkeys(_codes.split(), _kind))


_BY_FINDING: dict[str, type[CheckError]] = {
    "bounds": BoundsError,
    "race": RaceError,
    "unwritten": UnwrittenError,
    "barrier": DivergenceError,
    "lanes": DivergenceError,
}


def from_findings(kind: str, message: str, subject: str, findings: str) -> Error:
    """Return the exception for the first finding of checked code; `findings` is a JSON list."""
    import json

    return _BY_FINDING[kind](message, None, subject, json.loads(findings))


def from_code(code: str, message: str, subject: str = "") -> Error:
    """Return the exception for an error code of the C++ side; a code that the table does not list gives an ArgumentError."""
    return _BY_CODE.get(code, ArgumentError)(message, code, subject)
