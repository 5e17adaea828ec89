# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Says for each back end whether it is here, and else why not. Exit 1 when one is not."""

from __future__ import annotations

import importlib
import sys

from . import reasons


def main() -> int:
    try:
        importlib.import_module("triton.backends")  # which imports ours
    except ImportError as error:
        print(f"Triton is not available: {error}")
        return 1
    for why in reasons.values():
        print(why)
    if not reasons:
        print("metal and cpu: here")
    return 1 if reasons else 0


if __name__ == "__main__":
    sys.exit(main())
