# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reader in Python alone beside the compiled one: both say the same of every file, whole or damaged."""

import ctypes
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest
import unittest.mock
import warnings

import pure
import smelt
from smelt._pure import api, ed25519, zstd
from smelt._pure.metallib import read_metallib
from smelt._pure.package import PackageFile
from smelt._pure.store import xxh3_128

MUTANTS = int(os.environ.get("SMELT_MUTANTS", "1500"))  # 10,000 in the nightly run
SOURCE = """
#include <metal_stdlib>
using namespace metal;
constant float factor [[function_constant(0)]];
struct Pair { device float* x; constant float& y; };
kernel void twice(device float* x [[buffer(0)]], uint i [[thread_position_in_grid]]) { x[i] *= 2; }
kernel void scaled(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= factor; }
kernel void members(constant Pair& p [[buffer(0)]], uint i [[thread_position_in_grid]]) { p.x[i] *= p.y; }
"""


def said(do):
    """What a reader says: its answer, or the code of its error."""
    try:
        return do()
    except smelt.Error as error:
        is_text = error.message.endswith("is not UTF-8") and "name at byte" not in error.message
        return "error text" if is_text else f"error {error.code}"
    except UnicodeDecodeError:
        return "error text"


def facts_of_package(package):
    return (package.libraries, package.functions, package.targets, package.slices, package.digest, list(package), len(package),
            [(package.version(name), package.attachments(name)) for name in package],
            [package.metallib(one["target"], one["library"]) for one in package.slices if not one["target"].startswith("cpu-")])  # fmt: skip


def facts_of_library(of, data, **options):
    library = of.load_metallib(data, device="offline", **options)
    info = of.info(library)
    functions = [of.function_info(library, name) for name in info.functions]
    reasons = [(one.name, one.kind, one.metal_version, one.usable, one.reason) for one in functions]
    return (info.name, info.functions, info.target, info.digest, info.device, info.slices, info.slice_report, info.has_reflection,
            bytes(info.file), reasons, sorted(dir(library)))  # fmt: skip


class ReaderTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="smelt-pure-")
        os.environ["SMELT_STORE"] = cls.folder.name + "/store"
        for name in ("SMELT_TRUST", "SMELT_TRUSTED_KEYS", "SMELT_REMOTE", "SMELT_TARGET", "SMELT_SIGNING_KEY"):
            os.environ.pop(name, None)
        os.environ["XDG_CONFIG_HOME"] = cls.folder.name
        one = smelt.compile(SOURCE, ["macos14", "macos26", "ios17"], cpu="x86-64-v3", name="one", version="1.2")
        two = smelt.compile("kernel void k(device int* x) { *x = 1; }", ["macos13"], cpu=False, name="two", version="2.0")
        cls.made = [one, two, smelt.pack([one, two])]

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def packages(self):
        yield from (bytes(one) for one in self.made)
        for path in sorted((pure.ROOT / "tests" / "golden").rglob("*.smelt")):
            yield path.read_bytes()

    def same(self, data, what=""):
        self.assertEqual(said(lambda: facts_of_package(smelt.open(data))), said(lambda: facts_of_package(api.open(data))), what)
        self.assertEqual(said(lambda: facts_of_library(smelt, data)), said(lambda: facts_of_library(api, data)), what)

    def test_packages(self):
        formats = set()
        for data in self.packages():
            formats.add(PackageFile(data).format)
            self.same(data)
            for library in smelt.open(data):
                for options in ({"verify": "full"}, {"verify": "digest"}, {"metal": "3.1"}, {"metal": "9.9"}):
                    self.assertEqual(
                        said(lambda: facts_of_library(smelt, data, library=library, **options)),
                        said(lambda: facts_of_library(api, data, library=library, **options)),
                    )
        self.assertEqual(formats, {1, 2, 3, 4})

    def test_arguments(self):
        """Functions and the names of their arguments are those that the command prints as JSON."""
        import json

        path = pathlib.Path(self.folder.name) / "made.smelt"
        path.write_bytes(bytes(self.made[0]))
        told = json.loads(pure.smelt_command("inspect", path, "--json"))
        functions = PackageFile(path.read_bytes()).libraries[0].functions
        self.assertEqual([(one["name"], [argument["name"] for argument in one["arguments"]]) for one in told["functions"]],
                         [(one.name, list(one.arguments)) for one in functions])  # fmt: skip
        self.assertTrue(any(one.arguments for one in functions))

    def test_libraries(self):
        files = sorted(path for folder in (pure.ROOT / "tests", pure.SHARED) for path in folder.glob("data/metallibs*/*.metallib"))
        for data in [*(path.read_bytes() for path in files), *(one.metallib(one.targets[0], one.libraries[0]) for one in self.made)]:
            for verify in ("structure", "full"):
                self.assertEqual(
                    said(lambda: facts_of_library(smelt, data, verify=verify)), said(lambda: facts_of_library(api, data, verify=verify))
                )

    def mutant(self, random_, data):
        data = bytearray(data)
        kind = random_.randrange(5)
        if kind == 0:
            del data[random_.randrange(len(data)) :]
        elif kind == 1:
            data += random_.randbytes(random_.randrange(1, 80))
        else:
            # Most of a file is code: its tables are where a reader can go wrong.
            most = len(data) if kind == 2 else min(len(data), 4096)
            for _ in range(random_.randrange(1, 4)):
                at = random_.randrange(most)
                data[at] = random_.choice((0, 1, 255, data[at] ^ 1 << random_.randrange(8), random_.randrange(256)))
        return bytes(data)

    def test_mutants(self):
        packages = list(self.packages())
        libraries = [self.made[0].metallib("macos14", "one"), self.made[1].metallib("macos13", "two")]
        libraries += [path.read_bytes() for path in sorted((pure.ROOT / "tests/data/metallibs").glob("*.metallib"))]
        random_ = random.Random(44)
        refused = 0
        for number in range(MUTANTS):
            if number % 3:
                origin = random_.choice(packages)
                data = self.mutant(random_, origin)
                if number % 3 == 1:
                    data = pure.resealed(data)
                ours = said(lambda: facts_of_package(api.open(data)))
                theirs = said(lambda: facts_of_package(smelt.open(data)))
            else:
                origin = random_.choice(libraries)
                data = self.mutant(random_, origin)
                ours = said(lambda: facts_of_library(api, data, verify="full"))
                theirs = said(lambda: facts_of_library(smelt, data, verify="full"))
            refused += isinstance(ours, str)
            if ours == "error text":
                continue  # told of all text at once here, there of what is asked for
            if isinstance(ours, str) and isinstance(theirs, str):
                if ours.split()[1] not in ("corrupt", "truncated", "digest_mismatch", "format_newer", "unsupported", "not_metallib", "io"):
                    self.assertEqual(ours, theirs, number)  # which of two faults is told first may differ, not what kind of thing it is
            else:
                self.assertEqual(ours, theirs, number)
        self.assertGreater(refused, MUTANTS // 3)

    def test_no_wrong_bytes(self):
        """Whatever one bit of a package is changed to, its Metal library is the one that was packed, or an error."""
        data = bytes(self.made[1])
        right = self.made[1].metallib("macos13", "two")
        random_ = random.Random(7)
        for _ in range(MUTANTS):
            changed = bytearray(data)
            changed[random_.randrange(len(changed))] ^= 1 << random_.randrange(8)
            found = said(lambda: api.open(bytes(changed)).metallib("macos13", "two"))
            self.assertTrue(isinstance(found, str), "a changed bit went unnoticed" if found == right else "wrong bytes")

    def test_signatures(self):
        folder = pathlib.Path(self.folder.name)
        plain, signed = folder / "plain.smelt", folder / "signed.smelt"
        for path in (plain, signed):
            path.write_bytes(bytes(self.made[1]))
        ours = pure.smelt_command("key", "new", "ours", "-o", folder / "ours.key")
        pure.smelt_command("sign", signed, "--key", folder / "ours.key")
        theirs = pure.smelt_command("key", "new", "theirs", "-o", folder / "theirs.key")
        (folder / "open").write_text(ours + "\n")
        os.chmod(folder / "open", 0o666)
        for path in (plain, signed):
            for options in ({}, {"trust": "signed"}, {"trust": "signed", "trusted_keys": ours}, {"trust": "signed", "trusted_keys": [theirs]},
                            {"trust": "any"}, {"trust": "all"}, {"trusted_keys": ours}, {"trust": "signed", "trusted_keys": "me:short"},
                            {"trust": "signed", "trusted_keys": str(folder / "open")}, {"trust": "signed", "trusted_keys": "/no/such/file"},
                            {"trust": "signed", "trusted_keys": "a:" + "A" * 43 + "="}, {"expect": "12"}, {"expect": "00" * 32}):  # fmt: skip
                for variable in ("", "signed", "any", "nonsense"):
                    os.environ["SMELT_TRUST"] = variable
                    self.addCleanup(os.environ.pop, "SMELT_TRUST", None)
                    results = []
                    for of in (smelt, api):
                        results.append((said(lambda: facts_of_library(of, str(path), **options)), said(lambda: of.open(str(path), **options).digest)))
                    self.assertEqual(*results, (path, options, variable))
        os.environ.pop("SMELT_TRUST", None)
        with self.assertRaises(smelt.TrustError) as refused:
            api.load_metallib(plain, device="offline", trust="signed", trusted_keys=ours)
        self.assertIn("nobody signed it, trusted are ours", str(refused.exception))
        api.load_metallib(signed, device="offline", trust="signed", trusted_keys=ours)
        with self.assertRaises(smelt.TrustError):  # a library has no place for a signature
            api.load_metallib(self.made[1].metallib("macos13", "two"), device="offline", trust="signed", trusted_keys=ours)

    def test_ed25519(self):
        """RFC 8032, 7.1, and nettle: made there, checked here, also what is nearly a signature."""
        key = bytes.fromhex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c")
        signature = bytes.fromhex("92a009a9f0d4cab8720e820b5f642540a2b27b5416503f8fb3762223ebdb69da"
                                  "085ac1e43e15996e458f3613d0f11d8c387b2eaeb4302aeeb00d291612bb0c00")  # fmt: skip
        self.assertTrue(ed25519.verify(key, b"\x72", signature))
        self.assertFalse(ed25519.verify(key, b"\x73", signature))
        for small in ed25519._SMALL_ORDER:
            self.assertFalse(ed25519.verify(small.to_bytes(32, "little"), b"", bytes(64)))
        try:
            ctypes.CDLL("libgmp.so.10", mode=ctypes.RTLD_GLOBAL)
            nettle = ctypes.CDLL("libhogweed.so.6")
        except OSError:
            self.skipTest("no libhogweed")
        random_ = random.Random(3)
        for i in range(40):
            seed, message = random_.randbytes(32), random_.randbytes(i)
            public, made = ctypes.create_string_buffer(32), ctypes.create_string_buffer(64)
            nettle.nettle_ed25519_sha512_public_key(public, seed)
            nettle.nettle_ed25519_sha512_sign(public, seed, ctypes.c_size_t(len(message)), message, made)
            key, signature = public.raw[:32], made.raw[:64]
            self.assertTrue(ed25519.verify(key, message, signature))
            beyond = (int.from_bytes(signature[32:], "little") + ed25519._Q).to_bytes(32, "little")
            flipped = bytearray(signature)
            flipped[random_.randrange(64)] ^= 1 << random_.randrange(8)
            for one in (bytes(flipped), signature[:32] + beyond):
                theirs = nettle.nettle_ed25519_sha512_verify(key, ctypes.c_size_t(len(message)), message, one) == 1
                self.assertEqual((ed25519.verify(key, message, one), theirs), (False, False))

    def test_zstd(self):
        """What libzstd packed; damage is an error or other bytes, which the SHA-256 of whoever asks tells."""
        try:
            library = ctypes.CDLL("libzstd.so.1")
        except OSError:
            self.skipTest("no libzstd")
        library.ZSTD_compress.restype = library.ZSTD_compressBound.restype = ctypes.c_size_t

        def packed(data, level):
            room = library.ZSTD_compressBound(ctypes.c_size_t(len(data)))
            to = ctypes.create_string_buffer(room)
            size = library.ZSTD_compress(to, ctypes.c_size_t(room), data, ctypes.c_size_t(len(data)), level)
            return to.raw[:size]

        random_ = random.Random(11)
        inputs = [b"", b"a", b"ab" * 1000, bytes(300_000), self.made[0].metallib("macos14", "one"), pathlib.Path(__file__).read_bytes()]
        for size in (1, 300, 5000, 200_000):
            inputs.append(random_.randbytes(size))
            inputs.append(bytes(random_.choice(b"abcdefgh     \n") for _ in range(size)))
            inputs.append(bytes(min(255, int(random_.expovariate(0.05))) for _ in range(size)))
        for data in inputs:
            for level in (-5, 1, 3, 19):
                frame = packed(data, level)
                self.assertEqual(zstd.decompress(frame, len(data), "it"), data)
                self.assertEqual(zstd.frame_size(frame), len(data))
                for size in (len(data) + 1, max(len(data) - 1, 0)):
                    if size != len(data):
                        self.assertEqual(said(lambda: zstd.decompress(frame, size, "it")), "error corrupt")
        for _ in range(MUTANTS // 2):
            data = random_.choice(inputs[4:6] + inputs[9:12])
            frame = bytearray(packed(data, 3))
            for _ in range(random_.randrange(1, 4)):
                frame[random_.randrange(len(frame))] ^= 1 << random_.randrange(8)
            frame = frame[: random_.choice((len(frame), random_.randrange(len(frame))))]
            found = said(lambda: zstd.decompress(bytes(frame), len(data), "it"))
            self.assertTrue(found == "error corrupt" or len(found) == len(data), found)

    def test_what_is_missing_is_named(self):
        data = bytes(range(32))
        frame = bytes.fromhex("28b52ffd2020010100") + data
        self.assertEqual(zstd.decompress(frame, 32, "it"), data)
        absent = {name: None for name in ("xxhash", "zstandard", "compression.zstd")}
        self.addCleanup(zstd._unpacker.cache_clear)
        for do, name in ((lambda: xxh3_128(b""), "xxhash"), (lambda: zstd.decompress(frame, 32, "it"), "zstandard")):
            zstd._unpacker.cache_clear()
            with self.subTest(name), unittest.mock.patch.dict(sys.modules, absent), self.assertRaisesRegex(smelt.ToolchainError, rf"smelt\[store\].* {name}"):
                do()

    def test_store(self):
        folder = pathlib.Path(self.folder.name) / "some"
        native = smelt.Store(folder)
        random_ = random.Random(5)
        names = []
        for i in range(40):
            key = random_.randbytes(32).hex()
            parts = {f"part{k}": random_.randbytes(random_.choice((0, 1, 511, 512, 513, 5000))) for k in range(random_.randrange(1, 4))}
            parts["text"] = b"abc" * random_.randrange(3000)
            native.put(key, parts, compress=i % 2 == 0, cost=0.5)
            native.tag(f"name{i % 3}@{random_.choice(('1', '1.2', '1.10', '2.0-rc', '2.0', 'x'))}", key, move=True)
            names.append(key)
        ours = api.Store(folder)
        self.assertEqual([tuple(one) for one in ours.entries()], [tuple(one) for one in native.entries()])
        for key in [*names, "00" * 32]:
            a, b = native.get(key), ours.get(key)
            self.assertEqual(a and dict(a), b and dict(b))
        for name in ("", "name0", "name1", "nobody"):
            self.assertEqual([tuple(one) for one in ours.tags(name)], [tuple(one) for one in native.tags(name)])
        self.assertEqual([tuple(one) for one in ours.tag_history("name0@1")], [tuple(one) for one in native.tag_history("name0@1")])
        for query in ("name0", "name1@1", "name1@1.2", "name2@>=1.2,<2", "name2@>1", "name0@=1", "name0@!1", "nobody", "name0@<"):
            self.assertEqual(said(lambda: str(native.resolve(query))), said(lambda: str(ours.resolve(query))), query)
            self.assertEqual(
                said(lambda: [tuple(one) for one in native.candidates(query)]), said(lambda: [tuple(one) for one in ours.candidates(query)])
            )
        for bad in ("12", "zz" * 32):
            self.assertEqual(said(lambda: native.get(bad)), said(lambda: ours.get(bad)))

    def test_a_folder_of_others(self):
        folder = pathlib.Path(self.folder.name) / "shared"
        smelt.Store(folder).put("33" * 32, {"part": b"x"})
        for mode in (0o777, 0o770, 0o702, 0o755, 0o700):
            folder.chmod(mode)
            told = [said(lambda: dict(of.Store(folder).get("33" * 32))) for of in (smelt, api)]
            self.assertEqual(*told, oct(mode))
        self.assertEqual(told[1], {"part": b"x"})

    def test_damaged_store(self):
        """Wherever a byte of a pack is changed: what was put, or nothing."""
        folder = pathlib.Path(self.folder.name) / "damaged"
        native = smelt.Store(folder)
        parts = {"small": b"x" * 200, "large": bytes(range(256)) * 20, "packed": b"abc" * 4000}
        native.put("11" * 32, {"small": parts["small"], "large": parts["large"]})
        native.put("22" * 32, {"packed": parts["packed"]}, compress=True)
        del native
        pack = next((folder / "packs").glob("*.pack"))
        data = pack.read_bytes()
        random_ = random.Random(9)
        seen = set()
        for _ in range(300):
            changed = bytearray(data)
            changed[random_.randrange(len(data))] ^= 1 << random_.randrange(8)
            pack.write_bytes(bytes(changed))
            store = api.Store(folder)
            for key in ("11" * 32, "22" * 32):
                entry = store.get(key)
                seen.add(entry is None)
                for name in entry or ():
                    self.assertEqual(entry[name], parts[name])
        self.assertEqual(seen, {True, False})

    def test_the_api_has_the_same_names(self):
        for name in smelt.__all__:
            if name not in dir(__import__("smelt.errors", fromlist=["errors"])) and name not in ("Artifact", "edition"):
                self.assertTrue(hasattr(api, name), name)
        for left in (lambda: api.pack([]), lambda: api.Buffer(1, 2), lambda: api.Store("x").put("11" * 32, {"part": b""}), lambda: api.Device("cpu"),
                     lambda: api.compile(SOURCE), lambda: api.prepare(None), lambda: api.load_metallib(b"", checked=True)):  # fmt: skip
            with unittest.mock.patch.object(smelt, "edition", "reader"), self.assertRaises(smelt.UnsupportedError) as raised:
                left()
            self.assertIn("compiled modules", str(raised.exception))

    def test_alone(self):
        """A process without compiled modules, in every Python that is here; and the standard library is enough."""
        folder = pure.copy_without_modules(pathlib.Path(tempfile.mkdtemp(dir=self.folder.name)))
        file = folder / "model.smelt"
        file.write_bytes(bytes(self.made[2]))
        code = (
            "import sys, smelt\n"
            f"package = smelt.open({str(file)!r})\n"
            "library = smelt.load_metallib(package, library='one', device='offline')\n"
            "assert smelt.edition == 'reader' and smelt.__version__ != '0'\n"
            "assert not [name for name in sys.modules if name.startswith('smelt.') and getattr(sys.modules[name], '__file__', '').endswith('.so')]\n"
            "print(package.digest, smelt.info(library).target, smelt.Store().entries()[0].key, dir(library))"
        )
        wanted = f"{self.made[2].digest} macos26 {smelt.Store().entries()[0].key} ['members', 'scaled', 'twice']"
        for python in pure.pythons():
            done = subprocess.run(
                [python, "-I", "-c", f"import sys; sys.path.insert(0, {str(folder)!r})\n{code}"], capture_output=True, text=True, timeout=120
            )
            self.assertEqual((done.stdout.strip(), done.stderr), (wanted, ""), python)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    unittest.main()
