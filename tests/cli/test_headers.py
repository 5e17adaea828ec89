# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The Metal headers that the build has precompiled: taken where they fit, made anew where they do not. What somebody else
could have written is never read: Clang believes it."""

import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import unittest

from smelt_cli import SMELT, CliTest, copy_of_smelt

BUILD = pathlib.Path(SMELT).resolve().parents[1]
SOURCE = "kernel void one(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }\n"


class HeadersTest(CliTest):
    def setUp(self):
        super().setUp()
        self.source = self.folder / "one.metal"
        self.source.write_text(SOURCE)
        self.installed = BUILD / "lib" / "smelt" / "metal-headers"
        if not self.installed.is_dir():
            self.skipTest("SKIPPED: this build has no precompiled headers")

    def compile(self, *options, program=SMELT):
        """With a new store: the bytes, and how many headers had to be made."""
        store, out = self.folder / "store", self.folder / "one.metallib"
        shutil.rmtree(store, ignore_errors=True)
        words = [program, "compile", self.source, "-o", out, *options]
        done = subprocess.run(words, env={**os.environ, "SMELT_STORE": str(store)}, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return out.read_bytes(), len(list((store / "metal-headers").glob("*.pch")))

    def test_those_of_every_target_are_there(self):
        """Each serves every platform and math mode; only what no target has by itself is made."""
        self.assertEqual(self.compile()[1], 0)
        for target in ("macos12", "macos13", "macos14", "macos15", "macos26", "macos27", "ios17", "ios18", "tvos26"):
            self.assertEqual(self.compile("--target", target)[1], 0, target)
        for mode in ("-ffast-math", "-fmetal-math-mode=relaxed", "-fmetal-math-fp32-functions=fast"):
            self.assertEqual(self.compile(mode)[1], 0, mode)
        self.assertEqual(self.compile("--std", "metal2.3")[1], 1)

    def test_modes_and_platforms_mean_what_they_say(self):
        """By one file: the functions that no variant names, the arithmetic, and the macros."""
        self.source.write_text("""#include <metal_stdlib>
#include <TargetConditionals.h>
kernel void one(device float* x, uint i [[thread_position_in_grid]]) {
  x[i] = metal::sin(x[i]) + metal::ldexp(x[i], 3) + metal::clamp(x[i], 0.0f, 2.0f) + metal::precise::cos(x[i]);
#if defined(__METAL_IOS__)
  x[i] += TARGET_OS_TV ? 3 : 2;
#endif
#if defined(__FAST_MATH__)
  x[i + 64] = 5;
#endif
}
""")
        for target, platform in (("macos26", None), ("ios26", "2.0"), ("tvos26", "3.0")):
            for options, fast, finite in (((), False, False), (("-fmetal-math-fp32-functions=fast",), True, False), (("-ffast-math",), True, True)):
                with self.subTest(target=target, options=options):
                    words = ["compile", self.source, "--no-store", "--no-cpu", "--target", target, *options, "-o", self.folder / "one.ll"]
                    self.succeed(*words)
                    text = (self.folder / "one.ll").read_text()
                    for name in ("sin", "ldexp", "clamp"):
                        self.assertEqual(f"@air.fast_{name}." in text, fast, name)
                        self.assertEqual(f"@air.{name}." in text, not fast, name)
                    self.assertNotIn("air.default_", text)
                    self.assertIn("@air.cos.f32", text)
                    self.assertEqual("float 5.0" in text, finite)
                    self.assertEqual("fadd fast " in text, finite)
                    for number in ("2.0", "3.0"):
                        self.assertEqual(bool(re.search(rf"fadd .*, {number}", text)), number == platform, number)

    def test_damaged_ones_are_made_anew(self):
        program = self.folder / "bin" / "smelt"
        headers = self.folder / "lib" / "smelt" / "metal-headers"
        program.parent.mkdir()
        copy_of_smelt(program)
        shutil.copytree(self.installed, headers)
        sound, made = self.compile(program=program)
        self.assertEqual(made, 0)
        for file in headers.glob("*.pch"):
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 1
            file.write_bytes(data)
        self.assertEqual(self.compile(program=program), (sound, 1))


    def packed(self):
        """A program with the headers of its default target alone, packed as in a wheel: that program, and both files."""
        program = self.folder / "bin" / "smelt"
        headers = self.folder / "lib" / "smelt" / "metal-headers"
        program.parent.mkdir()
        copy_of_smelt(program)
        headers.mkdir(parents=True)
        (raw,) = self.installed.glob("metal-310-*.pch")
        shutil.copy(raw, headers)
        subprocess.run([BUILD / "bin" / "smelt_metal_headers", "--pack", headers], check=True)
        (file,) = headers.iterdir()
        self.assertEqual(file.name, raw.name + ".zst")
        self.assertLess(file.stat().st_size, raw.stat().st_size / 2)
        return program, raw, file

    def test_packed_ones_are_unpacked_once(self):
        """Into the user's folder, where the next process finds them."""
        program, raw, file = self.packed()
        sound = self.compile()[0]
        self.assertEqual(self.compile(program=program), (sound, 1))
        kept = self.folder / "store" / "metal-headers" / raw.name
        self.assertEqual((kept.read_bytes(), kept.stat().st_mode & 0o777), (raw.read_bytes(), 0o600))
        file.unlink()
        before = kept.stat().st_ino
        subprocess.run([program, "compile", self.source, "--no-store", "-o", self.folder / "two.metallib"], env={**os.environ, "SMELT_STORE": str(self.folder / "store")}, check=True)
        self.assertEqual(kept.stat().st_ino, before)

    def test_damaged_packed_ones_are_made_anew(self):
        program, raw, file = self.packed()
        whole = file.read_bytes()
        sound = self.compile()[0]
        middle = len(whole) // 2
        for data in (b"", whole[:7], whole[:middle], b"\xff" * 8 + whole[8:], whole[:middle] + bytes([whole[middle] ^ 1]) + whole[middle + 1 :]):
            file.write_bytes(data)
            self.assertEqual(self.compile(program=program), (sound, 1))
            self.assertEqual((self.folder / "store" / "metal-headers" / raw.name).read_bytes(), raw.read_bytes())


class Xxh128(ctypes.Structure):
    _fields_ = [("low", ctypes.c_uint64), ("high", ctypes.c_uint64)]


def xxh128(data):
    library = ctypes.CDLL("libxxhash.so.0")
    library.XXH3_128bits.restype = Xxh128
    library.XXH3_128bits.argtypes = [ctypes.c_char_p, ctypes.c_size_t]
    made = library.XXH3_128bits(data, len(data))
    return made.low | made.high << 64


def poison(file):
    """Headers in which `saturate` has another name, with the checksum that they need."""
    body = file.read_bytes()[:-16].replace(b"saturate", b"saturatX")
    file.write_bytes(body + (xxh128(body) ^ xxh128(file.name.encode())).to_bytes(16, "little"))


@unittest.skipUnless(hasattr(os, "geteuid"), "SKIPPED: needs owners of files")
class StrangersTest(CliTest):
    """A store whose headers are poisoned: a compile that reads them fails."""

    STRANGER = 65534

    def setUp(self):
        super().setUp()
        self.source = self.folder / "one.metal"
        self.source.write_text(SOURCE.replace("= 1", "= metal::saturate(x[i])"))
        self.store = self.folder / "cache" / "smelt"
        self.headers = self.store / "metal-headers"
        self.compile("--no-store")
        (self.file,) = self.headers.glob("*.pch")
        poison(self.file)
        self.assertNotEqual(self.compile("--no-store", check=False).returncode, 0, "the poisoned headers are not read")

    def compile(self, *options, check=True, program=SMELT, **environment):
        kept = {name: value for name, value in os.environ.items() if name not in ("HOME", "XDG_CACHE_HOME", "SMELT_STORE")}
        environment = environment or {"SMELT_STORE": str(self.store)}
        # Of a version of the language whose headers no build has.
        words = [program, "compile", self.source, "--std", "metal2.3", "--no-cpu", "-o", self.folder / "out.metallib", *options]
        done = subprocess.run(words, env={**kept, **environment}, capture_output=True, text=True)
        if check:
            self.assertEqual(done.returncode, 0, done.stderr)
        return done

    def give_away(self, *paths):
        if os.geteuid() != 0:
            self.skipTest("SKIPPED: only root can give files to another user")
        for path in paths:
            os.chown(path, self.STRANGER, self.STRANGER, follow_symlinks=False)

    def test_a_strangers_store(self):
        self.give_away(self.store)
        for options in ((), ("--timeout", "60")):
            self.assertIn("belongs to user", self.compile(*options).stderr)

    def test_a_strangers_folder_of_headers(self):
        self.give_away(self.headers)
        before = self.file.read_bytes()
        self.compile("--no-store")
        self.assertEqual(self.file.read_bytes(), before)  # nothing is written there either

    def test_a_strangers_file_is_made_anew(self):
        self.give_away(self.file)
        self.compile("--no-store")
        self.assertEqual(self.file.stat().st_uid, os.geteuid())

    def test_a_strangers_link_to_a_store(self):
        link = self.folder / "link"
        link.symlink_to(self.store)
        self.give_away(link)
        self.assertIn("belongs to user", self.compile(SMELT_STORE=str(link)).stderr)

    def test_others_may_write(self):
        for path, mode in ((self.store, 0o777), (self.store, 0o775), (self.headers, 0o777), (self.file, 0o666), (self.file, 0o664)):
            before = path.stat().st_mode
            path.chmod(mode)
            self.compile("--no-store")
            if path.exists() and path != self.file:
                path.chmod(before)
            poison(self.file)
            self.file.chmod(0o600)
            self.assertNotEqual(self.compile("--no-store", check=False).returncode, 0, "the poisoned headers are not read")

    def test_a_link_in_the_place_of_a_file(self):
        other = self.folder / "downloaded"
        self.file.rename(other)
        self.file.symlink_to(other)
        self.compile("--no-store")
        self.assertFalse(self.file.is_symlink())

    def test_another_name_of_a_file(self):
        self.compile("--no-store", "--std", "metal2.2")
        (other,) = set(self.headers.glob("*.pch")) - {self.file}
        self.file.replace(other)
        self.compile("--no-store", "--std", "metal2.2")

    def test_without_a_place_there_is_none(self):
        """Neither in /tmp nor in the current folder, nor for a helper, which starts without an environment."""
        (self.folder / "no-store").mkdir()
        (self.folder / "no-store" / "file").write_text("somebody's")
        for environment in ({"LANG": "C"}, {"HOME": "cache", "XDG_CACHE_HOME": "cache"}, {"SMELT_STORE": str(self.folder / "no-store")}):
            for options in ((), ("--timeout", "60")):
                before = sorted(self.folder.rglob("*"))
                said = self.compile(*options, **environment).stderr
                self.assertIn("going on without a store", said)
                self.assertEqual(sorted(set(self.folder.rglob("*")) - {self.folder / "out.metallib"}), sorted(set(before) - {self.folder / "out.metallib"}))

    def test_new_folders_are_their_users_alone(self):
        cache = self.folder / "new" / "cache"
        mask = os.umask(0o002)
        self.addCleanup(os.umask, mask)
        self.compile("--no-store", XDG_CACHE_HOME=str(cache))
        for path in (cache, *cache.rglob("*")):
            self.assertEqual(path.stat().st_mode & 0o077, 0, path)
        self.assertEqual(self.compile(XDG_CACHE_HOME=str(cache)).stderr, "")  # and so the store is taken

    def test_a_strangers_files_beside_the_program(self):
        program = self.folder / "bin" / "smelt"
        headers = self.folder / "lib" / "smelt" / "metal-headers"
        program.parent.mkdir()
        copy_of_smelt(program)
        headers.mkdir(parents=True)
        shutil.copy(self.file, headers)
        self.assertNotEqual(self.compile("--no-store", check=False, program=program, LANG="C").returncode, 0, "the poisoned headers are not read")
        for path in (headers, headers / self.file.name):
            self.give_away(path)
            self.compile("--no-store", program=program, LANG="C")
            os.chown(path, os.geteuid(), -1)
        library = program.parent / "libsmelt-aot.so"
        if library.exists():
            self.give_away(library)
            done = self.compile("--no-store", check=False, program=program, LANG="C")
            self.assertIn("libsmelt-aot.so: belongs to user", done.stderr)


if __name__ == "__main__":
    unittest.main()
