# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""verify, inspect and disasm in a child process: the same output, and an error value whatever becomes of the child."""

import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

from smelt_cli import SANITIZED, SEEDS, SMELT, SOURCE, CliTest, copy_of_smelt, smelt

MODES = ("never", "auto", "always")


@unittest.skipUnless(sys.platform == "linux", "SKIPPED: children are sandboxed on Linux alone")
class ReadingTest(CliTest):
    def setUp(self):
        super().setUp()
        self.package = self.folder / "saxpy.smelt"
        self.succeed("compile", SOURCE / "examples/saxpy.ll", "--no-store", "-o", self.package)

    def long_module(self):
        """IR that takes half a second, and more than 100 MB, to read."""
        lines = "".join(f"  %v{n + 1} = fadd float %v{n}, %v0\n" for n in range(300000))
        path = self.folder / "long.ll"
        path.write_text(
            "define void @long(ptr addrspace(1) %x) {\n  %v0 = load float, ptr addrspace(1) %x\n" + lines +
            "  store float %v300000, ptr addrspace(1) %x\n  ret void\n}\n"
        )  # fmt: skip
        return path

    def long_library(self):
        library = self.folder / "long.metallib"
        self.succeed("compile", self.long_module(), "--kernel", "long", "--no-store", "-o", library)
        return library

    def said(self, *arguments):
        result = smelt(*arguments)
        return result.returncode, result.stdout, result.stderr

    def test_the_output_is_the_same(self):
        files = [self.package, SOURCE / "examples/saxpy.ll", SEEDS / "one_function.metallib", SEEDS / "no_functions.metallib"]
        files += sorted(self.shared("data/metallibs").glob("*.metallib"))[:3]
        for file in files:
            for verb in (["verify"], ["verify", "--json"], ["inspect"], ["inspect", "--json"], ["disasm"]):
                never, auto, always = (self.said(*verb, file, "--sandbox", mode) for mode in MODES)
                self.assertEqual(never, auto, (verb, file))
                self.assertEqual(never, always, (verb, file))

    def test_libseccomp_is_opened_for_children_alone(self):
        broken = self.folder / "lib"
        broken.mkdir()
        (broken / "libseccomp.so.2").write_bytes(b"")
        environment = {**os.environ, "LD_LIBRARY_PATH": str(broken)}
        never = smelt("verify", self.package, "--sandbox", "never", environment=environment)
        self.assertEqual((never.returncode, never.stderr), (0, b""))
        auto = smelt("verify", self.package, "--sandbox", "auto", environment=environment)
        self.assertEqual(auto.stdout, never.stdout)
        always = smelt("verify", self.package, "--sandbox", "always", environment=environment)
        self.assertEqual(always.returncode, 1)
        for result in (auto, always):
            said = result.stderr.decode()
            for word in ("no child can be sandboxed here", "libseccomp.so.2", "Debian: libseccomp2"):
                self.assertIn(word, said)

    def test_text_of_a_library_is_the_same(self):
        library = self.folder / "saxpy.metallib"
        self.succeed("compile", SOURCE / "examples/saxpy.ll", "--no-store", "-o", library)
        emit = ["compile", library, "--no-store", "--emit", "ll", "-o", "-", "--sandbox"]
        self.assertEqual(self.succeed(*emit, "never"), self.succeed(*emit, "auto"))

    def test_a_limit_of_time_is_named(self):
        library = self.long_library()
        self.assertIn("limit of 0.05 s (cancelled)", self.fail_with(1, "disasm", library, "--timeout", "0.05"))
        # verify tells it of this file, and goes on with the next.
        status, said, stderr = self.said("verify", library, self.package, SEEDS / "no_functions.metallib", "--timeout", "0.05")
        self.assertEqual((status, stderr), (1, b""))
        first, *others = said.decode().splitlines()
        self.assertEqual(first, f"{library}: error: not read within the limit of 0.05 s")
        self.assertIn("empty library", others[-1])

    @unittest.skipIf(SANITIZED, "a sanitizer's shadow goes with no limit of address space")
    def test_a_limit_of_memory_is_named(self):
        said = self.fail_with(1, "disasm", self.long_module(), "--max-memory", "20MiB")
        self.assertIn("limit of 20 MB (cancelled)", said)

    def test_limits_are_the_childs(self):
        self.assertIn("--timeout", self.fail_with(2, "verify", self.package, "--sandbox", "never", "--timeout", "1"))
        self.assertIn("auto, always or never", self.fail_with(2, "verify", self.package, "--sandbox", "yes"))
        result = smelt("verify", self.package, environment=os.environ | {"SMELT_SANDBOX": "yes"})
        self.assertEqual((result.returncode, result.stdout), (2, b""))
        self.assertIn("SMELT_SANDBOX: 'yes': want auto, always or never", result.stderr.decode())

    def reading(self, *arguments):
        """A verb that is at work, and its sandboxed child."""
        process = subprocess.Popen([SMELT, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        children = pathlib.Path(f"/proc/{process.pid}/task/{process.pid}/children")
        until = time.monotonic() + 60
        while time.monotonic() < until and process.poll() is None:
            for child in map(int, children.read_text().split()):
                if "\nSeccomp:\t2\n" in pathlib.Path(f"/proc/{child}/status").read_text():
                    return process, child
            time.sleep(0.005)
        self.fail(f"no sandboxed child: {process.returncode}")

    def test_a_child_has_one_socket_and_no_files(self):
        process, child = self.reading("disasm", self.long_module())
        links = [os.readlink(f"/proc/{child}/fd/{number}") for number in os.listdir(f"/proc/{child}/fd")]
        self.assertEqual([link.split(":")[0] for link in links], ["socket"])

    def test_a_child_that_dies_is_an_error_and_a_finding(self):
        module, library = self.long_module(), self.long_library()
        for number, words in ((signal.SIGKILL, "was killed"), (signal.SIGTERM, "died of signal"), (signal.SIGXCPU, "limit of")):
            process, child = self.reading("disasm", module)
            os.kill(child, number)
            out, said = process.communicate(timeout=60)
            self.assertEqual((process.returncode, out), (1, b""))
            self.assertIn(words, said.decode())
            process, child = self.reading("verify", library, SEEDS / "no_functions.metallib")
            os.kill(child, number)
            out, said = process.communicate(timeout=60)
            self.assertEqual((process.returncode, said), (1, b""))
            self.assertIn(words, out.decode().splitlines()[0])
            self.assertIn("empty library", out.decode())

    def test_a_child_that_stands_still_is_ended(self):
        process, child = self.reading("disasm", self.long_module())
        os.kill(child, signal.SIGSTOP)
        out, said = process.communicate(timeout=60)
        self.assertEqual((process.returncode, out), (1, b""))
        self.assertIn("deadlocked", said.decode())

    def test_without_a_process_auto_says_so_and_always_is_an_error(self):
        if os.geteuid() != 0:
            self.skipTest("a user of its own, with no right to processes, needs root")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="smelt-nobody-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        tool, package = copy_of_smelt(folder / "smelt"), shutil.copy(self.package, folder / "p.smelt")
        for path in (folder, tool, package):
            os.chown(path, 65534, 65534)

        def become_nobody():
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))  # last: who changes user above it may not exec

        def run(mode):
            command = [tool, "disasm", package, "--sandbox", mode]
            return subprocess.run(command, capture_output=True, timeout=300, preexec_fn=become_nobody)

        wanted = self.succeed("disasm", self.package)
        result = run("auto")
        self.assertEqual((result.returncode, result.stdout), (0, wanted))
        self.assertRegex(result.stderr.decode(), r"^smelt: warning: no child process to read in: .*; reading without a child process\n$")
        result = run("always")
        self.assertEqual((result.returncode, result.stdout), (1, b""))
        self.assertIn("no child process to read in", result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
