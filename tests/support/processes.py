# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Processes that tests look at from outside. Linux alone."""

import pathlib


def children_of(pid, program, with_ended=True):
    """Process numbers. `with_ended`: those too that nobody has waited for yet."""
    found = []
    for entry in pathlib.Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            status = (entry / "status").read_text()
        except OSError:
            continue
        if f"\nPPid:\t{pid}\n" not in status or not status.startswith(f"Name:\t{program[:15]}\n"):
            continue
        if with_ended or "\nState:\tZ" not in status:
            found.append(int(entry.name))
    return found
