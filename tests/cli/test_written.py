# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What is written verifies: whatever input the tests have, hostile ones too, compile writes what verify finds nothing
wrong with, or says why not and writes nothing."""

import concurrent.futures
import pathlib
import random
import re
import unittest

import smelt_cli

ENDINGS = {".metal", ".ll", ".metallib"}
# What a compile may take: an input that needs more fails, and writes nothing.
LIMITS = ["--timeout", "20", "--max-memory", "2GiB"]

STAGES = """
#include <metal_stdlib>
using namespace metal;
struct In { float3 at [[attribute(0)]]; float2 uv [[attribute(1)]]; };
struct Between { float4 position [[position]]; float2 uv; float size [[point_size]]; };
struct Out { float4 color [[color(0)]]; float depth [[depth(any)]]; };
vertex Between corner(In in [[stage_in]], constant float4x4& by [[buffer(1)]], uint i [[vertex_id]]) {
  return {by * float4(in.at, 1), in.uv * float(i), 1};
}
fragment Out inside(Between in [[stage_in]], texture2d<float> from [[texture(0)]], sampler by [[sampler(0)]], bool front [[front_facing]]) {
  return {from.sample(by, in.uv) * (front ? 1 : 2), in.position.z};
}
kernel void compute(device const float* x [[buffer(0)]], device float* y [[buffer(3)]], constant uint& n [[buffer(1)]], texture2d<half, access::write> to [[texture(1)]],
                    threadgroup float* shared [[threadgroup(0)]], uint i [[thread_position_in_grid]], ushort at [[thread_position_in_threadgroup]]) {
  if (i < n) y[i] = shared[at] + x[i];
  to.write(half4(1), uint2(at, 0));
}
[[visible]] float seen(float x, thread float* y) { return x + *y; }
"""


class WrittenTest(smelt_cli.CliTest):
    def check(self, inputs, *options):
        """How many were written."""
        outputs = {}
        for number, source in enumerate(inputs):
            outputs[source] = self.folder / f"{number}.smelt"

        def compile_one(source):
            return source, smelt_cli.smelt("compile", "--no-store", *LIMITS, *options, source, "-o", outputs[source])

        written = []
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            for source, result in pool.map(compile_one, inputs):
                with self.subTest(source=source.name):
                    self.assertEqual(outputs[source].exists(), result.returncode == 0, result.stderr.decode())
                    self.assertGreaterEqual(result.returncode, 0, "killed by a signal")
                    if result.returncode == 0:
                        written.append(source)
                    else:
                        self.assertNotEqual(result.stderr, b"")
        for first in range(0, len(written), 50):
            some = written[first : first + 50]
            verified = smelt_cli.smelt("verify", *(outputs[source] for source in some))
            said = verified.stdout.decode() + verified.stderr.decode()
            names = ", ".join(source.name for source in some)
            self.assertEqual(verified.returncode, 0, f"{said}\nof {names}")
        return len(written)

    def test_inputs_in_the_tree(self):
        inputs = sorted(
            path
            for folder in ("examples", "tests/aot/ir", "tests/aot/air", "tests/aot/cpu/kernels", "tests/aot/msl", "tests/fuzz")
            for path in (smelt_cli.SOURCE / folder).rglob("*")
            if path.suffix in ENDINGS
        )
        self.assertGreater(len(inputs), 250)
        self.assertGreater(self.check(inputs, "--no-cpu"), 150)

    def test_libraries_whose_metadata_is_wrong(self):
        """AIR of each stage with words of its metadata misspelt, left out, twice or with other numbers."""
        source, library = self.folder / "stages.metal", self.folder / "stages.metallib"
        source.write_text(STAGES)
        self.succeed("compile", source, "--no-cpu", "--target", "macos14", "-o", library)
        random_ = random.Random(20261128)
        mutants = []
        for function in ("corner", "inside", "compute", "seen"):
            text = self.succeed("disasm", library, function).decode()
            lines = [number for number, line in enumerate(text.splitlines()) if '!"' in line and line.startswith("!") and "=" in line]
            for number in lines:
                for change in range(4):
                    rows = text.splitlines()
                    head, body = rows[number].split("!{", 1)
                    parts = re.split(r", (?=[!i])", body.rstrip("}"))
                    at = random_.randrange(len(parts))
                    if change == 0:
                        words = [i for i, part in enumerate(parts) if part.startswith('!"air.')]
                        at = random_.choice(words or [at])
                        parts[at] = parts[at].replace('!"air.', '!"air.z')
                    elif change == 1:
                        del parts[at]
                    elif change == 2:
                        parts.insert(at, parts[at])
                    else:
                        numbers = [i for i, part in enumerate(parts) if part.startswith("i32 ")]
                        at = random_.choice(numbers or [at])
                        parts[at] = f"i32 {random_.choice((0, 1, 7, 31, 99, -1))}"
                    rows[number] = head + "!{" + ", ".join(parts) + "}"
                    mutants.append(self.folder / f"{function}-{number}-{change}.ll")
                    mutants[-1].write_text("\n".join(rows) + "\n")
        self.assertGreater(len(mutants), 100)
        mutants = random_.sample(mutants, 100)
        self.assertGreater(self.check(mutants, "--no-cpu"), 5)

    def test_inputs_that_once_went_wrong(self):
        folders = [self.shared("data/hostile"), self.shared("data/repro"), self.shared("data/repro3")]
        inputs = sorted(path for folder in folders for path in pathlib.Path(folder).rglob("*") if path.suffix in ENDINGS)
        self.assertGreater(len(inputs), 10)
        self.assertGreater(self.check(inputs), 5)


if __name__ == "__main__":
    unittest.main()
