# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of the tools share: a folder of them on PATH, a store of its own, and small sources."""

import os
import pathlib
import re
import struct
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("SMELT_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
SMELT = os.environ.get("SMELT", str(SOURCE / "build/dev/bin/smelt"))

SCALE = """#include <metal_stdlib>
#include "factor.h"
using namespace metal;
kernel void scale(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] += FACTOR; }
"""
FILL = """#include <metal_stdlib>
using namespace metal;
kernel void fill(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] = 7; }
"""


class ToolTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="smelt-tools-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.bin = self.folder / "tools"
        self.environment = {name: value for name, value in os.environ.items()
                            if name not in ("SDKROOT", "MACOSX_DEPLOYMENT_TARGET", "IPHONEOS_DEPLOYMENT_TARGET")}
        self.environment |= {"SMELT_STORE": str(self.folder / "store"), "PATH": f"{self.bin}:{os.environ['PATH']}"}
        subprocess.run([SMELT, "toolchain", self.bin], check=True)

    def write(self, **files):
        """factor_h="..." writes factor.h; returns the paths."""
        paths = []
        for name, text in files.items():
            path = self.folder / re.sub("_(?=[a-z]+$)", ".", name)
            path.write_text(text)
            paths.append(path)
        return paths

    def call(self, *words, stdin="", **environment):
        """Runs a tool in the test's folder; stdout and stderr are text."""
        return subprocess.run([str(word) for word in words], input=stdin, capture_output=True, text=True, errors="replace",
                              cwd=self.folder, env=self.environment | environment, timeout=300)

    def succeed(self, *words, stderr="", **more):
        """Exit 0 and that stderr; returns stdout."""
        result = self.call(*words, **more)
        self.assertEqual((result.returncode, result.stderr), (0, stderr), words)
        return result.stdout

    def fail_with(self, code, *words, **more):
        """That exit code and an empty stdout; returns stderr."""
        result = self.call(*words, **more)
        self.assertEqual((result.returncode, result.stdout), (code, ""), result.stderr)
        return result.stderr

    def kernels(self, library):
        """Names in a library, which must pass `smelt verify`."""
        self.succeed(SMELT, "verify", library)
        return sorted(line.split()[-1] for line in self.succeed("metal-nm", library).splitlines())

    def run_kernel(self, library, kernel):
        """What the kernel left of four zeros."""
        self.succeed(SMELT, "run", library, kernel, "--threads", 4, "f32[4]=out.npy")
        return struct.unpack("<4f", (self.folder / "out.npy").read_bytes()[-16:])
