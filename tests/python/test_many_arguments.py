# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels of LLVM IR that want more than a Metal device has: buffers, which go into an argument buffer, and threadgroup
memory, which the CPU alone has."""

import array
import ctypes
import unittest

import smelt

METADATA = {"shared": 0, "num_warps": 4, "warp_size": 32}


def summing(count, scalars=""):
    """Adds up all but the first of `count` buffers, and the scalars, into the first."""
    names = [f"%a{i}" for i in range(count)]
    parameters = ", ".join(f"ptr addrspace(1) {name}" for name in names)
    lines = ["  %i = call i32 @llvm.amdgcn.workitem.id.x()", "  %s1 = sitofp i32 0 to float"]
    for i in range(1, count):
        lines.append(f"  %p{i} = getelementptr float, ptr addrspace(1) %a{i}, i32 %i\n  %v{i} = load float, ptr addrspace(1) %p{i}")
        lines.append(f"  %s{i + 1} = fadd float %s{i}, %v{i}")
    if scalars:
        lines.append("  %w = sitofp i64 %wide to float\n  %m = fmul float %w, %factor\n  %n = sitofp i32 %whole to float")
        lines.append(f"  %t = fadd float %m, %n\n  %all = fadd float %s{count}, %t")
    last = "%all" if scalars else f"%s{count}"
    body = "\n".join(lines)
    return f"""target triple = "amdgcn-amd-amdhsa"
declare i32 @llvm.amdgcn.workitem.id.x()
define amdgpu_kernel void @k({parameters}{scalars}) {{
{body}
  %q = getelementptr float, ptr addrspace(1) %a0, i32 %i
  store float {last}, ptr addrspace(1) %q
  ret void
}}
"""


SCALARS = ", i64 %wide, float %factor, i32 %whole"


class ManyArgumentsTest(unittest.TestCase):
    def kernel(self, text, **options):
        package = smelt.compile(text, targets="macos14", metadata=METADATA, store=False, **options)
        return package.load().k

    def buffers(self, count):
        return [array.array("f", [float(i + 100 * n) for i in range(32)]) for n in range(count)]

    def test_any_number_of_buffers(self):
        for count in (30, 31, 32, 33, 100, 1000):
            kernel = self.kernel(summing(count), cpu_only=count > 100)
            bound = self.buffers(count)
            kernel(*bound, threads=32, group_size=32)
            wanted = [float(sum(i + 100 * n for n in range(1, count))) for i in range(32)]
            for got, want in zip(bound[0], wanted):
                self.assertAlmostEqual(got, want, delta=1e-5 * want)

    def test_numbers_among_them(self):
        kernel = self.kernel(summing(40, SCALARS))
        for numbers in ((-3, 0.5, 7), (ctypes.c_int64(-3), ctypes.c_float(0.5), ctypes.c_int32(7))):
            bound = self.buffers(40)
            kernel(*bound, *numbers, threads=32, group_size=32)
            self.assertEqual(bound[0][5], sum(5 + 100 * n for n in range(1, 40)) - 1.5 + 7)

    def test_what_is_wrong_with_a_call(self):
        kernel = self.kernel(summing(33, SCALARS))
        bound = self.buffers(33)
        with self.assertRaisesRegex(smelt.ArgumentError, "has 36 buffer arguments, the call passes 35"):
            kernel(*bound, 1, 2.0, threads=32, group_size=32)
        with self.assertRaisesRegex(smelt.ArgumentError, "argument 31 'a31': want an array"):
            kernel(*bound[:31], 3, bound[32], 1, 2.0, 3, threads=32, group_size=32)
        with self.assertRaisesRegex(smelt.ArgumentError, "argument 33 'wide': the kernel expects long of 8 bytes, the call passes 2 bytes"):
            kernel(*bound, ctypes.c_int16(1), 2.0, 3, threads=32, group_size=32)

    def test_more_threadgroup_memory_than_a_gpu_has(self):
        text = """target triple = "amdgcn-amd-amdhsa"
@big = internal addrspace(3) global [18432 x i32] undef, align 4
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
define amdgpu_kernel void @k(ptr addrspace(1) %out) {
  %i = call i32 @llvm.amdgcn.workitem.id.x()
  %here = mul i32 %i, 144
  %p = getelementptr [18432 x i32], ptr addrspace(3) @big, i32 0, i32 %here
  store i32 %i, ptr addrspace(3) %p
  call void @llvm.amdgcn.s.barrier()
  %mirrored = sub i32 127, %i
  %there = mul i32 %mirrored, 144
  %q = getelementptr [18432 x i32], ptr addrspace(3) @big, i32 0, i32 %there
  %v = load i32, ptr addrspace(3) %q
  %o = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %v, ptr addrspace(1) %o
  ret void
}
"""
        with self.assertRaisesRegex(smelt.Error, "needs 73728 bytes of threadgroup memory; Apple GPUs have 32768"):
            self.kernel(text)
        kernel = self.kernel(text, cpu_only=True)
        self.assertEqual(kernel.static_threadgroup_memory_length, 73728)
        out = array.array("i", [0] * 128)
        kernel(out, threads=128, group_size=128)
        self.assertEqual(list(out), list(range(127, -1, -1)))


if __name__ == "__main__":
    unittest.main()
