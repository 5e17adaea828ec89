# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/compare-with-apple: what it counts, on sources made for that, and our AIR beside Apple's on a sample."""

import importlib.machinery
import importlib.util
import json
import shutil
import statistics
import subprocess
import sys
import unittest

from smelt_cli import CORPUS, SOURCE, CliTest

TOOL = SOURCE / "scripts/compare-with-apple"
APPLE = CORPUS / "llama.rn/cpp/ggml-metal/ggml-llama.metallib"
# The library that Apple's compiler made of ggml's Metal source, and nearly that source: the package has an older one.
PAIR = CORPUS / "llama.rn-0.3.11/cpp"

# Kernels by names of that library that compute the same, in words of our own.
SAMPLE = """
#include <metal_stdlib>
using namespace metal;
kernel void kernel_sqr_f32(device const float* in, device float* out, uint at [[thread_position_in_grid]]) {
  out[at] = in[at] * in[at];
}
kernel void kernel_relu_f32_4(device const float4* in, device float4* out, uint at [[thread_position_in_grid]]) {
  out[at] = max(0.0f, in[at]);
}
kernel void kernel_exp_f32_4(device const float4* in, device float4* out, uint at [[thread_position_in_grid]]) {
  out[at] = exp(in[at]);
}
"""

# One of each kind of thing that is told apart.
MODULE = """
@table = internal unnamed_addr addrspace(2) constant [2 x i16] zeroinitializer, align 2
define internal fastcc float @f(float addrspace(1)* nocapture noundef readonly align 4 "air-buffer-no-alias" %0, i16 %1) #0 {
  %3 = load float, float addrspace(1)* %0, align 4, !tbaa !3
  %4 = fadd nnan nsz float %3, %3
  %5 = shl nuw nsw i16 %1, 2
  %6 = icmp ult i16 %5, 9
  %7 = tail call fast float @air.fast_fabs.f32(float noundef %4) #1
  ret float %7
}
declare float @air.fast_fabs.f32(float) local_unnamed_addr #1
attributes #0 = { convergent "frame-pointer"="all" }
attributes #1 = { nounwind readnone }
!air.version = !{!0}
!0 = !{i32 2, i32 6, i32 0}
!1 = !{i32 0, !"air.buffer", !"air.arg_name", !"air.mine"}
!2 = !{i32 1, !"wchar_size", i32 4}
"""
USES = {
    "call attribute nounwind", "call attribute readnone", "call with tail", "define with fastcc", "define with internal",
    "declare with local_unnamed_addr",
    "flag of a call: fast", "flag of fadd: nnan", "flag of fadd: nsz", "flag of shl: nsw", "flag of shl: nuw",
    'function attribute of a define: "frame-pointer"', "function attribute of a define: convergent",
    "function attribute of the declaration of air.fast_fabs: nounwind",
    "function attribute of the declaration of air.fast_fabs: readnone",
    "icmp ult", "instruction fadd float", "instruction icmp i16", "instruction load float", "instruction ret float",
    "instruction shl i16", "metadata tbaa", "module flag wchar_size", "named metadata air.version", "operation air.fast_fabs.f32",
    'parameter attribute of a define: "air-buffer-no-alias"', "parameter attribute of a define: align",
    "parameter attribute of a define: nocapture", "parameter attribute of a define: noundef",
    "parameter attribute of a define: readonly", "parameter attribute of a call: noundef", "string air.buffer", "string air.arg_name",
    "type float", "type i16", "value zeroinitializer", "variable in addrspace(2)", "variable internal", "variable unnamed_addr",
}  # fmt: skip

LOOPS = """
#include <metal_stdlib>
using namespace metal;
struct arguments { int first; int rows; float factor; };
kernel void hints(constant arguments& args, device const float* in, device float* out, uint at [[thread_position_in_grid]]) {
  float sum = 0;
  #pragma clang loop unroll(full)
  for (int i = 0; i < 4; ++i) sum += in[i * args.rows];
  #pragma unroll(2)
  for (int i = 0; i < args.rows; ++i) sum += in[i];
  #pragma unroll(1)
  for (int i = 0; i < args.first; ++i) sum *= in[i];
  out[at] = sum;
}
kernel void hoists(constant arguments& args, device const float* in, device float* out, uint at [[thread_position_in_grid]]) {
  for (int i = 0; i < args.rows; ++i) out[i] = in[i] * args.factor;
}
"""


def load_tool():
    loader = importlib.machinery.SourceFileLoader("compare_with_apple", str(TOOL))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


class CompareWithApple(CliTest):
    def library(self, source, *options):
        path = self.folder / "x.metal"
        path.write_text(source)
        made = self.folder / "x.metallib"
        self.succeed("compile", path, "-o", made, "--target", "ios18", "--no-cpu", "--no-store", *options)
        return made

    def compare(self, apple, ours, *options):
        if not shutil.which("llvm-dis-14"):
            self.skipTest("llvm-dis-14 is not installed")
        rows = self.folder / "rows.json"
        run = [sys.executable, "-B", str(TOOL), str(apple), str(ours), "--json", str(rows), *options]
        done = subprocess.run(run, capture_output=True, text=True, timeout=300)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout, json.loads(rows.read_text())

    def test_hints_of_loops_are_kept_and_loops_are_not_unrolled(self):
        library = self.library(LOOPS)
        hints = self.compare(library, library)[1]["hints"]["ours"]
        self.assertEqual(hints["loops"], 3)
        self.assertEqual(hints["hints"], {"llvm.loop.unroll.full": 1, "llvm.loop.unroll.count": 2})

    def test_constant_memory_is_read_before_the_loop(self):
        library = self.library(LOOPS)
        hoists = self.compare(library, library)[1]["hoists"]["ours"]
        self.assertEqual((hoists["loops"], hoists["loads_in_loops"]), (1, 1))
        self.assertEqual(hoists["alias_scopes"], hoists["loads"] + hoists["stores"])
        self.assertEqual(hoists["parameters"],
                         ["%struct.arguments addrspace(2)*", "float addrspace(1)*", "float addrspace(1)*", "i32"])

    def test_a_library_is_like_itself(self):
        library = self.library(SAMPLE)
        text, rows = self.compare(library, library, "--kernels", "--function", "relu")
        self.assertEqual(list(rows), ["kernel_relu_f32_4"])
        self.assertIn("median 1.00, best 1.00, worst 1.00 (kernel_relu_f32_4)", text)
        self.assertIn("only in Apple's: 0", text)
        self.assertIn("only in ours: 0", text)

    def test_what_a_module_uses_is_told_apart(self):
        self.assertEqual(set(load_tool().uses_of(MODULE)), USES)

    def test_what_only_one_of_two_uses_is_counted(self):
        apple, ours = {"instruction ret": 1, "operation air.a": 2}, {"instruction ret": 1, "operation air.b": 3, "operation air.c": 1}
        pairs = {name: ({"uses": apple}, {"uses": ours}) for name in ("f", "g")}
        alone = load_tool().only_in(pairs, {"operation air.c"})
        self.assertEqual(alone, {"apple": {"operation air.a": (2, 4)}, "ours": {"operation air.b": (2, 6)}})

    def test_a_sample_is_like_apples(self):
        if not APPLE.exists():
            self.skipTest("build/corpus is absent; scripts/fetch-corpus makes it")
        rows = self.compare(APPLE, self.library(SAMPLE, "--fast-math"))[1]
        self.assertEqual(len(rows), 3)
        for name, row in rows.items():
            with self.subTest(name):
                for key in ("instructions", "loads", "stores", "alias_scopes", "parameters", "helpers"):
                    self.assertEqual(row["ours"][key], row["apple"][key], key)

    def test_a_whole_library_is_like_apples(self):
        if not PAIR.exists():
            self.skipTest("build/corpus is absent; scripts/fetch-corpus makes it")
        ours = self.folder / "ours.metallib"
        self.succeed("compile", PAIR / "ggml-metal.metal", "-o", ours, "--target", "ios17", "--fast-math", "--no-cpu", "--no-store",
                     "-D", "LM_GGML_COMMON_DECL_METAL", "-D", "LM_GGML_COMMON_IMPL_METAL")  # fmt: skip
        text, rows = self.compare(PAIR / "ggml-llama.metallib", ours, *(["--also", str(APPLE)] if APPLE.exists() else []))
        self.assertEqual(len(rows), 168)
        # docs/design/metal-front-end.md, section 7: what is left are types of instructions, and constant expressions.
        alone = text[text.index("only in ours:") :].splitlines()[2:]
        self.assertTrue(alone)
        for line in alone:
            if APPLE.exists():
                self.assertRegex(line.split(maxsplit=2)[2], "^(instruction|constant expression) ")

        def total(side, key):
            return sum(row[side][key] for row in rows.values())

        ratios = [row["ours"]["instructions"] / row["apple"]["instructions"] for row in rows.values()]
        self.assertLess(total("ours", "instructions"), 1.10 * total("apple", "instructions"))
        self.assertLess(statistics.median(ratios), 1.05)
        self.assertLess(max(ratios), 1.5)
        self.assertLessEqual(total("ours", "loads_in_loops"), total("apple", "loads_in_loops"))
        self.assertGreater(total("ours", "alias_scopes"), 0.99 * total("ours", "buffer_accesses"))
        same = sum(row["ours"]["parameters"] == row["apple"]["parameters"] for row in rows.values())
        self.assertGreaterEqual(same, 164)

    def test_no_prefix_of_a_library_is_read(self):
        tool = load_tool()
        whole = self.library(SAMPLE).read_bytes()
        self.assertEqual(len(tool.functions_of(self.folder / "x.metallib")), 3)
        path = self.folder / "prefix.metallib"
        for size in [*range(0, 1024), *range(1024, len(whole) - 64, 61)]:
            path.write_bytes(whole[:size])
            with self.assertRaises(tool.Unreadable):
                tool.functions_of(path)

    def test_no_function_in_common_is_an_error(self):
        if not shutil.which("llvm-dis-14"):
            self.skipTest("llvm-dis-14 is not installed")
        one = self.library(SAMPLE).rename(self.folder / "one.metallib")
        done = subprocess.run([sys.executable, "-B", str(TOOL), str(one), str(self.library(LOOPS))], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1)
        self.assertIn("no function is in both libraries (3 and 2 functions)", done.stderr)


if __name__ == "__main__":
    unittest.main()
