#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one file of unittest cases as CTest wants it: exit code 77 when a case was skipped and none failed.

    unittests.py FILE

Each skipped case is a line "SKIPPED: name: reason", which `scripts/test` repeats at its end.
"""

import importlib.util
import pathlib
import sys
import unittest


def say(name: str, reason: str) -> None:
    print(f"SKIPPED: {name}: {reason.removeprefix('SKIPPED: ')}", flush=True)


def main() -> int:
    file = pathlib.Path(sys.argv[1]).resolve()
    sys.path.insert(0, str(file.parent))
    sys.argv = [str(file), *sys.argv[2:]]
    spec = importlib.util.spec_from_file_location(file.stem, file)
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    try:
        spec.loader.exec_module(module)
    except unittest.SkipTest as skip:
        say(file.name, str(skip))
        return 77
    result = unittest.main(module=module, exit=False).result
    for test, reason in result.skipped:
        say(test.id().split(".", 1)[-1], reason)
    if not result.wasSuccessful():
        return 1
    return 77 if result.skipped else 0


if __name__ == "__main__":
    sys.exit(main())
