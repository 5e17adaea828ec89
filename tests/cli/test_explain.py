# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt explain, and the pages of smelt diff: what they hold, whatever names and sources hold, and what a browser shows."""

import unittest

import pages
from smelt_cli import CORPUS, SEEDS, CliTest, smelt

KERNELS = """#include <metal_stdlib>
using namespace metal;
kernel void saxpy(device const float* x [[buffer(0)]], device float* y [[buffer(1)]], constant float& a [[buffer(2)]],
                  uint i [[thread_position_in_grid]]) {
  y[i] = fma(a, x[i], y[i]);
}
kernel void triple(device const int* in [[buffer(0)]], device int* out [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[i] = in[i] * 3;
}
"""
FMA = 5  # the line of KERNELS

HOSTILE = "</script><script>document.title='owned'</script><b id=\"owned\">&amp;'\"\x01\x1b[31m\u2028<!--"


class Pages(CliTest):
    def write(self, name, text):
        path = self.folder / name
        path.write_text(text)
        return path

    def explain(self, *arguments):
        page = self.folder / "page.html"
        self.assertEqual(self.succeed("explain", *arguments, "-o", page), b"")
        return page

    def diff(self, a, b):
        page = self.folder / "page.html"
        done = smelt("diff", a, b, "--no-store", "-o", page)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (1, b"", b""))
        return page

    def library(self, source, name="k", *options):
        made = self.folder / f"{name}.metallib"
        self.succeed("compile", self.write(f"{name}.metal", source), "-o", made, "--no-cpu", "--no-store", *options)
        return made

    def check_self_contained(self, text):
        """Well-formed, and nothing is fetched from anywhere."""
        root = pages.tree(text)
        for one in root.all():
            self.assertFalse({"src", "srcset", "action", "style", "onclick"} & set(one.attributes), one.attributes)
            self.assertNotIn(one.tag, {"link", "img", "iframe", "object", "base"})
        return root


class Explain(Pages):
    def test_source_air_and_cpu_code_of_a_line(self):
        source = self.write("k.metal", KERNELS)
        text = self.explain(source, "--cpu", "x86-64-v3").read_text()
        self.check_self_contained(text)
        data, parts = pages.data_of(text)
        self.assertEqual([f["name"] for f in data["functions"]], ["saxpy", "triple"])
        saxpy = parts[data["functions"][0]["part"]]
        self.assertEqual(list(data["sources"].values()), [KERNELS])
        at = saxpy["files"].index(str(source))
        (fma,) = [i for i, line in enumerate(saxpy["air"]) if "call" in line and "@air.fma" in line]
        self.assertEqual(saxpy["places"][fma], [at, FMA])
        made = [line for line, of in zip(saxpy["cpu"], saxpy["cpu_lines"]) if of == fma + 1]
        self.assertTrue(any("vfmadd" in line for line in made), made)
        self.assertEqual([a["name"] for a in saxpy["arguments"]], ["x", "y", "a", "i"])
        self.assertGreater(data["functions"][0]["cpu_bytes"], 0)
        self.assertEqual(data["findings"], [])

    def test_a_library_with_debug_lines_finds_its_source(self):
        library = self.library(KERNELS, "k", "-g")
        data, parts = pages.data_of(self.explain(library).read_text())
        self.assertEqual(data["sources"], {})
        self.assertIn("k.metal", data["notes"][0])
        data, parts = pages.data_of(self.explain(library, "--source", self.folder / "k.metal").read_text())
        self.assertEqual(list(data["sources"].values()), [KERNELS])
        self.assertTrue(any(place and place[1] == FMA for place in parts[0]["places"]))

    def test_a_library_without_debug_lines(self):
        data, parts = pages.data_of(self.explain(self.library(KERNELS)).read_text())
        self.assertEqual((data["sources"], data["notes"]), ({}, []))
        self.assertFalse(any(parts[0]["places"]))
        self.assertTrue(any(parts[0]["cpu_lines"]))

    def test_findings_and_kernels_without_cpu_code_are_told(self):
        library = SEEDS / "two_functions.metallib"
        data, parts = pages.data_of(self.explain(library).read_text())
        told = [f for part in parts for f in part["findings"]] + data["findings"]
        self.assertTrue(told)
        self.assertEqual([f["problem"] for f in data["functions"]], [True, True])
        self.assertTrue(parts[0]["problem"])

    def test_packages_and_targets(self):
        package = self.folder / "k.smelt"
        self.succeed("compile", self.write("k.metal", KERNELS), "-o", package, "--target", "macos14", "--target", "ios17", "--no-store", "--no-cpu")
        data, parts = pages.data_of(self.explain(package, "--target", "ios17", "--function", "triple", "--no-cpu").read_text())
        self.assertEqual([f["name"] for f in data["functions"]], ["triple"])
        self.assertIn("ios17", data["facts"][0])
        self.assertEqual(parts[0]["cpu"], [])
        page = self.folder / "none.html"
        self.assertIn("--target macos26", self.fail_with(2, "explain", package, "--target", "macos26", "-o", page))
        self.assertIn("'nothing'", self.fail_with(1, "explain", package, "--function", "nothing", "-o", page))
        self.assertIn("file_not_found", self.fail_with(1, "explain", self.folder / "absent", "-o", page))
        self.assertIn("error", self.fail_with(1, "explain", self.write("bad.metal", "kernel void k( {"), "-o", page))
        self.assertFalse(page.exists())

    def hostile(self):
        """A library and a source whose names and text try to be markup."""
        escaped = "".join(c if c.isascii() and c.isprintable() and c not in '"\\' else "".join(f"\\{b:02x}" for b in c.encode()) for c in HOSTILE)
        text = f'define void @"{escaped}"(ptr addrspace(1) %p) "smelt.kernel" {{\n  store i32 1, ptr addrspace(1) %p, align 4\n  ret void\n}}\n'
        other = text.replace("i32 1", "i32 2")
        made = []
        for name, source in (("a", text), ("b", other)):
            made.append(self.folder / f"{name}.metallib")
            self.succeed("compile", self.write(f"{name}.ll", source), "-o", made[-1], "--no-store")
        return made

    def test_hostile_names_stay_text(self):
        a, b = self.hostile()
        for page in (self.explain(a), self.diff(a, b)):
            text = page.read_text()
            root = self.check_self_contained(text)
            self.assertEqual(list(root.find("b")), [])
            self.assertNotRegex(text, "[\x00-\x08\x0b-\x1f\x7f\u2028]")
            data, parts = pages.data_of(text)
            rows = data["functions"] if data["kind"] == "explain" else data["libraries"][0]["different"]
            self.assertEqual([row["name"] for row in rows], [HOSTILE])

    def test_hostile_source_stays_text(self):
        source = KERNELS + "// " + HOSTILE.replace("\x01", "").replace("\x1b", "") + "\n// ]]> \\u003c/script>\n"
        path = self.write("<script> &amp;.metal", source)
        text = self.explain(path).read_text()
        root = self.check_self_contained(text)
        self.assertEqual(list(root.find("b")), [])
        self.assertEqual(pages.data_of(text)[0]["sources"], {str(path): source})

    def test_source_that_is_no_utf8(self):
        path = self.folder / "k.metal"
        path.write_bytes(KERNELS.encode() + b"// \xff\xfe\n")
        text = self.explain(path).read_text()
        self.check_self_contained(text)
        self.assertEqual(pages.data_of(text)[0]["sources"], {str(path): KERNELS + "// \ufffd\ufffd\n"})

    # In a browser

    def test_search_and_folding(self):
        page = self.explain(self.write("k.metal", KERNELS))
        root = pages.rendered(page)
        entries = list(root.find("details", class_="entry"))
        self.assertEqual(["open" in e.attributes for e in entries], [True, False])
        self.assertEqual([bool(list(e.find("table"))) for e in entries], [True, False], "drawn before it was opened")
        self.assertEqual(next(root.find(id="shown")).text, "2 entries")
        root = pages.rendered(page, q="tripl")
        self.assertEqual(["hidden" in e.attributes for e in root.find("details", class_="entry")], [True, False])
        self.assertEqual(next(root.find(id="shown")).text, "1 of 2 entries")
        self.assertEqual(["hidden" in e.attributes for e in pages.rendered(page, q="KERNEL saXpy").find("details", class_="entry")], [False, True])
        root = pages.rendered(page, all="open")
        entries = list(root.find("details", class_="entry"))
        self.assertEqual(["open" in e.attributes for e in entries], [True, True])
        self.assertTrue(all(list(e.find("table")) for e in entries))
        self.assertEqual(len(list(root.find("rect", class_="air"))), 2)

    def test_one_function_is_open_and_each_bar_says_its_bytes(self):
        page = self.explain(self.write("k.metal", KERNELS), "--function", "triple")
        root = pages.rendered(page)
        (entry,) = root.find("details", class_="entry")
        self.assertIn("open", entry.attributes)
        self.assertTrue(list(entry.find("section", class_="pane")))
        (function,) = pages.data_of(page.read_text())[0]["functions"]
        self.assertEqual([one.text for one in root.find("text", class_="bytes")], [str(function["air_bytes"]), str(function["cpu_bytes"])])

    def test_the_page_opens_on_source_air_and_cpu_code(self):
        root = pages.rendered(self.explain(self.write("k.metal", KERNELS), "--cpu", "x86-64-v3"))
        order = [one for one in root.all() if one.tag in ("dl", "svg") or one.has("panes")]
        self.assertEqual([one.attributes.get("class") or one.tag for one in order], ["dl", "panes", "svg"])
        titles = [next(pane.find("h3")).text for pane in order[1].find("section", class_="pane")]
        self.assertRegex(titles[0], r"k\.metal, lines \d+ to \d+$")
        self.assertEqual(titles[1:], ["AIR", "CPU code, x86-64-v3"])
        terms = {one.text for one in order[0].find("dt")}
        self.assertLessEqual({"source", "AIR", "CPU code", "finding"}, terms)

    def test_lines_of_one_colour(self):
        page = self.explain(self.write("k.metal", KERNELS), "--cpu", "x86-64-v3")
        _, parts = pages.data_of(page.read_text())
        key = f"s{parts[0]['files'].index(str(self.folder / 'k.metal'))}:{FMA}"
        root = pages.rendered(page, open="saxpy", line=key)
        panes = list(root.find("section", class_="pane"))
        self.assertEqual(len(panes), 3)
        marked = [[line for line in pane.all() if line.has("on")] for pane in panes]
        self.assertEqual([line.text.lstrip("0123456789") for line in marked[0]], ["  y[i] = fma(a, x[i], y[i]);"])
        self.assertTrue(any("@air.fma" in line.text for line in marked[1]))
        self.assertTrue(any("vfmadd" in line.text for line in marked[2]))
        for pane in panes:
            hues = {line.attributes["style"] for line in pane.find(data_key=key)}
            self.assertEqual(len(hues), 1)
        self.assertEqual(len({line.attributes["style"] for pane in panes for line in pane.find(data_key=key)}), 1)

    def test_hostile_names_in_a_browser(self):
        a, b = self.hostile()
        for page in (self.explain(a), self.diff(a, b)):
            root = pages.rendered(page, all="open")
            self.assertEqual(list(root.find("b")) + list(root.find(id="owned")), [])
            self.assertNotEqual(next(root.find("title")).text, "owned")
            (entry,) = root.find("details", class_="entry")
            self.assertEqual(next(entry.find("span", class_="name")).text, HOSTILE)

    def test_five_hundred_kernels(self):
        path = CORPUS / "llama.rn/cpp/ggml-metal/ggml-llama.metallib"
        if not path.exists():
            self.skipTest("build/corpus is absent; scripts/fetch-corpus makes it")
        page = self.explain(path, "--no-cpu")
        root = pages.rendered(page, q="kernel_sum_rows", open="kernel_sum_rows_f32")
        entries = list(root.find("details", class_="entry"))
        self.assertEqual(len(entries), 574)
        shown = [e for e in entries if "hidden" not in e.attributes]
        self.assertEqual({next(e.find("span", class_="name")).text for e in shown}, {"kernel_sum_rows_f32", "kernel_sum_rows_f32_4"} & {f["name"] for f in pages.data_of(page.read_text())[0]["functions"]})
        self.assertEqual(sum("open" in e.attributes for e in entries), 1)


class DiffPage(Pages):
    def test_what_is_printed_is_on_the_page(self):
        a, b = self.library(KERNELS, "a"), self.library(KERNELS.replace("* 3", "* 5"), "b")
        text = self.diff(a, b).read_text()
        self.check_self_contained(text)
        data, parts = pages.data_of(text)
        (row,) = data["libraries"][0]["different"]
        self.assertEqual((row["name"], row["kinds"]), ("triple", ["code", "numbers"]))
        printed = smelt("diff", a, b, "--no-store").stdout.decode()
        for line in parts[0]["code"]["lines"]:
            self.assertIn(line, printed)

    def test_in_a_browser(self):
        page = self.diff(self.library(KERNELS, "a"), self.library(KERNELS.replace("* 3", "* 5"), "b"))
        root = pages.rendered(page)
        (entry,) = root.find("details", class_="entry")
        self.assertIn("open", entry.attributes, "the one function that differs")
        self.assertEqual([len(list(entry.find("div", class_=kind))) for kind in ("minus", "plus")], [1, 1])
        cells = [cell.text for cell in entry.find("td")]
        self.assertIn("256 x 1 x 1", cells)
        self.assertIn("code", cells)


if __name__ == "__main__":
    unittest.main()
