# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt diff: two builds of one source are the same; what was planted, in our libraries and in Apple's, is found."""

import hashlib
import json
import re
import shutil
import struct
import subprocess
import unittest

from smelt_cli import CORPUS, SEEDS, CliTest, smelt

APPLE = CORPUS / "llama.rn/cpp/ggml-metal/ggml-llama.metallib"

KERNELS = """
#include <metal_stdlib>
using namespace metal;
struct arguments { int rows; float factor; };
constant float scale [[function_constant(3)]];
kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = fma(a, x[i], y[i]);
}
kernel void reduce(constant arguments& args [[buffer(0)]], device const float* in [[buffer(1)]], device float* out [[buffer(2)]],
                   uint lane [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]]) {
  threadgroup float sums[256];
  sums[lane] = in[group * 32 + lane] * args.factor;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (lane == 0) {
    float sum = 0;
    for (int i = 0; i < min(args.rows, 8); ++i) sum += sums[i];
    out[group] = sum * scale;
  }
}
kernel void count(device const int* in [[buffer(0)]], device int* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = in[i] / 3;
}
"""


def blobs(data):
    """(name, tags by name with the places of their payloads, first byte, size) of each function of a Metal library."""
    bitcode_at = struct.unpack_from("<Q", data, 72)[0]
    at = struct.unpack_from("<Q", data, 24)[0]
    count, at = struct.unpack_from("<I", data, at)[0], at + 4
    for _ in range(count):
        end, tags, at = at + struct.unpack_from("<I", data, at)[0], {}, at + 4
        while data[at : at + 4] != b"ENDT":
            size = struct.unpack_from("<H", data, at + 4)[0]
            tags[bytes(data[at : at + 4])] = at + 6
            at += 6 + size
        at = end
        offset, size = struct.unpack_from("<Q", data, tags[b"OFFT"] + 16)[0], struct.unpack_from("<Q", data, tags[b"MDSZ"])[0]
        name = data[tags[b"NAME"] : data.index(b"\0", tags[b"NAME"])].decode()
        yield name, tags, bitcode_at + offset, size


def with_module(library, function, bitcode):
    """The library with another module for one function. Its bitcode lies last, as in Apple's libraries."""
    data = bytearray(library)
    bitcode_at = struct.unpack_from("<Q", data, 72)[0]
    section = bytearray()
    for name, tags, first, size in list(blobs(library)):
        blob = bitcode + bytes(-len(bitcode) % 16) if name == function else library[first : first + size]
        struct.pack_into("<Q", data, tags[b"OFFT"] + 16, len(section))
        struct.pack_into("<Q", data, tags[b"MDSZ"], len(blob))
        data[tags[b"HASH"] : tags[b"HASH"] + 32] = hashlib.sha256(blob).digest()
        section += blob
    struct.pack_into("<Q", data, 80, len(section))
    struct.pack_into("<Q", data, 16, bitcode_at + len(section))
    return bytes(data[:bitcode_at]) + section


class Diff(CliTest):
    made = {}  # what was compiled before, by source and options

    def compile(self, name, source, *options, ending="metallib", target="macos14"):
        path = self.folder / f"{name}.{ending}"
        key = (source, options, ending, target)
        if key not in self.made:
            text = self.folder / f"{name}.metal"
            text.write_text(source)
            self.succeed("compile", text, "-o", path, "--target", target, "--no-cpu", "--no-store", *options)
            self.made[key] = path.read_bytes()
        path.write_bytes(self.made[key])
        return path

    def diff(self, a, b, *options, code=1):
        done = smelt("diff", a, b, "--json", "--no-store", *options)
        self.assertEqual((done.returncode, done.stderr.decode()), (code, ""), done.stdout.decode()[:2000])
        report = json.loads(done.stdout)
        self.assertEqual(report["differs"], code == 1)
        return report

    def kinds(self, report):
        """{function: kinds of its differences}"""
        (library,) = report["libraries"]
        return {f["name"]: {d["kind"] for d in f["differences"]} for f in library["different"]}

    def changed(self, old, new, *options):
        """What differs after a change of the source, without numbers unless asked for."""
        self.assertIn(old, KERNELS)
        a, b = self.compile("a", KERNELS), self.compile("b", KERNELS.replace(old, new, 1))
        return self.diff(a, b, *(options or ("--run", "none")))

    # Two builds of one source

    def test_two_builds_of_one_source_are_the_same(self):
        a = self.compile("a", KERNELS)
        again = self.compile("again", "// A comment.\n\n" + KERNELS.replace("  y[i] =", "\n   y[i] ="))
        self.assertEqual(self.succeed("diff", a, again).decode(),
                         f"{a} and {again}, macos14: 3 functions compared, 0 differ\nno differences\n")

    def test_debug_lines_are_no_difference(self):
        self.diff(self.compile("a", KERNELS), self.compile("b", KERNELS, "-g"), code=0)

    def test_names_of_values_and_helpers_are_no_difference(self):
        source = """
          define internal float @first(float %x) noinline { %r = fmul float %x, 2.0
            ret float %r }
          define void @k(ptr addrspace(1) %p) "smelt.kernel" {
            %v = load float, ptr addrspace(1) %p, align 4
            %w = call float @first(float %v)
            store float %w, ptr addrspace(1) %p, align 4
            ret void }"""
        other = source.replace("@first", "@another").replace("%v", "%value").replace("%r", "%result")
        made = []
        for name, text in (("a", source), ("b", other)):
            path = self.folder / f"{name}.ll"
            path.write_text(text)
            made.append(self.folder / f"{name}.metallib")
            self.succeed("compile", path, "-o", made[-1], "--no-store")
        self.diff(*made, code=0)

    def test_a_library_and_a_package_of_it_are_the_same(self):
        library = self.compile("a", KERNELS)
        self.diff(library, self.compile("b", KERNELS, ending="smelt"), code=0)

    def test_apples_libraries_are_like_themselves(self):
        path = self.corpus()
        report = self.diff(path, path, code=0)
        self.assertEqual(len(report["libraries"][0]["same"]), 574)

    def test_kernels_that_are_the_same_compute_the_same(self):
        a = self.compile("a", KERNELS)
        report = self.diff(a, a, "--run", "all", code=0)
        for row in report["libraries"][0]["same"]:
            with self.subTest(row["name"]):
                self.assertNotIn("not_run", row["numbers"])
                self.assertEqual([x for x in row["numbers"]["launches"] if "not_compared" in x], [])

    # Planted in our libraries

    def test_operator(self):
        report = self.changed("fma(a, x[i], y[i])", "fma(a, x[i], -y[i])", "--run", "changed")
        self.assertEqual(self.kinds(report), {"saxpy": {"code", "numbers"}})
        (function,) = report["libraries"][0]["different"]
        self.assertTrue(any(line.startswith("+") and "fneg" in line for line in function["code"]["lines"]), function["code"])
        for deviation in function["numbers"]["deviations"]:
            self.assertEqual((deviation["buffer"], deviation["argument"], deviation["type"]), (1, "y", "float"))
            self.assertGreater(deviation["ulps"], 0)

    def test_constant(self):
        report = self.changed("in[i] / 3", "in[i] / 5", "--run", "changed")
        self.assertEqual(self.kinds(report), {"count": {"code", "numbers"}})
        (function,) = report["libraries"][0]["different"]
        self.assertEqual({d["type"] for d in function["numbers"]["deviations"]}, {"int"})
        self.assertNotIn("ulps", function["numbers"]["deviations"][0])

    def test_argument(self):
        self.assertEqual(self.kinds(self.changed("constant float& a [[buffer(2)]]", "constant float& a [[buffer(4)]]"))["saxpy"],
                         {"arguments", "code"})
        report = self.changed("struct arguments { int rows; float factor; };", "struct arguments { int rows, more; float factor; };")
        kinds = self.kinds(report)
        self.assertEqual(set(kinds), {"reduce"})
        self.assertIn("arguments", kinds["reduce"])
        whats = [d["what"] for d in report["libraries"][0]["different"][0]["differences"]]
        self.assertIn("argument 0 'args': size", whats)
        self.assertIn("argument 0 'args': member 1", whats)

    def test_function_constant(self):
        self.assertIn("constants", self.kinds(self.changed("function_constant(3)", "function_constant(5)"))["reduce"])

    def test_limits(self):
        self.assertIn("limits", self.kinds(self.changed("float sums[256]", "float sums[512]"))["reduce"])

    def test_barrier(self):
        kinds = self.kinds(self.changed("threadgroup_barrier(mem_flags::mem_threadgroup);", ""))
        self.assertEqual(set(kinds), {"reduce"})
        self.assertIn("code", kinds["reduce"])

    def test_functions_that_one_side_has(self):
        report = self.changed("kernel void count", "kernel void recount")
        (library,) = report["libraries"]
        self.assertEqual((library["only_a"], library["only_b"]), (["count"], ["recount"]))
        self.assertEqual([f["name"] for f in library["same"]], ["saxpy", "reduce"])

    def test_version_is_told_once(self):
        (library,) = self.diff(self.compile("a", KERNELS), self.compile("b", KERNELS, target="macos15"))["libraries"]
        self.assertEqual({d["what"] for d in library["differences"]}, {"AIR", "Metal", "system", "target triple"})
        self.assertNotIn("versions", {d["kind"] for f in library["different"] for d in f["differences"]})

    # Planted in Apple's

    def corpus(self):
        if not APPLE.exists():
            self.skipTest("build/corpus is absent; scripts/fetch-corpus makes it")
        return APPLE

    def plant(self, function, pattern, replacement):
        """The report on Apple's library and the same with one kernel changed, by LLVM 14's tools."""
        if not shutil.which("llvm-dis-14") or not shutil.which("llvm-as-14"):
            self.skipTest("llvm-dis-14 and llvm-as-14 are not installed")
        library = self.corpus().read_bytes()
        (blob,) = [library[first : first + size] for name, _, first, size in blobs(library) if name == function]
        text = subprocess.run(["llvm-dis-14"], input=blob, capture_output=True, check=True).stdout.decode()
        changed, count = re.subn(pattern, replacement, text, count=1)
        self.assertEqual(count, 1, pattern)
        made = []
        for name, source in (("same", text), ("changed", changed)):
            module = subprocess.run(["llvm-as-14", "-"], input=source.encode(), capture_output=True, check=True).stdout
            made.append(self.folder / f"{name}.metallib")
            made[-1].write_bytes(with_module(library, function, module))
        # Assembled again without a change it is what Apple built.
        self.diff(self.corpus(), made[0], code=0)
        report = self.diff(self.corpus(), made[1])
        self.assertEqual(set(self.kinds(report)), {function})
        return report["libraries"][0]["different"][0]

    def kinds_of(self, function):
        return {d["kind"] for d in function["differences"]}

    def test_operator_in_apples_kernel(self):
        function = self.plant("kernel_sum_rows_f32", r"fadd fast float (%\d+), (%\d+)", r"fmul fast float \1, \2")
        self.assertEqual(self.kinds_of(function), {"code", "numbers"})
        changed = [line for line in function["code"]["lines"] if line[0] in "+-"]
        self.assertEqual([re.sub(r"%\d+", "%", line) for line in changed],
                         ["-  % = fadd fast float %, %", "+  % = fmul fast float %, %"])
        self.assertTrue(function["numbers"]["deviations"])

    def test_constant_in_apples_kernel(self):
        function = self.plant("kernel_sum_rows_f32", r"phi float \[ 0.000000e\+00", "phi float [ 1.000000e+00")
        self.assertEqual(self.kinds_of(function), {"code", "numbers"})

    def test_argument_in_apples_kernel(self):
        function = self.plant("kernel_sum_rows_f32", r'!"float", !"air.arg_name", !"src0"', '!"half", !"air.arg_name", !"src0"')
        self.assertIn("arguments", self.kinds_of(function))
        self.assertIn({"kind": "arguments", "what": "argument 1 'src0': type", "a": "float", "b": "half"}, function["differences"])

    def test_barrier_in_apples_kernel(self):
        function = self.plant("kernel_sum_rows_f32", r"  tail call void @air.wg.barrier\(i32 2, i32 1\) #2\n", "")
        self.assertIn("code", self.kinds_of(function))
        changed = [line for line in function["code"]["lines"] if line[0] in "+-"]
        self.assertEqual(len(changed), 1)
        self.assertIn("@air.wg.barrier", changed[0])

    def test_lines_that_look_the_same_are_the_same(self):
        """B's values have A's numbers where they are the same, so a value that is another has another number."""
        text = """#include <metal_stdlib>
using namespace metal;
kernel void k(device const float* x, device float* y, uint i [[thread_position_in_grid]]) {
  float m = y[i] * sqrt(exp(x[i]));
  y[i] = cos(m);
}
"""
        a = self.compile("a", text)
        b = self.compile("b", text.replace("sqrt(exp(x[i]))", "sin(x[i])").replace("cos(m)", "log2(exp2(m))"))
        (function,) = self.diff(a, b, "--run", "none")["libraries"][0]["different"]
        lines = function["code"]["lines"]
        gone, came = [{line[1:] for line in lines if line[0] == sign} for sign in "-+"]
        self.assertEqual(gone & came, set())
        (store,) = [line for line in came if line.startswith("  store")]
        self.assertRegex(store, r"store float %b\d+, ptr addrspace\(1\) %\d+, align 4, !alias.scope !\d+, !noalias !\d+$")
        (product,) = [line for line in came if " = fmul " in line]
        (of_a,) = [line for line in gone if " = fmul " in line]
        self.assertEqual(re.sub(r"%b\d+$", "", product), re.sub(r"%\d+$", "", of_a))

    # Usage

    def test_lines_for_people(self):
        a, b = self.compile("a", KERNELS), self.compile("b", KERNELS.replace("in[i] / 3", "in[i] / 5"))
        done = smelt("diff", a, b, "--no-store")
        text = done.stdout.decode()
        self.assertEqual((done.returncode, done.stderr), (1, b""))
        self.assertIn("3 functions compared, 1 differs\nkernel count:\n  code: lines of AIR of its own: 1, in B 1\n", text)
        self.assertIn("\n    -  %", text)
        self.assertRegex(text, r"numbers: launch \d, buffer 1 'out', int \d+: -?\d+, in B -?\d+\n")
        self.assertEqual(smelt("diff", a, b, "--no-store", "--lines", "0").stdout.decode().count("\n    -"), 0)

    def test_targets_of_packages_are_compared_one_by_one(self):
        path = self.folder / "a.metal"
        path.write_text(KERNELS)
        for name, targets in (("both", ["macos14", "ios17"]), ("one", ["ios17"])):
            options = [word for target in targets for word in ("--target", target)]
            self.succeed("compile", path, "-o", self.folder / f"{name}.smelt", "--no-cpu", "--no-store", *options)
        report = self.diff(self.folder / "both.smelt", self.folder / "one.smelt")
        self.assertEqual((report["only_a"], report["only_b"]), (["macos14 of 'saxpy'"], []))
        self.diff(self.folder / "both.smelt", self.folder / "one.smelt", "--target", "ios17", code=0)

    def test_a_universal_file(self):
        library = self.compile("a", KERNELS).read_bytes()
        path = self.folder / "fat.metallib"
        path.write_bytes(struct.pack(">7I", 0xCAFEBABE, 1, 0x1000017, 10, 32, len(library), 4) + bytes(4) + library)
        self.diff(path, path, code=0)
        self.diff(path, self.compile("a", KERNELS), code=0)
        self.assertEqual(set(self.kinds(self.diff(path, self.compile("b", KERNELS.replace("in[i] / 3", "in[i] / 5")), "--run", "none"))), {"count"})

    def test_bytes_behind_untyped_pointers_may_be_indexes(self):
        source = """
          define void @gather(ptr addrspace(1) %%at, ptr addrspace(1) %%in, ptr addrspace(1) %%out) "smelt.kernel" {
            %%i = load i32, ptr addrspace(1) %%at, align 4
            %%w = zext i32 %%i to i64
            %%p = getelementptr i32, ptr addrspace(1) %%in, i64 %%w
            %%v = load i32, ptr addrspace(1) %%p, align 4
            %%r = add i32 %%v, %d
            store i32 %%r, ptr addrspace(1) %%out, align 4
            ret void }"""
        made = []
        for number in (1, 2):
            path = self.folder / f"{number}.ll"
            path.write_text(source % number)
            made.append(self.folder / f"{number}.metallib")
            self.succeed("compile", path, "-o", made[-1], "--no-store")
        (function,) = self.diff(*made)["libraries"][0]["different"]
        self.assertEqual([x["launch"] for x in function["numbers"]["deviations"]], [4])
        self.assertEqual(sum("not_compared" in x for x in function["numbers"]["launches"]), 4)

    def test_one_function(self):
        a, b = self.compile("a", KERNELS), self.compile("b", KERNELS.replace("in[i] / 3", "in[i] / 5"))
        self.diff(a, b, "--function", "saxpy", code=0)
        self.assertEqual(set(self.kinds(self.diff(a, b, "--function", "count", "--function", "saxpy", "--run", "none"))), {"count"})

    def test_usage_and_files_that_cannot_be_read(self):
        good = SEEDS / "two_functions.metallib"
        self.assertIn("file_not_found", self.fail_with(2, "diff", good, self.folder / "absent"))
        bad = self.folder / "bad.metallib"
        bad.write_bytes(b"no library")
        self.assertIn(f"{bad}: ", self.fail_with(2, "diff", good, bad))
        self.assertIn("stdin", self.fail_with(2, "diff", "-", "-"))
        self.assertIn("--target ios17", self.fail_with(2, "diff", good, good, "--target", "ios17"))
        self.assertIn("'nothing'", self.fail_with(2, "diff", good, good, "--function", "nothing"))
        self.fail_with(2, "diff", good)

    def test_a_module_that_cannot_be_read_is_a_difference(self):
        a = self.compile("a", KERNELS)
        b = self.folder / "b.metallib"
        b.write_bytes(with_module(a.read_bytes(), "count", b"BC\xc0\xde" + bytes(12)))
        report = self.diff(a, b)
        self.assertEqual(self.kinds(report), {"count": {"unreadable"}})


if __name__ == "__main__":
    unittest.main()
