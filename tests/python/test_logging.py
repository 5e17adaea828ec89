# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Messages of kernels (os_log, Metal 3.2) on standard error."""

import subprocess
import sys
import textwrap
import unittest

SOURCE = r"""#include <metal_stdlib>
using namespace metal;
constant os_log channel("org.example", "kernels");
kernel void numbers(device const float* x, device const long* n, uint i [[thread_position_in_grid]]) {
  os_log_default.log("%u: %g %ld", i, x[i], n[i]);
}
kernel void kinds(device const uchar* bytes) {
  const char a = char(bytes[0]);
  const ushort b = 65535 - bytes[1];
  os_log_default.log_info("%d %u|", a, b);
  channel.log_error("%f %.1f %d %d 100%%", half(0.5), 2.25f, true, uchar(200));
  channel.log_fault("%v4hlf %v2hhu %v3hd %d", float4(1, 2, 3, 4), uchar2(7, 255), short3(-1, 2, -3), 9);
  channel.log_with_type(log_type_debug, "%v2hf %x", half2(1.5, -2), 255);
}
kernel void some(device float* x, uint i [[thread_position_in_grid]]) {
  x[i] = 2 * x[i];
  if (x[i] > 6) os_log_default.log("%u has %g", i, x[i]);
}
kernel void steers(device float* x) { os_log_default.log("\033]0;title\007\ta\nb"); }
kernel void counts(device atomic_uint* n) { os_log_default.log("%u", atomic_fetch_add_explicit(n, 1u, memory_order_relaxed)); }
"""


def lines_of(calls: str, logging: bool = True) -> "list[str]":
    """What a program that makes these calls writes to standard error, sorted."""
    program = f"import array, smelt\nlib = smelt.compile_shader({SOURCE!r}, store=False, logging={logging})\n" if logging else (
        "import array, smelt\nmade = smelt.compile(" + repr(SOURCE) + ", targets='macos15', store=False)\nlib = smelt.load_metallib(bytes(made))\n"
    )  # fmt: skip
    run = subprocess.run([sys.executable, "-c", program + textwrap.dedent(calls)], capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
    return sorted(run.stderr.splitlines())


class Logging(unittest.TestCase):
    def test_numbers_of_every_size(self) -> None:
        found = lines_of(
            """
            x = array.array("f", [1.5, -0.0, 1e-45, 3e38, float("inf"), float("-inf"), float("nan"), 1.1754944e-38])
            lib.numbers(x, array.array("q", [-1, 0, 1 << 40, 3, 4, 5, 6, 7]), threads=8)
            """
        )
        wanted = ["1.5 -1", "-0 0", "1.4013e-45 1099511627776", "3e+38 3", "inf 4", "-inf 5", "nan 6", "1.17549e-38 7"]
        # Small numbers may be flushed to zero, as a GPU does.
        wanted[2] = wanted[2] if wanted[2] in found[2] else "0 1099511627776"
        self.assertEqual(found, [f"numbers: {i}: {text}" for i, text in enumerate(wanted)])

    def test_types_and_channels(self) -> None:
        found = lines_of("lib.kinds(bytes([255, 0]), threads=1, check='off')")
        self.assertEqual(
            found,
            ["kinds: -1 65535|", "kinds: 0.500000 2.2 1 200 100%", "kinds: 1.000000,2.000000,3.000000,4.000000 7,255 -1,2,-3 9", "kinds: 1.500000,-2.000000 ff"],
        )

    def test_only_threads_that_get_there(self) -> None:
        calls = """
        x = array.array("f", range(100))
        lib.some(x, threads=100, group_size=64)
        assert list(x) == [2.0 * i for i in range(100)]
        """
        self.assertEqual(lines_of(calls), sorted(f"some: {i} has {2 * i}" for i in range(4, 100)))

    def test_a_kernel_steers_no_terminal(self) -> None:
        found = lines_of('lib.steers(array.array("f", [0]), threads=1)')
        self.assertEqual(found, ["b", "steers: \\x1b]0;title\\x07\ta"])

    def test_without_logging_operands_are_evaluated(self) -> None:
        calls = """
        n = array.array("I", [0])
        lib.counts(n, threads=10)
        assert n[0] == 10, n
        """
        self.assertEqual(lines_of(calls, logging=False), [])
        self.assertEqual(len(lines_of(calls)), 10)

    def test_without_logging_a_message_names_it(self) -> None:
        import smelt

        with self.assertRaises(SyntaxError) as raised:
            smelt.compile_shader(SOURCE, target="macos14")
        self.assertIn("logging=True", str(raised.exception))
        with self.assertWarns(smelt.CompileWarning) as warned:
            smelt.compile_shader(SOURCE)
        self.assertIn("logging=True", str(warned.warning))


if __name__ == "__main__":
    unittest.main()
