# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Crafted inputs of the verbs that read here (pack, repack, diff), outputs over links, and a disk that is really full."""

import os
import random
import re
import shutil
import subprocess
import unittest

from smelt_cli import SEEDS, SOURCE, CliTest, smelt

SAXPY = SOURCE / "examples/saxpy.ll"
CONTROL = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]")


def crafted(original, pick):
    """Bytes, words and pieces changed, as tests/service/fuzz does."""
    data = bytearray(original)
    for _ in range(pick.randint(1, 6)):
        at = pick.randrange(len(data))
        how = pick.randrange(6)
        if how == 0:
            data[at] ^= 1 << pick.randrange(8)
        elif how == 1:
            word = pick.choice([0, 1, 0x7F, 0xFFFF, 0x7FFFFFFF, 0xFFFFFFFF, len(data), len(data) - 1])
            data[at : at + 4] = word.to_bytes(4, "little")
        elif how == 2:
            data[at : at + 8] = pick.choice([2**63, 2**64 - 1, 2**40]).to_bytes(8, "little")
        elif how == 3:
            begin, size = pick.randrange(len(data)), pick.randint(1, 200)
            data[at:at] = data[begin : begin + size]
        elif how == 4:
            del data[at : at + pick.randint(1, 60)]
        else:
            data[at:at] = b"\x1b]0;owned\x07"
        if not data:
            return b"x"
    return bytes(data)


class CraftedTest(CliTest):
    def judge(self, *command):
        result = smelt(*command)
        self.assertIn(result.returncode, (0, 1, 2, 3), (command, result.stderr[-500:]))
        self.assertIsNone(CONTROL.search(result.stderr), (command, result.stderr))
        return result.returncode

    def test_pack_repack_and_diff(self):
        package = self.folder / "saxpy.smelt"
        self.succeed("compile", SAXPY, "-o", package, "--no-store")
        originals = [package, *sorted(SEEDS.glob("*.metallib"))]
        out = self.folder / "out"
        counts = {}
        for seed in range(24):
            pick = random.Random(seed)
            original = originals[seed % len(originals)] if seed % 3 else package
            bad = self.folder / f"bad{original.suffix}"
            bad.write_bytes(crafted(original.read_bytes(), pick))
            for command in (("repack", bad, "-o", out), ("pack", bad, package, "-o", out), ("diff", original, bad)):
                code = self.judge(*command)
                counts[command[0], code] = counts.get((command[0], code), 0) + 1
                if command[0] != "diff":
                    self.assertEqual(out.exists(), code == 0, command)
                    out.unlink(missing_ok=True)
        # Something was wrong with most of them, and each verb said so.
        for verb in ("repack", "pack", "diff"):
            self.assertGreater(sum(n for (name, code), n in counts.items() if name == verb and code != 0), 5, counts)

    def test_outputs_replace_a_link_and_leave_what_it_leads_to(self):
        victim, link, depfile = self.folder / "victim", self.folder / "out.smelt", self.folder / "out.d"
        source = self.folder / "source.metal"
        source.write_text("kernel void k(device float* x) { x[0] = 1; }\n")
        for dangling in (False, True):
            for name in (link, depfile):
                name.unlink(missing_ok=True)
                name.symlink_to(self.folder / "nothing-here" if dangling else victim)
            victim.write_text("precious")
            self.succeed("compile", source, "-o", link, "--depfile", depfile, "--no-store", "--no-cpu")
            self.assertEqual(victim.read_text(), "precious")
            for name in (link, depfile):
                self.assertTrue(name.is_file() and not name.is_symlink(), name)
        self.assertFalse((self.folder / "nothing-here").exists())
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["out.d", "out.smelt", "source.metal", "victim"])

    def test_a_disk_that_is_full(self):
        disk = self.folder / "disk"
        disk.mkdir()
        if not shutil.which("mount"):
            self.skipTest("SKIPPED: no mount(8)")
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=6m", "smelt-test", disk], capture_output=True)
        if mounted.returncode != 0:
            self.skipTest("SKIPPED: no file system can be mounted here")
        self.addCleanup(subprocess.run, ["umount", disk])
        environment = {**os.environ, "SMELT_STORE": str(disk / "store")}

        def compile(name, out, *more):
            source = self.folder / f"{name}.ll"
            source.write_text(SAXPY.read_text().replace("@saxpy", f"@{name}"))
            return smelt("compile", source, "-o", out, *more, environment=environment)

        self.assertEqual(compile("first", self.folder / "first.smelt").returncode, 0)
        filler = disk / "filler"
        with open(filler, "wb", buffering=0) as file:
            for size in (1 << 20, 1 << 12, 1):
                try:
                    while file.write(bytes(size)) == size:
                        pass
                except OSError:
                    pass
        # The store has no room: the kernel is there all the same, and the trouble is told once.
        result = compile("second", self.folder / "second.smelt")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"warning", result.stderr)
        self.assertTrue((self.folder / "second.smelt").exists())
        # What the store had it still has.
        result = compile("first", self.folder / "again.smelt", "-v")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"hit ", result.stderr)
        # A file that does not fit is an error, and there is no part of it.
        before = sorted(os.listdir(disk))
        result = compile("third", disk / "third.smelt", "--no-store")
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn(b"No space left", result.stderr)
        self.assertEqual(sorted(os.listdir(disk)), before)
        # With room again all is as before.
        filler.unlink()
        self.assertEqual(compile("second", self.folder / "second.smelt").stderr, b"")
        self.assertIn(b"hit ", compile("second", self.folder / "second.smelt", "-v").stderr)
        self.assertEqual(smelt("store", "verify", environment=environment).returncode, 0)


if __name__ == "__main__":
    unittest.main()
