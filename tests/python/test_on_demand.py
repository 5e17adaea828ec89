# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""CPU code that is compiled when a kernel is first read, fast, and replaced when the kernel runs often."""

import array
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap
import threading
import time
import unittest

import smelt
import support

SOURCE = """#include <metal_stdlib>
using namespace metal;
constant float factor [[function_constant(0)]];
kernel void heavy(device float* x, uint i [[thread_position_in_grid]]) {{
  float s = x[i];
  for (int k = 0; k < 200; ++k) s = s * 0.5f + {number}.0f;
  x[i] = s;
}}
kernel void scaled(device float* x, uint i [[thread_position_in_grid]]) {{ x[i] *= factor; }}
kernel void never(device float* x) {{ x[0] = {number}; }}
"""
PATIENCE = 120  # seconds; the thread in the background has only what processors have left


def run(code: str, store: pathlib.Path, **environment: str) -> "subprocess.CompletedProcess[str]":
    given = {**os.environ, "SMELT_STORE": str(store), **environment}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], env=given, capture_output=True, text=True, timeout=300
    )


def run_until(kernel, effort, count=20_000):
    """Launches until the kernel's code is of that effort. What the launches gave."""
    results = set()
    ends = time.monotonic() + PATIENCE
    while kernel.effort != effort and time.monotonic() < ends:
        x = array.array("f", range(count))
        kernel(x)
        results.add(bytes(x))
    x = array.array("f", range(count))
    kernel(x)
    results.add(bytes(x))
    return results


class OnDemand(unittest.TestCase):
    number = 0

    def setUp(self):
        OnDemand.number += 1
        self.source = SOURCE.format(number=self.number)
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=support.temporary("on-demand")))

    def metallib(self):
        # Other kernels than the source's, with which it would share pipelines.
        return smelt.compile(self.source.replace("0.5f", "0.25f"), targets=["macos14"], cpu=False, store=False).metallib()

    def both(self, **options):
        """The source's library, and that of its Metal library."""
        yield smelt.compile_shader(self.source, store=self.folder / "source", **options)
        yield smelt.load_metallib(self.metallib(), store=self.folder / "metallib", **options)

    def test_nothing_is_compiled_that_nobody_reads(self):
        for library in self.both():
            self.assertEqual(dir(library), ["heavy", "never", "scaled"])
            x = array.array("f", [2.0] * 4)
            smelt.specialize(library, "scaled", {"factor": 2.5})(x)
            self.assertEqual(list(x), [5.0] * 4)
            self.assertEqual(smelt.specialize(library, "scaled", {0: 2.5}).constants[0]["name"], "factor")
            with self.assertRaisesRegex(smelt.ConstantError, "missing 'factor'"):
                library.scaled
        trace = self.folder / "trace.json"
        code = f"import smelt\nlibrary = smelt.compile_shader({self.source!r})\nlibrary.heavy\n"
        done = run(code, self.folder / "other", SMELT_TRACE=str(trace))
        self.assertEqual(done.returncode, 0, done.stderr)
        compiled = [event["name"] for event in json.loads(trace.read_text()) if event.get("cat") == "compile"]
        self.assertEqual(compiled, ["source.metal", "heavy"])

    def test_prepare_compiles_all(self):
        for library in self.both():
            done = []
            self.assertEqual(smelt.prepare(library, progress=lambda n, total: done.append((n, total))), 2)
            self.assertEqual(done[-1], (3, 3))
            with self.assertRaises(smelt.ConstantError):
                smelt.prepare(library, ["scaled"])
        self.assertEqual(sorted(smelt.info(library).package.functions), ["heavy", "never", "scaled"])

    def test_fast_at_first_and_better_after_many_runs(self):
        for library in self.both():
            kernel = library.heavy
            self.assertEqual(kernel.effort, "fast")
            results = run_until(kernel, "balanced")
            self.assertEqual(kernel.effort, "balanced")
            self.assertEqual(len(results), 1)
            self.assertEqual(library.never.effort, "fast")

    def test_threads_launch_while_it_is_replaced(self):
        (library, _) = self.both()
        results, efforts = set(), set()

        def launch():
            results.update(run_until(library.heavy, "balanced"))
            efforts.add(library.heavy.effort)

        threads = [threading.Thread(target=launch) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(results), efforts), (1, {"balanced"}))

    def test_another_process_finds_the_better_code(self):
        path = self.folder / "k.metallib"
        path.write_bytes(self.metallib())
        store = self.folder / "store"
        run_until(smelt.load_metallib(path, store=store).heavy, "balanced")
        code = f"""
            import smelt, sys
            library = smelt.load_metallib({str(path)!r})
            print(library.heavy.effort, "smelt._compiler" in sys.modules)
            """
        done = run(code, store, SMELT_OFFLINE="1")
        self.assertEqual((done.returncode, done.stdout), (0, "balanced False\n"), done.stderr)
        # What nobody has read is not there; what an effort asks for is that alone.
        code = code.replace("library.heavy.effort", "library.never.effort")
        self.assertIn("not_cached", run(code.replace("print", "smelt.errors.Error.__str__ = lambda self: self.code; print"), store, SMELT_OFFLINE="1").stderr)  # fmt: skip
        self.assertEqual(smelt.load_metallib(path, store=store, cpu_effort="fast").heavy.effort, "fast")

    def test_switches(self):
        code = f"""
            import array, smelt, sys, time
            library = smelt.compile_shader({self.source!r})
            x = array.array("f", [1.0] * 20_000)
            kernel = library.heavy
            first = kernel.effort
            ends = time.monotonic() + 1
            while time.monotonic() < ends: kernel(x)
            print(first, kernel.effort)
            """
        for name, value, effort in (("SMELT_CPU_REPLACE", "0", "fast"), ("SMELT_CPU_EFFORT", "fast", "fast"),
                                    ("SMELT_CPU_EFFORT", "best", "best")):  # fmt: skip
            done = run(code, self.folder / value, **{name: value})
            self.assertEqual((done.returncode, done.stdout), (0, f"{effort} {effort}\n"), done.stderr)
        for library in self.both(cpu_effort="balanced"):
            self.assertEqual(library.heavy.effort, "balanced")
        with self.assertRaisesRegex(smelt.ArgumentError, "cpu_effort: effort 'most' is not known"):
            smelt.load_metallib(self.metallib(), cpu_effort="most")
        self.assertIsNone(support.library()[dir(support.library())[0]].effort)

    # The better code cannot be made: a compiler that is told so where it is asked for it.
    FAILS = """
        import array, smelt, time
        from smelt import _on_demand
        real = _on_demand.OnDemand._compile
        def compile(self, name, metallib, effort, background):
            if background: raise {error}
            return real(self, name, metallib, effort, background)
        _on_demand.OnDemand._compile = compile
        library = smelt.compile_shader({source!r})
        x = array.array("f", [1.0] * 20_000)
        ends = time.monotonic() + 1
        while time.monotonic() < ends: library.heavy(x)
        print(library.heavy.effort)
        """

    def test_trouble_in_the_background_changes_nothing(self):
        for error in ("smelt.CancelledError('not compiled within the limit of 120 s')", "KeyError('surprise')"):
            trace = self.folder / "trace.json"
            code = self.FAILS.format(error=error, source=self.source)
            done = run(code, self.folder / "store", SMELT_LOG="info", SMELT_TRACE=str(trace))
            self.assertEqual((done.returncode, done.stdout), (0, "fast\n"), done.stderr)
            self.assertRegex(done.stderr, "smelt: kernel 'heavy' keeps its first code: .*(the limit of 120 s|surprise)")
            (event,) = [event for event in json.loads(trace.read_text()) if event.get("cat") == "replace"]
            self.assertRegex(event["args"]["error"], "the limit of 120 s|surprise")
            self.assertEqual(done.stderr.count("begins with code that was made fast"), 1, done.stderr)
            self.assertIn('cpu_effort="balanced"', done.stderr)
        exact = run(code, self.folder / "exact", SMELT_LOG="info", SMELT_CPU_EFFORT="balanced")
        self.assertNotIn("made fast", exact.stderr)
        quiet = run(code, self.folder / "store")
        self.assertEqual((quiet.stdout, quiet.stderr), ("fast\n", ""))

    # One whose better code takes a while, so that the program ends before it is there.
    LARGE = "#include <metal_stdlib>\nusing namespace metal;\n#define F(n) s = precise::sin(s * (n + 0.5f)) + precise::pow(s, n + 0.25f);\n" + (
        "kernel void heavy(device float* x, uint i [[thread_position_in_grid]]) {\n  float s = x[i];\n"
        + "".join(f"  F({n}) if (s > {n}.0f) F({n}1)\n" for n in range(1, 60))
        + "  x[i] = s;\n}\n"
    )
    ENDS = """
        import array, os, smelt, sys, time
        from smelt import _on_demand
        began = []
        real = _on_demand.OnDemand.improve
        def improve(*given):
            began.append(time.monotonic())
            real(*given)
        _on_demand.OnDemand.improve = improve
        library = smelt.compile_shader({source!r})
        x = array.array("f", [1.0] * 2000)
        ends = time.monotonic() + 60
        while not began and time.monotonic() < ends: library.heavy(x)
        assert began
        time.sleep({later})
        {how}
        """

    def test_a_program_ends_while_better_code_is_made(self):
        for sandbox in ("auto", "never"):
            for later in (0, 0.05):
                code = textwrap.dedent(self.ENDS).format(source=self.LARGE, later=later, how="print('ends')")
                done = run(code, self.folder / f"{sandbox}-{later}", SMELT_SANDBOX=sandbox)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ends\n", ""))

    def test_a_forked_child_goes_on_by_itself(self):
        how = """
child = os.fork()
library.heavy(x)
if child == 0:
    other = smelt.compile_shader({source!r} + "// another", filename="b.metal")
    other.heavy(x)
    sys.exit(7)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
""".format(source=self.source)
        code = textwrap.dedent(self.ENDS).format(source=self.LARGE, later=0, how=how)
        done = run(code, self.folder / "store")
        self.assertEqual((done.returncode, done.stdout), (0, "7\n"), done.stderr)

    def test_ctrl_c_while_a_kernel_is_compiled(self):
        code = f"""
            import os, signal, smelt, threading
            library = smelt.compile_shader({self.LARGE!r})
            threading.Timer(0.02, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
            try:
                library.heavy
                import time; time.sleep(10)
            except KeyboardInterrupt:
                print("interrupted")
            print(library.heavy.effort)
            """
        done = run(code, self.folder / "store")
        self.assertEqual((done.returncode, done.stdout), (0, "interrupted\nfast\n"), done.stderr)

    def test_a_kernel_that_is_no_cpu_code_is_told_when_it_is_read(self):
        metallib = bytearray(self.metallib())
        library = smelt.load_metallib(bytes(metallib), store=self.folder)
        places = [match.start() for match in re.finditer(b"BC\xc0\xde", metallib)]
        self.assertEqual(len(places), 3)
        metallib[places[0] + 40] ^= 0xFF
        damaged = smelt.load_metallib(bytes(metallib), store=self.folder)
        self.assertEqual(dir(damaged), dir(library))
        with self.assertRaisesRegex(smelt.InvalidLibraryError, "HASH is"):
            damaged[dir(damaged)[0]]
        self.assertEqual(damaged.never.effort, "fast")


if __name__ == "__main__":
    unittest.main()
