# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What pages and sources say of each other is there: links, anchors, cited sections, names of the interface.

SMELT names the command; without it the command's page is not compared.
"""

from __future__ import annotations

import ast
import functools
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
PUBLIC_FUNCTIONS = {
    "compile", "compile_shader", "function_info", "info", "load_metallib", "open", "pack", "padded", "prepare", "specialize",
}  # fmt: skip
SOURCES = {".cpp", ".hpp", ".h", ".c", ".mm", ".py", ".pyi", ".metal", ".cmake", ".txt", ".sql", ".md", ".sh", ".toml", ".yml", ".def"}


def own_files() -> list[pathlib.Path]:
    """Tracked files that people wrote; without git all but builds."""
    listed = subprocess.run(
        ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"], capture_output=True, text=True
    )
    if listed.returncode == 0:
        found = [ROOT / name for name in listed.stdout.splitlines()]
    else:
        found = [p for p in ROOT.rglob("*") if p.relative_to(ROOT).parts[0] not in ("build", ".git")]
    return [path for path in found if path.is_file()]


def without_blocks(text: str) -> str:
    """Fenced blocks are blanked, so that lines keep their numbers."""
    return re.sub(r"^ *```.*?^ *```", lambda block: "\n" * block[0].count("\n"), text, flags=re.MULTILINE | re.DOTALL)


def slug(heading: str) -> str:
    """As GitHub and mkdocs make anchors."""
    text = re.sub(r"[`*]", "", heading).strip().lower()
    return re.sub(r" ", "-", re.sub(r"[^\w\- ]", "", text))


@functools.cache
def headings(page: pathlib.Path) -> list[str]:
    return re.findall(r"^#+ (.*)$", without_blocks(page.read_text()), flags=re.MULTILINE)


def read(path: str) -> str:
    return (ROOT / path).read_text()


class Links(unittest.TestCase):
    def test_links_lead_somewhere(self) -> None:
        pages = [path for path in own_files() if path.suffix == ".md"]
        self.assertGreater(len(pages), 20)
        for page in pages:
            for text, link in re.findall(r"\[([^\]]*)\]\(([^)\s]+)\)", without_blocks(page.read_text())):
                if re.match(r"[a-z]+:", link):
                    continue
                with self.subTest(page=str(page.relative_to(ROOT)), link=link):
                    path, _, anchor = link.partition("#")
                    target = (page.parent / path).resolve() if path else page
                    self.assertTrue(target.exists(), f"'{text}' leads to {target}, which is not there")
                    if anchor:
                        self.assertIn(anchor, [slug(heading) for heading in headings(target)])

    def test_every_page_can_be_found(self) -> None:
        nav = read("mkdocs.yml")
        for page in DOCS.rglob("*.md"):
            with self.subTest(page=str(page.relative_to(DOCS))):
                self.assertIn(str(page.relative_to(DOCS)), nav, "mkdocs.yml does not list it")

    def test_files_that_pages_name_are_there(self) -> None:
        folders = {path.relative_to(ROOT).parts[0] for path in own_files()} - {"docs"}
        named = re.compile(r"`((?:%s)/[\w./*-]+)`" % "|".join(sorted(re.escape(folder) for folder in folders if "." not in folder)))
        count = 0
        for page in [*DOCS.rglob("*.md"), *ROOT.glob("*.md")]:
            for name in set(named.findall(without_blocks(page.read_text()))):
                if "NAME" in name or page.name == "CHANGELOG.md":  # other times
                    continue
                count += 1
                with self.subTest(page=str(page.relative_to(ROOT)), names=name):
                    self.assertTrue(any(ROOT.glob(name.rstrip("/"))), "there is no such file")
        self.assertGreater(count, 10)

    def test_pages_and_sections_that_sources_cite_are_there(self) -> None:
        citation = re.compile(r"docs/[\w./-]*\w\.(?:md|tsv|svg)")
        section = re.compile(r"[, ]*(?:sections? )?(\d+(?:\.\d+)*)")
        count = 0
        for path in own_files():
            plain = path.suffix in SOURCES or path.name.startswith("metal_")
            is_page = path.suffix == ".md" and path.parent != ROOT  # pages link to ours, and cite those of others
            if not plain or is_page or "data" in path.parts or path == pathlib.Path(__file__).resolve():
                continue
            text = path.read_text(errors="replace")
            for cited in citation.finditer(text):
                line = text.count("\n", 0, cited.start()) + 1
                with self.subTest(source=f"{path.relative_to(ROOT)}:{line}", cites=cited[0]):
                    page = ROOT / cited[0]
                    if text[: cited.start()].endswith(("/", "shared(\"")):
                        continue  # somewhere else
                    self.assertTrue(page.exists(), "there is no such page")
                    count += 1
                    number = section.match(text, cited.end())
                    if number and page.suffix == ".md" and path.suffix != ".md":
                        known = [re.match(r"\d+(?:\.\d+)*", heading) for heading in headings(page)]
                        self.assertIn(number[1], [one[0] for one in known if one], "the page has no such section")
        self.assertGreater(count, 30)

    def test_pages_that_sources_cite_by_their_name_alone_are_there(self) -> None:
        pages = {path.name for path in own_files() if path.suffix == ".md"} | {"table.md"}  # of a nightly run
        cited = re.compile(r"(?<![\w/.{}*-])[a-z][a-z0-9-]*\.md\b")
        count = 0
        for path in own_files():
            if path.suffix not in (SOURCES | {".def"}) - {".md"} and path.parent != ROOT / "scripts":
                continue
            text = path.read_text(errors="replace")
            for name in set(cited.findall(text)):
                count += 1
                with self.subTest(source=str(path.relative_to(ROOT)), cites=name):
                    self.assertIn(name, pages, "there is no such page")
        self.assertGreater(count, 3)


class Readers(unittest.TestCase):
    def test_notes_to_the_tests_are_in_comments(self) -> None:
        note = re.compile(r"^\s*\*Needs |\bnot run (?:by the tests|either)", flags=re.MULTILINE | re.IGNORECASE)
        for page in [*(DOCS / "guide").glob("*.md"), *(DOCS / "reference").glob("*.md"), ROOT / "README.md"]:
            shown = re.sub(r"<!--.*?-->", "", page.read_text(), flags=re.DOTALL)
            with self.subTest(page=str(page.relative_to(ROOT))):
                self.assertNotRegex(shown, note)

    def test_common_questions_are_two_clicks_from_the_readme(self) -> None:
        """Each question: a heading that answers it, on a page that README links to, or that such a page links to."""
        clicks = {ROOT / "README.md": 0}
        for depth in (1, 2):
            for page in [page for page, at in clicks.items() if at == depth - 1 and page.suffix == ".md"]:
                for link in re.findall(r"\]\(([^)#\s]+)[^)\s]*\)", without_blocks(page.read_text())):
                    if not re.match(r"[a-z]+:", link):
                        clicks.setdefault((page.parent / link).resolve(), depth)
        questions = {
            "what is it": ("README.md", "smelt", 0),
            "is it for me": ("README.md", "Compared with what you use today", 0),
            "run a kernel": ("docs/guide/python.md", "Compile and call", 1),
            "my array is (N, 3)": ("docs/guide/faq.md", "My array has shape (N, 3)", 1),
            "why was this a miss": ("docs/guide/faq.md", "Why was this compile a miss?", 1),
            "ship to a Mac": ("docs/guide/shipping.md", "With PyTorch on a Mac", 1),
            "find a race": ("docs/guide/races.md", "What each check finds", 1),
            "share a store": ("docs/guide/remotes.md", "Which server", 1),
            "what is unproven": ("docs/guide/install.md", "What has run where", 1),
            "write a PyTorch operator": ("docs/guide/pytorch-kernels.md", "Check a kernel", 1),
            "is it fast": ("docs/design/measured.md", "Summary", 1),
            "which Pythons": ("docs/guide/install.md", "The wheels", 1),
            "remove it": ("docs/guide/install.md", "Remove smelt", 1),
            "what are a function's parameters": ("docs/reference/python-api.md", "Compile and load", 2),
        }
        for question, (name, heading, most) in questions.items():
            with self.subTest(question=question):
                self.assertIn(heading, headings(ROOT / name))
                self.assertLessEqual(clicks.get(ROOT / name, 9), most)

    def test_guide_pages_stay_short(self) -> None:
        words = sum(len(page.read_text().split()) for page in (DOCS / "guide").glob("*.md"))
        self.assertLessEqual(words, 20_000, "all pages of the guide together")


class Names(unittest.TestCase):
    def test_every_c_function_is_on_its_page_and_no_other(self) -> None:
        header = read("loader/include/smelt/smelt.h") + read("service/c_api/include/smelt/compiler.h")
        functions = set(re.findall(r"SMELT_API [^;(]*?(smelt_\w+)\(", header))
        page = set(re.findall(r"\bsmelt_\w+", read("docs/reference/c.md")))
        self.assertGreater(len(functions), 30)
        self.assertEqual(functions - page, set(), "not on docs/reference/c.md")
        known = functions | set(re.findall(r"\bsmelt_\w+", header))
        for path in [*DOCS.rglob("*.md"), ROOT / "README.md"]:
            for name in set(re.findall(r"\bsmelt_\w+(?=\()", path.read_text())) - {"smelt_add_library"}:
                self.assertIn(name, known, f"{path.relative_to(ROOT)} names a function that does not exist")

    def test_headers_that_pages_name_exist(self) -> None:
        installed = {path.name for path in own_files() if path.suffix in (".hpp", ".h")}
        for path in DOCS.rglob("*.md"):
            for name in set(re.findall(r"\bsmelt/(?:\w+/)*(\w+\.hp?p?)\b", path.read_text())):
                self.assertIn(name, installed, f"{path.relative_to(ROOT)} names a header that does not exist")

    def test_every_code_is_on_the_page_of_errors(self) -> None:
        header = read("loader/include/smelt/smelt.h")
        enumeration = header[header.index("SMELT_OK = 0") :]
        enumeration = enumeration[: enumeration.index("}")]
        codes = {name.lower() for name in re.findall(r"SMELT_E_(\w+)", enumeration)}
        rows = set(re.findall(r"^\| `(\w+)` \|", read("docs/reference/errors.md"), flags=re.MULTILINE))
        self.assertGreater(len(codes), 30)
        self.assertEqual(codes, rows)

    def test_every_variable_is_on_the_page_of_the_environment(self) -> None:
        asked = re.compile(r"""(?:getenv|environment|environ(?:\.get)?)[\[(]\s*["'](SMELT_\w+)""")
        used = set()
        for path in own_files():
            inside = path.relative_to(ROOT).parts[0]
            if path.suffix in SOURCES and inside not in ("tests", "bench", "docs", "examples"):
                used |= set(asked.findall(path.read_text(errors="replace")))
        page = set(re.findall(r"^\| `(SMELT_\w+)`", read("docs/reference/environment.md"), flags=re.MULTILINE))
        self.assertGreater(len(used), 5)
        self.assertEqual(used - page, set(), "not on docs/reference/environment.md")

    def test_every_python_name_is_on_its_page(self) -> None:
        exported = re.search(r"__all__ = \[(.*?)\]", read("bindings/python/smelt/__init__.py"), flags=re.DOTALL)
        assert exported
        pages = read("docs/reference/python.md") + read("docs/reference/errors.md")
        for name in re.findall(r'"(\w+)"', exported[1]):
            with self.subTest(name=name):
                self.assertRegex(pages, rf"\b{name}\b")

    def test_help_and_page_name_the_same_parameters(self) -> None:
        """Each public function of Python: its docstring explains each parameter on a line, and its row on the page lists them."""
        page = read("docs/reference/python.md")
        count = 0
        for module in ("_load", "_request", "_package", "_padded"):
            for function in ast.parse(read(f"bindings/python/smelt/{module}.py")).body:
                if not isinstance(function, ast.FunctionDef) or function.name not in PUBLIC_FUNCTIONS:
                    continue
                count += 1
                with self.subTest(function=function.name):
                    text = ast.get_docstring(function) or ""
                    self.assertRegex(text.split("\n")[0], r"^[A-Z].*\.$", "one sentence first")
                    names = [one.arg for one in [*function.args.args, *function.args.kwonlyargs] if not one.arg.startswith("_")]
                    arguments = text.partition("\nArgs:\n")[2].partition("\n\n")[0]
                    self.assertEqual(re.findall(r"^    (\w+): ", arguments, flags=re.MULTILINE), names, "help explains others, or in another order")
                    rows = re.findall(rf"`{function.name}\(([^`]*)\)`", page)
                    self.assertTrue(rows, "not on docs/reference/python.md")
                    listed = [one.split("=")[0].strip() for one in max(rows, key=len).split(",")]
                    self.assertEqual(set(listed) - {"*"}, set(names), "the page lists others")
        self.assertEqual(count, len(PUBLIC_FUNCTIONS))

    def test_every_error_of_python_explains_itself(self) -> None:
        classes = [one for one in ast.parse(read("bindings/python/smelt/errors.py")).body if isinstance(one, ast.ClassDef)]
        self.assertGreater(len(classes), 30)
        self.assertEqual([one.name for one in classes if not ast.get_docstring(one)], [])

    @unittest.skipUnless("SMELT" in os.environ, "SKIPPED: SMELT does not name the command")
    def test_every_verb_is_on_the_page_of_the_command(self) -> None:
        def verbs(*words: str) -> list[str]:
            text = subprocess.run([os.environ["SMELT"], *words, "--help"], capture_output=True, text=True).stdout
            return re.findall(r"^  ([\w-]+) ", text.partition("Subcommands:")[2], flags=re.MULTILINE)

        page = read("docs/reference/cli.md")
        self.assertIn("compile", verbs())
        for verb in verbs():
            self.assertIn(f"smelt {verb} --help", page)
        for verb in verbs("store"):
            self.assertIn(f"Usage: smelt store {verb}", page)

    @unittest.skipUnless("SMELT" in os.environ, "SKIPPED: SMELT does not name the command")
    def test_every_claim_names_the_command_that_shows_it(self) -> None:
        build = pathlib.Path(os.environ["SMELT"]).resolve().parents[1]
        # From a folder of its own: ctest begins its log anew, which scripts/skipped reads.
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        pathlib.Path(folder.name, "CTestTestfile.cmake").write_text(f"subdirs({build})\n")
        listed = subprocess.run(["ctest", "-N", "--test-dir", folder.name], capture_output=True, text=True).stdout
        tests = set(re.findall(r"^ *Test +#\d+: (\S+)$", listed, flags=re.MULTILINE))
        table = read("docs/reference/evidence.md").partition("| Claim | Evidence | See it |\n|---|---|---|\n")[2].partition("\n\n")[0]
        rows = table.splitlines()
        self.assertGreater(len(rows), 8)
        for row in rows:
            with self.subTest(row=row):
                shown = re.search(r"\| `ctest --preset release -R '(\S+)'` \|$", row)
                assert shown
                self.assertTrue([name for name in tests if re.search(shown[1], name)])


class Figures(unittest.TestCase):
    def test_the_page_of_figures_is_made_of_the_figures(self) -> None:
        sys.path.insert(0, str(ROOT / "bench"))
        import report
        import rows

        measured = json.loads(read("docs/design/measured.json"))
        self.assertEqual(report.page(measured), read("docs/design/measured.md"), "bench/report.py page makes it")
        self.assertEqual(report.bars(measured), read("docs/design/summary.svg"), "bench/report.py summary makes it")
        known = {row.name for section in rows.SECTIONS for row in section.rows}
        for bar in rows.BARS:
            for name in bar.rows:
                self.assertTrue(any(one.startswith(name) for one in known), f"no row for the bar '{bar.what}'")
        self.assertLessEqual(known, set(measured["rows"]), "scripts/bench measures them")


if __name__ == "__main__":
    unittest.main()
