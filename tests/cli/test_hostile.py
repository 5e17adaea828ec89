# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What must be an error, and never the end of the process by a signal: endless input, no memory, no threads, a full
stdout, names with escapes in them, a store folder that is somebody's."""

import os
import pathlib
import resource
import shutil
import subprocess
import tempfile
import unittest

from smelt_cli import SANITIZED, SEEDS, SMELT, SOURCE, CliTest, copy_of_smelt, smelt

VERBS = (
    ("inspect",),
    ("disasm",),
    ("verify",),
    ("repack", "-o", "{out}"),
    ("pack", "-o", "{out}"),
    ("compile", "-o", "{out}.smelt"),
    ("store", "import"),
)


class HostileTest(CliTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "SMELT_STORE": str(self.folder / "store")}

    def run_limited(self, *arguments, before=None, **more):
        more.setdefault("stdout", subprocess.PIPE)
        return subprocess.run(
            [SMELT, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            timeout=300,
            env=self.environment,
            preexec_fn=before,
            **more,
        )

    def assert_error(self, result, *words):
        said = result.stderr.decode()
        self.assertEqual(result.returncode, 1, (result.args, said))
        self.assertRegex(said, r"^smelt: error: .*\)\n$", result.args)
        for word in words:
            self.assertIn(word, said, result.args)

    def verbs_on(self, path):
        for verb in VERBS:
            yield [word.format(out=self.folder / "out") for word in verb] + [path]

    @unittest.skipIf(SANITIZED, "a sanitizer's shadow goes with no limit of address space")
    def test_sixteen_gigabytes_of_zeros_and_little_memory(self):
        zeros = self.folder / "zeros"
        zeros.touch()
        os.truncate(zeros, 16 << 30)
        limit = 4 << 30
        for command in self.verbs_on(zeros):
            with self.subTest(command[0]):
                result = self.run_limited(*command, before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
                self.assert_error(result, "zeros", "(out_of_memory)")

    def test_input_without_an_end(self):
        for command in (["inspect", "/dev/zero"], ["compile", "/dev/zero", "-o", self.folder / "x.smelt"]):
            self.assert_error(self.run_limited(*command), "/dev/zero", "no end after")

    @unittest.skipIf(SANITIZED, "a sanitizer's shadow goes with no limit of address space")
    def test_input_without_an_end_and_little_memory(self):
        limit = 1 << 30  # less memory than would be read
        result = self.run_limited(
            "inspect", "/dev/zero", before=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        )
        self.assert_error(result, "/dev/zero", "(out_of_memory)")

    def test_a_full_stdout(self):
        library = sorted(SEEDS.iterdir())[0]
        source = SOURCE / "examples/saxpy.ll"
        package = self.folder / "p.smelt"
        self.assertEqual(self.run_limited("compile", source, "-o", package).returncode, 0)
        key = self.run_limited("store", "list").stdout.decode().split("\n")[1].split()[0]
        for command in (
            ("store", "list"),
            ("store", "list", "--json"),
            ("store", "stat"),
            ("store", "show", key),
            ("store", "page", "-o", "-"),
            ("store", "verify"),
            ("store", "path"),
            ("inspect", package),
            ("inspect", library, "--json"),
            ("disasm", package),
            ("selftest", "--package", package),
        ):
            with self.subTest(command[:2]), open("/dev/full", "wb") as full:
                result = self.run_limited(*command, stdout=full)
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertIn("No space left", result.stderr.decode())

    def test_no_threads_to_be_had(self):
        if os.geteuid() != 0:
            self.skipTest("a user of its own, with no right to threads, needs root")
        folder = pathlib.Path(tempfile.mkdtemp(prefix="smelt-nobody-"))
        self.addCleanup(shutil.rmtree, folder, ignore_errors=True)
        tool = folder / "smelt"
        copy_of_smelt(tool)
        shutil.copy(SOURCE / "examples/saxpy.ll", folder / "saxpy.ll")
        nobody = 65534
        for path in (folder, tool, folder / "saxpy.ll"):
            os.chown(path, nobody, nobody)
        os.chmod(tool, 0o755)

        def become_nobody():
            os.setgroups([])
            os.setgid(nobody)
            os.setuid(nobody)
            resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))  # last: who changes user above it may not exec

        environment = {**self.environment, "SMELT_STORE": str(folder / "store"), "HOME": str(folder)}
        outputs = []
        for jobs in ("4", "1"):
            out = folder / f"out{jobs}.smelt"
            result = subprocess.run(
                [tool, "compile", folder / "saxpy.ll", "-o", out, "-j", jobs, "--no-store"],
                capture_output=True,
                timeout=300,
                env=environment,
                preexec_fn=become_nobody,
            )
            self.assertEqual((result.returncode, result.stderr), (0, b""))
            outputs.append(out.read_bytes())
        self.assertEqual(outputs[0], outputs[1])

    def test_escapes_in_names_are_written_out(self):
        evil = self.folder / "no\x1b[31m\x9bfile\x07"
        for command in self.verbs_on(evil):
            with self.subTest(command[0]):
                said = self.run_limited(*command).stderr
                self.assertNotIn(b"\x1b", said)
                self.assertNotIn(b"\x07", said)
                self.assertIn(b"\\x1b[31m", said)
        raw = os.fsencode(self.folder) + b"/\xff\xfe"
        result = subprocess.run([SMELT, "inspect", raw], capture_output=True, timeout=300)
        self.assertIn("\\xff\\xfe: cannot open", result.stderr.decode())
        for command in (("--\x1b[31m",), ("compile", "x", "-o", "y", "--target", "\x1b[31m"), ("\x1b]0;title\x07",)):
            said = self.run_limited(*command)
            self.assertEqual(said.returncode, 2)
            self.assertNotIn(b"\x1b", said.stderr)

    def test_a_file_is_named_once(self):
        missing = self.folder / "nofile"
        for command in [*self.verbs_on(missing), ["run", missing, "k", "--threads", "1"]]:
            with self.subTest(command[0]):
                said = self.run_limited(*command).stderr.decode()
                self.assertEqual(said.count("nofile"), 1, said)
                self.assertIn("(file_not_found)", said)

    def test_a_negative_number_is_wrong_usage(self):
        for command in (
            ("store", "trim", "--max-bytes", "-1"),
            ("compile", "x.ll", "-o", "x.smelt", "-j", "-1"),
            ("compile", "x.ll", "-o", "x.smelt", "--threadgroup-memory", "-1"),
            ("run", "x", "k", "--threads", "1", "--repeat", "-1"),
        ):
            result = self.run_limited(*command)
            self.assertEqual((result.returncode, result.stdout), (2, b""), command)

    def test_somebody_elses_folder_is_no_store(self):
        theirs = self.folder / "theirs"
        (theirs / "packs").mkdir(parents=True, mode=0o700)
        os.chmod(theirs, 0o700)
        (theirs / "index").write_text("mine")
        (theirs / "packs/000001.pack").write_text("mine too")
        self.environment["SMELT_STORE"] = str(theirs)
        for command in (("store", "list"), ("store", "stat"), ("store", "trim", "--max-bytes", "1"), ("store", "verify")):
            result = self.run_limited(*command)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("is not a smelt store", result.stderr.decode())
        # Without a store a compile goes on, and says so.
        out = self.folder / "out.smelt"
        result = self.run_limited("compile", SOURCE / "examples/saxpy.ll", "-o", out)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("going on without a store", result.stderr.decode())
        self.assertTrue(out.exists())
        self.assertEqual(sorted(p.name for p in theirs.rglob("*")), ["000001.pack", "index", "packs"])
        self.assertEqual((theirs / "index").read_text(), "mine")
        for folder in ("/", "/proc"):
            self.environment["SMELT_STORE"] = folder
            self.assertIn(self.run_limited("store", "list").returncode, (1, 2))

    def test_import_moves_no_tag_unasked(self):
        source = self.folder / "saxpy.ll"
        text = (SOURCE / "examples/saxpy.ll").read_text()
        packages = []
        for i, body in enumerate((text, text.replace("@saxpy", "@axpy"))):
            source.write_text(body)
            packages.append(self.folder / f"{i}.smelt")
            made = self.run_limited(
                "compile", source, "-o", packages[i], "--name", "lib", "--version-string", "1.0.0", "--no-store"
            )
            self.assertEqual(made.returncode, 0, made.stderr)
        first = self.run_limited("store", "import", packages[0])
        self.assertEqual((first.returncode, first.stderr), (0, b""))
        there = first.stdout.decode().strip()
        second = self.run_limited("store", "import", packages[1])
        here = second.stdout.decode().strip()
        self.assertEqual(second.returncode, 0)
        for word in ("lib@1.0.0", there, here, "--move"):
            self.assertIn(word, second.stderr.decode())
        self.assertIn(f"{there} lib@1.0.0", self.run_limited("store", "tags").stdout.decode())
        moved = self.run_limited("store", "import", "--move", packages[1])
        self.assertEqual((moved.returncode, moved.stderr), (0, b""))
        self.assertIn(f"{here} lib@1.0.0", self.run_limited("store", "tags").stdout.decode())


    def test_what_is_included_is_a_file(self):
        os.mkfifo(self.folder / "pipe.h")
        for line in ('#include "pipe.h"', '#include "/dev/zero"', "#embed </dev/zero>"):
            source = self.folder / "includes.metal"
            source.write_text(line + "\nkernel void f(device float* x) { x[0] = 1; }\n")
            said = self.fail_with(1, "compile", source, "--no-store", "-o", self.folder / "x.smelt")
            self.assertIn("includes.metal:1:", said)


if __name__ == "__main__":
    unittest.main()
