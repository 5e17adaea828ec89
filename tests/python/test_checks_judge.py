# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random kernels (check_kernels.py) find what was put into them and nothing else.

SMELT_JUDGE_FIRST, SMELT_JUDGE_COUNT: the seeds; scripts/nightly takes thousands."""

import os
import unittest

import check_kernels
import support
from support import numpy as np

import smelt

FIRST = int(os.environ.get("SMELT_JUDGE_FIRST", "0"))
COUNT = int(os.environ.get("SMELT_JUDGE_COUNT", "120"))
AT_ONCE = 30  # kernels of a library


def findings(function, kernel):
    threads = check_kernels.GROUPS * kernel.group
    arrays = [np.zeros(threads, np.uint32), np.zeros(threads, np.uint32)]
    arrays += [np.zeros(size, np.uint8) for size in kernel.buffers]
    memory = {} if kernel.shared is None else {"threadgroup_memory": kernel.shared}
    try:
        function(*arrays, threads=threads, group_size=kernel.group, **memory)
    except smelt.CheckError as error:
        return error.findings
    return []


@support.needs_numpy
class JudgeTest(unittest.TestCase):
    def test_every_fault_and_no_other(self):
        wrong = []
        for first in range(FIRST, FIRST + COUNT, AT_ONCE):
            text, kernels = check_kernels.kernels(first, min(AT_ONCE, FIRST + COUNT - first))
            library = smelt.compile_shader(text, checked=True, store=False)
            for kernel in kernels:
                complaint = kernel.complaint(findings(getattr(library, kernel.name), kernel))
                if complaint is not None:
                    wrong.append(f"seed {kernel.seed}, {complaint}\n{kernel.text}")
        self.assertEqual(len(wrong), 0, "\n\n".join([f"{len(wrong)} of {COUNT}", *wrong[:10]]))


if __name__ == "__main__":
    unittest.main()
