# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiling in a child process: the same bytes, nothing within its reach, and an error value whatever becomes of it."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time
import unittest

from smelt_cli import SANITIZED, SMELT, CliTest, copy_of_smelt, smelt

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1] / "support"))
from processes import children_of  # noqa: E402

PROGRAM = "smelt-compile-child"

# Half a minute or so of work for each of three kernels, if nobody ends it.
LONG = "#include <metal_stdlib>\nusing namespace metal;\n" + "".join(
    f"kernel void k{n}(device float* x, uint i [[thread_position_in_grid]]) {{\n"
    + "".join(f"  x[i] = precise::sin(x[i] * {m}.5f) + precise::pow(x[i], {n}.25f);\n" for m in range(500))
    + "}\n"
    for n in range(3)
)

KERNELS = """#include <metal_stdlib>
using namespace metal;
constant float scale [[function_constant(3)]];
kernel void scaled(device half4* x, constant uint& n, uint i [[thread_position_in_grid]]) { if (i < n) x[i] *= half(scale); }
kernel void summed(device const float* x, device atomic_int* out, threadgroup float* t, uint l [[thread_position_in_threadgroup]]) {
  t[l] = x[l];
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (l == 0) atomic_fetch_add_explicit(out, int(t[1] + simd_sum(t[0])), memory_order_relaxed);
}
kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
"""


@unittest.skipUnless(sys.platform == "linux", "SKIPPED: children are sandboxed on Linux alone")
class SandboxTest(CliTest):
    def setUp(self):
        super().setUp()
        self.source = self.library("kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }")

    def test_a_program_of_the_current_folder_is_not_run(self):
        """smelt is found on PATH, and knows its own folder all the same."""
        here = self.folder / "here"
        for place in (here, here / "_bin", self.folder / "bin", self.folder / "libexec"):
            place.mkdir(exist_ok=True)
            (place / PROGRAM).write_text(f"#!/bin/sh\necho ran >> {self.folder / 'ran'}\n")
            (place / PROGRAM).chmod(0o755)
        environment = {**os.environ, "PATH": f"{pathlib.Path(SMELT).parent}:{os.environ['PATH']}"}
        done = subprocess.run(["smelt", "compile", self.source, "--no-store", "-o", "k.smelt"], cwd=here, env=environment, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertFalse((self.folder / "ran").exists())

    def compile(self, mode, source, *more):
        out = self.folder / f"{mode}.smelt"
        self.succeed("compile", source, "--no-store", "--sandbox", mode, "-o", out, *more)
        return out.read_bytes()

    def library(self, text=LONG):
        metal = self.folder / "source.metal"
        metal.write_text(text)
        out = self.folder / "source.metallib"
        self.succeed("compile", metal, "--no-store", "-o", out)
        return out

    def start(self, source, *more):
        """A compile that is under way, and the child that does it."""
        process = subprocess.Popen(
            [SMELT, "compile", source, "--no-store", "--sandbox", "always", "-j", "1", "-o", self.folder / "out.smelt", *more],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            for helper in children_of(process.pid, PROGRAM):
                for child in children_of(helper, PROGRAM):
                    if "\nSeccomp:\t2\n" in pathlib.Path(f"/proc/{child}/status").read_text():
                        return process, helper, child
            time.sleep(0.01)
        self.fail(f"no sandboxed child; {process.stderr.read().decode() if process.poll() is not None else 'waiting'}")

    def test_the_bytes_are_the_same(self):
        self.assertEqual(self.compile("always", self.source), self.compile("never", self.source))
        for options in (["--checked"], ["--target", "macos15", "--name", "n", "--version-string", "1.2.3"]):
            self.assertEqual(self.compile("always", self.source, *options), self.compile("never", self.source, *options))

    def test_kernels_of_libraries_have_children_of_their_own(self):
        library = self.library(KERNELS)
        built_elsewhere = self.folder / "elsewhere.metallib"  # for a target that has no name here
        self.succeed("compile", library, "--no-store", "--target", "macos15.4", "-o", built_elsewhere)
        ir = self.folder / "ir.ll"
        ir.write_text("define void @plain(ptr addrspace(1) %x) {\n  store float 1.0, ptr addrspace(1) %x\n  ret void\n}\n")
        mixed = [library, ir, "--kernel", "plain"]
        for inputs in ([library], [built_elsewhere, "--checked"], [library, "--function", "summed"], mixed):
            out = [self.folder / f"{mode}.smelt" for mode in ("auto", "never")]
            with self.subTest(inputs=inputs):
                for mode, file in zip(("auto", "never"), out):
                    self.succeed("compile", *inputs, "--no-store", "--sandbox", mode, "-o", file)
                self.assertEqual(out[0].read_bytes(), out[1].read_bytes())

    def test_what_a_child_made_is_kept(self):
        before = os.environ.get("SMELT_STORE")
        self.addCleanup(lambda: os.environ.pop("SMELT_STORE") if before is None else os.environ.update(SMELT_STORE=before))
        os.environ["SMELT_STORE"] = str(self.folder / "store")
        out = self.folder / "out.smelt"
        self.succeed("compile", self.library(KERNELS), "-o", out)
        for mode, factor in (("auto", 4), ("never", 5)):  # a child's kernels are those that are made here
            edited = self.library(KERNELS.replace("*= 2", f"*= {factor}"))
            said = smelt("compile", edited, "-v", "--sandbox", mode, "-o", out)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn(b"2 of 3 kernels from the store", said.stderr)

    def test_without_a_helper_auto_says_so_and_always_is_an_error(self):
        here = copy_of_smelt(self.folder / "smelt")  # without the helper beside it
        out = self.folder / "alone.smelt"
        compile = [here, "compile", self.library(KERNELS), "--no-store", "-o", out, "--sandbox"]
        result = subprocess.run([*compile, "always"], capture_output=True)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"{PROGRAM} was not found", result.stderr.decode())
        self.assertFalse(out.exists())
        result = subprocess.run([*compile, "auto"], capture_output=True)
        self.assertEqual(result.returncode, 0)
        self.assertEqual(result.stderr.decode().count(f"{PROGRAM} was not found"), 1)
        self.assertEqual(out.read_bytes(), self.compile("never", self.folder / "source.metallib"))

    def remade(self, mode, package, program=SMELT):
        """A package's CPU code made anew by a run that does not use its own: the bytes in the store, and stderr."""
        store = self.folder / f"{mode}-{len(list(self.folder.iterdir()))}"
        environment = os.environ | {"SMELT_SANDBOX": mode, "SMELT_STORE": str(store)}
        run = [program, "run", package, "twice", "--no-native", "--threads", "4", "f32[4]"]
        said = subprocess.run(run, env=environment, check=True, capture_output=True).stderr.decode()
        self.succeed("store", "verify", environment=environment)
        (key,) = [one["key"] for one in json.loads(self.succeed("store", "list", "--json", environment=environment)) if one["kind"] == "library"]
        return self.succeed("store", "get", key, "library.smelt", environment=environment), said

    def test_a_package_remade_in_a_child_has_the_same_bytes(self):
        package = self.folder / "package.smelt"
        self.succeed("compile", self.source, "--no-store", "-o", package)
        here, said = self.remade("never", package)
        self.assertIn(b"twice", here)
        self.assertEqual(said, "")
        for mode in ("auto", "always"):
            self.assertEqual(self.remade(mode, package), (here, ""))
        # Where auto finds no helper it says so, and does it here.
        alone, said = self.remade("auto", package, copy_of_smelt(self.folder / "smelt"))
        self.assertEqual(alone, here)
        self.assertIn(f"{PROGRAM} was not found", said)
        self.assertIn("compiling without a child process", said)

    def test_errors_are_the_same(self):
        broken = self.folder / "broken.metallib"
        broken.write_bytes(self.source.read_bytes()[:-30])
        said = [
            self.fail_with(1, "compile", broken, "--no-store", "--sandbox", mode, "-o", self.folder / "o.smelt")
            for mode in ("never", "always")
        ]
        self.assertEqual(said[0], said[1])
        self.assertIn("auto, always or never", self.fail_with(2, "compile", broken, "--sandbox", "yes", "-o", "o.smelt"))

    def long_kernel(self):
        """IR that takes seconds, and more than 100 MB, to compile."""
        lines = "".join(
            f"  %w{n} = call float @llvm.sin.f32(float %v{n})\n  %v{n + 1} = fadd float %w{n}, %v0\n" for n in range(3000)
        )
        return (
            "define void @long(ptr addrspace(1) %x) {\n  %v0 = load float, ptr addrspace(1) %x\n" + lines +
            "  store float %v3000, ptr addrspace(1) %x\n  ret void\n}\ndeclare float @llvm.sin.f32(float)\n"
        )  # fmt: skip

    @unittest.skipIf(SANITIZED, "a sanitizer's shadow goes with no limit of address space")
    def test_a_limit_is_named_and_nothing_is_written(self):
        library, ir = self.library(), self.folder / "long.ll"
        ir.write_text(self.long_kernel())
        out = self.folder / "limited.smelt"
        for source, options, words in (
            ([library], ["--timeout", "0.2"], "limit of 0.2 s (cancelled)"),
            ([library], ["--max-memory", "20MiB"], "the limit is 20 MB (cancelled)"),  # this process has more already
            ([ir, "--kernel", "long"], ["--timeout", "0.2"], "limit of 0.2 s (cancelled)"),
            ([ir, "--kernel", "long"], ["--max-memory", "20MiB"], "limit of 20 MB (cancelled)"),
        ):
            said = self.fail_with(1, "compile", *source, "--no-store", "--sandbox", "always", "-o", out, *options)
            self.assertIn(words, said)
            self.assertFalse(out.exists())

    @unittest.skipIf(SANITIZED, "a sanitizer's shadow goes with no limit of address space")
    def test_a_child_without_memory_says_so(self):
        """Wherever the limit is met, the answer is the same: nothing half built is taken down."""
        ir = self.folder / "long.ll"
        ir.write_text(self.long_kernel())
        for megabytes in (1, 6, 12, 18, 20, 24, 30, 40, 60):
            for _ in range(2):
                said = self.fail_with(
                    1, "compile", ir, "--kernel", "long", "--no-store", "--sandbox", "always", "-o", self.folder / "out.smelt",
                    "--max-memory", f"{megabytes}MiB",
                )  # fmt: skip
                self.assertIn(f"limit of {megabytes} MB (cancelled)", said)

    def test_a_child_has_one_socket_and_a_filter(self):
        process, helper, child = self.start(self.library())
        links = [os.readlink(f"/proc/{child}/fd/{number}") for number in os.listdir(f"/proc/{child}/fd")]
        self.assertEqual([link.split(":")[0] for link in links], ["socket"])
        limits = pathlib.Path(f"/proc/{child}/limits").read_text()
        self.assertRegex(limits, r"Max open files +1 +1 ")
        self.assertRegex(limits, r"Max file size +0 +0 ")
        self.assertEqual(pathlib.Path(f"/proc/{child}/environ").read_bytes(), b"")

    def test_a_child_that_dies_is_an_error(self):
        library = self.library()
        for number, words in ((signal.SIGKILL, "was killed"), (signal.SIGTERM, "died of signal"), (signal.SIGXCPU, "limit of")):
            process, helper, child = self.start(library)
            os.kill(child, number)
            self.assertIn(words, process.stderr.read().decode())
            self.assertEqual(process.wait(10), 1)
            self.assertFalse((self.folder / "out.smelt").exists())

    def test_a_child_that_stands_still_is_ended(self):
        process, helper, child = self.start(self.library())
        os.kill(child, signal.SIGSTOP)
        self.assertIn("deadlocked", process.stderr.read().decode())
        self.assertEqual(process.wait(10), 1)

    def test_a_helper_that_dies_is_an_error(self):
        process, helper, child = self.start(self.library())
        os.kill(helper, signal.SIGKILL)
        self.assertIn(f"{PROGRAM} ended before its child did", process.stderr.read().decode())
        self.assertEqual(process.wait(10), 1)

    def test_a_helper_that_is_stopped_is_not_waited_for(self):
        process, helper, child = self.start(self.library())
        os.kill(helper, signal.SIGSTOP)
        os.kill(child, signal.SIGKILL)  # which nobody tells now
        try:
            said = process.communicate(timeout=60)[1].decode()
        except subprocess.TimeoutExpired:
            process.kill()
            raise
        self.assertIn(f"{PROGRAM} was stopped", said)
        self.assertEqual(process.returncode, 1)
        self.assertFalse((self.folder / "out.smelt").exists())

    def test_a_stopped_helper_that_many_wait_for(self):
        # Many requests at once, none of which it takes: its socket fills up.
        source = self.folder / "many.metal"
        source.write_text("\n".join(f"kernel void k{i}(device float* x) {{ x[0] *= {i}; }}" for i in range(400)))
        library = self.folder / "many.metallib"
        self.succeed("compile", source, "--no-store", "--no-cpu", "-o", library)
        process = subprocess.Popen(
            [SMELT, "compile", library, "--no-store", "--sandbox", "always", "-j", "256", "-o", self.folder / "out.smelt"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        self.addCleanup(process.kill)
        while process.poll() is None and not children_of(process.pid, PROGRAM):
            time.sleep(0.001)
        helper = children_of(process.pid, PROGRAM)[0]
        os.kill(helper, signal.SIGSTOP)
        self.addCleanup(os.kill, helper, signal.SIGKILL)
        said = process.communicate(timeout=300)[1].decode()
        self.assertEqual(process.returncode, 1, said)
        self.assertIn("smelt: error: ", said)
        self.assertFalse((self.folder / "out.smelt").exists())

    def test_nobody_is_left_when_the_compiler_is_killed(self):
        process, helper, child = self.start(self.library())
        process.kill()
        process.wait()
        until = time.monotonic() + 10
        while time.monotonic() < until and any(os.path.exists(f"/proc/{pid}") for pid in (helper, child)):
            time.sleep(0.02)
        for pid in (helper, child):  # who is dead may still wait to be noticed by init
            status = pathlib.Path(f"/proc/{pid}/status")
            self.assertTrue(not status.exists() or "State:\tZ" in status.read_text(), pid)


if __name__ == "__main__":
    unittest.main()
