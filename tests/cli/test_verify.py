# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt verify: Apple's libraries are ok; one line per finding about broken ones."""

import json
import struct
import unittest

from smelt_cli import CORPUS, SEEDS, CliTest, smelt


class Verify(CliTest):
    def findings(self, *paths):
        result = smelt("verify", *paths, "--json")
        self.assertEqual(result.stderr, b"")
        findings = json.loads(result.stdout)
        self.assertEqual(result.returncode, 1 if any(f["severity"] == "error" for f in findings) else 0)
        return findings

    def test_apples_libraries_are_clean(self):
        paths = sorted(self.shared("data/metallibs").glob("*.metallib"))
        self.assertGreater(len(paths), 1)
        lines = self.succeed("verify", *paths).decode().splitlines()
        self.assertEqual([line.split(": ok: ")[0] for line in lines], [str(path) for path in paths])

    def test_a_file_without_errors_is_counted(self):
        source, package, library = (self.folder / name for name in ("k.metal", "k.smelt", "k.metallib"))
        source.write_text("kernel void a(device float* x) { x[0] = 1; }\nkernel void b(device float* x) { x[0] = 2; }\n"
                          "vertex float4 v() { return 0; }\n")
        self.succeed("compile", source, "--target", "macos14", "--target", "ios17", "--no-cpu", "-o", package)
        self.succeed("compile", source, "-o", library)
        self.assertEqual(self.succeed("verify", package, library).decode(),
                         f"{package}: ok: 2 targets, 2 kernels, 1 other function\n{library}: ok: 1 target, 2 kernels, 1 other function\n")
        self.succeed("compile", source, "--target", "macos14", "--cpu", "x86-64-v3", "--function", "a", "-o", package)
        self.assertEqual(self.succeed("verify", package).decode(), f"{package}: ok: 2 targets, 1 kernel\n")
        self.assertEqual(json.loads(self.succeed("verify", package, "--json")), [])
        note = self.succeed("verify", SEEDS / "no_functions.metallib").decode().splitlines()
        self.assertRegex(note[0], ": ok: 1 target, 0 kernels$")
        self.assertRegex(note[1], ": note: ")

    def test_a_corpus_library_is_clean(self):
        path = CORPUS / "whisper.rn/cpp/ggml-whisper.metallib"
        if not path.exists():
            self.skipTest("build/corpus is absent; scripts/fetch-corpus makes it")
        self.assertRegex(self.succeed("verify", path), rb"\A[^\n]*: ok: 1 target, \d+ kernels\n\Z")

    def test_a_library_for_another_version_of_the_same_system(self):
        library, other = self.folder / "k.metallib", self.folder / "other.metallib"
        source = self.folder / "k.metal"
        source.write_text("kernel void k(device float* x) { x[0] = 1; }")
        for made, wanted in [("macos14", "macos14.2"), ("macos26", "macos26.2"), ("macos14.2", "macos14"), ("ios17", "ios17.4"), ("macos14", "macos15.1")]:
            self.succeed("compile", source, "--target", made, "-o", library)
            self.succeed("compile", library, "--target", wanted, "-o", other)
            self.assertEqual(self.findings(other), [], (made, wanted))

    def test_a_wrong_hash_and_a_wrong_version_are_two_lines(self):
        library = bytearray((self.shared("data/metallibs") / "kernel.14.metallib").read_bytes())
        library[library.find(b"HASH") + 6] ^= 1
        vers = library.find(b"VERS") + 6
        struct.pack_into("<H", library, vers + 2, 5)  # AIR 2.6 becomes 2.5
        path = self.folder / "x.metallib"
        path.write_bytes(library)
        messages = [(f["severity"], f["place"], f["message"]) for f in self.findings(path)]
        self.assertEqual(len(messages), 2)
        self.assertEqual(messages[0][:2], ("error", "function 0 'foo'"))
        self.assertIn("HASH is", messages[0][2])
        self.assertEqual(messages[1], ("error", "function 0 'foo'", "VERS says AIR 2.5, its module says 2.6"))
        lines = smelt("verify", path).stdout.decode().splitlines()
        self.assertEqual(len(lines), 2)
        self.assertTrue(all(line.startswith(f"{path}: error: function 0 'foo': ") for line in lines))

    def test_a_module_that_is_none(self):
        places = [f["place"] for f in self.findings(SEEDS / "one_function.metallib")]
        self.assertEqual(places, ["function 0 'saxpy'"])

    def test_an_empty_library(self):
        """What Apple's tools make of source without entry points: a note."""
        (finding,) = self.findings(SEEDS / "no_functions.metallib")
        self.assertIn("empty library", finding["message"])
        self.assertEqual(finding["severity"], "note")

    def test_every_tenth_prefix(self):
        library = (SEEDS / "everything.metallib").read_bytes()
        path = self.folder / "x"
        for size in range(0, len(library), max(1, len(library) // 10)):
            path.write_bytes(library[:size])
            self.assertEqual(len(self.findings(path)), 1)

    def test_what_is_no_library(self):
        path = self.folder / "x.ll"
        path.write_text("define void @f() {\n  ret void\n}\n")
        (finding,) = self.findings(path)
        self.assertIn("LLVM IR text", finding["message"])
        self.assertIn("(file_not_found)", self.fail_with(1, "verify", self.folder / "none"))


if __name__ == "__main__":
    unittest.main()
