# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The command `smelt`, as pip installs it: the program is in the wheel smelt-compiler, whose compiler it needs."""

from __future__ import annotations

import os
import sys


def main() -> None:
    from . import is_pure

    if is_pure or sys.argv[1:2] == ["misses"]:  # which the program does not know: it has none
        from ._pure.command import main as pure

        sys.exit(pure())
    folder = os.path.dirname(os.path.abspath(__file__))
    program = os.path.join(folder, "_bin", "smelt")
    if not os.path.exists(program):
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
