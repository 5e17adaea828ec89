# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Every exception of smelt. All derive from Error, which is a RuntimeError, so that handlers written for PyTorch's
loader catch them; some have a second base that Python people expect. docs/reference/errors.md.

``code`` is the stable name of the condition ("not_metallib"), the same as in C and C++; ``subject`` what it is about.
"""

from __future__ import annotations

import errno


class Error(RuntimeError):
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
    """What was asked cannot be: codes invalid_argument, threads_missing, rank_mismatch, buffer_index, argument_*,
    cast_unknown."""


class GroupZeroError(ArgumentError, ValueError):
    code = "group_zero"


class GroupSizeError(Error, ValueError):
    code = "group_too_large"


class SourceTypeError(Error, TypeError):
    code = "source_type"


class LibraryIOError(Error, OSError):
    code = "io"


class LibraryNotFoundError(LibraryIOError, FileNotFoundError):
    code = "file_not_found"

    def __init__(self, message: str = "", code: str | None = None, subject: str = "") -> None:
        super().__init__(message, code, subject)
        self.errno = errno.ENOENT


class InvalidLibraryError(Error):
    code = "corrupt"


class UnsupportedTargetError(Error):
    code = "unsupported_os"


class UnsupportedError(Error):
    """Understood, but this build or this target does not do it."""

    code = "unsupported"


class TrustError(Error):
    code = "untrusted"


class IntegrityError(Error):
    code = "digest_mismatch"


class FunctionNotFoundError(Error, AttributeError):
    code = "function_not_found"


class FunctionKindError(Error):
    code = "function_kind"


class ConstantError(Error, ValueError):
    code = "constant_missing"


class PipelineError(Error):
    code = "pipeline_failed"


class ResourceError(Error):
    code = "threadgroup_memory_too_large"


class CheckError(Error):
    """Checked code found something. ``findings``: all of it, as dicts (docs/guide/races.md)."""

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
    """A thread went outside a buffer."""

    code = "buffer_bounds"


class RaceError(CheckError):
    """Two threads of a launch touch the same bytes, one writes, and nothing orders them."""

    code = "data_race"


class UnwrittenError(CheckError):
    """A value that nobody has written decides something."""

    code = "unwritten"


class DivergenceError(CheckError):
    """A barrier or an operation of a SIMD group that not all its threads reach."""

    code = "divergence"


class CancelledError(Error, TimeoutError):
    """A compile or a launch that was ended: on request, or at a limit of time or memory. (Ctrl-C is a
    KeyboardInterrupt, as everywhere.)"""

    code = "cancelled"


class OutOfMemoryError(Error, MemoryError):
    code = "out_of_memory"


class DeviceError(Error):
    code = "device_unavailable"


class CacheMissError(Error, KeyError):
    code = "not_cached"


class StoreError(Error):
    code = "store_corrupt"


class CompileError(Error):
    code = "compile_failed"


class ShaderSyntaxError(CompileError, SyntaxError):
    """A CompileError of Metal Shading Language text. ``msg`` is the message, as of any SyntaxError."""

    def __init__(self, message: str = "", code: str | None = None, subject: str = "") -> None:
        super().__init__(message, code, subject)
        self.msg = message


class ToolchainError(Error):
    code = "toolchain_missing"


class KernelReportedError(Error):
    """A kernel wrote into its error buffer (error_buf_idx)."""

    code = "kernel_reported"


class ArgumentWarning(UserWarning):
    """check="warn": an argument does not look like what the kernel declares."""


_BY_CODE: dict[str, type[Error]] = {
    "source_type": SourceTypeError,
    "file_not_found": LibraryNotFoundError,
    "io": LibraryIOError,
    "not_metallib": InvalidLibraryError,
    "truncated": InvalidLibraryError,
    "corrupt": InvalidLibraryError,
    "format_newer": InvalidLibraryError,
    "empty_library": InvalidLibraryError,
    "unsupported_platform": UnsupportedTargetError,
    "unsupported_os": UnsupportedTargetError,
    "unsupported_language": UnsupportedTargetError,
    "unsupported_family": UnsupportedTargetError,
    "untrusted": TrustError,
    "digest_mismatch": IntegrityError,
    "function_not_found": FunctionNotFoundError,
    "function_kind": FunctionKindError,
    "constant_missing": ConstantError,
    "constant_unknown": ConstantError,
    "constant_type": ConstantError,
    "pipeline_failed": PipelineError,
    "group_zero": GroupZeroError,
    "group_too_large": GroupSizeError,
    "threadgroup_memory_too_large": ResourceError,
    "device_unavailable": DeviceError,
    "not_cached": CacheMissError,
    "store_locked": StoreError,
    "store_corrupt": StoreError,
    "store_newer": StoreError,
    "compile_failed": CompileError,
    "toolchain_missing": ToolchainError,
    "unsupported": UnsupportedError,
    "buffer_bounds": BoundsError,
    "cancelled": CancelledError,
    "out_of_memory": OutOfMemoryError,
    "kernel_reported": KernelReportedError,
}


_BY_FINDING: dict[str, type[CheckError]] = {
    "bounds": BoundsError,
    "race": RaceError,
    "unwritten": UnwrittenError,
    "barrier": DivergenceError,
    "lanes": DivergenceError,
}


def from_findings(kind: str, message: str, subject: str, findings: str) -> Error:
    """The exception for what watched code found first; `findings` is a JSON list."""
    import json

    return _BY_FINDING[kind](message, None, subject, json.loads(findings))


def from_code(code: str, message: str, subject: str = "") -> Error:
    """The exception for a status of the C++ side; what the table does not name is an ArgumentError."""
    return _BY_CODE.get(code, ArgumentError)(message, code, subject)
