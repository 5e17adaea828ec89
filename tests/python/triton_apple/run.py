# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles, loads and runs the ten kernels as the back end would, compares them with NumPy, and says how many there were."""

import sys

import cases
import driver
import numpy as np

from smelt.compat import triton_apple as metal


def main() -> int:
    wrong = []
    for case in cases.CASES:
        text = driver.text_of(case.name)
        launch = driver.Launcher(metal, case, text, driver.library_of(text))
        values, out, want = case.make(np.random.default_rng(7))
        launch(out, *values[1:])
        wrong += [said] if (said := driver.differs(case, out, want)) else []
    print(f"{len(cases.CASES)} kernels, {len(wrong)} wrong")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
