# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt inspect: JSON for programs, lines for people, for libraries and universal files."""

import json
import struct
import unittest

from smelt_cli import CORPUS, SEEDS, SOURCE, CliTest


class Inspect(CliTest):
    def report(self, path):
        return json.loads(self.succeed("inspect", path, "--json"))

    def test_keys_that_others_rely_on(self):
        report = self.report(SEEDS / "two_functions.metallib")
        self.assertEqual(report["kind"], "metallib")
        self.assertEqual([(f["name"], f["type"]) for f in report["functions"]], [("saxpy", "kernel"), ("daxpy", "kernel")])
        for function in report["functions"]:
            self.assertIsInstance(function["arguments"], list)
            self.assertTrue(function["hash_matches"])
        (entry,) = report["slices"]
        self.assertEqual(entry["target"], "macos14")
        self.assertEqual(entry["functions"], ["saxpy", "daxpy"])
        self.assertEqual(entry["missing"], [])
        self.assertEqual(entry["bytes"], (SEEDS / "two_functions.metallib").stat().st_size)
        self.assertEqual(len(entry["sha256"]), 64)

    def test_arguments_of_apples_kernel(self):
        report = self.report(self.shared("data/metallibs") / "constants.15.metallib")
        (vadd,) = report["functions"]
        kinds = [(a["index"], a["kind"], a["type_name"], a["location"], a["access"]) for a in vadd["arguments"]]
        self.assertEqual(kinds[:3], [(0, "buffer", "float", 0, "read"), (1, "buffer", "float", 1, "read"),
                                     (2, "buffer", "float", 2, "read_write")])
        self.assertEqual(vadd["arguments"][3]["kind"], "builtin")
        self.assertEqual([(c["index"], c["name"], c["type_name"]) for c in vadd["constants"]],
                         [(0, "foo", "float"), (2, "bar", "float")])
        self.assertEqual(report["slices"][0]["target"], "macos15")
        self.assertEqual(report["findings"], [])

    def test_every_fixture(self):
        for path in sorted(self.shared("data/metallibs").glob("*.metallib")):
            report = self.report(path)
            for function in report["functions"]:
                self.assertNotIn("problem", function, path)

    def test_a_corpus_library(self):
        path = CORPUS / "llama.rn/cpp/ggml-metal/ggml-llama.metallib"
        if not path.exists():
            self.skipTest("build/corpus is absent; scripts/fetch-corpus makes it")
        report = self.report(path)
        self.assertEqual(len(report["functions"]), 574)
        self.assertEqual(report["slices"][0]["target"], "ios18")
        self.assertEqual([f["name"] for f in report["functions"] if "problem" in f], [])
        self.assertTrue(all(f["arguments"] for f in report["functions"]))

    def test_lines_for_people(self):
        text = self.succeed("inspect", SEEDS / "one_function.metallib").decode()
        self.assertIn("slice macos14: 289 bytes, 1 function, container 1.2.7 (linker dialect), os 14.0.0", text)
        self.assertIn("kernel saxpy: AIR 2.6, Metal 3.1, 32 bytes, hash ok", text)

    def test_standard_input(self):
        library = (SEEDS / "one_function.metallib").read_bytes()
        self.assertEqual(json.loads(self.succeed("inspect", "-", "--json", stdin=library))["kind"], "metallib")

    def test_universal_files_show_each_library_inside(self):
        library = (SEEDS / "one_function.metallib").read_bytes()
        path = self.folder / "fat.metallib"
        path.write_bytes(struct.pack(">7I", 0xCAFEBABE, 1, 0x1000017, 10, 32, len(library), 4) + bytes(4) + library)
        (entry,) = self.report(path)["slices"]
        self.assertEqual(entry["place"], "slice 0 (cpu 0x1000017, subtype 10)")

    def test_a_package(self):
        path = SOURCE / "tests/golden/package-v1/two_kernels.smelt"
        report = self.report(path)
        self.assertEqual(report["kind"], "package")
        self.assertEqual([f["name"] for f in report["functions"]], ["saxpy", "a name before saxpy"])
        self.assertEqual([a["kind"] for a in report["functions"][0]["arguments"]], ["buffer"] * 3)
        metal, cpu = report["slices"]
        self.assertEqual((metal["target"], metal["functions"]), ("macos14", ["saxpy", "a name before saxpy"]))
        self.assertEqual(cpu["missing"],
                         [{"name": "a name before saxpy", "reason": "textures are not on the CPU"}])
        self.assertTrue(all(s["hash_matches"] and len(s["sha256"]) == 64 for s in report["slices"]))
        text = self.succeed("inspect", path).decode()
        self.assertIn("missing a name before saxpy: textures are not on the CPU", text)

    def test_bytes_of_cpu_code_for_each_instruction(self):
        package = self.folder / "saxpy.smelt"
        self.succeed("compile", SOURCE / "examples/saxpy.ll", "-o", package, "--no-store")
        (cpu,) = [s for s in self.report(package)["slices"] if s["kind"] == "cpu"]
        (code,) = cpu["code"]
        self.assertEqual((code["name"], code["method"]), ("saxpy", "loop"))
        self.assertGreater(code["air_instructions"], 0)
        self.assertAlmostEqual(code["bytes_per_instruction"], code["bytes"] / code["air_instructions"])
        line = f"code saxpy: {code['bytes']} bytes, {code['bytes_per_instruction']:.1f} for each of "
        self.assertIn(line, self.succeed("inspect", package).decode())

    def test_names_cannot_steer_a_terminal(self):
        library = (SEEDS / "one_function.metallib").read_bytes().replace(b"saxpy\0", b"\x1b[31m\0")
        path = self.folder / "red.metallib"
        path.write_bytes(library)
        self.assertNotIn(b"\x1b", self.succeed("inspect", path))
        self.assertEqual(self.report(path)["functions"][0]["name"], "\x1b[31m")

    def test_what_cannot_be_inspected_says_why(self):
        path = self.folder / "x.metal"
        path.write_text("#include <metal_stdlib>\n")
        self.assertEqual(self.fail_with(1, "inspect", path),
                         f"smelt: error: {path}: not a Metal library: it looks like Metal Shading Language source; "
                         "want a file that starts with 'MTLB' (not_metallib)\n")
        self.assertIn("(file_not_found)", self.fail_with(1, "inspect", self.folder / "none"))
        library = (SEEDS / "one_function.metallib").read_bytes()
        for size in (0, 3, 50, 288):
            path.write_bytes(library[:size])
            self.fail_with(1, "inspect", path)

    def test_asked_wrongly(self):
        self.fail_with(2)
        self.fail_with(2, "inspect")
        self.fail_with(2, "inspect", "a", "--no-such-option")
        self.fail_with(2, "no-such-verb")
        self.assertIn(b"inspect", self.succeed("--help"))
        self.assertIn(b"--json", self.succeed("inspect", "--help"))


if __name__ == "__main__":
    unittest.main()
