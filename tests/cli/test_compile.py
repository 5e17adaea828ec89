# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt compile, disasm and store, from outside."""

import json
import pathlib
import re
import unittest

from smelt_cli import SOURCE, CliTest, smelt

SAXPY = SOURCE / "examples/saxpy.ll"


class CompileTest(CliTest):
    def setUp(self):
        super().setUp()
        self.environment_store()

    def environment_store(self):
        import os

        os.environ["SMELT_STORE"] = str(self.folder / "store")

    def test_second_run_is_a_hit_and_gives_the_same_bytes(self):
        first, second = self.folder / "a.smelt", self.folder / "b.smelt"
        said = smelt("compile", SAXPY, "-o", first, "-v")
        self.assertEqual(said.returncode, 0, said.stderr)
        self.assertIn(b"compiled", said.stderr)
        said = smelt("compile", SAXPY, "-o", second, "-v")
        self.assertIn(b"hit", said.stderr)
        self.assertEqual(first.read_bytes(), second.read_bytes())
        stat = json.loads(self.succeed("store", "stat", "--json"))
        self.assertGreaterEqual(stat["hits"], 1)
        self.assertIn(b"sound", self.succeed("store", "verify"))

    def test_an_edit_says_how_many_kernels_the_store_had(self):
        source, out = self.folder / "two.metal", self.folder / "two.metallib"
        text = "kernel void a(device float* x) { x[0] = 1; }\nkernel void b(device float* x) { x[0] = 2; }\n"
        for edited, said in ((text, b"0 of 2 kernels"), (text.replace("= 2", "= 3"), b"1 of 2 kernels from the store")):
            source.write_text(edited)
            self.assertIn(said, smelt("compile", source, "-o", out, "-v").stderr)

    def test_a_tag_moves_only_when_it_is_said(self):
        source, out = self.folder / "k.metal", self.folder / "k.smelt"
        source.write_text("kernel void a(device float* x) { x[0] = 1; }\n")
        self.succeed("compile", source, "-o", out, "--tag", "k@1.0.0")
        self.succeed("compile", source, "-o", out, "--tag", "k@1.0.0")  # the same again
        before = self.succeed("store", "tags", "k@1")
        source.write_text("kernel void a(device float* x) { x[0] = 2; }\n")
        refused = smelt("compile", source, "-o", out, "--tag", "k@1.0.0")
        self.assertEqual(refused.returncode, 2)
        for word in (b"k@1.0.0 points at", before.split()[0], b"--move"):
            self.assertIn(word, refused.stderr)
        self.assertEqual(self.succeed("store", "tags", "k@1"), before)
        self.succeed("compile", source, "-o", out, "--tag", "k@1.0.0", "--move")
        self.assertNotEqual(self.succeed("store", "tags", "k@1"), before)
        self.assertEqual(smelt("compile", source, "-o", out, "--move").returncode, 2)

    def test_depfile_is_written_when_the_output_is(self):
        header, source = self.folder / "a b.h", self.folder / "k.metal"
        out, rule = self.folder / "k.metallib", self.folder / "k.d"
        header.write_text("#define TWO 2\n")
        source.write_text('#include "a b.h"\nkernel void a(device float* x) { x[0] = THREE; }\n')
        self.assertEqual(smelt("compile", source, "-o", out, "--depfile", rule).returncode, 1)
        self.assertFalse(rule.exists())
        source.write_text('#include "a b.h"\nkernel void a(device float* x) { x[0] = TWO; }\n')
        self.succeed("compile", source, "-o", out, "--depfile", rule)
        name, inputs = rule.read_text().split(":")
        self.assertEqual(name, str(out))
        self.assertIn(str(source), inputs)
        self.assertIn("a\\ b.h", inputs)
        # Of LLVM IR and Metal libraries: the input itself.
        self.succeed("compile", SAXPY, "-o", self.folder / "s.metallib", "--depfile", rule)
        self.assertEqual(rule.read_text(), f"{self.folder / 's.metallib'}: {SAXPY}\n")
        self.succeed("compile", out, "-o", self.folder / "t.metallib", "--depfile", rule)
        self.assertEqual(rule.read_text(), f"{self.folder / 't.metallib'}: {out}\n")

    def test_a_line_end_in_a_name_makes_no_second_rule(self):
        """make has no way to write such a name, and would read what follows as a rule of its own."""
        rule = self.folder / "k.d"
        for name in ("a\nall: evil", "a\rb"):
            source = self.folder / f"{name}.metal"
            source.write_text("kernel void a(device float* x) { x[0] = 1; }\n")
            said = self.fail_with(2, "compile", source, "-o", self.folder / "k.metallib", "--depfile", rule)
            self.assertIn("a name with a line break cannot be written to a dependency file", said)
            self.assertFalse(rule.exists())

    def test_messages_name_what_is_there(self):
        cuda = self.folder / "cuda.metal"
        cuda.write_text("__global__ void k(device float* x) { x[0] = 1; }\n")
        said = self.fail_with(1, "compile", cuda, "-o", self.folder / "out.smelt")
        self.assertIn("unknown type name '__global__'", said)
        empty = self.folder / "empty.ll"
        empty.write_text("")
        said = self.fail_with(1, "compile", empty, "-o", self.folder / "out.smelt")
        self.assertIn("an empty file where Metal source, a Metal library or LLVM IR is expected", said)

    def test_the_folder_one_stands_in_shapes_no_bytes(self):
        libraries = []
        for name in ("here", "there/below"):
            folder = self.folder / name
            folder.mkdir(parents=True)
            (folder / "value.h").write_text("inline int value(device int* x) { return x[__LINE__]; }\n")
            (folder / "place.metal").write_text(
                '#include <metal_stdlib>\n#include "value.h"\nconstant char place[] = __FILE__;\n'
                "kernel void k(device int* x, uint i [[thread_position_in_grid]]) { x[i] = place[i] + value(x); }\n"
            )
            for extra in ([], ["-g"]):
                said = smelt("compile", "place.metal", "-o", "out.metallib", "--no-store", *extra, cwd=folder)
                self.assertEqual(said.returncode, 0, said.stderr)
                libraries.append((folder / "out.metallib").read_bytes())
        self.assertEqual(libraries[:2], libraries[2:])
        shown = self.succeed("disasm", self.folder / "here/out.metallib").decode()
        self.assertIn('c"place.metal\\00"', shown)
        self.assertIn('!DIFile(filename: "value.h"', shown)
        self.assertNotIn(str(self.folder), shown)
        self.assertNotIn("stdin", shown)

    def test_the_store_knows_what_a_header_is_called(self):
        """By its whole path it is shown without the folder one stands in, so the same command gives two results."""
        headers = self.folder / "here/headers"
        headers.mkdir(parents=True)
        (headers / "value.h").write_text("inline int value(device int* x) { return x[3]; }\n")
        names = []
        for folder in (self.folder / "here", self.folder / "there"):
            folder.mkdir(exist_ok=True)
            (folder / "place.metal").write_text(
                "#include <metal_stdlib>\n#include <value.h>\n"
                "kernel void k(device int* x, uint i [[thread_position_in_grid]]) { x[i] = value(x); }\n"
            )
            for output, extra in (("kept.metallib", []), ("plain.metallib", ["--no-store"])):
                said = smelt("compile", "place.metal", "-g", "-I", headers, "-o", output, *extra, cwd=folder)
                self.assertEqual(said.returncode, 0, said.stderr)
            self.assertEqual((folder / "kept.metallib").read_bytes(), (folder / "plain.metallib").read_bytes())
            names.append([line for line in self.succeed("disasm", folder / "kept.metallib").decode().splitlines() if "value.h" in line])
        self.assertNotEqual(names[0], names[1])

    def test_the_source_s_own_guard_of_a_divisor_is_in_the_library(self):
        # The CPU cannot show it: a divisor of 0 is 1 there.
        source, out = self.folder / "guard.metal", self.folder / "guard.metallib"
        source.write_text(
            "#include <metal_stdlib>\nusing namespace metal;\n"
            "kernel void k(device uint* a, device const uint* b, uint i [[thread_position_in_grid]]) {\n"
            "  a[i] = a[i] / max(b[i], 1u) + a[i] % (b[i + 9] == 0 ? 1u : b[i + 9]);\n}\n"
        )
        self.succeed("compile", source, "-o", out, "--no-cpu", "--no-store")
        text = self.succeed("disasm", out).decode()
        divisors = re.findall(r"= (?:udiv|urem) i32 %\d+, (%\d+)", text)
        self.assertEqual(len(divisors), 2)
        for divisor in divisors:
            self.assertRegex(text, rf"  {divisor} = (select i1 |.*call i32 @air\.max\.u\.i32)")

    def test_flags_of_metals_own_compiler(self):
        source, out = self.folder / "k.metal", self.folder / "k.ll"
        source.write_text("#include <metal_stdlib>\nkernel void k(device float* x) { x[0] = metal::exp(x[1]) + x[2]; }\n")

        def made(*flags):
            self.succeed("compile", source, "-o", out, *flags)
            text = out.read_text()
            return re.search(r"fadd ((?:[a-z]+ )*)float", text)[1], "air.fast_exp" in text

        relaxed = "reassoc nsz arcp contract afn "
        for flags, wanted in (
            ((), ("contract ", False)),
            (("--fast-math",), ("fast ", True)),
            (("-ffast-math",), ("fast ", True)),
            (("-Ofast",), ("fast ", True)),
            (("-O0",), ("contract ", False)),
            (("-fmetal-math-mode=relaxed", "-O2"), (relaxed, True)),
            (("--fast-math", "-fmetal-math-mode=relaxed"), (relaxed, True)),
            (("-fmetal-math-mode=fast", "-fmetal-math-fp32-functions=precise"), ("fast ", False)),
            (("-ffast-math", "-fno-fast-math"), ("contract ", False)),
        ):
            self.assertEqual(made(*flags), wanted, flags)
        for flag, words in (("-fmetal-math-mode=quick", "invalid value 'quick'"), ("-fno-inline", "-fno-inline: not known; want"), ("-Obest", "invalid value 'best'")):
            self.assertIn(words, self.fail_with(2, "compile", source, "-o", out, flag))

    def test_function_picks_kernels_of_every_kind_of_input(self):
        source, library = self.folder / "k.metal", self.folder / "k.metallib"
        source.write_text("".join(f"kernel void k{i}(device float* x) {{ x[0] = {i}; }}\n" for i in range(3)))
        self.succeed("compile", source, "-o", library)
        out = self.folder / "out.metallib"
        for given, wanted in ((source, "k1"), (library, "k2"), (SAXPY, "saxpy")):
            self.succeed("compile", given, "-o", out, "--function", wanted)
            report = json.loads(self.succeed("inspect", out, "--json"))
            self.assertEqual([f["name"] for f in report["functions"]], [wanted])
            said = smelt("compile", given, "-o", out, "--function", "absent")
            self.assertEqual(said.returncode, 1)
            self.assertIn(b"there is no kernel 'absent'", said.stderr)

    def test_every_output_kind(self):
        for ending, start in ((".metallib", b"MTLB"), (".bc", b"BC\xc0\xde"), (".ll", b";"), (".smelt", b"SMLT")):
            out = self.folder / f"out{ending}"
            self.succeed("compile", SAXPY, "-o", out)
            self.assertTrue(out.read_bytes().startswith(start), (ending, out.read_bytes()[:16]))
        self.succeed("verify", self.folder / "out.metallib")
        text = self.succeed("disasm", self.folder / "out.metallib", "saxpy").decode()
        self.assertIn("define void @saxpy", text)
        self.assertIn("!air.kernel", text)

    def test_targets(self):
        out = self.folder / "t.smelt"
        self.succeed("compile", SAXPY, "-o", out, "--target", "macos13", "--target", "ios18", "--no-cpu")
        report = json.loads(self.succeed("inspect", out, "--json"))
        self.assertEqual([s["target"] for s in report["slices"]], ["macos13", "ios18"])

    def test_a_source_without_entry_points(self):
        """As Metal makes one: a library without functions, and a warning."""
        source = self.folder / "none.metal"
        source.write_text("float helper(float x) { return x + 1; }\n")
        for name, targets in (("none.metallib", ["macos15"]), ("none.smelt", ["macos15", "ios17"])):
            out = self.folder / name
            said = smelt("compile", source, "-o", out, *(f"--target={target}" for target in targets))
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn(b"none.metal: warning: it has no kernel, vertex or fragment function", said.stderr)
            said = smelt("verify", out)
            self.assertEqual(said.returncode, 0)
            self.assertIn(b"note: ", said.stdout)
            self.assertIn(b"an empty library", said.stdout)
        # Neither the store's nor a child's answer is taken for damage.
        out = self.folder / "again.smelt"
        for limit in ([], [], ["--timeout=60"], ["--timeout=60", "--no-store"]):
            said = smelt("compile", source, "-o", out, *limit)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertNotIn(b"dropped", said.stderr)
        said = smelt("compile", source, "-o", self.folder / "one.metallib", "--function", "k")
        self.assertEqual(said.returncode, 1)

    def test_a_kernel_without_cpu_code_is_told(self):
        source, out = self.folder / "big.metal", self.folder / "big.smelt"
        source.write_text(
            "#include <metal_stdlib>\nusing namespace metal;\nkernel void big(device float* x) { float a[20000000]; "
            "for (uint k = 0; k < 20000000; ++k) a[k] = x[k]; x[0] = a[uint(x[0])]; }\n"
        )
        for _ in range(2):  # compiled, and from the store
            said = smelt("compile", source, "-o", out)
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn(b"warning: kernel 'big' has no code for cpu-", said.stderr)
        out.unlink()
        said = smelt("compile", source, "-o", out, "--require-cpu")
        self.assertEqual(said.returncode, 1)
        self.assertIn(b"kernel 'big' has no code for cpu-", said.stderr)
        self.assertFalse(out.exists())
        self.succeed("compile", SAXPY, "-o", out, "--require-cpu")
        for words in (["-o", self.folder / "big.metallib"], ["-o", out, "--no-cpu"]):
            self.assertEqual(smelt("compile", SAXPY, *words, "--require-cpu").returncode, 2)

    def test_effort_is_part_of_the_key_and_changes_code_alone(self):
        source = self.folder / "sum.metal"
        source.write_text(
            "kernel void sum(device int* x, uint i [[thread_position_in_threadgroup]]) "
            "{ int s = 0; for (uint k = 0; k <= i; ++k) s += x[64 + k]; x[i] = s; }\n"
        )
        made = {}
        for effort in ("fast", "balanced", "best", None):
            out = self.folder / f"{effort}.smelt"
            said = smelt("compile", source, "-o", out, "-v", *(["--cpu-effort", effort] if effort else []))
            self.assertEqual(said.returncode, 0, said.stderr)
            self.assertIn(b"compiled" if effort else b"hit", said.stderr)  # None is balanced
            made[effort] = out.read_bytes()
            run = ("run", out, "sum", "--threads", "64", "--group", "64", f"i32[128]={self.folder / 'x.npy'}")
            self.succeed(*run, "--device", "cpu")
        self.assertEqual(made["balanced"], made[None])
        self.assertLess(len(made["fast"]), len(made["balanced"]))
        self.assertEqual(smelt("compile", source, "-o", self.folder / "x.smelt", "--cpu-effort", "most").returncode, 2)

    def test_wrong_questions(self):
        out = self.folder / "x.smelt"
        for arguments in (
            ("compile", SAXPY, "-o", self.folder / "x.exe"),
            ("compile", SAXPY, "-o", out, "--target", "macos99"),
            ("compile", SAXPY, "-o", out, "--cpu", "z80"),
            ("compile", "-o", out),
            ("compile", SAXPY, "-o", self.folder / "x.metallib", "--target", "macos14", "--target", "macos15"),
        ):
            result = smelt(*arguments)
            self.assertEqual(result.returncode, 2, (arguments, result.stderr))
            self.assertEqual(result.stdout, b"")
        self.assertFalse(out.exists())

    def test_bad_input_leaves_no_file(self):
        out = self.folder / "x.smelt"
        for text in (b"", b"not IR at all", b"define void @f( {", b"BC\xc0\xde\x00", b"MTLB\x01\x80"):
            bad = self.folder / "bad.ll"
            bad.write_bytes(text)
            error = self.fail_with(1, "compile", bad, "-o", out)
            self.assertEqual(error.count("error: "), 1, error)
            self.assertIn("bad.ll", error)
        self.fail_with(1, "compile", self.folder / "absent.ll", "-o", out)
        self.assertFalse(out.exists())

    def test_errors_and_warnings_of_a_source_begin_with_their_place(self):
        source, out = self.folder / "x.metal", self.folder / "x.metallib"
        source.write_text("kernel void f(device float* x) {\n  x[0] = here;\n  x[1] = there;\n}\n")
        lines = self.fail_with(1, "compile", source, "-o", out).splitlines()
        self.assertEqual(lines[0], f"{source}:2:10: error: use of undeclared identifier 'here'")
        self.assertEqual(lines[2], "           ^")
        self.assertEqual(lines[3], f"{source}:3:10: error: use of undeclared identifier 'there'")
        self.assertEqual(lines[6:], ["smelt: 2 errors (compile_failed)"])
        source.write_text("kernel void f(device float* x) {\n  int unused = 3;\n  x[0] = 1;\n}\n")
        lines = smelt("compile", source, "-o", out).stderr.decode().splitlines()
        self.assertEqual(lines[:2], [f"{source}:2:7: warning: unused variable 'unused' [-Wunused-variable]", "    int unused = 3;"])

    def test_an_error_in_an_included_file_begins_as_clang_has_it(self):
        (self.folder / "b.h").write_text("float f() { return y; }\n")
        source = self.folder / "a.metal"
        source.write_text('#include "b.h"\nkernel void k(device float* x) { x[0] = f(); }\n')
        lines = self.fail_with(1, "compile", source, "-o", self.folder / "a.metallib").splitlines()
        self.assertEqual(lines[0], f"In file included from {source}:1:")
        self.assertTrue(lines[1].endswith("b.h:1:20: error: use of undeclared identifier 'y'"), lines)
        self.assertEqual(lines[-1], "smelt: 1 error (compile_failed)")

    def test_store_by_key_and_by_name(self):
        key = "ab" * 32
        data = self.folder / "data"
        data.write_bytes(b"0123456789" * 100)
        self.succeed("store", "put", key, f"kernel.metallib={data}")
        self.assertEqual(self.succeed("store", "get", key, "kernel.metallib"), data.read_bytes())
        self.assertIn(b"kernel.metallib", self.succeed("store", "show", key))
        self.assertIn(key[:12].encode(), self.succeed("store", "list"))
        self.succeed("store", "tag", "flash_attn@2.1.0", key)
        self.assertIn(key.encode(), self.succeed("store", "tags", "flash_attn@2"))
        self.fail_with(1, "store", "get", key, "nothing")
        self.fail_with(1, "store", "get", "cd" * 32, "x")
        self.assertIn("64", self.fail_with(2, "store", "get", "12", "x"))
        self.assertEqual(
            pathlib.Path(self.succeed("store", "path").decode().strip()), self.folder / "store"
        )


if __name__ == "__main__":
    unittest.main()
