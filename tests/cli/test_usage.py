# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is said of words that are not understood, and options that leave the words behind them alone."""

import os
import re
import unittest

import npy
from smelt_cli import CliTest, smelt

KERNEL = """#include <metal_stdlib>
using namespace metal;
constant int factor [[function_constant(0)]];
kernel void f(device float* x, threadgroup float* t [[threadgroup(0)]], uint i [[thread_position_in_grid]]) {
  t[0] = factor;
  x[i] = t[0];
}
"""


class UsageTest(CliTest):
    def verbs(self):
        listed = self.succeed("--help").decode().split("Subcommands:")[1]
        return re.findall(r"^  (\S+)", listed, re.M)

    def test_near_names(self):
        for words, said in (
            (("compil",), "smelt: unknown command 'compil'; did you mean 'compile'?"),
            (("verfy", "x.metallib"), "smelt: unknown command 'verfy'; did you mean 'verify'?"),
            (("frobnicate",), "smelt: unknown command 'frobnicate'"),
            (("store", "lst"), "smelt: store: unknown command 'lst'; did you mean 'list'?"),
            (("--verion",), "smelt: unknown option '--verion'; did you mean '--version'?"),
            (("compile", "x.metal", "--outptu", "y"), "smelt: compile: unknown option '--outptu'; did you mean '--output'?"),
            (("compile", "x.metal", "--outptu=y"), "smelt: compile: unknown option '--outptu'; did you mean '--output'?"),
            (("run", "--thread", "4"), "smelt: run: unknown option '--thread'; did you mean '--threads'?"),
            (("store", "trim", "--max-byte", "4"), "smelt: store trim: unknown option '--max-byte'; did you mean '--max-bytes'?"),
            (("compile", "x.metal"), "smelt: compile: --output is required"),
            ((), "smelt: a command is missing"),
            (("store",), "smelt: store: a command is missing"),
        ):
            first, second = self.fail_with(2, *words).splitlines()
            self.assertEqual(first, said, words)
            self.assertRegex(second, r"^Run 'smelt (\w+ )*--help' for more information\.$")

    def test_every_usage_error_begins_with_the_name(self):
        verbs = self.verbs()
        self.assertGreater(len(verbs), 14)
        for verb in verbs:
            if verb != "toolchain-tool":  # whose words are the tool's
                said = self.fail_with(2, verb, "--no-such-option")
                self.assertTrue(said.startswith(f"smelt: {verb}: unknown option '--no-such-option'"), said)

    def test_options_take_one_word(self):
        os.environ["SMELT_STORE"] = str(self.folder / "store")
        source = self.folder / "k.metal"
        source.write_text(KERNEL)
        package, key, out = self.folder / "k.smelt", self.folder / "key", self.folder / "out.npy"
        self.succeed("compile", source, "-o", package)
        self.succeed("key", "new", "ci", "-o", key)
        trusted = self.folder / "trusted"
        trusted.write_bytes(self.succeed("key", "show", key))
        self.succeed("sign", package, "--key", key)
        self.succeed("run", "--threads", 4, "--constant", "0=3", "--threadgroup-memory", 16, "--trust", "signed", "--trusted", trusted, package, "f",
                     f"f32[4]={out}")
        self.assertEqual(npy.read(out)[0], [3.0] * 4)
        self.assertIn(b"signed by ci:", smelt("verify", "--trusted", trusted, package).stdout)


if __name__ == "__main__":
    unittest.main()
