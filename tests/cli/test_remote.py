# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt remote, key, sign, verify --trusted, store push and pull, from outside."""

import hashlib
import json
import os
import subprocess
import unittest

from smelt_cli import SANITIZED, SMELT, SOURCE, CliTest, smelt

SAXPY = SOURCE / "examples/saxpy.ll"


class RemoteTest(CliTest):
    def setUp(self):
        super().setUp()
        self.mirror = self.folder / "mirror"
        self.mirror.mkdir()
        self.environment = {
            "SMELT_REMOTE": f"file://{self.mirror}",
            "XDG_CONFIG_HOME": str(self.folder / "config"),
            "SMELT_TRUST": "",
            "SMELT_TRUSTED_KEYS": "",
            "SMELT_SIGNING_KEY": "",
        }
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ.update(self.environment)

    def machine(self, name, **more):
        os.environ.update(self.environment)
        os.environ.update({"SMELT_STORE": str(self.folder / name), **more})

    def compile(self, *options):
        out = self.folder / "out.smelt"
        result = smelt("compile", "-v", SAXPY, "-o", out, *options)
        self.assertEqual(result.returncode, 0, result.stderr.decode())
        return out.read_bytes(), result.stderr.decode()

    def key(self, name="ci"):
        file = self.folder / f"{name}.key"
        return file, self.succeed("key", "new", name, "-o", file).decode().strip()

    def test_one_machine_compiles_another_finds(self):
        secret, public = self.key()
        self.machine("a", SMELT_SIGNING_KEY=str(secret))
        compiled, said = self.compile()
        self.assertIn("compiled", said)
        self.machine("b", SMELT_TRUSTED_KEYS=public, SMELT_TRUST="signed")
        found, said = self.compile()
        self.assertIn("hit", said)
        self.assertNotIn("warning", said)
        self.assertEqual(found, compiled)
        facts = json.loads(self.succeed("store", "stat", "--json"))["remotes"]
        self.assertEqual([(row["hits"], row["errors"]) for row in facts], [(1, 0)])

    def bomb(self, parts):
        """In the place of the mirror's entry: 8 KB that unpack to 250 MiB of zeros, for each of its parts."""
        blocks = 2000  # of 128 KiB, each a byte that is repeated (RFC 8878)
        size = blocks << 17
        rows = b"".join(((1 << 17) << 3 | 1 << 1 | (i == blocks - 1)).to_bytes(3, "little") + b"\0" for i in range(blocks))
        blob = b"\x28\xb5\x2f\xfd\x80\x50" + size.to_bytes(4, "little") + rows
        digest = hashlib.sha256(blob).hexdigest()
        zeros = hashlib.sha256()
        for _ in range(blocks):
            zeros.update(bytes(1 << 17))
        (self.mirror / "cas" / digest).write_bytes(blob)
        for record in (self.mirror / "ac").iterdir():
            text = f"smelt-entry 1\nkey {record.name}\nmade-from\ncost 1\n"
            for name in parts:
                text += f"part {size} {zeros.hexdigest()} {name}\nblob zstd {len(blob)} {digest}\n"
            record.write_text(text + f"sum {hashlib.sha256(text.encode()).hexdigest()}\n")

    @unittest.skipIf(SANITIZED, "a sanitizer holds more memory than the program")
    def test_a_bomb_keeps_to_the_limits(self):
        self.machine("a")
        compiled, _ = self.compile()
        self.bomb(["a", "b"])
        most = []
        for name, more in (("b", ()), ("c", ("--max-memory", "350MiB", "--timeout", "60"))):
            self.machine(name, SMELT_TRUST="any", SMELT_REMOTE_WAIT="60s")
            out = self.folder / "out.smelt"
            process = subprocess.Popen([SMELT, "compile", SAXPY, "-o", out, *more], stderr=subprocess.DEVNULL)
            _, status, used = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            self.assertEqual(out.read_bytes(), compiled)
            most.append(used.ru_maxrss << 10)
        self.assertGreater(most[0], 450 << 20, "the bomb does not go off")
        self.assertLess(most[1], 400 << 20)

    def test_what_nobody_signed_is_made_here_and_said(self):
        self.machine("a")
        compiled, _ = self.compile()
        self.machine("b")
        found, said = self.compile()
        self.assertIn("hit", said)
        self.assertIn("nobody signed it", said)
        self.assertEqual(found, compiled)

    def test_a_remote_that_is_down_is_only_said(self):
        self.machine("a", SMELT_REMOTE="http://127.0.0.1:9 redis://127.0.0.1:9")
        _, said = self.compile()
        self.assertIn("compiled", said)

    def test_libcurl_is_opened_for_remotes_alone(self):
        broken = self.folder / "lib"
        broken.mkdir()
        (broken / "libcurl.so.4").write_bytes(b"")
        self.machine("a", SMELT_REMOTE="", LD_LIBRARY_PATH=str(broken))
        self.compile()
        self.machine("b", LD_LIBRARY_PATH=str(broken))
        said = self.fail_with(1, "remote", "check")
        for word in ("remotes cannot be used here", "libcurl.so.4", "Debian: libcurl4", "toolchain_missing"):
            self.assertIn(word, said)

    def test_hiredis_is_opened_for_redis_alone(self):
        broken = self.folder / "lib"
        broken.mkdir()
        for name in ("libhiredis.so.0.14", "libhiredis.so.1.1.0"):  # of Debian 12 and 13
            (broken / name).write_bytes(b"")
        self.machine("a", LD_LIBRARY_PATH=str(broken))
        self.succeed("remote", "check")
        result = smelt("remote", "check", "redis://127.0.0.1:9")
        self.assertEqual(result.returncode, 1, result.stderr.decode())
        for word in ("Redis remotes cannot be used here", "libhiredis.so", "Debian: libhiredis"):
            self.assertIn(word, result.stdout.decode())

    def test_push_and_pull_by_name(self):
        self.machine("a", SMELT_REMOTE="")
        out = self.folder / "out.smelt"
        self.succeed("compile", SAXPY, "-o", out, "--tag", "saxpy@2.1.0")
        self.machine("a")
        key = self.succeed("store", "push", "saxpy@2.1.0").decode().strip()
        self.machine("b", SMELT_TRUST="any")
        self.assertEqual(self.succeed("store", "pull", "saxpy@2.1.0").decode().strip(), key)
        self.assertIn(key, self.succeed("store", "tags", "saxpy@2").decode())
        self.assertIn("no remote has this tag", self.fail_with(1, "store", "pull", "saxpy@9"))
        self.succeed("compile", SAXPY, "--target", "ios17", "-o", out, "--tag", "saxpy@2.1.0", "--move")
        self.assertIn("--move", self.fail_with(2, "store", "pull", "saxpy@2.1.0"))
        self.assertNotIn(key, self.succeed("store", "tags", "saxpy@2").decode())
        self.succeed("store", "pull", "--move", "saxpy@2.1.0")
        self.assertIn(key, self.succeed("store", "tags", "saxpy@2").decode())
        self.machine("a", SMELT_REMOTE="")
        self.assertIn("SMELT_REMOTE", self.fail_with(2, "store", "push", "saxpy@2.1.0"))

    def test_check_says_what_is_wrong(self):
        said = self.succeed("remote", "check").decode()
        for word in ("reads: yes", "latency", "writes: yes"):
            self.assertIn(word, said)
        rows = json.loads(self.succeed("remote", "check", "--json", f"file://{self.mirror}?read-only"))
        self.assertTrue(all(row["good"] for row in rows))
        result = smelt("remote", "check", "http://127.0.0.1:9")
        self.assertEqual(result.returncode, 1)
        self.assertIn(b"FAILED", result.stdout)
        self.assertIn("the options are", self.fail_with(2, "remote", "check", "http://host?timeuot=1s"))
        os.environ["SMELT_REMOTE"] = ""
        self.assertIn("SMELT_REMOTE", self.fail_with(2, "remote", "check"))

    def test_keys_and_signed_packages(self):
        secret, public = self.key()
        stranger, _ = self.key("stranger")
        self.assertEqual(self.succeed("key", "show", secret).decode().strip(), public)
        self.assertIn("never overwritten", self.fail_with(2, "key", "new", "ci", "-o", secret))
        self.assertEqual(secret.stat().st_mode & 0o777, 0o600)
        self.machine("a", SMELT_REMOTE="")
        self.compile()
        package = self.folder / "out.smelt"
        plain = package.read_bytes()
        trusted = self.folder / "trusted"
        trusted.write_text(f"# ours\n{public}\n")
        self.assertEqual(smelt("verify", package, "--trusted", trusted).returncode, 1)
        self.assertEqual(json.loads(self.succeed("inspect", "--json", package))["signatures"], [])
        said = self.succeed("sign", package, "--key", stranger).decode()
        for word in ("signed by stranger", "1 signature in all", json.loads(self.succeed("inspect", "--json", package))["digest"]):
            self.assertIn(word, said)
        self.assertIn("  signed by stranger, not checked here", self.succeed("inspect", package).decode())
        [signature] = json.loads(self.succeed("inspect", "--json", package))["signatures"]
        self.assertTrue(signature.startswith("stranger:"), signature)
        refused = smelt("verify", package, "--trusted", trusted)
        self.assertEqual(refused.returncode, 1)
        self.assertIn("signed by stranger, trusted are ci", refused.stdout.decode())
        self.succeed("sign", package, "--key", secret)
        self.succeed("sign", package, "--key", secret)
        self.assertIn("signed by ci:", self.succeed("verify", package, "--trusted", trusted).decode())
        signed = package.read_bytes()
        self.assertEqual(signed[: len(plain)], plain)
        self.assertEqual(signed.count(b"ci:"), 1)
        # What is signed is the whole package.
        changed = bytearray(signed)
        changed[len(plain) // 2] ^= 1
        package.write_bytes(changed)
        self.assertEqual(smelt("verify", package, "--trusted", trusted).returncode, 1)


if __name__ == "__main__":
    unittest.main()
