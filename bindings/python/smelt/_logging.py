# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""logging=: messages of kernels (os_log, Metal 3.2). docs/reference/python.md."""

from __future__ import annotations

import os

MACRO = "SMELT_METAL_LOGGING"  # as aot's kLoggingMacro


def target() -> str:
    """The default target is of an older language."""
    return os.environ.get("SMELT_TARGET") or "macos15"


def advice(message: str, logging: bool) -> str:
    """The compiler's message, with what to ask for where it is about os_log."""
    return message if logging or "'os_log" not in message else message + "\nMessages of kernels need logging=True."
