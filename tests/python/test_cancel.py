# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Long launches and long compiles are ended: by Ctrl-C, and at a limit."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import unittest

import smelt
import support

# 100,000 groups of a millisecond or so each: minutes, if nobody ends it.
SPIN = """#include <metal_stdlib>
using namespace metal;
kernel void spin(device uint* x, constant uint& rounds, uint i [[thread_position_in_grid]]) {
  uint state = i;
  for (uint k = 0; k < rounds; ++k) state = state * 1664525u + (state >> 13);
  x[i % 64] = state;
}
"""


def run(code, **environment):
    """In a process of its own, so that its signals are its own."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=240,
    )


class CancelTest(unittest.TestCase):
    LAUNCH = f"""
        import array, os, signal, threading, time, smelt
        library = smelt.compile_shader({SPIN!r})
        x = array.array("I", [0] * 64)
        library.spin(x, 10, threads=64, group_size=64)
        """

    def test_ctrl_c_ends_a_launch(self):
        for warm in (False, True):
            code = self.LAUNCH + f"""
        if {warm}:
            library.spin(x, 100_000, threads=640, group_size=64)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        try:
            library.spin(x, 100_000, threads=64 * 100_000, group_size=64)
        except KeyboardInterrupt:
            print("interrupted after", time.monotonic() - began)
        library.spin(x, 10, threads=64, group_size=64)
        print("and goes on")
        """
            result = run(code)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("interrupted after", result.stdout)
            self.assertIn("and goes on", result.stdout)

    def test_a_handler_that_does_not_raise_ends_nothing(self):
        code = self.LAUNCH + """
        signal.signal(signal.SIGINT, lambda number, frame: print("noticed"))
        threading.Timer(0.1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        library.spin(x, 20_000, threads=64 * 20_000, group_size=64)
        print("done")
        """
        result = run(code)
        self.assertEqual((result.returncode, result.stdout), (0, "noticed\ndone\n"), result.stderr)

    def test_a_launch_has_a_limit(self):
        library = smelt.load_metallib(
            smelt.compile(SPIN, targets=["macos14"]), device=smelt.Device("cpu", threads=2, launch_limit=0.2)
        )
        x = support.numpy.zeros(64, "uint32") if support.numpy is not None else None
        if x is None:
            self.skipTest("SKIPPED: no NumPy")
        with self.assertRaises(smelt.CancelledError) as raised:
            library.spin(x, 100_000, threads=64 * 100_000, group_size=64)
        self.assertEqual(raised.exception.code, "cancelled")
        self.assertRegex(str(raised.exception), "kernel 'spin' was ended by the device's limit of 0.2 s")
        library.spin(x, 10, threads=64, group_size=64)  # the device is as good as before

    # Loops of which nobody knows when they end: one that waits, one that searches, and one whose threads wait together.
    ENDLESS = """#include <metal_stdlib>
using namespace metal;
kernel void waits(device atomic_uint* x, uint i [[thread_position_in_grid]]) {
  while (atomic_load_explicit(&x[0], memory_order_relaxed) == 0) {}
}
kernel void searches(device uint* x, uint i [[thread_position_in_grid]]) {
  uint n = x[i], steps = 0;
  for (; n != 1; ++steps) {
    n ^= n << 13;
    n ^= n >> 17;
    n ^= n << 5;
  }
  x[i] = steps;
}
kernel void meets(device uint* x, uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint shared[64];
  for (;;) {
    shared[i] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (shared[63 - i] == 1) break;
  }
}
"""

    def test_a_group_that_never_ends_has_a_limit_too(self):
        if support.numpy is None:
            self.skipTest("SKIPPED: no NumPy")
        package = smelt.compile(self.ENDLESS, targets=["macos14"])
        for threads in (1, 2):
            device = smelt.Device("cpu", threads=threads, launch_limit=0.2)
            library = smelt.load_metallib(package, device=device)
            for name in ("waits", "searches", "meets"):
                for grid in (64, 6400):
                    x = support.numpy.full(grid, 0 if name == "waits" else 6, "uint32")
                    began = time.monotonic()
                    with self.assertRaises(smelt.CancelledError) as raised:
                        getattr(library, name)(x, threads=grid, group_size=64)
                    self.assertLess(time.monotonic() - began, 60)
                    self.assertRegex(str(raised.exception), f"kernel '{name}' was ended by the device's limit of 0.2 s")
                    x[:] = 1
                    getattr(library, name)(x, threads=grid, group_size=64)

    # Loops that have no way out at all: what comes after them is code that nobody reaches, of which LLVM makes a trap.
    FOREVER = """#include <metal_stdlib>
using namespace metal;
kernel void alone(device volatile uint* x, uint i [[thread_position_in_grid]]) {
  for (;;) x[i] += 1;
}
__attribute__((noinline)) void count(device volatile uint* x, uint i) {
  for (;;) x[i] += 1;
}
kernel void called(device volatile uint* x, uint i [[thread_position_in_grid]]) {
  if (i < 5) count(x, i);
  x[i] = 7;
}
kernel void together(device volatile uint* x, uint i [[thread_index_in_threadgroup]]) {
  threadgroup uint shared[64];
  for (;;) {
    shared[i] = x[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    x[i] = shared[63 - i];
  }
}
"""

    def test_a_loop_without_a_way_out_has_a_limit_too(self):
        code = f"""
        import array, smelt
        for checked in (False, True):
            package = smelt.compile({self.FOREVER!r}, targets=["macos14"], checked=checked)
            device = smelt.Device("cpu", threads=2, launch_limit=0.2)
            library = smelt.load_metallib(package, device=device, checked=checked)
            for name in ("alone", "called", "together"):
                try:
                    getattr(library, name)(array.array("I", [0] * 64), threads=64, group_size=64)
                except smelt.CancelledError:
                    print(name)
        """
        result = run(code)
        self.assertEqual((result.returncode, result.stdout.split()), (0, ["alone", "called", "together"] * 2), result.stderr)

    def test_ctrl_c_ends_a_loop_that_never_ends(self):
        # Before the first look of who watches, and long after it; on one thread and on several.
        for source, names in ((self.ENDLESS, ("waits", "searches", "meets")), (self.FOREVER, ("alone", "called", "together"))):
            code = f"""
        import array, os, signal, threading, time, smelt
        library = smelt.compile_shader({source!r})
        for name in {names!r}:
            for grid, after in ((64, 0.3), (6400, 0.3), (64, 2.5)):
                x = array.array("I", [0 if name == "waits" else 6] * grid)
                kernel = getattr(library, name)
                threading.Timer(after, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                began = time.monotonic()
                try:
                    kernel(x, threads=grid, group_size=64)
                except KeyboardInterrupt:
                    assert time.monotonic() - began < after + 60, time.monotonic() - began
                    print(name)
                time.sleep(0.1)
        """
            result = run(code)
            self.assertEqual((result.returncode, result.stdout.split()), (0, [name for name in names for _ in range(3)]), result.stderr)
            self.assertEqual(result.stderr, "")

    # It counts, for some seconds; LLVM cannot know the number.
    COUNTS = """kernel void counts(device uint* x, constant uint& rounds) {
  uint state = x[0];
  for (uint k = 0; k < rounds; ++k) state = state * 1664525u + (state >> 13);
  x[0] = state;
}"""

    def test_a_loop_that_counts_is_told_of(self):
        code = f"""
        import array, os, signal, threading, smelt
        library = smelt.compile_shader({self.COUNTS!r})
        library.counts(array.array("I", [1]), 1000, threads=1)
        threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
        try:
            library.counts(array.array("I", [1]), 3_000_000_000, threads=1)
        except KeyboardInterrupt:
            print("interrupted")
        """
        result = run(code)
        self.assertEqual((result.returncode, result.stdout), (0, "interrupted\n"), result.stderr)
        self.assertRegex(result.stderr, r"^smelt: Ctrl-C does not stop kernel 'counts': .* kill -QUIT \d+\n$")

    def test_a_handler_of_the_program_ends_no_loop(self):
        # Nobody knows what it wants; it is told of, and asyncio's descriptor still hears of the signal.
        code = f"""
        import array, os, signal, socket, threading, smelt
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        signal.set_wakeup_fd(ours.fileno())
        signal.signal(signal.SIGINT, lambda number, frame: print("noticed"))
        library = smelt.compile_shader({self.ENDLESS!r})
        x = array.array("I", [0])
        def later(after, do): threading.Timer(after, do).start()
        later(0.3, lambda: os.kill(os.getpid(), signal.SIGINT))
        def let_go(): x[0] = 1
        later(2.0, let_go)
        library.waits(x, threads=1)
        print("done", list(theirs.recv(9)) == [signal.SIGINT])
        import time; time.sleep(0.2)
        print(signal.set_wakeup_fd(-1) == ours.fileno())
        """
        result = run(code)
        self.assertEqual((result.returncode, result.stdout), (0, "noticed\ndone True\nTrue\n"), result.stderr)
        self.assertIn("Ctrl-C does not stop kernel 'waits'", result.stderr)

    def test_the_limit_of_the_environment(self):
        code = self.LAUNCH + """
        try:
            library.spin(x, 100_000, threads=64 * 100_000, group_size=64)
        except smelt.CancelledError as error:
            print(error)
        """
        result = run(code, SMELT_LAUNCH_LIMIT="0.3")
        self.assertIn("limit of 0.3 s", result.stdout, result.stderr)
        self.assertIn("SMELT_LAUNCH_LIMIT", run(self.LAUNCH, SMELT_LAUNCH_LIMIT="soon").stderr)
        for bad in (-1, float("nan")):
            with self.assertRaises(smelt.ArgumentError):
                smelt.Device("cpu", launch_limit=bad)

    # Many kernels, each of some work: there is always a pass to end between.
    MANY = "#include <metal_stdlib>\nusing namespace metal;\n" + "".join(
        f"kernel void k{n}(device float* x, uint i [[thread_position_in_grid]]) {{\n"
        + "".join(f"  x[i] = precise::sin(x[i] * {m}.5f) + precise::log2(x[i] + {n}.25f);\n" for m in range(6))
        + "}\n"
        for n in range(200)
    )

    def test_ctrl_c_ends_a_compile_and_what_was_made_is_kept(self):
        folder = support.temporary("cancelled")
        code = f"""
        import os, signal, smelt
        source = {self.MANY!r}
        def progress(stage, done, total):
            if stage == "cpu code" and done == 20:
                os.kill(os.getpid(), signal.SIGINT)
        try:
            smelt.compile(source, targets=["macos14"], cpu="x86-64-v3", progress=progress, store={str(folder)!r})
        except KeyboardInterrupt:
            print("interrupted")
        """
        result = run(code)
        self.assertEqual((result.returncode, result.stdout), (0, "interrupted\n"), result.stderr)
        kept = smelt.Store(folder).entries()
        self.assertGreaterEqual(len(kept), 20)
        self.assertLess(len(kept), 200)

    def test_a_compile_has_a_limit(self):
        with self.assertRaises(smelt.CancelledError) as raised:
            smelt.compile(self.MANY, targets=["macos14"], store=False, timeout=0.2)
        self.assertIn("limit of 0.2 s", str(raised.exception))
        with self.assertRaises(smelt.CancelledError) as raised:
            smelt.compile(self.MANY, targets=["macos14"], store=False, max_memory=1 << 20)
        self.assertIn("compiling took more memory than the limit of 1 MB", str(raised.exception))
        with self.assertRaises(smelt.CancelledError):
            smelt.compile(self.MANY, targets=["macos14"], store=False, progress=lambda *_: False)
        with self.assertRaisesRegex(ZeroDivisionError, "division"):
            smelt.compile(self.MANY, targets=["macos14"], store=False, progress=lambda *_: 1 / 0)
        with self.assertRaises(smelt.ArgumentError):
            smelt.compile("kernel void f() {}", timeout=-1)
        with self.assertRaisesRegex(smelt.ArgumentError, "timeout: want seconds, got 0; None means no limit"):
            smelt.compile("kernel void f() {}", timeout=0)
        source = "kernel void one(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }"
        smelt.compile(source, targets=["macos14"], store=False, timeout=200, max_memory=8 << 30)

    # 2^40 tokens between two looks at any limit.
    MACRO_BOMB = "#define B0 1+\n" + "".join(f"#define B{n} B{n - 1} B{n - 1}\n" for n in range(1, 41)) + "#if B40 0\n#endif\n"

    def test_limits_hold_in_the_middle_of_a_macro(self):
        with self.assertRaises(smelt.CancelledError) as raised:
            smelt.compile(self.MACRO_BOMB, targets=["macos14"], store=False, timeout=1)
        self.assertIn("limit of 1 s", str(raised.exception))

    def test_the_interpreter_ends_whatever_a_compile_does(self):
        for how in ("raise SystemExit(7)", "pass", "raise"):
            code = f"""
            import os, signal, sys, threading, smelt
            threading.Timer(1, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            try:
                smelt.compile_shader({self.MACRO_BOMB!r})
            except KeyboardInterrupt:
                print("interrupted")
                {how}
            """
            result = run(code)
            self.assertEqual(result.stdout, "interrupted\n", result.stderr)
            wanted = {"raise SystemExit(7)": 7, "pass": 0, "raise": -signal.SIGINT}[how]
            self.assertEqual(result.returncode, wanted, result.stderr)


if __name__ == "__main__":
    unittest.main()
