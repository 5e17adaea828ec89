# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt run, from outside: arrays in and out, scalars, constants, Apple's own libraries, and what is refused."""

import os
import unittest

import npy
from smelt_cli import SOURCE, CliTest, smelt

SAXPY = SOURCE / "examples/saxpy.ll"

# Blocks are counted as CUDA does; the last one of a grid that is no multiple of the group is trimmed.
BLOCKS = """
target triple = "nvptx64-nvidia-cuda"
define void @blocks(ptr addrspace(1) %out) {
  %c = call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %n = call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %t = call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %first = mul i32 %c, %n
  %i = add i32 %first, %t
  %wide = zext i32 %i to i64
  %p = getelementptr i32, ptr addrspace(1) %out, i64 %wide
  store i32 %i, ptr addrspace(1) %p
  ret void
}
declare i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
declare i32 @llvm.nvvm.read.ptx.sreg.tid.x()
!nvvm.annotations = !{!0}
!0 = !{ptr @blocks, !"kernel", i32 1}
"""


class RunTest(CliTest):
    def setUp(self):
        super().setUp()
        os.environ["SMELT_STORE"] = str(self.folder / "store")

    def package(self, source=SAXPY):
        out = self.folder / (source.stem + ".smelt")
        self.succeed("compile", source, "-o", out)
        return out

    def test_saxpy(self):
        n = 1003
        package = self.package()
        x = npy.write(self.folder / "x.npy", [i * 0.5 for i in range(n)])
        y = npy.write(self.folder / "y.npy", [float(i % 7) for i in range(n)])
        out = self.folder / "out.npy"
        for group in ((), ("--group", 64), ("--group", 1000)):
            self.succeed("run", package, "saxpy", "--threads", n, *group, x, f"{y}={out}", "f32:2", f"i32:{n}")
            self.assertEqual(npy.read(out), ([float(i + i % 7) for i in range(n)], (n,)))
        self.assertEqual(npy.read(y)[0][:8], [0, 1, 2, 3, 4, 5, 6, 0], "an input is not written over")

    def test_zeros_of_a_type_and_shape(self):
        n = 12
        x = npy.write(self.folder / "x.npy", [float(i) for i in range(n)], shape=(3, 4))
        out = self.folder / "out.npy"
        self.succeed("run", self.package(), "saxpy", "--threads", n, x, f"f32[3,4]={out}", "f32:3", f"i32:{n}")
        self.assertEqual(npy.read(out), ([3.0 * i for i in range(n)], (3, 4)))

    def test_blocks_of_a_trimmed_grid(self):
        source = self.folder / "blocks.ll"
        source.write_text(BLOCKS)
        package, out = self.package(source), self.folder / "out.npy"
        for n, group in ((100, 32), (1000, 256), (5, 8), (64, 64)):
            self.succeed("run", package, "blocks", "--threads", n, "--group", group, f"u32[{n}]={out}")
            self.assertEqual(npy.read(out)[0], list(range(n)), (n, group))

    def test_apples_library_with_function_constants(self):
        for version in (11, 12, 13, 14, 15, 26):
            library = self.shared("data/metallibs") / f"constants.{version}.metallib"
            a = npy.write(self.folder / "a.npy", [float(i) for i in range(65)])
            b = npy.write(self.folder / "b.npy", [1.0] * 65)
            out = self.folder / "c.npy"
            arguments = ("run", library, "vadd", "--threads", 65, a, b, f"f32[65]={out}")
            self.succeed(*arguments, "--constant", "0=3", "--constant", "2=-2")
            self.assertEqual(npy.read(out)[0], [3.0 * i - 1.0 for i in range(65)], version)
            said = self.fail_with(1, *arguments, "--constant", "0=3")
            self.assertIn("constant_missing", said)

    def test_what_is_refused(self):
        package = self.package()
        x = npy.write(self.folder / "x.npy", [1.0] * 4)
        run = ("run", package, "saxpy", "--threads", 4)
        good = (x, f"{x}={self.folder / 'o.npy'}", "f32:1", "i32:4")
        self.assertIn("function_not_found", self.fail_with(1, "run", package, "saxpi", "--threads", 4))
        self.assertIn("saxpy", self.fail_with(1, "run", package, "saxpi", "--threads", 4), "near names are listed")
        self.assertIn("group_too_large", self.fail_with(1, *run, "--group", 1025, *good))
        self.assertIn("group_zero", self.fail_with(1, *run, "--group", 0, *good))
        self.assertIn("rank", self.fail_with(1, *run, "--group", "2,2", *good))
        self.assertIn("x.npy", self.fail_with(1, *run, self.folder / "nowhere" / "x.npy", *good[1:]))
        self.assertNotEqual(smelt(*run, "f99:1").returncode, 0)
        self.assertIn("device_unavailable", self.fail_with(1, *run, "--device", "metal", *good))
        self.assertEqual(smelt("run", package, "saxpy").returncode, 2, "threads are missing")
        for asked in (("--threads", "x"), ("--threads", "1,2,3,4"), ("--threads", "4,"), ("--threads", "4", "--group", "-1")):
            self.assertIn(f"{asked[-2]} '{asked[-1]}': want counts", self.fail_with(2, "run", package, "saxpy", *asked))
        for memory in ("40=4", "4=x", "1,2"):
            said = self.fail_with(2, *run, "--threadgroup-memory", memory, *good)
            self.assertIn(f"'{memory}': want BYTES or INDEX=BYTES", said)
        self.assertIn("argument '2': a number needs its type: f32:2 or i32:2", self.fail_with(2, *run, *good[:2], "2", "i32:4"))
        for wrong in ("f33[4]", "f33:4"):
            self.assertIn(f"argument '{wrong}': type 'f33' is not known; want one of f16", self.fail_with(1, *run, wrong, *good[1:]))
        self.assertIn("argument 'i32:1.5'", self.fail_with(2, *run, *good[:3], "i32:1.5"))

    def test_a_type_that_the_kernel_does_not_expect(self):
        package = self.folder / "metal.smelt"
        self.succeed("compile", SOURCE / "examples" / "saxpy.metal", "-o", package)
        run = ("run", package, "saxpy", "--threads", 4)
        self.assertEqual(smelt(*run, "f32[4]", "f32[4]", "f32:2").stderr, b"")
        for wrong in ("i32[4]", "u8[16]", "bool[16]", "i8[16]", "f16[8]", "u16[8]", "f64[4]"):
            said = self.fail_with(1, *run, wrong, "f32[4]", "f32:2")
            self.assertIn(f"argument '{wrong}' is {wrong[: wrong.index('[')]}; 'saxpy' expects float in buffer 0 'x'; pass elements of float32", said)
        self.assertIn("expects float in buffer 2 'a'", self.fail_with(1, *run, "f32[4]", "f32[4]", "i32:2"))
        self.assertIn("argument 'u32:1': 'saxpy' has no buffer 3", smelt(*run, "f32[4]", "f32[4]", "f32:2", "u32:1").stderr.decode())

    def test_what_lies_otherwise_or_is_too_short(self):
        source, package = self.folder / "layouts.metal", self.folder / "layouts.smelt"
        source.write_text("""struct P { float a; float b; };
kernel void vectors(device const float3* v, device float* out) { out[0] = v[0].x; }
kernel void structure(constant P& p, device float* out) { out[0] = p.a + p.b; }
kernel void numbers(constant uint2& p, device float* out) { out[0] = p.y; }
""")
        self.succeed("compile", source, "-o", package)
        one = ("--threads", 1)
        self.succeed("run", package, "vectors", *one, "f32[4,4]", "f32[1]")
        for wrong in ("f32[4,3]", "f32[12]"):
            said = self.fail_with(1, "run", package, "vectors", *one, wrong, "f32[1]")
            self.assertIn("space of 4: pass an array whose last dimension is 4, or let the kernel take packed_float3", said)
        self.succeed("run", package, "structure", *one, "f32[2]", "f32[1]")
        self.assertIn("buffer 0 'p' has 4 bytes, and the kernel reads P of 8 bytes", self.fail_with(1, "run", package, "structure", *one, "u8[4]", "f32[1]"))
        self.assertIn("int32 numbers for P", self.fail_with(1, "run", package, "structure", *one, "i32[2]", "f32[1]"))
        self.assertIn("buffer 0 'p' has 4 bytes, and the kernel reads uint2 of 8 bytes", self.fail_with(1, "run", package, "numbers", *one, "u32:5", "f32[1]"))

    def test_checked_code_names_kernel_buffer_and_thread(self):
        x = npy.write(self.folder / "x.npy", [1.0] * 4)
        said = self.fail_with(
            1, "run", "--checked", self.package(), "saxpy", "--threads", 8, x, f"{x}={self.folder / 'o.npy'}", "f32:1", "i32:8"
        )
        if "buffer_bounds" not in said:  # the package holds no checked code, and says so
            self.assertIn("checked", said)

    def test_a_damaged_package_is_refused_before_anything_runs(self):
        package = self.package()
        whole = package.read_bytes()
        x = npy.write(self.folder / "x.npy", [1.0] * 4)
        out = self.folder / "o.npy"
        bad = self.folder / "bad.smelt"
        places = range(0, len(whole), max(1, len(whole) // 40))
        for damaged in [whole[:at] for at in places] + [
            whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :] for at in places
        ]:
            bad.write_bytes(damaged)
            result = smelt("run", bad, "saxpy", "--threads", 4, x, f"{x}={out}", "f32:1", "i32:4")
            if result.returncode == 0:  # the bit was in a slice that was not chosen, or in what only names things
                self.assertEqual(npy.read(out)[0], [2.0] * 4)
            else:
                self.assertEqual(result.returncode, 1, result.stderr)
                self.assertFalse(out.exists(), "something ran")
            out.unlink(missing_ok=True)


if __name__ == "__main__":
    unittest.main()
