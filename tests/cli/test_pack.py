# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt pack and selftest, from outside."""

import json
import os
import unittest

import npy
from smelt_cli import SOURCE, CliTest, smelt

SAXPY = (SOURCE / "examples/saxpy.ll").read_text()


class PackTest(CliTest):
    def setUp(self):
        super().setUp()
        os.environ["SMELT_STORE"] = str(self.folder / "store")

    def package(self, name, *options):
        source = self.folder / f"{name}.ll"
        source.write_text(SAXPY.replace("@saxpy", f"@{name}"))
        out = self.folder / f"{name}{len(options)}.smelt"
        self.succeed("compile", source, "-o", out, *options)
        return out

    def test_two_libraries_in_one_file(self):
        first, second, model = self.package("alpha"), self.package("beta"), self.folder / "model.smelt"
        self.succeed("pack", first, second, "-o", model)
        again = self.folder / "again.smelt"
        self.succeed("pack", first, second, "-o", again)
        self.assertEqual(model.read_bytes(), again.read_bytes(), "the same inputs, the same bytes")
        self.succeed("verify", model)
        report = json.loads(self.succeed("inspect", model, "--json"))
        self.assertEqual(report["kind"], "package")
        self.assertEqual({f["name"] for f in report["functions"]}, {"alpha", "beta"})
        text = self.succeed("inspect", model).decode()
        for name in ("alpha", "beta"):
            self.assertIn(f"\nslice macos14 of library {name}: ", text)
        self.assertIn("\nslice macos14: ", self.succeed("inspect", first).decode())
        x, out = npy.write(self.folder / "x.npy", [1.0, 2.0]), self.folder / "o.npy"
        for name in ("alpha", "beta"):
            self.succeed("run", model, name, "--threads", 2, x, f"{x}={out}", "f32:3", "i32:2")
            self.assertEqual(npy.read(out)[0], [4.0, 8.0])

    def test_slices_of_one_library_are_joined(self):
        mac = self.package("alpha", "--target", "macos13", "--no-cpu")
        cpu = self.package("alpha")
        model = self.folder / "model.smelt"
        said = smelt("pack", mac, cpu, "-o", model)
        self.assertEqual(said.returncode, 0, said.stderr)
        report = json.loads(self.succeed("inspect", model, "--json"))
        targets = {s["target"] for s in report["slices"]}
        self.assertIn("macos13", targets)
        self.assertTrue(any(t.startswith("cpu-") for t in targets), targets)

    def test_what_is_refused(self):
        good = self.package("alpha")
        self.assertNotEqual(smelt("pack", good, "-o", self.folder / "no" / "such" / "folder.smelt").returncode, 0)
        self.assertEqual(smelt("pack", "-o", self.folder / "m.smelt").returncode, 2)
        bad = self.folder / "bad.smelt"
        bad.write_bytes(good.read_bytes()[:200])
        said = self.fail_with(1, "pack", good, bad, "-o", self.folder / "m.smelt")
        self.assertIn("bad.smelt", said)
        self.assertFalse((self.folder / "m.smelt").exists())


class SelftestTest(CliTest):
    def test_every_kernel_is_right_on_the_cpu(self):
        package = self.folder / "selftest.smelt"
        self.succeed("selftest", "--emit", package)
        self.succeed("verify", package)
        for level in ({}, {"SMELT_CPU": "x86-64-v3"}):
            os.environ.pop("SMELT_CPU", None)
            os.environ.update(level)
            result = smelt("selftest", "--package", package)
            os.environ.pop("SMELT_CPU", None)
            if b"device_unavailable" in result.stderr or b"lacks" in result.stderr:
                self.skipTest("this processor runs none of the levels")
            table = [line for line in result.stdout.decode().splitlines() if line.startswith("| ")][1:]
            self.assertEqual(len(table), 10, result.stdout.decode())
            for line in table:
                self.assertRegex(line, r"^\| \w+ \| (equal|ok)", result.stdout.decode())
            self.assertEqual(result.returncode, 0, result.stderr.decode())


if __name__ == "__main__":
    unittest.main()
