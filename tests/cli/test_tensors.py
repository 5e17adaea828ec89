# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tensors of Metal 4: our code against listings of Apple's compiler, products against exact ones, and what is refused."""

import os
import re
import struct
import unittest

import npy
from smelt_cli import smelt
from tensor_programs import COOPERATIVE, INLINE, INLINE_COOPERATIVE, SIMPLE, TensorTest

OPERATION = re.compile(r"@(__tensorops_impl_\w+|air\.[\w.]*(?:tensor|simdgroup_size)[\w.]*)\(")


def plain(text):
    """Opaque pointers, no numbers of attribute groups and no numbers of values."""
    text = re.sub(r'(?:%"[^"]*"|%[\w.]+|\bi8|\bhalf|\bfloat)( addrspace\(\d\))?\*', lambda m: "ptr" + (m[1] or ""), text)
    return re.sub(r"#\d+| align \d+", "", text)


def operands(text):
    """What stands between the parentheses that the text begins with."""
    depth = 0
    for at, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if depth == 0:
            return [sorted(one.split()) for one in re.split(r",\s*", text[1:at]) if one], text[at + 1 :]
    raise AssertionError(text)


def facts(listing):
    """Declarations with types, attributes and section; constant operands of calls; the list of arguments."""
    found = {"declared": {}, "called": set(), "arguments": set()}
    for line in plain(listing).splitlines():
        match = OPERATION.search(line)
        if match and line.startswith("declare "):
            parameters, rest = operands(line[match.end() - 1 :])
            result = [word for word in line[: match.start()].split() if word != "declare"]
            section = re.search(r'section "[^"]*"', rest)
            found["declared"][match[1]] = (result, parameters, section and section[0])
        elif match and " call " in f" {line}":
            parameters, _ = operands(line[match.end() - 1 :])
            numbers = tuple(word for one in parameters for word in one if re.fullmatch(r"-?\d+", word))
            found["called"].add((match[1], numbers))
        elif '!"air.location_index"' in line or '!"air.threadgroup_position_in_grid"' in line:
            found["arguments"].add(line.split("=", 1)[1].strip())
    return found


class TensorsTest(TensorTest):
    # ---- Against Apple's compiler

    def check_listing(self, text, name):
        theirs = facts((self.shared("data/tensors") / f"{name}.ll").read_text())
        library = self.compile(text, "--no-cpu", name=name, suffix=".metallib")
        ours = facts(self.succeed("disasm", library, name).decode())
        self.assertEqual(ours["declared"], theirs["declared"])
        self.assertEqual(ours["called"], theirs["called"])
        self.assertEqual(ours["arguments"], theirs["arguments"])
        self.succeed("verify", library)

    def test_tensors_that_are_bound(self):
        self.check_listing(SIMPLE, "simple_matmul")

    def test_cooperative_destination(self):
        self.check_listing(COOPERATIVE, "coop_matmul")

    def test_tensors_that_are_made(self):
        self.check_listing(INLINE, "inline_matmul")

    def test_apples_modules(self):
        for name in ("simple_matmul", "coop_matmul", "inline_matmul"):
            module = self.apple_library(name)
            report = smelt("verify", module)
            self.assertEqual((report.returncode, report.stderr), (0, b""), report.stdout)
            once, again = self.folder / f"{name}.metallib", self.folder / f"{name}-again.metallib"
            self.succeed("compile", module, "--target", "macos26", "--no-cpu", "-o", once)
            self.succeed("verify", once)
            self.succeed("compile", once, "--target", "macos26", "--no-cpu", "-o", again)
            self.assertEqual(once.read_bytes(), again.read_bytes())
            theirs = facts((self.shared("data/tensors") / f"{name}.ll").read_text())
            self.assertEqual(facts(self.succeed("disasm", once, name).decode()), theirs)

    # ---- Products

    def test_products(self):
        package = self.compile(INLINE)
        self.product(package, "inline_matmul", 64, 32, 48)
        self.product(package, "inline_matmul", 100, 70, 37)

    def test_cooperative_products(self):
        package = self.compile(INLINE_COOPERATIVE)
        self.product(package, "twice", 64, 32, 48, factor=2)
        self.product(package, "twice", 100, 70, 37, factor=2)

    def test_apples_modules_run(self):
        for name, factor in (("inline_matmul", 1), ("simple_matmul", 1), ("coop_matmul", 2)):
            module = self.apple_library(name)
            package = self.folder / f"{name}-apple.smelt"
            self.succeed("compile", module, "--target", "macos26", "-o", package)
            self.product(package, name, 100, 70, 37, factor=factor)

    def test_bound_tensors(self):
        package = self.compile(SIMPLE + COOPERATIVE)
        self.product(package, "simple_matmul", 100, 70, 37)
        self.product(package, "coop_matmul", 100, 70, 37, factor=2)
        sizes = ["f16[100,37]", "f16[37,70]", "f32[100,70]"]
        launch = ["--threads", "384,2", "--group", "128,1"]
        said = self.fail_with(1, "run", package, "simple_matmul", *launch, *sizes[:2])
        self.assertIn("takes a tensor as buffer 2 'C', which is not bound", said)

    def test_rank_of_a_bound_tensor(self):
        package = self.compile(SIMPLE)
        said = self.fail_with(1, "run", package, "simple_matmul", "--threads", "128", "--group", "128", "f16[64,48]",
                              "f16[1,48,32]", "f32[64,32]")  # fmt: skip
        self.assertIn("buffer 1 'B' is a tensor<half, dextents<int, 2>>, and the one that is bound has 3 dimensions", said)

    def test_parts_of_bound_tensors_within_variables(self):
        """A handle follows its origin: in a structure or an array the variable's size does not say where."""
        text = """kernel void parts(tensor<device half, dextents<int, 2>> A, tensor<device half, dextents<int, 2>> B,
          tensor<device float, dextents<int, 2>> C, device int* n) {
          constexpr auto d = matmul2d_descriptor(16, 16, int(dynamic_extent)); matmul2d<d, execution_simdgroup> op;
          struct { decltype(A.slice(0, 0)) a, b; } both{A.slice(0, 0), B.slice(0, 0)};
          decltype(C.slice(0, 0)) c[2] = {C.slice(0, 0), C.slice(16, 0)};
          for (int i = 0; i < n[0]; ++i) op.run(both.a, both.b, c[i]); }
        kernel void wholes(tensor<device half, dextents<int, 2>> A, tensor<device half, dextents<int, 2>> B,
          tensor<device float, dextents<int, 2>> C, device int* n) {
          constexpr auto d = matmul2d_descriptor(16, 16, int(dynamic_extent), false, false, false,
                                                 matmul2d_descriptor::mode::multiply_accumulate);
          matmul2d<d, execution_simdgroup> op;
          tensor<device half, dextents<int, 2>> both[2] = {A, B};
          for (int i = 0; i < n[0]; ++i) op.run(both[i], both[1], C); }"""
        a, b = [float(i % 7 - 3) for i in range(256)], [float(i % 5 - 2) for i in range(256)]
        left = npy.write(self.folder / "a.npy", a, "<f2", (16, 16))
        right = npy.write(self.folder / "b.npy", b, "<f2", (16, 16))
        out = self.folder / "c.npy"
        product = lambda x, y: [[sum(x[m * 16 + k] * y[k * 16 + n] for k in range(16)) for n in range(16)] for m in range(16)]  # noqa: E731
        for options in ((), ("--checked=memory",)):
            package = self.compile(text, *options)
            self.succeed("run", *options, package, "parts", "--threads", 32, "--group", 32, left, right,
                         f"f32[16,32]={out}", "i32:2")  # fmt: skip
            self.assertEqual(npy.read(out)[0], [x for row in product(a, b) for x in row * 2])
            self.succeed("run", *options, package, "wholes", "--threads", 32, "--group", 32, left, right,
                         f"f32[16,16]={out}", "i32:2")  # fmt: skip
            once, again = product(a, b), product(b, b)
            self.assertEqual(npy.read(out)[0], [once[m][n] + again[m][n] for m in range(16) for n in range(16)])

    def test_tensors_share_the_indices_of_buffers(self):
        listing = self.folder / "k.ll"
        self.succeed("compile", self.source("""kernel void k(device float* c, tensor<device half, dextents<int, 2>> A,
          tensor<device half, dextents<int, 2>> B [[buffer(1)]], device float* d) { c[0] = d[0]; }"""),
                     "--target", "macos26.2", "--no-cpu", "--emit", "ll", "-o", listing)  # fmt: skip
        indices = re.findall(r'"air.location_index", i32 (\d+)', listing.read_text())
        self.assertEqual(indices, ["0", "2", "1", "3"])

    def test_ggmls_probe(self):
        """What it asks before it turns its tensor kernels on: bound inputs, a slice of a slice, a store to what is made."""
        package = self.compile("""kernel void dummy(tensor<device half, dextents<int32_t, 2>> A [[buffer(0)]],
          tensor<device half, dextents<int32_t, 2>> B [[buffer(1)]], device float* C [[buffer(2)]],
          uint2 tgid [[threadgroup_position_in_grid]]) {
          auto tA = A.slice(0, (int)tgid.y); auto tB = B.slice((int)tgid.x, 0);
          matmul2d<matmul2d_descriptor(16, 16, dynamic_extent), execution_simdgroups<4>> mm;
          auto cT = mm.get_destination_cooperative_tensor<decltype(tA), decltype(tB), float>();
          auto sA = tA.slice(0, 0); auto sB = tB.slice(0, 0);
          mm.run(sB, sA, cT);
          auto tC = tensor<device float, dextents<int32_t, 2>, tensor_inline>(C, dextents<int32_t, 2>(16, 16));
          cT.store(tC); }""")
        left, right = [float(i % 7 - 3) for i in range(256)], [float(i % 5 - 2) for i in range(256)]
        a, b = npy.write(self.folder / "a.npy", left, "<f2", (16, 16)), npy.write(self.folder / "b.npy", right, "<f2", (16, 16))
        out = self.folder / "c.npy"
        self.succeed("run", package, "dummy", "--threads", "128,1", "--group", "128,1", a, b, f"f32[256]={out}")
        wanted = [sum(right[m * 16 + k] * left[k * 16 + n] for k in range(16)) for m in range(16) for n in range(16)]
        self.assertEqual(npy.read(out)[0], wanted)

    def test_layout_of_one_tile(self):
        """Of 16 x 32 elements, as it was measured on M5: element i of a lane is column, row."""
        package = self.compile("""kernel void where(device half* a, device int2* out,
          ushort lane [[thread_index_in_simdgroup]]) {
          constexpr auto d = matmul2d_descriptor(16, 32, 16); matmul2d<d, execution_simdgroup> op;
          auto A = tensor(a, dextents<int, 2>(16, 16)); auto B = tensor(a, dextents<int, 2>(32, 16));
          auto t = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
          for (ushort i = 0; i < t.get_capacity(); ++i) {
            auto at = t.get_multidimensional_index(i);
            out[lane * 16 + i] = int2(at[0], at[1]);
          } }""")
        a = npy.write(self.folder / "a.npy", [0.0] * 512, "<f2")
        out = self.folder / "out.npy"
        self.succeed("run", package, "where", "--threads", 32, "--group", 32, a, f"i32[1024]={out}")
        wanted = []
        for lane in range(32):
            q = lane >> 2
            fm, fn = (q & 4) | ((lane >> 1) & 3), ((q & 2) | (lane & 1)) * 4
            for i in range(16):
                wanted += [fn + (i & 3) + (i >> 3) * 16, fm + ((i >> 2) & 1) * 8]
        self.assertEqual(npy.read(out)[0], wanted)

    def test_sums_in_threadgroup_memory(self):
        """multiply_accumulate, with a transposed right operand, one SIMD-group and tensors of threadgroup memory."""
        package = self.compile("""kernel void sum(device float* x, device float* out,
          ushort lane [[thread_index_in_simdgroup]]) {
          threadgroup float s[16 * 8];
          for (int i = lane; i < 128; i += 32) s[i] = x[i];
          threadgroup_barrier(mem_flags::mem_threadgroup);
          constexpr auto d = matmul2d_descriptor(16, 16, 8, false, true, false,
                                                 matmul2d_descriptor::mode::multiply_accumulate);
          matmul2d<d, execution_simdgroup> op;
          auto A = tensor(s, dextents<int, 2>(8, 16)); auto C = tensor(out, dextents<int, 2>(16, 16));
          op.run(A, A, C); op.run(A, A, C); }""")
        x = [float(i % 7 - 3) for i in range(128)]
        a = npy.write(self.folder / "x.npy", x)
        out = self.folder / "out.npy"
        self.succeed("run", package, "sum", "--threads", 32, "--group", 32, a, f"f32[256]={out}")
        wanted = [2 * sum(x[i * 8 + k] * x[j * 8 + k] for k in range(8)) for i in range(16) for j in range(16)]
        self.assertEqual(npy.read(out)[0], wanted)

    # ---- Layouts

    # Sets each element of a 16 x 32 tile to where it is: by asking, or by what was measured on M5.
    PLACES = """kernel void %s(device half* a, device float* c, ushort lane [[thread_index_in_simdgroup]]) {
          constexpr auto d = matmul2d_descriptor(16, 32, 16); matmul2d<d, execution_simdgroup> op;
          auto A = tensor(a, dextents<int, 2>(16, 16)); auto B = tensor(a, dextents<int, 2>(32, 16));
          auto C = tensor(c, dextents<int, 2>(32, 16));
          auto t = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
          ushort q = lane >> 2, fm = (q & 4) | ((lane >> 1) & 3), fn = ((q & 2) | (lane & 1)) * 4;
          (void)fm; (void)fn;
          for (ushort i = 0; i < t.get_capacity(); ++i) { auto at = t.get_multidimensional_index(i); (void)at;
            t[i] = %s; }
          t.store(C); }"""

    def under(self, layout, *arguments):
        environment = {**os.environ, "SMELT_MPP_LAYOUT": layout}
        result = smelt(*arguments, environment=environment)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result

    def test_second_layout_finds_kernels_that_count_on_the_first(self):
        asks = "at[0] + 32 * at[1]"
        counts = "(fn + (i & 3) + (i >> 3) * 16) + 32 * (fm + ((i >> 2) & 1) * 8)"
        package = self.compile(self.PLACES % ("asks", asks) + self.PLACES % ("counts", counts))
        a = npy.write(self.folder / "a.npy", [0.0] * 512, "<f2")
        out = self.folder / "out.npy"
        right = [float(i) for i in range(512)]
        found = {}
        for function in ("asks", "counts"):
            for layout in ("m5", "scrambled"):
                self.under(layout, "run", package, function, "--threads", 32, "--group", 32, a, f"f32[512]={out}")
                found[function, layout] = npy.read(out)[0] == right
        self.assertEqual(found, {("asks", "m5"): True, ("asks", "scrambled"): True, ("counts", "m5"): True,
                                 ("counts", "scrambled"): False})  # fmt: skip

    def test_layouts_have_names(self):
        package = self.compile(INLINE)
        result = smelt("run", package, "inline_matmul", "--threads", "128", *["f32[1]"] * 3, *["u32:1"] * 3,
                       environment={**os.environ, "SMELT_MPP_LAYOUT": "m4"})  # fmt: skip
        self.assertEqual(result.returncode, 2)
        self.assertIn(b"SMELT_MPP_LAYOUT is 'm4'; want m5 or scrambled", result.stderr)

    def test_products_under_both_layouts(self):
        package = self.compile(INLINE_COOPERATIVE)
        for layout in ("m5", "scrambled"):
            with self.subTest(layout):
                os.environ["SMELT_MPP_LAYOUT"] = layout
                try:
                    self.product(package, "twice", 100, 70, 37, factor=2)
                finally:
                    del os.environ["SMELT_MPP_LAYOUT"]

    # ---- Operands that threads hold

    HELD = """template <bool TA, bool TB, class L, class R, class T> void held(device L* a, device R* b, device T* c) {
          constexpr auto d = matmul2d_descriptor(16, 32, 16, TA, TB, %s,
                                                 matmul2d_descriptor::mode::multiply_accumulate);
          matmul2d<d, execution_simdgroup> op;
          auto l = op.template get_left_input_cooperative_tensor<L, R, T>();
          auto r = op.template get_right_input_cooperative_tensor<L, R, T>();
          auto t = op.template get_destination_cooperative_tensor<metal::remove_addrspace_t<decltype(l)>,
                                                                  metal::remove_addrspace_t<decltype(r)>, T>();
          for (ushort i = 0; i < l.get_capacity(); ++i)
            if (l.is_valid_element(i)) { auto at = l.get_multidimensional_index(i); l[i] = a[at[1] * 16 + at[0]]; }
          for (auto it = r.begin(); it != r.end(); ++it)
            if (it.is_valid_element()) {
              auto at = it.get_multidimensional_index(); *it = b[at[1] * (TB ? 16 : 32) + at[0]]; }
          op.run(l, r, t);
          op.run(l, r, t);
          auto C = tensor(c, dextents<int, 2>(32, 16));
          t.store(C); }
        #define HELD(name, TA, TB, L, R, T) \\
          kernel void name(device L* a, device R* b, device T* c) { held<TA, TB>(a, b, c); }
        HELD(nn, false, false, half, half, float) HELD(nt, false, true, half, half, float)
        HELD(tn, true, false, half, half, float) HELD(tt, true, true, half, half, float)
        HELD(floats, false, true, float, float, float) HELD(mixed, false, false, bfloat, float, float)
        HELD(bytes, false, true, char, uchar, int)"""

    def held(self, package, function, layout):
        turned = {"nn": (0, 0), "nt": (0, 1), "tn": (1, 0), "tt": (1, 1), "floats": (0, 1), "mixed": (0, 0),
                  "bytes": (0, 1)}[function]  # fmt: skip
        types = {"floats": "<f4 <f4 f32", "mixed": "bfloat <f4 f32", "bytes": "|i1 |u1 i32"}.get(function, "<f2 <f2 f32")
        left_type, right_type, result = types.split()
        left = [(i * 7) % 11 - 5 for i in range(256)]
        right = [(i * 5) % 9 - (0 if right_type == "|u1" else 4) for i in range(512)]
        number = int if result == "i32" else float
        if left_type == "bfloat":
            words = [struct.unpack("<I", struct.pack("<f", x))[0] >> 16 for x in left]
            a = npy.write(self.folder / "a.npy", words, "<u2")
        else:
            a = npy.write(self.folder / "a.npy", [number(x) for x in left], left_type)
        b = npy.write(self.folder / "b.npy", [number(x) for x in right], right_type)
        out = self.folder / "c.npy"
        self.under(layout, "run", package, function, "--threads", 32, "--group", 32, a, b, f"{result}[512]={out}")
        at = lambda m, k: left[k * 16 + m] if turned[0] else left[m * 16 + k]  # noqa: E731
        bt = lambda k, n: right[n * 16 + k] if turned[1] else right[k * 32 + n]  # noqa: E731
        wanted = [2 * sum(at(m, k) * bt(k, n) for k in range(16)) for m in range(16) for n in range(32)]
        self.assertEqual([int(x) for x in npy.read(out)[0]], wanted, (function, layout))

    def test_operands_that_threads_hold(self):
        for relaxed in ("true", "false"):
            package = self.compile(self.HELD % relaxed)
            for function in ("nn", "nt", "tn", "tt", "floats", "mixed", "bytes"):
                for layout in ("m5", "scrambled"):
                    self.held(package, function, layout)

    def test_loads_of_operands_that_threads_hold(self):
        package = self.compile("""kernel void loads(device half* a, device half* b, device float* c) {
          constexpr auto d = matmul2d_descriptor(16, 16, 32); matmul2d<d, execution_simdgroup> op;
          auto A = tensor(a, dextents<int, 2>(32, 15)); auto B = tensor(b, dextents<int, 2>(16, 32));
          auto l = op.get_left_input_cooperative_tensor<half, half, float>();
          auto t = op.get_destination_cooperative_tensor<decltype(l), decltype(B), float>();
          l.load(A); op.run(l, B, t);
          auto C = tensor(c, dextents<int, 2>(16, 16)); t.store(C); }""")
        left, right = [float(i % 7 - 3) for i in range(512)], [float(i % 5 - 2) for i in range(512)]
        a, b = npy.write(self.folder / "a.npy", left, "<f2"), npy.write(self.folder / "b.npy", right, "<f2")
        out = self.folder / "c.npy"
        wanted = [sum(left[m * 32 + k] * right[k * 16 + n] for k in range(32)) if m < 15 else 0.0
                  for m in range(16) for n in range(16)]  # fmt: skip
        for layout in ("m5", "scrambled"):
            self.under(layout, "run", package, "loads", "--threads", 32, "--group", 32, a, b, f"f32[256]={out}")
            self.assertEqual(npy.read(out)[0], wanted)

    def test_one_thread(self):
        package = self.compile("""kernel void one(device float* a, device float* b, device float* c,
          uint i [[thread_position_in_grid]]) {
          constexpr auto d = matmul2d_descriptor(4, 1, 8); matmul2d<d, execution_thread> op;
          auto A = tensor(a, dextents<int, 2>(8, 4)); auto B = tensor(b + 8 * i, dextents<int, 2>(1, 8));
          auto t = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
          op.run(A, B, t);
          for (ushort j = 0; j < t.get_capacity(); ++j) c[4 * i + t.get_multidimensional_index(j)[1]] = t[j]; }""")
        left, right = [float(i % 7 - 3) for i in range(32)], [float(i % 5 - 2) for i in range(24)]
        a, b = npy.write(self.folder / "a.npy", left), npy.write(self.folder / "b.npy", right)
        out = self.folder / "c.npy"
        wanted = [sum(left[m * 8 + k] * right[8 * i + k] for k in range(8)) for i in range(3) for m in range(4)]
        for layout in ("m5", "scrambled"):
            self.under(layout, "run", package, "one", "--threads", 3, "--group", 3, a, b, f"f32[12]={out}")
            self.assertEqual(npy.read(out)[0], wanted)

    def test_reductions(self):
        """Softmax of rows through map_iterator; and sums of columns."""
        package = self.compile("""kernel void rows(device half* a, device half* b, device float* c, device float* s) {
          constexpr auto d = matmul2d_descriptor(16, 32, 16); matmul2d<d, execution_simdgroup> op;
          auto A = tensor(a, dextents<int, 2>(16, 16)); auto B = tensor(b, dextents<int, 2>(32, 16));
          auto t = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
          auto most = op.get_row_reduction_destination_cooperative_tensor<decltype(A), decltype(B), float>();
          auto sums = op.get_column_reduction_destination_cooperative_tensor<decltype(A), decltype(B), float>();
          op.run(A, B, t);
          reduce_rows(t, most, reduction_operation::max, reduction_operation_identity<float>::max_identity);
          if (is_iterator_compatible(t, most))
            for (ushort i = 0; i < t.get_capacity(); ++i)
              if (t.is_valid_element(i)) t[i] -= *most.map_iterator(t.get_iterator(i));
          reduce_columns(t, sums);
          for (ushort i = 0; i < sums.get_capacity(); ++i)
            if (sums.is_valid_element(i)) s[sums.get_multidimensional_index(i)[0]] = sums[i];
          auto C = tensor(c, dextents<int, 2>(32, 16)); t.store(C); }""")
        left, right = [float(i * 7 % 11 - 5) for i in range(256)], [float(i * 5 % 9 - 4) for i in range(512)]
        a, b = npy.write(self.folder / "a.npy", left, "<f2"), npy.write(self.folder / "b.npy", right, "<f2")
        out, sums = self.folder / "c.npy", self.folder / "s.npy"
        product = [[sum(left[m * 16 + k] * right[k * 32 + n] for k in range(16)) for n in range(32)] for m in range(16)]
        wanted = [x - max(row) for row in product for x in row]
        for layout in ("m5", "scrambled"):
            self.under(layout, "run", package, "rows", "--threads", 32, "--group", 32, a, b, f"f32[512]={out}",
                       f"f32[32]={sums}")  # fmt: skip
            self.assertEqual(npy.read(out)[0], wanted)
            self.assertEqual(npy.read(sums)[0], [sum(wanted[m * 32 + n] for m in range(16)) for n in range(32)])

    def test_a_destination_as_operand(self):
        """As in attention: what one product gives is the next one's left operand, where their layouts agree."""
        package = self.compile("""kernel void chain(device half* a, device half* b, device float* c, device int* same) {
          constexpr auto d = matmul2d_descriptor(16, 32, 32); matmul2d<d, execution_simdgroup> op;
          auto A = tensor(a, dextents<int, 2>(32, 16)); auto B = tensor(b, dextents<int, 2>(32, 32));
          auto s = op.get_destination_cooperative_tensor<decltype(A), decltype(B), float>();
          op.run(A, B, s);
          auto C = tensor(c, dextents<int, 2>(32, 16));
          same[0] = op.is_compatible_as_left_input<half, half, float>(s);
          if (same[0]) {
            auto p = op.get_left_input_cooperative_tensor<half, half, float>(s);
            auto o = op.get_destination_cooperative_tensor<decltype(p), decltype(B), float>();
            op.run(p, B, o); o.store(C);
          } else {
            threadgroup half through[16 * 32];
            for (ushort i = 0; i < s.get_capacity(); ++i) {
              auto at = s.get_multidimensional_index(i); through[at[1] * 32 + at[0]] = half(s[i]); }
            simdgroup_barrier(mem_flags::mem_threadgroup);
            op.run(tensor(through, dextents<int, 2>(32, 16)), B, C); } }""")
        left, right = [float(i * 7 % 3 - 1) for i in range(512)], [float(i * 5 % 3 - 1) for i in range(1024)]
        a, b = npy.write(self.folder / "a.npy", left, "<f2"), npy.write(self.folder / "b.npy", right, "<f2")
        out, same = self.folder / "c.npy", self.folder / "same.npy"
        once = [sum(left[m * 32 + k] * right[k * 32 + n] for k in range(32)) for m in range(16) for n in range(32)]
        wanted = [sum(once[m * 32 + k] * right[k * 32 + n] for k in range(32)) for m in range(16) for n in range(32)]
        agree = {}
        for layout in ("m5", "scrambled"):
            self.under(layout, "run", package, "chain", "--threads", 32, "--group", 32, a, b, f"f32[512]={out}",
                       f"i32[1]={same}")  # fmt: skip
            self.assertEqual(npy.read(out)[0], wanted)
            agree[layout] = npy.read(same)[0]
        self.assertEqual(agree, {"m5": [1], "scrambled": [0]})

    # ---- What is refused

    def refused(self, text):
        return self.fail_with(1, "compile", self.source(text), "--target", "macos26.2", "-o", self.folder / "k.smelt")

    def test_features_that_are_missing(self):
        said = self.refused("""kernel void k(device uchar* a) { tensor<device metal::int4b_format, dextents<int, 2>, tensor_inline> t(
          (device metal::int4b_format*)a, dextents<int, 2>(2, 2)); }""")
        self.assertIn("4-bit elements of tensors", said)
        for element, words in (("metal_fp4_e2m1_format", "fp8 and fp4 elements of tensors"), ("int2b_format", "2-bit elements of tensors")):
            said = self.refused(f"""kernel void k(device uchar* a) {{ tensor<device {element}, dextents<int, 2>, tensor_inline> t(
              (device {element}*)a, dextents<int, 2>(2, 2)); }}""")
            self.assertIn(words, said)

    def test_headers_of_metal_performance_primitives(self):
        # Helion includes the one of products alone, behind __has_include.
        for header in ("MPPTensorOpsMatMul2d.h", "MPPTensorOpsConvolution2d.h", "MetalPerformancePrimitives.h"):
            text = f"""
              #if !__has_include(<MetalPerformancePrimitives/{header}>)
              #error "no header"
              #endif
              #include <MetalPerformancePrimitives/{header}>
              using namespace mpp::tensor_ops;
              kernel void k(device half* a) {{
                constexpr auto d = matmul2d_descriptor(16, 16, 16); matmul2d<d, execution_simdgroup> product;
                tensor<device half, dextents<int, 2>, tensor_inline> t(a, dextents<int, 2>(16, 16));
                product.run(t, t, t); }}"""
            path = self.folder / "m.metal"
            path.write_text("#include <metal_stdlib>\nusing namespace metal;\n" + text)
            self.succeed("compile", path, "--target", "macos26.2", "--no-cpu", "-o", self.folder / "k.metallib")
        path.write_text("#include <MetalPerformancePrimitives/MPPTensorOpsUtility.h>\n")
        self.assertNotIn("tensors need", self.fail_with(1, "compile", path, "--target", "macos26.2", "-o", self.folder / "k.smelt"))
        said = self.refused("kernel void k(device half* a) { constexpr auto d = convolution2d_descriptor(int4(1)); }")
        self.assertIn("convolutions of tensors", said)

    def test_assertions_in_the_words_of_public_logs(self):
        operands = "auto A = tensor(a, dextents<int, 2>(16, 16)); auto B = tensor(b, dextents<int, 2>(16, 16));"
        head = "kernel void k(device half* a, device bfloat* b, device half* h, device float* c) {" + operands
        said = self.refused(head + """auto C = tensor(c, dextents<int, 2>(8, 8));
          constexpr auto d = matmul2d_descriptor(8, 8); matmul2d<d, execution_simdgroups<4>> op; op.run(A, A, C); }""")
        self.assertIn("At least one of M or N must be a multiple of 16", said)
        said = self.refused(head + """constexpr auto d = matmul2d_descriptor(16, 16);
          matmul2d<d, execution_simdgroups<4>> op;
          auto t = op.get_destination_cooperative_tensor<decltype(B), decltype(A), float>(); op.run(A, B, t); }""")
        self.assertIn("Input types must match cooperative tensor types", said)
        said = self.refused(head + """constexpr auto d = matmul2d_descriptor(16, 16, 16);
          matmul2d<d, execution_simdgroups<4>> op; auto l = op.get_left_input_cooperative_tensor<half, half, float>(); }""")
        self.assertIn("Input cooperative tensors require a single SIMD group", said)

    def test_older_targets(self):
        for target in ("macos14", "macos26", "ios26.1"):
            said = self.fail_with(1, "compile", self.source(INLINE), "--target", target, "-o", self.folder / "k.smelt")
            self.assertIn("tensors need Metal 4.0 and a target from macos26.2", said)
            self.assertEqual(said.count("error:"), 1, said)

    def test_header_is_there_where_it_works(self):
        text = """#include <metal_stdlib>
          #if __has_include(<MetalPerformancePrimitives/MetalPerformancePrimitives.h>)
          kernel void with() {}
          #else
          kernel void without() {}
          #endif
          """
        path = self.folder / "guard.metal"
        path.write_text(text)
        for target, name in (("macos26.2", "with"), ("macos26.1", "without"), ("macos15", "without")):
            out = self.folder / "guard.metallib"
            self.succeed("compile", path, "--target", target, "--no-cpu", "-o", out)
            self.assertIn(f" {name}", self.succeed("inspect", out).decode())

    def test_names_of_a_source_stay_its_own(self):
        path = self.folder / "own.metal"
        path.write_text("""#include <metal_stdlib>
          using namespace metal;
          template <class T> struct tensor { T x; };
          struct extents { int n; };
          kernel void own(device float* a) { tensor<float> t{a[0]}; extents e{1}; a[0] = t.x + e.n; }""")
        self.succeed("compile", path, "--target", "macos26.2", "-o", self.folder / "own.smelt")


if __name__ == "__main__":
    unittest.main()
