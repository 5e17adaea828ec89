# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What needs no compiler opens none: a result that the store has, by the command and by metal -c, and the verbs that only
look. The dynamic linker itself says what it opened (LD_DEBUG=files). And what the store cannot answer is compiled."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

from smelt_cli import SANITIZED, SMELT, CliTest

COMPILER = ("libLLVM", "libclang", "libsmelt-llvm", "libsmelt-aot")
KERNEL = """#include "scale.h"
#if __has_include("extra.h")
#include "extra.h"
#endif
kernel void scale(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= SCALE; }
"""


def program_can_be_without_compiler():
    """Where all is linked into one program there is nothing to look for."""
    folder = pathlib.Path(SMELT).resolve().parent
    return not SANITIZED and (folder / "../lib/smelt/libsmelt-aot.so").exists()


@unittest.skipUnless(sys.platform == "linux" and program_can_be_without_compiler(), "the compiler is part of the program")
class HitTest(CliTest):
    def setUp(self):
        super().setUp()
        self.environment = {**os.environ, "SMELT_STORE": str(self.folder / "store")}
        self.source, self.header = self.folder / "scale.metal", self.folder / "scale.h"
        self.source.write_text(KERNEL)
        self.header.write_text("#define SCALE 2\n")
        subprocess.run([SMELT, "toolchain", self.folder / "tools"], check=True)

    def run_it(self, *words, code=0, program=SMELT, environment=()):
        """Output and messages, and which of the compiler's libraries were opened."""
        log = self.folder / "opened"
        log.mkdir()
        watched = {**self.environment, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log / "log"), **dict(environment)}
        done = subprocess.run([program, *map(str, words)], env=watched, cwd=self.folder, capture_output=True, text=True)
        text = "".join(file.read_text() for file in log.iterdir())
        shutil.rmtree(log)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertIn("libc.so", text, "the dynamic linker said nothing")
        return done.stdout, done.stderr, sorted({name for name in COMPILER if name in text})

    def compile(self, *more, opens, out="a.metallib", **how):
        output, messages, opened = self.run_it("compile", self.source, *more, "-o", out, **how)
        self.assertEqual((output, bool(opened)), ("", opens), opened)
        return (self.folder / out).read_bytes(), messages

    def metal(self, *more, opens, tool="metal"):
        """As build files call it."""
        output, messages, opened = self.run_it(*more, program=self.folder / "tools" / tool)
        self.assertEqual((output, bool(opened)), ("", opens), opened)
        return messages

    def test_the_second_compile_opens_no_compiler(self):
        for out in ("a.metallib", "a.smelt"):
            made, _ = self.compile(out=out, opens=True)
            found, said = self.compile("-v", out=out, opens=False)
            self.assertEqual(made, found)
            self.assertRegex(said, r"^smelt: info: hit [0-9a-f]{64} in \d+\.\d ms\n$")

    def test_a_dependency_file_is_the_same(self):
        self.compile("--depfile", "made.d", opens=True)
        self.compile("--depfile", "found.d", opens=False)
        rule = (self.folder / "found.d").read_text()
        self.assertEqual(rule, (self.folder / "made.d").read_text())
        self.assertIn("scale.h", rule)

    def test_warnings_are_told_again(self):
        self.source.write_text(KERNEL.replace("{ x[i]", "{ int unused = 1; x[i]"))
        flags = ("-Wall", "-c", "scale.metal", "-o", "a.air")
        said = self.metal(*flags, opens=True)
        self.assertIn("warning: unused variable", said)
        self.assertEqual(self.metal(*flags, opens=False), said)

    def test_metal_opens_no_compiler(self):
        words = ("-MD", "-MF", "a.d", "-c", "scale.metal", "-o", "a.air")
        self.metal(*words, opens=True)
        made = [(self.folder / name).read_bytes() for name in ("a.air", "a.d")]
        for name in ("a.air", "a.d"):
            (self.folder / name).unlink()
        self.metal(*words, opens=False)
        self.assertEqual([(self.folder / name).read_bytes() for name in ("a.air", "a.d")], made)

    def test_the_linker_opens_no_compiler(self):
        """Which system the library is for, the objects say: they are read when it is linked first."""
        for tool, words in (("metal", ("scale.metal", "-o", "a.metallib")), ("metallib", ("a.air", "-o", "b.metallib"))):
            if tool == "metallib":
                self.metal("-c", "scale.metal", "-target", "air64-apple-ios17.0", "-o", "a.air", opens=True)
            self.metal(*words, tool=tool, opens=True)
            made = (self.folder / words[-1]).read_bytes()
            self.metal(*words, tool=tool, opens=False)
            self.assertEqual((self.folder / words[-1]).read_bytes(), made)
        self.assertEqual(made[11], 0x82, "not for iOS")

    def test_what_changed_is_compiled(self):
        first, _ = self.compile(opens=True)
        self.header.write_text("#define SCALE 3\n")
        second, _ = self.compile(opens=True)
        self.assertNotEqual(first, second)
        (self.folder / "extra.h").write_text("#undef SCALE\n#define SCALE 4\n")  # that __has_include asked for
        third, _ = self.compile(opens=True)
        self.assertNotIn(third, (first, second))
        self.compile("-DOTHER=1", opens=True)
        self.compile("--target", "ios17", opens=True)
        self.compile(opens=True, environment=[("SMELT_TARGET", "macos15")])
        self.compile(opens=False)

    def test_a_comment_changes_no_code(self):
        first, _ = self.compile(opens=True)
        self.source.write_text("// a comment\n" + KERNEL)
        second, _ = self.compile(opens=False)
        self.assertEqual(first, second)

    def test_a_damaged_entry_is_compiled_again(self):
        first, _ = self.compile(opens=True)
        for pack in (self.folder / "store/packs").iterdir():
            bytes_ = bytearray(pack.read_bytes())
            for at in range(64, len(bytes_)):
                bytes_[at] ^= 0x5A
            pack.write_bytes(bytes_)
        second, _ = self.compile(opens=True)
        self.assertEqual(first, second)

    def test_statistics_count_it(self):
        self.compile(opens=True)
        self.compile(opens=False)
        output, _, opened = self.run_it("store", "stat")
        self.assertEqual(opened, [])
        self.assertRegex(output, r"(?m)^finds +1 hits, ")

    def test_verbs_that_only_look(self):
        self.compile(out="a.smelt", opens=True)
        for words in (("--version",), ("--help",), ("compile", "--help"), ("store", "list"), ("key", "--help"), ("toolchain", "more")):
            self.assertEqual(self.run_it(*words)[2], [], words)
        for words in (("--version",), ("-print-target-triple",), ("-###", "-c", "scale.metal")):
            self.assertEqual(self.run_it(*words, program=self.folder / "tools/metal")[2], [], words)

    def test_without_its_library(self):
        """The program alone still answers from a store; what is to be compiled names what is missing."""
        made, _ = self.compile(opens=True)
        (self.folder / "alone").mkdir()
        alone = self.folder / "alone/smelt"
        shutil.copy(pathlib.Path(SMELT).resolve(), alone)
        found, _ = self.compile(opens=False, program=alone)
        self.assertEqual(made, found)
        self.header.write_text("#define SCALE 5\n")
        _, said, _ = self.run_it("compile", self.source, "-o", "b.metallib", program=alone, code=1)
        self.assertEqual(said, "smelt: error: libsmelt-aot.so, the compiler, was not found beside smelt (toolchain_missing)\n")
        self.assertFalse((self.folder / "b.metallib").exists())

    def test_another_builds_library_is_refused(self):
        (self.folder / "alone").mkdir()
        alone, library = self.folder / "alone/smelt", self.folder / "alone/libsmelt-aot.so"
        shutil.copy(pathlib.Path(SMELT).resolve(), alone)
        right = (pathlib.Path(SMELT).resolve().parent / "../lib/smelt/libsmelt-aot.so").read_bytes()
        library.write_bytes(right)
        self.run_it("compile", self.source, "-o", "a.metallib", "--no-store", program=alone)
        (identity,) = set(re.findall(rb"\x00([0-9a-f]{128})\x00", right))  # of the sources, and of the list of functions
        library.write_bytes(right.replace(identity, bytes(reversed(identity))))
        _, said, _ = self.run_it("compile", self.source, "-o", "a.metallib", "--no-store", program=alone, code=1)
        self.assertIn("it belongs to another smelt", said)


if __name__ == "__main__":
    unittest.main()
