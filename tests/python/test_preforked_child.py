# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The child that the compiling helper has ready for the next kernel: it has one socket and read nobody's input, serves
one job alone, and nobody needs it."""

import array
import os
import pathlib
import signal
import sys
import time
import unittest

import smelt
import support

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import children_of  # noqa: E402

PROGRAM = "smelt-compile-child"
SOURCE = "kernel void f(device float* x, uint i [[thread_position_in_grid]]) {{ x[i] += {number}; }}"
PATIENCE = 60  # seconds


@unittest.skipUnless(sys.platform == "linux", "SKIPPED: kernels are compiled in children on Linux alone")
class SpareChild(unittest.TestCase):
    number = 0

    def call(self):
        """A kernel that nobody has seen, of a library of its own, gives what it should."""
        SpareChild.number += 1
        number = SpareChild.number
        source = SOURCE.format(number=number)
        library = smelt.compile(source, targets=["macos14"], cpu=False, store=False).metallib()
        x = array.array("f", [1.0] * 8)
        smelt.load_metallib(library, store=False).f(x)
        self.assertEqual(list(x), [1.0 + number] * 8)

    def helper(self):
        helpers = children_of(os.getpid(), PROGRAM, with_ended=False)
        self.assertEqual(len(helpers), 1)
        return helpers[0]

    def spare(self):
        """The helper's child while no kernel is compiled. What is compiled now it may serve, or not be ready for. One that
        has given its answer looks the same until it has ended: so a second look, a while later."""
        until = time.monotonic() + PATIENCE
        before = None
        while time.monotonic() < until:
            children = children_of(self.helper(), PROGRAM, with_ended=False)
            try:
                alone = len(children) == 1 and os.listdir(f"/proc/{children[0]}/fd") == ["0"]
            except OSError:
                alone = False
            if alone and children[0] == before:
                return children[0]
            before = children[0] if alone else None
            time.sleep(0.2)
        self.fail("the helper has no child ready")

    def test_it_has_one_job(self):
        self.call()
        seen = set()
        until = time.monotonic() + PATIENCE
        while len(seen) < 3 and time.monotonic() < until:
            spare = self.spare()
            self.assertTrue(os.readlink(f"/proc/{spare}/fd/0").startswith("socket:"))
            self.assertEqual(pathlib.Path(f"/proc/{spare}/environ").read_bytes(), b"")
            seen.add(spare)
            self.call()  # by the spare if it was ready: it is gone then, and the next one is another process
        self.assertEqual(len(seen), 3)

    def test_one_that_died_is_not_missed(self):
        self.call()
        helper, spare = self.helper(), self.spare()
        os.kill(spare, signal.SIGKILL)
        self.call()
        self.assertNotEqual(self.spare(), spare)
        self.assertEqual(self.helper(), helper)

    def test_it_ends_with_the_helper(self):
        self.call()
        helper, spare = self.helper(), self.spare()
        os.kill(helper, signal.SIGKILL)
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until and os.path.exists(f"/proc/{spare}"):
            if "\nState:\tZ" in pathlib.Path(f"/proc/{spare}/status").read_text():
                break
            time.sleep(0.01)
        else:
            self.assertFalse(os.path.exists(f"/proc/{spare}"))
        self.call()  # by another helper


if __name__ == "__main__":
    unittest.main()
