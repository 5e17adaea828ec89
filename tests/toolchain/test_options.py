# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of options: the page has it as it is, and each option does what its row says."""

import os
import re
import unittest

from tools import FILL, SMELT, SOURCE, ToolTest

PAGE = SOURCE / "docs/reference/toolchain.md"
BEGIN, END = "<!-- options: begin -->\n", "<!-- options: end -->\n"
# A value that means something, where any word will not do.
VALUES = {"-x": "metal", "-ferror-limit=": "5", "-arch": "air64", "-std=": "metal3.0", "--std=": "metal3.0", "-target": "air64-apple-macosx14.0",
          "--target=": "air64-apple-macosx14.0", "-isysroot": "MacOSX.sdk", "--sysroot=": "MacOSX.sdk", "-Xclang": "-w",
          "-O": "2", "-working-directory": ".", "-working-directory=": ".", "-frecord-sources": "=yes", "-fmetal-math-mode=": "fast", "-fmetal-math-fp32-functions=": "fast"}


def rows(table, tool):
    """(option, shape, fate) of each row of a tool."""
    part = table.split(f"### {tool}\n")[1].split("### ")[0]
    for spelled, fate in re.findall(r"^\| `([^`]+)` \| ([^|]+) \|", part, re.M):
        option, shape = re.fullmatch(r"(.*?)( …|…|\[ \]…|)", spelled).groups()
        yield option, shape, fate.strip()


def words_of(option, shape):
    value = VALUES.get(option, "17.0" if "version" in option and "mac" not in option else "14.0" if "version" in option else "some/value")
    if shape == "":
        return [option]
    return [option + value] if shape == "…" else [option, value]


class OptionTest(ToolTest):
    def setUp(self):
        super().setUp()
        self.table = self.succeed(SMELT, "toolchain", "--options")

    def test_the_page_has_the_table(self):
        text = PAGE.read_text()
        front, rest = text.split(BEGIN)
        _, back = rest.split(END)
        if os.environ.get("SMELT_ACCEPT") == "1":
            PAGE.write_text(front + BEGIN + self.table + END + back)
            self.skipTest("written")
        self.assertEqual(rest.split(END)[0], self.table, "SMELT_ACCEPT=1 writes it")

    def test_each_option_of_metal_is_taken_or_refused_as_it_says(self):
        counts = {}
        for option, shape, fate in rows(self.table, "metal"):
            said = self.call("metal", *words_of(option, shape), "-###", "x.metal")
            counts[fate] = counts.get(fate, 0) + 1
            if fate == "refused":
                self.assertEqual((said.returncode, "unsupported option" in said.stderr), (1, True), option)
            else:
                self.assertEqual(said.returncode, 0, (option, said.stderr))
                self.assertEqual("warning: " in said.stderr, fate == "ignored, with a warning", option)
        self.assertGreater(counts["honoured"], 60)

    def test_what_is_ignored_changes_nothing(self):
        self.write(fill_metal=FILL)
        ignored = [word for option, shape, fate in rows(self.table, "metal") if fate == "ignored" for word in words_of(option, shape)]
        self.assertGreater(len(ignored), 35)
        self.succeed("metal", "-c", "fill.metal", "-o", "plain.air", SMELT_STORE=str(self.folder / "one"))
        self.succeed("metal", *ignored, "-c", "fill.metal", "-o", "with.air", SMELT_STORE=str(self.folder / "two"))
        self.assertEqual((self.folder / "plain.air").read_bytes(), (self.folder / "with.air").read_bytes())


if __name__ == "__main__":
    unittest.main()
