# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The option ``logging``: messages of kernels (os_log, Metal 3.2). docs/reference/python.md."""

from __future__ import annotations

import os

MACRO = "SMELT_METAL_LOGGING"  # as aot's kLoggingMacro


def target() -> str:
    """Return the target that ``logging`` needs, because the default target has an older language version."""
    return os.environ.get("SMELT_TARGET") or "macos15"


def advice(message: str, logging: bool) -> str:
    """Return the compiler's message; if it concerns os_log, add which option to use."""
    return message if logging or "'os_log" not in message else message + "\nMessages of kernels need logging=True."
