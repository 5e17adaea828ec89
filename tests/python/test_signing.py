# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Whose CPU code of a package runs: expect, trust, trusted_keys and native, and SMELT_TRUST."""

import array
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import smelt
import support

COMMAND = pathlib.Path(smelt.__file__).resolve().parents[2] / "bin" / "smelt"
SOURCE = "kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }"


def smelt_command(*words):
    return subprocess.run([COMMAND, *map(str, words)], check=True, capture_output=True, text=True).stdout.strip()


class TrustTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="smelt-trust-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ.update(XDG_CONFIG_HOME=str(self.folder), SMELT_STORE=str(self.folder / "store"))
        for name in ("SMELT_TRUST", "SMELT_TRUSTED_KEYS"):
            os.environ.pop(name, None)
        self.plain = self.folder / "plain.smelt"
        smelt.compile(SOURCE, targets=["macos14"]).save(self.plain)
        self.signed = self.folder / "signed.smelt"
        shutil.copy(self.plain, self.signed)
        self.key = smelt_command("key", "new", "ours", "-o", self.folder / "ours.key")
        smelt_command("sign", self.signed, "--key", self.folder / "ours.key")
        self.other = smelt_command("key", "new", "theirs", "-o", self.folder / "theirs.key")

    def right(self, library):
        x = array.array("f", [1, 2, 3])
        library.twice(x)
        return x.tolist() == [2, 4, 6]

    def made_here(self, code, **environment):
        """Whether the code, in a process of its own, loaded the compiler; it must compute the right thing."""
        script = (
            "import array, sys, smelt\n"
            f"library = {code}\n"
            "x = array.array('f', [1, 2, 3]); library.twice(x); assert x.tolist() == [2, 4, 6]\n"
            "print('smelt._compiler' in sys.modules)"
        )
        result = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip() == "True"

    def test_its_own_code_runs_unless_the_caller_says_otherwise(self):
        load = f"smelt.load_metallib({str(self.plain)!r})"
        self.assertFalse(self.made_here(load))
        self.assertTrue(self.made_here(load[:-1] + ", native=False)"))
        self.assertFalse(self.made_here(load[:-1] + ", native=False)"), "the second time the store has it")
        self.assertTrue(self.made_here(load[:-1] + ", native=False, store=False)"))
        opened = f"smelt.open({str(self.plain)!r}, native=False).load()"
        self.assertFalse(self.made_here(opened))
        self.assertTrue(self.made_here(opened, SMELT_STORE=str(self.folder / "other")))

    def test_signed_code_runs_where_its_key_is_trusted(self):
        keys = f"trust='signed', trusted_keys=[{self.key!r}]"
        self.assertFalse(self.made_here(f"smelt.load_metallib({str(self.signed)!r}, {keys})"))
        (self.folder / "smelt").mkdir()
        (self.folder / "smelt" / "trusted-keys").write_text(f"# CI\n{self.key}\n")
        strict = {"SMELT_TRUST": "signed"}
        self.assertFalse(self.made_here(f"smelt.open({str(self.signed)!r})['twice']", **strict))

    def refused(self, *words, **options):
        """The message of a refusal, which has all the words; every way to load says the same."""
        for load in (smelt.load_metallib, smelt.open):
            with self.assertRaises(smelt.TrustError) as raised:
                load(*words[:1], **options)
            self.assertEqual(raised.exception.code, "untrusted")
            for word in words:
                self.assertIn(str(word), str(raised.exception))

    def test_what_no_trusted_key_signed_is_refused(self):
        ours = {"trust": "signed", "trusted_keys": self.key}
        theirs = {"trust": "signed", "trusted_keys": [self.other]}
        self.refused(self.plain, "nobody signed it", "trusted are ours", **ours)
        self.refused(self.signed, "signed by ours", "trusted are theirs", **theirs)
        self.refused(self.signed, "signed by ours", "no key is trusted", trust="signed")
        # It is refused whole: what could be made here instead is still nobody's.
        self.refused(self.plain, "nobody signed it", **ours, native=False)
        with self.assertRaises(smelt.TrustError):
            smelt.load_metallib(self.plain, device="offline", **ours)
        # The same kernel without a place for a signature is no way round.
        metallib = self.folder / "plain.metallib"
        metallib.write_bytes(smelt.open(self.plain).metallib())
        with self.assertRaises(smelt.TrustError):
            smelt.load_metallib(metallib, **ours)
        self.assertTrue(self.right(smelt.load_metallib(self.signed, **ours)))
        self.assertTrue(self.right(smelt.load_metallib(self.signed, **ours, native=False)))
        os.environ.update(SMELT_TRUST="signed", SMELT_TRUSTED_KEYS=self.key)
        with self.assertRaises(smelt.TrustError):
            smelt.load_metallib(self.plain)
        with self.assertRaises(smelt.TrustError):
            smelt.open(self.plain)["twice"]
        self.assertTrue(self.right(smelt.load_metallib(metallib)))
        self.assertTrue(self.right(smelt.load_metallib(self.plain, trust="local", native=False)))

    def test_keys_that_would_not_count(self):
        with self.assertRaises(smelt.ArgumentError) as raised:
            smelt.load_metallib(self.plain, trusted_keys=self.key)
        self.assertIn('trust="signed"', str(raised.exception))

    def test_what_was_made_here_instead_is_said(self):
        own = smelt.info(smelt.load_metallib(self.plain)).slice_report
        self.assertNotIn("made here", own)
        script = f"import smelt; print(smelt.info(smelt.load_metallib({str(self.plain)!r}, native=False)).slice_report)"
        done = subprocess.run(
            [sys.executable, "-c", script], env={**os.environ, "SMELT_LOG": "info"}, capture_output=True, text=True, timeout=300
        )
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, "cpu-.*: chosen, made here: native=False")
        self.assertIn("CPU code was made here", done.stderr)
        packed = smelt.pack([smelt.open(self.plain, native=False)])
        self.assertIn("made here", smelt.info(packed.load()).slice_report)

    def test_what_is_compiled_here_runs_under_every_policy(self):
        os.environ["SMELT_TRUST"] = "signed"
        self.assertTrue(self.right(smelt.compile_shader(SOURCE)))
        package = smelt.compile(SOURCE, targets=["macos14"])
        self.assertTrue(self.right(smelt.load_metallib(package)))
        self.assertTrue(self.right(package["twice"]))
        self.assertTrue(self.right(smelt.load_metallib(package.metallib())))

    def test_expect(self):
        digest = smelt.open(self.plain).digest
        wrong = digest[:-1] + ("0" if digest[-1] != "0" else "1")
        for options in ({}, {"native": False}):
            self.assertTrue(self.right(smelt.load_metallib(self.plain, expect=digest, **options)))
            with self.assertRaises(smelt.Error) as raised:
                smelt.load_metallib(self.plain, expect=wrong, **options)
            self.assertEqual(raised.exception.code, "digest_mismatch")
            self.assertIn(digest, str(raised.exception))
        self.assertTrue(self.right(smelt.open(self.plain, expect=digest)["twice"]))
        with self.assertRaises(smelt.Error):
            smelt.open(self.plain, expect=wrong)
        metallib = smelt.open(self.plain).metallib()
        import hashlib

        self.assertTrue(self.right(smelt.load_metallib(metallib, expect=hashlib.sha256(metallib).hexdigest())))
        with self.assertRaises(smelt.Error):
            smelt.load_metallib(metallib, expect=digest)

    def test_nonsense(self):
        for bad in ({"trust": "all"}, {"trusted_keys": "secret:me:AAAA"}, {"trusted_keys": ["me:short"]}, {"expect": "12"}):
            with self.assertRaises(smelt.Error, msg=bad) as raised:
                smelt.load_metallib(self.plain, **bad)
            self.assertEqual(raised.exception.code, "invalid_argument", bad)
        with self.assertRaises(smelt.LibraryNotFoundError):
            smelt.load_metallib(self.plain, trusted_keys="/no/such/file")

    def test_the_command(self):
        run = ["run", self.plain, "twice", "--threads", "1", "f32[1]=" + str(self.folder / "y.npy")]
        smelt_command(*run, "--no-native")
        smelt_command(*run, "--expect", smelt.open(self.plain).digest)
        for bad in (["--expect", "00" * 32], ["--expect", "zz"], ["--trust", "me"]):
            with self.assertRaises(subprocess.CalledProcessError, msg=bad):
                smelt_command(*run, *bad)
        keys = self.folder / "keys"
        keys.write_text(self.key + "\n")
        strict = ["--trust", "signed", "--trusted", keys]
        smelt_command("run", self.signed, *run[2:], *strict)
        for options, words in (
            (strict, ["nobody signed it", "trusted are ours", "--no-native"]),
            ([*strict, "--no-native"], ["nobody signed it"]),
            (["--trusted", keys], ["--trust signed"]),
        ):
            with self.assertRaises(subprocess.CalledProcessError) as raised:
                smelt_command(*run, *options)
            for word in words:
                self.assertIn(word, raised.exception.stderr)


if __name__ == "__main__":
    unittest.main()
