# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt repack: the same bytes, or an error and no file."""

import struct
import unittest

from smelt_cli import CORPUS, SEEDS, CliTest


class Repack(CliTest):
    def check(self, path):
        out = self.folder / "out"
        self.succeed("repack", path, "-o", out)
        self.assertEqual(out.read_bytes(), path.read_bytes(), path)

    def test_libraries_in_the_tree(self):
        for path in sorted(SEEDS.glob("*.metallib")):
            self.check(path)

    def test_apples_libraries(self):
        for path in sorted(self.shared("data/metallibs").glob("*.metallib")):
            self.check(path)

    def test_the_corpus(self):
        paths = sorted(CORPUS.glob("*/**/*.metallib"))
        if not paths:
            self.skipTest("build/corpus is absent; scripts/fetch-corpus makes it")
        self.assertEqual(len(paths), 13)
        for path in paths:
            self.check(path)

    def test_pipes(self):
        library = (SEEDS / "everything.metallib").read_bytes()
        self.assertEqual(self.succeed("repack", "-", "-o", "-", stdin=library), library)

    def test_universal(self):
        library = (SEEDS / "one_function.metallib").read_bytes()
        path = self.folder / "fat"
        path.write_bytes(struct.pack("<7I", 0xCBFEBABE, 1, 0x1000017, 10, 32, len(library), 4) + bytes(4) + library)
        self.check(path)

    def test_no_file_on_failure(self):
        library = (SEEDS / "one_function.metallib").read_bytes()
        path, out = self.folder / "broken", self.folder / "out"
        for size in range(len(library)):
            if size % 40 == 0:
                path.write_bytes(library[:size])
                self.fail_with(1, "repack", path, "-o", out)
                self.assertFalse(out.exists())
        path.write_bytes(library[:-20] + b"x" + library[-19:])  # inside the module
        self.assertIn("(corrupt)", self.fail_with(1, "repack", path, "-o", out))
        self.assertFalse(out.exists())

    def test_asked_wrongly(self):
        self.fail_with(2, "repack", SEEDS / "one_function.metallib")


if __name__ == "__main__":
    unittest.main()
