# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys that are computed without a compiler are those that the compiler computes: over sources, options and targets."""

import os
import pathlib
import random
import tempfile
import unittest
import unittest.mock

import pure
import smelt
from smelt import _compiler
from smelt._pure import api, keys

KERNEL = "kernel void k(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }"
IR = 'target triple = "air64-apple-macosx14.0.0"\ndefine void @k(ptr addrspace(1) %x) {\n  ret void\n}\n'
SOURCES = [
    KERNEL,
    "// a comment\n" + KERNEL + "/* more\n */\n",
    "#include <metal_stdlib>\nusing namespace metal;\n" + KERNEL,
    "#include <no/such/file.h>\n" + KERNEL,
    "#define TEXT \"a // b\" 'c'\n#define X \\\n  1\n" + KERNEL,
    "int a = 1'000; // it's\n" + KERNEL + "\n#if 1\n#endif",
    'const constant char r[] = R"(// no comment)";\n' + KERNEL,
    "// continued \\\nby a backslash\n" + KERNEL,
    "/* never closed " + KERNEL,
    KERNEL + "\nconstant int line = __LINE__;",
    "  \t#  define A 1\n\n\n#define B A+  A\n" + KERNEL.replace(" ", "\r\n\t "),
    "[[kernel]] void k(device int* x) { *x = 1 / 2; }",
    "\f\v\n" + KERNEL,
    "x",
    KERNEL + "\u00e4\u00f6",
    IR,
    "; a comment\n" + IR,
    "define void @f() { ret void }",
    "@x = constant i32 1\n",
]


class KeysTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="smelt-keys-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        before = os.getcwd()
        self.addCleanup(os.chdir, before)
        os.chdir(self.folder)
        os.environ.pop("SMELT_CPU_EFFORT", None)

    def same(self, sources, options, what=""):
        """Both keys; the second where it takes no LLVM."""
        theirs = {**options._asdict(), "cpu": False, **dict.fromkeys(options.flags, True)}
        theirs.update({name: list(value) for name, value in theirs.items() if isinstance(value, tuple) and name != "language"})
        del theirs["flags"]
        theirs["metadata"] = options.metadata or None
        raw = keys.raw_key(sources, options)
        normalised = keys.normalised_key(sources, options)
        try:
            wanted = _compiler.keys_of(sources, theirs)
        except smelt.Error:
            self.assertIsNone(normalised, what)  # LLVM does not read it
            return
        self.assertEqual(raw, wanted[0], what)
        if normalised is not None:
            self.assertEqual(normalised, wanted[1], what)

    def test_sources(self):
        for number, source in enumerate(SOURCES):
            for targets in ((), ("macos14",), ("macos26", "macos12", "macos26")):
                self.same([("source.metal", source.encode())], keys.Options(targets=targets), number)
        self.same([("a.metal", SOURCES[0].encode()), ("b.metal", SOURCES[1].encode())], keys.Options())

    def test_targets(self):
        for row in keys.facts().targets:
            self.same([("s", KERNEL.encode())], keys.Options(targets=(row["name"],)))
            self.same([("s", KERNEL.encode())], keys.Options(targets=(row["name"] + ".3", row["name"])))
        for bad in ("macos", "macos9", "macos14.", "macos14.x", "macos14.256", "macos14.1.1", "windows11"):
            with self.assertRaises(smelt.ArgumentError) as ours:
                keys.target(bad)
            with self.assertRaises(smelt.ArgumentError) as theirs:
                _compiler.target_facts(bad)
            self.assertEqual(str(ours.exception), str(theirs.exception))

    def test_options(self):
        values = {
            "targets": [("macos15",), ("ios17", "macos14.2")], "fast_math": [True], "threadgroup_memory": [0, 1 << 40],
            "threads_per_threadgroup": [64], "kernels": [("k",), ("k", "a", "k")], "functions": [("k", "\u00e4")],
            "language": [(3, 1)], "flags": [frozenset((name,)) for name, _ in keys.facts().flags],
            "name": ["library"], "version": ["1.0"], "definitions": [("A", "B=1"), ("X=__LINE__",)],
        }  # fmt: skip
        for name, ones in values.items():
            for value in ones:
                self.same([("s.metal", SOURCES[2].encode())], keys.Options(**{name: value}), name)
        random_ = random.Random(2)
        for _ in range(200):
            chosen = random_.sample(sorted(values), random_.randrange(1, 8))
            options = keys.Options(**{name: random_.choice(values[name]) for name in chosen})
            self.same([("s.metal", random_.choice(SOURCES[:10]).encode())], options, options)
        self.assertEqual(set(keys.Options._fields) - set(values), {"include_folders", "metadata"})
        self.same([("k.ll", IR.encode())], keys.Options(metadata='{"shared": 64, "num_warps": 4}'))

    def test_includes(self):
        (self.folder / "sub" / "deep").mkdir(parents=True)
        (self.folder / "sub" / "a.h").write_text('#include "deep/b.h"\n#include "../c.h"\n// a\n')
        (self.folder / "sub" / "deep" / "b.h").write_text("#include <a.h>\nconstant int line = 1;\n")
        (self.folder / "c.h").write_text('#define FILE "sub/a.h"\n#import "lost.h"\n')
        (self.folder / "main.metal").write_text('#include "sub/./a.h"\n#include "sub/a.h"\n' + KERNEL)
        (self.folder / "sub" / "places.h").write_text("constant int here = __LINE__;\n")
        absolute = f'#include "{self.folder}/c.h"\n#if __has_include("sub/deep/b.h")\n#endif\n' + KERNEL
        for source in ((self.folder / "main.metal").read_bytes(), absolute.encode(), b'#include "sub/places.h"\n' + KERNEL.encode(),
                       b'  #  include <deep/b.h>\n#include "gone', b'#define Q "c.h"\n#define R <c.h>\n' + KERNEL.encode()):  # fmt: skip
            for name in ("main.metal", str(self.folder / "main.metal"), "sub/other.metal", "elsewhere/x.metal"):
                for folders in ((), (".",), ("sub",), (str(self.folder / "sub"), "nowhere")):
                    self.same([(name, source)], keys.Options(include_folders=folders), (source, name, folders))
                    self.same([(name, source)], keys.Options(include_folders=folders, flags=frozenset(("debug_lines",))), (source, name, folders))

    def test_real_sources(self):
        """Of the project's own folders and of what was collected, whatever is there."""
        files = [path for folder in (pure.ROOT / "tests", pure.ROOT / "examples", pure.ROOT / "bench", pure.SHARED / "data")
                 for path in folder.rglob("*") if path.suffix in (".metal", ".ll", ".llir", ".msl")]  # fmt: skip
        self.assertGreater(len(files), 10)
        msl = 0
        for path in random.Random(1).sample(sorted(files), min(len(files), 150)):
            data = path.read_bytes()
            msl += keys.kind_of(data) == "msl"
            self.same([(str(path), data)], keys.Options(targets=("macos15",), include_folders=(str(path.parent),)), path)
        self.assertGreater(msl, 3)

    def test_random_text(self):
        """Nonsense that is nearly Metal: the two scanners agree on every turn."""
        words = ["#", "include", "define", '"', "'", "\\", "\n", "\r\n", " ", "\t", "/*", "*/", "//", "a", "R", "<x.h>", "(", ")", "__LINE__", "\f", "1"]
        random_ = random.Random(6)
        for number in range(2000):
            data = ("k " + "".join(random_.choice(words) for _ in range(random_.randrange(40)))).encode()
            self.same([("s.metal", data)], keys.Options(), data)

    def test_what_the_store_files_it_under(self):
        os.environ["SMELT_STORE"] = str(self.folder / "store")
        self.addCleanup(os.environ.pop, "SMELT_STORE", None)
        made = smelt.compile(KERNEL, ["macos15"], cpu=False, filename="a.metal")
        options = keys.Options(targets=("macos15",))
        self.assertEqual(made.key, keys.raw_key([("a.metal", KERNEL.encode())], options))
        pure = unittest.mock.patch.object(smelt, "edition", "reader")
        pure.start()
        self.addCleanup(pure.stop)
        # Another comment, another name, another process: found by what it means.
        found = api.compile("// new\n" + KERNEL, ["macos15"], cpu=False, filename="b.metal")
        self.assertEqual(bytes(found), bytes(made))
        self.assertTrue(found.hit)
        with self.assertRaises(smelt.CacheMissError):
            api.compile(KERNEL, ["macos14"], cpu=False)
        with self.assertRaises(smelt.CacheMissError):
            api.compile(KERNEL.replace("2", "3"), ["macos15"], cpu=False)


if __name__ == "__main__":
    unittest.main()
