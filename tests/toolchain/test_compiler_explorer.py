# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""tools/toolchain/compiler-explorer as Compiler Explorer's workers use it: its words, its reading of versions, listings and errors.
What they do is in its sources: compilers/metal.ts (the words), llvm-ir.ts (lines), its page on adding a compiler (properties)."""

import os
import re
import unittest

from tools import SMELT, SOURCE, ToolTest

FOLDER = SOURCE / "tools/toolchain/compiler-explorer"
KERNEL = """#include <metal_stdlib>
using namespace metal;
static float twice(float x) { return x * 2; }
kernel void scale(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) {
  x[i] = twice(x[i])
         + 1;
}
"""


def properties():
    rows = {}
    for line in (FOLDER / "metal.local.properties").read_text().splitlines():
        if line and not line.startswith("#"):
            key, value = line.split("=", 1)
            assert key == key.strip() and value == value.strip() and key not in rows, line
            rows[key] = value
    return rows


def lines_of(listing):
    """What each instruction with !dbg comes from: (text, file, line), by the nodes that Compiler Explorer follows."""
    nodes = {}
    for name, fields in re.findall(r"^(!\d+) = (?:distinct )?!DI\w+\(([^)]+?)\)", listing, re.M):
        nodes[name] = {key: value.strip('"') for key, value in re.findall(r'(\w+): (!?\d+|\w+|"[^"]*")', fields)}

    def file_of(name):
        node = nodes.get(name, {})
        return node["filename"] if "filename" in node else file_of(node.get("file") or node["scope"])

    return [(text.strip(), file_of(name), int(nodes[name]["line"])) for text, name in re.findall(r"^(.*?), !dbg (!\d+)", listing, re.M)]


class CompilerExplorer(ToolTest):
    def setUp(self):
        super().setUp()
        self.opt = self.folder / "opt"
        self.opt.mkdir()
        (self.opt / "metal").write_bytes((FOLDER / "metal").read_bytes())
        (self.opt / "metal").chmod(0o755)
        (self.opt / "smelt").symlink_to(SMELT)
        self.work = self.folder / "compiler-explorer-compiler0"
        self.work.mkdir()
        # A worker's sandbox has no home, and our programs are on no PATH.
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": "/nonexistent"}

    def compile(self, text, *options):
        """As the worker does it: absolute names, the user's options before the source. Returns the finished process."""
        source = self.work / "example.metal"
        source.write_text(text)
        return self.call(self.opt / "metal", "-S", "-emit-llvm", "-g", "-o", self.work / "output.s", *options, source)

    def test_properties(self):
        rows = properties()
        self.assertEqual(rows["compilers"], "&smelt")
        names = rows["group.smelt.compilers"].split(":")
        self.assertIn(rows["defaultCompiler"], names)
        for name in names:
            self.assertEqual(os.path.basename(rows[f"compiler.{name}.exe"]), "metal")
            self.assertEqual(self.compile(KERNEL, *rows[f"compiler.{name}.options"].split()).returncode, 0, name)
            language = rows[f"compiler.{name}.options"].removeprefix("-std=metal").split(".")
            self.assertRegex((self.work / "output.s").read_text(), r'!"Metal", i32 {}, i32 {}, i32 0'.format(*language))
        self.assertFalse({key.split(".")[1] for key in rows if key.startswith("compiler.")} - set(names))

    def test_version(self):
        said = self.call(self.opt / "metal", *[properties()["group.smelt.versionFlag"]])
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assertRegex(said.stdout.splitlines()[0], r"^metal version \d+\.\d+ \(smelt ")

    def test_lines(self):
        done = self.compile(KERNEL)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        listing = (self.work / "output.s").read_text()
        for word in ("@llvm", "!DI", "!dbg"):  # or it is no LLVM IR to Compiler Explorer
            self.assertIn(word, listing)
        found = lines_of(listing)
        for _, file, _ in found:
            self.assertRegex(file, r"example\.[^/]+$")  # or it is a header
        self.assertEqual({line for text, _, line in found if " fmul " in text}, {3})
        self.assertEqual({line for text, _, line in found if " fadd " in text}, {6})
        self.assertEqual({line for text, _, line in found if text.startswith("store ")}, {5})

    def test_errors_and_warnings(self):
        done = self.compile("kernel void k(device float* x) { x[0] = gain; }\n")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertIn(f"{self.work}/example.metal:1:41: error: use of undeclared identifier 'gain'", done.stderr)
        self.assertFalse((self.work / "output.s").exists())
        done = self.compile(KERNEL.replace("return", "int unused; return"), "-Wall")
        self.assertEqual(done.returncode, 0)
        self.assertIn("example.metal:3:35: warning: unused variable 'unused'", done.stderr)


if __name__ == "__main__":
    unittest.main()
