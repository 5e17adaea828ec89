# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What tl.device_print leaves in memory, as lines. Needs no Triton."""

import struct
import unittest

from smelt.compat.triton_backend.prints import formats_of, formatted, new_report, printed

# As Triton 3.6 writes it.
MODULE = r"""
@printfFormat_11 = internal constant [29 x i8] c"pid (%u, %u, %u) only words\0A\00"
@printfFormat_1 = internal constant [52 x i8] c"pid (%u, %u, %u) idx (%2u) v\22: (operand 0) %i\0A\00"
@other = internal constant [2 x i8] c"x\00"
"""


def bits(number: float) -> int:
    return struct.unpack("<I", struct.pack("<f", number))[0]


class PrintsTest(unittest.TestCase):
    def test_formats(self) -> None:
        self.assertEqual(
            formats_of(MODULE),
            [[11, "pid (%u, %u, %u) only words\n"], [1, 'pid (%u, %u, %u) idx (%2u) v": (operand 0) %i\n']],
        )
        self.assertEqual(formats_of("define void @f() {}"), [])

    def test_conversions_are_those_of_c(self) -> None:
        minus = (1 << 64) - 5
        cases = [
            ("%i %d", [(minus, False), (7, False)], "-5 7"), ("%u", [(minus, False)], "4294967291"),
            ("%lli", [(minus, False)], "-5"), ("%llu", [(minus, False)], str(minus)),
            ("0x%08x|%4u|%-4u|", [(0xAB, False), (3, False), (3, False)], "0x000000ab|   3|3   |"),
            ("0x%016llx", [(minus, False)], "0xfffffffffffffffb"), ("%p", [(0x1000, False)], "0x1000"),
            ("%f", [(bits(0.1), True)], "0.100000"), ("%f", [(struct.unpack("<Q", struct.pack("<d", -2.5))[0], False)], "-2.500000"),
            ("%f %f", [(bits(float("inf")), True), (bits(float("nan")), True)], "inf nan"),
            ("100%% of %u", [(2, False)], "100% of 2"), ("%u %u", [(1, False)], "1 %u"),
        ]  # fmt: skip
        for text, values, wanted in cases:
            self.assertEqual(formatted(text, values), wanted, text)

    def test_records(self) -> None:
        report = new_report(64)
        self.assertEqual(list(printed(report, [])), [])
        record = [1 << 31 | 2 << 16 | 7, 0b10, 3, 0, bits(1.5), 0]
        for i, word in enumerate([*record, 1 << 31 | 9, 0]):
            report[3 + i] = word
        report[1] = 8
        formats = [[7, "%u is %f\n"], [9, "words\n"]]
        self.assertEqual(list(printed(report, formats)), ["3 is 1.500000\n", "words\n"])
        self.assertEqual(list(printed(report, [])), ["device_print 7\n", "device_print 9\n"])

    def test_what_does_not_fit_is_said_once(self) -> None:
        report = new_report(7)
        for i, word in enumerate([1 << 31 | 1 << 16 | 7, 0, 5, 0]):
            report[3 + i] = word
        report[1] = 12  # three prints wanted four words each
        lines = list(printed(report, [[7, "%u\n"]]))
        self.assertEqual(lines[0], "5\n")
        self.assertEqual(len(lines), 2)
        self.assertIn("lost", lines[1])

    def test_any_words_end(self) -> None:
        report = new_report(40)
        for seed in range(200):
            for i in range(40):
                report[3 + i] = (seed * 2654435761 + i * 40503) * 2654435761 & 0xFFFFFFFF
            report[1] = seed % 60
            self.assertLessEqual(len(list(printed(report, [[1, "%f %i"]]))), 21)


if __name__ == "__main__":
    unittest.main()
