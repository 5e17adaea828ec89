# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the command `smelt` that pip installs. The program itself is in the wheel smelt-compiler, because it needs the compiler."""

from __future__ import annotations

import os
import sys


def main() -> None:
    from . import edition

    folder = os.path.dirname(os.path.abspath(__file__))
    program = os.path.join(folder, "_bin", "smelt")
    there_is_one = os.path.exists(program)
    if sys.argv[1:2] == ["misses"] or edition == "reader":  # misses are not the program's: it has none
        from ._pure.command import main as pure

        sys.exit(pure())
    if not there_is_one:
        from ._installed import how_to_get

        sys.exit(f"smelt: the command comes with the compiler. {how_to_get('compiler')}")
    environment = dict(os.environ)
    paths = [os.path.join(folder, "_libs"), environment.get("LD_LIBRARY_PATH", "")]
    environment["LD_LIBRARY_PATH"] = ":".join(path for path in paths if path)
    try:
        os.execve(program, [program, *sys.argv[1:]], environment)
    except OSError as error:
        sys.exit(f"smelt: {program}: {error.strerror}")


if __name__ == "__main__":
    main()
