# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tl.device_assert says, read from the text of Triton's IR, and the exception of a launch. Needs no Triton."""

import unittest

from smelt.compat.triton_backend.asserts import NO_LINE, asserts_of, failure

# As Triton 3.6 prints a module before its passes for a GPU: locations are names that stand at the end.
MODULE = r"""
#loc = loc("/models/model.py":20:0)
module {
  tt.func public @k(%x: !tt.ptr<i32> loc("x"(#loc))) attributes {noinline = false} {
    %0 = tt.get_program_id x : i32 loc(#loc2)
    tt.assert %5, "too large" : tensor<32xi1> loc(#loc3)
    tt.assert %6, "a \22quoted\22 \\ word\0A" : tensor<32xi1> loc(#loc6)
    tt.assert %7, "" : i1 loc(unknown)
    tt.return loc(#loc5)
  } loc(#loc)
} loc(#loc)
#loc2 = loc("/models/model.py":21:9)
#loc3 = loc("/models/model.py":28:18)
#loc4 = loc("/models/other file.py":7:4)
#loc5 = loc("/models/model.py":30:4)
#loc6 = loc(callsite(#loc4 at #loc5))
"""


class Asserts(unittest.TestCase):
    def test_messages_and_places(self):
        self.assertEqual(
            asserts_of(MODULE),
            [["too large", "/models/model.py", 28], ['a "quoted" \\ word\n', "/models/other file.py", 7], ["", "", 0]],
        )
        self.assertEqual(asserts_of("module {}"), [])

    def test_locations_that_go_round_in_circles(self):
        text = 'tt.assert %1, "m" : i1 loc(#loc1)\n#loc1 = loc(#loc2)\n#loc2 = loc(#loc1)\n'
        self.assertEqual(asserts_of(text), [["m", "", 0]])

    def test_every_prefix(self):
        for end in range(len(MODULE)):
            self.assertLessEqual(len(asserts_of(MODULE[:end])), 3)

    def test_failure_names_the_assert_of_its_line(self):
        found = asserts_of(MODULE)
        self.assertEqual(str(failure("k", 28, found)), "device_assert failed in kernel k: 'too large' (/models/model.py:28)")
        self.assertIsInstance(failure("k", 28, found), RuntimeError)
        for line in (99, NO_LINE):  # unknown: all that it may be
            said = str(failure("k", line, found))
            self.assertIn("too large", said)
            self.assertIn("other file.py:7", said)
            self.assertEqual("line 99" in said, line == 99)
        self.assertIn("no message", str(failure("k", 3, [])))


if __name__ == "__main__":
    unittest.main()
