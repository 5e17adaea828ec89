# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt store: what people see of it, and what its verbs say when they do not get all they were asked for."""

import contextlib
import fcntl
import json
import os
import re
import sqlite3
import struct
import subprocess
import unittest

import pages
from smelt_cli import SMELT, CliTest, smelt

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


class NotMade(StoreTest):
    def test_a_command_that_fails_makes_no_store(self):
        """What is to be written is read first, and what is looked for is not in a store that is not there."""
        os.environ["SMELT_STORE"] = str(self.folder / "missing/also")
        cut = self.folder / "cut.smelt"
        cut.write_bytes(b"SMELTPKG" + bytes(100))
        key = "5f" * 32
        for words in (("import", "/dev/null"), ("import", cut), ("import", self.folder / "none"), ("put", key, f"a={cut}.none"), ("put", "5f", f"a={cut}"),
                      ("put", key, "a"), ("show", key), ("show", "lib@1.0"), ("get", key, "library.smelt"), ("tag", "lib@1.0", key),
                      ("export", key, "-o", self.folder / "out.smelt"), ("push", key)):  # fmt: skip
            result = smelt("store", *words)
            self.assertIn(result.returncode, (1, 2), (words, result.stderr))
            self.assertFalse((self.folder / "missing").exists(), words)
            self.assertFalse((self.folder / "out.smelt").exists(), words)
        self.succeed("store", "put", key, f"a={cut}")
        self.assertEqual(self.succeed("store", "get", key, "a"), cut.read_bytes())


class WithoutInodes(StoreTest):
    SCRIPT = """
folder=$1 smelt=$2 source=$3 out=both.smelt
mkdir "$folder"
for inodes in 2 3 4 5 6 8 10 12 16; do
  mount -t tmpfs -o nr_inodes=$inodes,size=64m none "$folder" || exit 77
  SMELT_STORE=$folder/store "$smelt" compile "$source" -o "$out" || exit 1
  mount -o remount,nr_inodes=1000 "$folder" || exit 77
  SMELT_STORE=$folder/store "$smelt" compile "$source" -o "again-$out" || exit 2
  cmp "$out" "again-$out" || exit 3
  SMELT_STORE=$folder/store "$smelt" store verify || exit 4
  umount "$folder"
done
"""

    def test_a_file_system_that_can_make_no_more_files(self):
        """A store there is used as far as it goes, costs a warning, and is sound once there is room."""
        command = ["unshare", "-m", *(["-r"] if os.geteuid() != 0 else []), "bash", "-c", self.SCRIPT, "script", str(self.folder / "few"), SMELT, str(self.source)]
        done = subprocess.run(command, cwd=self.folder, capture_output=True, text=True, timeout=600)
        if done.returncode == 77 or "unshare" in done.stderr:
            self.skipTest("no file system can be mounted here")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        for line in done.stderr.splitlines():
            self.assertRegex(line, r"^smelt: warning: .*store")


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
        self.assertEqual(one["origin"], "made-here")
        self.assertEqual(one["used"], one["used_hour"] * 3600)
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


class Extracting(StoreTest):
    def test_a_library_out_of_a_package(self):
        self.compile()
        out = self.folder / "out.metallib"
        for target in ("macos14", "ios17"):
            self.succeed("extract", self.package, "--target", target, "-o", out)
            self.assertEqual(out.read_bytes()[:4], b"MTLB")
            alone = self.folder / "alone.metallib"
            self.succeed("compile", self.source, "--target", target, "-o", alone)
            self.assertEqual(out.read_bytes(), alone.read_bytes())
        for more in ([], ["--target", "ios16"], ["--library", "nobody"]):
            self.assertIn("Metal libraries match; it has", self.fail_with(2, "extract", self.package, "-o", out, *more))
        damaged = bytearray(self.package.read_bytes())
        damaged[damaged.index(b"MTLB") + 200] ^= 1
        self.package.write_bytes(damaged)
        self.assertIn("digest", self.fail_with(1, "extract", self.package, "--target", "macos14", "-o", out))


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

    def test_groups_sums_and_orders_in_a_browser(self):
        self.compile()
        self.succeed("store", "put", "ab" * 32, f"notes={self.source}")
        page = self.folder / "store.html"
        self.succeed("store", "page", "-o", page)
        data, _ = pages.data_of(page.read_text())
        for order in ("size", "name"):
            root = pages.rendered(page, sort=order)
            groups = {next(one.find("h3")).text: one for one in root.find("section", class_="group")}
            kinds = [entry["kind"] for entry in data["entries"]]
            self.assertEqual([title.split(",")[0] for title in groups],
                             [f"{kinds.count('library')} libraries", f"{kinds.count('kernel')} kernels", "1 other entry"])
            libraries = [entry for entry in data["entries"] if entry["kind"] == "library"]
            total = sum(entry["bytes"] for entry in libraries)
            self.assertIn(f", {total / 1000:.1f} KB, " if total < 10000 else f", {total / 1000:.0f} KB, ", next(iter(groups)))
            shown = [[tag.text for tag in one.find("span", class_="tag")][1] for one in list(groups.values())[1].find("details", class_="entry")]
            sizes = [float(text.split()[0]) for text in shown]
            if order == "size":
                self.assertEqual(sizes, sorted(sizes, reverse=True))
        root = pages.rendered(page, q="both kernel nothing")
        self.assertTrue(all("hidden" in one.attributes for one in root.find("section", class_="group")))

    def test_entries_of_diff_are_apart_in_a_browser(self):
        a, b = self.folder / "a.metallib", self.folder / "b.metallib"
        text = self.source.read_text()
        for made, source in ((a, text), (b, text.replace("* 2", "* 5").replace("*= 2", "*= 5"))):
            self.source.write_text(source)
            self.succeed("compile", self.source, "--no-store", "--no-cpu", "--target", "macos14", "-o", made)
        self.assertEqual(smelt("diff", a, b).returncode, 1)
        sources = {entry["source"] for entry in self.entries() if entry["kind"] == "library"}
        self.assertEqual(sources, {"A (smelt diff)", "B (smelt diff)"})
        page = self.folder / "store.html"
        self.succeed("store", "page", "-o", page)
        titles = [next(one.find("h3")).text for one in pages.rendered(page).find("section", class_="group")]
        self.assertFalse([title for title in titles if re.match(r"\d+ librar(y|ies),", title)], titles)
        self.assertTrue([title for title in titles if "of smelt diff" in title], titles)

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

    def test_sizes_have_units_and_zero_is_nothing(self):
        self.compile()
        self.succeed("store", "trim", "--max-bytes", "1GiB")
        self.assertNotEqual(self.entries(), [])
        self.assertRegex(self.succeed("store", "trim", "--max-bytes", "0").decode(), r"^[1-9]\d* entries removed")
        self.assertEqual(self.entries(), [])
        self.assertIn("want a size", self.fail_with(2, "store", "trim", "--max-bytes", "3 giraffes"))

    def test_the_budget_is_a_variable(self):
        environment = os.environ | {"SMELT_STORE_MAX_SIZE": "20GiB"}
        self.assertEqual(json.loads(self.succeed("store", "stat", "--json", environment=environment))["max_bytes"], 20 << 30)
        self.assertEqual(json.loads(self.succeed("store", "stat", "--json"))["max_bytes"], 5 << 30)
        for command in (["store", "stat"], ["compile", self.source, "-o", self.package]):
            said = self.fail_with(2, *command, environment=environment | {"SMELT_STORE_MAX_SIZE": "plenty"})
            self.assertIn("SMELT_STORE_MAX_SIZE: 'plenty': want a size such as 500MiB or 20GiB", said)

    def test_clear_keeps_what_is_tagged_unless_told_otherwise(self):
        self.compile("--tag", "both@1.0")
        self.succeed("store", "put", "ab" * 32, f"notes={self.source}")
        smelt("store", "clear")
        self.assertEqual([entry["tags"] for entry in self.entries()], [["both@1.0"]])
        self.succeed("store", "clear", "--tagged")
        self.assertEqual(self.entries(), [])
        self.assertEqual(self.succeed("store", "tags"), b"")
        self.compile("--tag", "both@1.0")

    def test_what_nobody_used_for_so_long_goes(self):
        self.compile()
        count = len(self.entries())
        self.assertIn(b"0 entries removed", self.succeed("store", "trim", "--unused-for", "1h"))
        with contextlib.closing(sqlite3.connect(self.store / "store.db")) as database, database:
            database.execute("UPDATE entry SET used=used-100")
        (self.store / "index").unlink()
        self.assertIn(b"0 entries removed", self.succeed("store", "trim", "--unused-for", "5d"))
        self.assertIn(f"{count} entries removed".encode(), self.succeed("store", "trim", "--unused-for", "4d"))
        for wrong in ("soon", "90m"):
            self.assertIn("--unused-for", self.fail_with(2, "store", "trim", "--unused-for", wrong))

    def test_metrics_and_a_reset(self):
        self.compile()
        self.compile()
        text = self.succeed("store", "stat", "--metrics").decode()
        values = dict(line.split(" ") for line in text.splitlines() if not line.startswith("#"))
        told = json.loads(self.succeed("store", "stat", "--json"))
        self.assertEqual(values["smelt_store_entries"], str(told["entries"]))
        self.assertEqual(values["smelt_store_hits_total"], str(told["hits"]))
        self.assertGreater(told["hits"], 0)
        for name in values:
            self.assertIn(f"# TYPE {name} {'counter' if name.endswith('_total') else 'gauge'}\n", text)
        self.assertIn("hits", self.succeed("store", "stat", "--reset").decode())
        self.assertEqual(json.loads(self.succeed("store", "stat", "--json"))["hits"], 0)

    def test_a_miss_says_what_changed_since_the_last(self):
        header = self.folder / "factor.h"
        header.write_text("#define FACTOR 2\n")
        self.source.write_text('#include "factor.h"\nkernel void k(device float* x, uint i [[thread_position_in_grid]]) { x[i] *= FACTOR; }\n')
        environment = os.environ | {"SMELT_EXPLAIN_MISS": "1"}

        def said(*options):
            result = smelt("compile", self.source, "-o", self.package, *options, environment=environment)
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stderr.decode()

        self.assertIn(f"miss of {self.source}: no compile of it is known here", said())
        self.assertEqual(said(), "")  # a hit
        header.write_text("#define FACTOR 3\n")
        self.assertIn(f"since the last compile include {header} changed\n", said())
        self.assertRegex(said("--fast-math", "--target", "ios17"), "since the last compile float functions was precise and is fast; math mode was safe and is fast; target ios17 is new: ")
        self.succeed("store", "clear")
        self.assertIn("nothing of its key changed since the last compile; its entry was removed", said("--fast-math", "--target", "ios17"))

    def test_two_trims_do_not_wait_for_each_other(self):
        self.compile()
        with open(self.store / "locks", "r+b") as locks:
            range_ = struct.pack("hhqqi", fcntl.F_WRLCK, os.SEEK_SET, (1 << 24) + 1, 1, 0)
            fcntl.fcntl(locks, fcntl.F_OFD_SETLK if hasattr(fcntl, "F_OFD_SETLK") else 37, range_)
            self.assertIn("another process is trimming", self.fail_with(1, "store", "trim"))
        self.succeed("store", "trim")


if __name__ == "__main__":
    unittest.main()
