# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt store: what people see of it, and what its verbs say when they do not get all they were asked for."""

import json
import os
import re
import unittest

import pages
from smelt_cli import CliTest, smelt

KERNELS = """kernel void twice(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 2; }
kernel void triple(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= 3; }
"""


class StoreTest(CliTest):
    def setUp(self):
        super().setUp()
        self.store = self.folder / "store"
        os.environ["SMELT_STORE"] = str(self.store)
        self.source = self.folder / "both.metal"
        self.source.write_text(KERNELS)
        self.package = self.folder / "both.smelt"

    def compile(self, *options):
        self.succeed("compile", self.source, "--target", "macos14", "--target", "ios17", "-o", self.package, *options)

    def entries(self):
        return json.loads(self.succeed("store", "list", "--json"))

    def damage(self, at):
        """A byte of the only pack."""
        (pack,) = (self.store / "packs").iterdir()
        with open(pack, "r+b") as file:
            file.seek(at)
            before = file.read(1)
            file.seek(at)
            file.write(bytes([before[0] ^ 0xFF]))


class Looking(StoreTest):
    def test_a_list_says_what_each_entry_is(self):
        self.assertEqual(self.succeed("store", "list"), b"no entries\n")
        self.compile("--tag", "both@1.0")
        lines = self.succeed("store", "list").decode().splitlines()
        self.assertEqual(lines[0].split(), ["KEY", "KIND", "BYTES", "MADE", "USED", "HITS", "WHAT"])
        what = [re.match(r"([0-9a-f]{12})  (library|kernel) +(\d+) +just now +this hour +0  (.*)", line).groups() for line in lines[1:-1]]
        (tagged,) = [line for line in what if "tagged" in line[3]]
        self.assertEqual(tagged[1], "library")
        self.assertRegex(tagged[3], f"^twice, triple; for macos14, ios17, cpu-[-a-z0-9]+; from {self.source}; tagged both@1.0$")
        self.assertEqual(sorted(line[3].split(";")[0] for line in what if line[1] == "kernel"), ["triple", "twice"])
        self.assertEqual(lines[-1], f"{len(what)} entries, {sum(int(line[2]) for line in what)} bytes")

    def test_json_has_the_same_and_more(self):
        self.compile("--tag", "both@1.0", "--name", "both", "--version-string", "1.0")
        one = next(entry for entry in self.entries() if entry["tags"])
        self.assertEqual((one["kind"], one["name"], one["version"], one["source"], one["functions"], one["tags"], one["hits"]),
                         ("library", "both", "1.0", str(self.source), ["twice", "triple"], ["both@1.0"], 0))
        self.assertEqual([slice["target"].split("-")[0] for slice in one["slices"]], ["macos14", "ios17", "cpu"])
        self.assertEqual(one["origin"], "made-here\n")
        self.assertGreater(one["cost_us"], 0)

    def test_looking_is_no_use_and_a_hit_is(self):
        self.compile()
        for _ in range(3):
            self.succeed("store", "list")
            self.succeed("store", "show", self.entries()[0]["key"])
        self.assertEqual({entry["hits"] for entry in self.entries()}, {0})
        for _ in range(2):
            self.compile()
        self.assertEqual(sorted(entry["hits"] for entry in self.entries())[-2:], [0, 2])

    def test_an_entry_by_tag_by_name_and_by_the_beginning_of_its_key(self):
        self.compile("--tag", "both@1.0")
        key = next(entry["key"] for entry in self.entries() if entry["tags"])
        shown = self.succeed("store", "show", key)
        for name in (key[:8], key[:12], "both@1.0", "both@1", "both"):
            self.assertEqual(self.succeed("store", "show", name), shown, name)
        text = shown.decode()
        self.assertRegex(text, rf"(?m)^key +{key}$")
        self.assertRegex(text, r"(?m)^kernels +twice, triple$")
        self.assertRegex(text, r"(?m)^targets +macos14 \(\d+ bytes\), ios17 \(\d+ bytes\), cpu-")
        self.assertRegex(text, rf"(?m)^source +{self.source}$")
        self.assertRegex(text, r"(?m)^made +just now, in [\d.]+ ms$")
        self.assertRegex(text, r"(?m)^ +\d+ [0-9a-f]{64} library.smelt$")
        self.assertEqual(self.succeed("store", "get", "both@1.0", "library.smelt"), self.succeed("store", "get", key, "library.smelt"))
        self.succeed("store", "tag", "other@2", key[:10])
        self.assertIn("no entry whose key begins with 0123456789", self.fail_with(1, "store", "show", "0123456789"))
        self.assertIn("its first 8 or more, or NAME@VERSION", self.fail_with(2, "store", "show", "abc"))
        self.assertIn("nothing", self.fail_with(1, "store", "show", "nothing@1"))

    def test_names_of_files_stay_on_this_machine(self):
        self.compile("--tag", "both@1.0")
        exported = self.folder / "exported.smelt"
        self.succeed("store", "export", "both@1.0", "-o", exported)
        self.assertNotIn(b"both.metal", exported.read_bytes())
        remote = self.folder / "remote"
        environment = os.environ | {"SMELT_REMOTE": f"file://{remote}"}
        self.succeed("store", "push", "both@1.0", environment=environment)
        there = [path for path in remote.rglob("*") if path.is_file()]
        self.assertTrue(there)
        for path in there:
            self.assertNotIn(b"both.metal", path.read_bytes())
        elsewhere = environment | {"SMELT_STORE": str(self.folder / "elsewhere"), "SMELT_TRUST": "any"}
        self.succeed("store", "pull", "both@1.0", environment=elsewhere)
        (entry,) = json.loads(self.succeed("store", "list", "--json", environment=elsewhere))
        self.assertEqual((entry["source"], entry["functions"], entry["tags"]), ("", ["twice", "triple"], ["both@1.0"]))
        self.assertIn(f"from {remote}", entry["origin"].replace("file://", ""))

    def test_whatever_a_name_holds_it_is_one_line(self):
        odd = self.folder / "a\n\x1b[31mb.metal"
        odd.write_text(KERNELS)
        self.succeed("compile", odd, "-o", self.package)
        said = self.succeed("store", "list")
        self.assertNotIn(b"\x1b", said)
        self.assertEqual(len(said.splitlines()), len(self.entries()) + 2)

    def test_parts_of_others(self):
        self.succeed("store", "put", "ab" * 32, f"notes={self.source}")
        (entry,) = self.entries()
        self.assertEqual((entry["kind"], entry["functions"], entry["source"]), ("other", [], ""))
        self.assertIn("notes", self.succeed("store", "show", "ab" * 5).decode())


class StorePage(StoreTest):
    def test_what_the_page_holds(self):
        self.compile("--tag", "both@1.0")
        self.compile()
        page = self.folder / "store.html"
        self.assertEqual(self.succeed("store", "page", "-o", page), b"")
        text = page.read_text()
        pages.tree(text)
        data, parts = pages.data_of(text)
        listed = {entry["key"]: entry for entry in self.entries()}
        self.assertEqual(data["kind"], "store")
        self.assertEqual({entry["key"] for entry in data["entries"]}, set(listed))
        for entry in data["entries"]:
            whole = parts[entry["part"]]
            self.assertEqual({name: value for name, value in whole.items() if name != "part"}, listed[entry["key"]])

    def test_in_a_browser(self):
        self.compile("--tag", "both@1.0")
        self.compile()
        page = self.folder / "store.html"
        self.succeed("store", "page", "-o", page)
        root = pages.rendered(page, q="BOTH@1.0", all="open")
        shown = [one for one in root.find("details", class_="entry") if "hidden" not in one.attributes]
        (one,) = shown
        self.assertEqual(next(one.find("span", class_="name")).text, "twice, triple")
        for word in ("library", "macos14", "ios17", "both@1.0", "1 hit", "used this hour", "made just now"):
            self.assertIn(word, [tag.text for tag in one.find("span", class_="tag")])
        self.assertIn(str(self.source), one.text)

    def test_damage_is_on_it(self):
        self.compile()
        self.damage(100)
        page = self.folder / "store.html"
        self.succeed("store", "page", "-o", page)
        data, _ = pages.data_of(page.read_text())
        self.assertTrue(any("damaged" in entry.get("damage", "") for entry in data["entries"]))


class Order(StoreTest):
    def test_damage_is_counted_by_entries_and_blobs_and_dropped(self):
        self.compile("--tag", "both@1.0")
        count = len(self.entries())
        self.damage(100)
        result = smelt("store", "verify")
        self.assertEqual(result.returncode, 1)
        counts = re.search(r"(\d+) of (\d+) entries and (\d+) of (\d+) blobs", result.stderr.decode())
        damaged, entries, blobs, all_blobs = map(int, counts.groups())
        self.assertEqual(entries, count)
        self.assertTrue(0 < damaged < entries and 0 < blobs <= all_blobs)
        self.assertIn("smelt store verify --drop", result.stderr.decode())
        self.assertEqual(smelt("store", "verify").returncode, 1)  # nobody has asked for it: it stays
        self.assertIn("damaged", self.succeed("store", "list").decode())
        dropped = self.succeed("store", "verify", "--drop").decode()
        self.assertIn(f"{damaged} entries dropped", dropped)
        self.assertIn(f"{count - damaged} entries, ", self.succeed("store", "verify").decode())
        self.assertEqual(len(self.entries()), count - damaged)
        self.compile()  # what is gone is made again
        self.assertEqual(json.loads(self.succeed("store", "verify", "--json"))["damage"], [])

    def test_a_trim_that_cannot_reach_its_aim_says_so(self):
        self.compile("--tag", "both@1.0")
        result = smelt("store", "trim", "--max-bytes", "1000")
        self.assertEqual(result.returncode, 1)
        after = int(re.search(rb"(\d+) after", result.stdout)[1])
        self.assertIn(f"{after} bytes stay, more than the 1000 asked for: tagged entries keep ", result.stderr.decode())
        self.assertIn("smelt store tags", result.stderr.decode())
        told = json.loads(smelt("store", "trim", "--max-bytes", "1000", "--json").stdout)
        self.assertEqual((told["bytes_wanted"], told["bytes_after"]), (1000, after))
        self.assertTrue(0 < told["bytes_tagged"] <= after)
        self.succeed("store", "trim", "--max-bytes", "1000000")


if __name__ == "__main__":
    unittest.main()
