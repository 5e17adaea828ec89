# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The reference by function, which is made from docstrings and headers: each public name has an entry with a text, and help() says the same.

DOXYGEN names the tool that reads the headers, SITE the folder into which mkdocs has built the site; without them those tests are skipped. The
package `smelt` is on the path.
"""

from __future__ import annotations

import ast
import doctest
import html
import importlib
import inspect
import os
import pathlib
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree as ET

import smelt

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reference" / "python-api.md"
NATIVE = ("Buffer", "Device", "Library", "Sampler", "Texture")


def read(path: str) -> str:
    return (ROOT / path).read_text()


def stub_docstrings() -> dict[str, str]:
    classes = [one for one in ast.parse(read("bindings/python/smelt/_loader.pyi")).body if isinstance(one, ast.ClassDef)]
    return {one.name: ast.get_docstring(one) or "" for one in classes}


class Python(unittest.TestCase):
    def test_every_public_name_is_on_the_page(self) -> None:
        self.assertGreater(len(smelt.__all__), 50)
        self.assertEqual(sorted(re.findall(r"^::: smelt\.(\w+)$", PAGE.read_text(), flags=re.MULTILINE)), sorted(smelt.__all__))

    def test_every_public_name_has_a_text(self) -> None:
        stubs = stub_docstrings()
        for name in smelt.__all__:
            value = getattr(smelt, name)
            if name == "edition":  # a string, whose text stands behind it
                continue
            with self.subTest(name=name):
                text = stubs[name] if name == "Kernel" else vars(value).get("__doc__") if inspect.isclass(value) else inspect.getdoc(value)
                self.assertRegex(text or "", r"^\S.{15}")

    def test_every_public_method_has_a_text(self) -> None:
        count = 0
        for cls in (smelt.Package, smelt.Store, smelt.Entry):
            for name, value in vars(cls).items():
                if name.startswith("_") or not (inspect.isfunction(value) or isinstance(value, property)):
                    continue
                count += 1
                with self.subTest(name=f"{cls.__name__}.{name}"):
                    self.assertRegex(inspect.getdoc(value) or "", r"^\S.{8}")
        self.assertGreater(count, 30)

    def test_classes_of_the_compiled_module_say_what_their_stub_says(self) -> None:
        """Help reads the one, the page the other."""
        stubs = stub_docstrings()
        for name in NATIVE:
            with self.subTest(name=name):
                self.assertEqual(inspect.cleandoc(getattr(smelt, name).__doc__).strip(), stubs[name].strip())

    def test_examples_of_docstrings_run(self) -> None:
        count = 0
        for name in smelt.__all__:
            function = getattr(smelt, name)
            if not inspect.isfunction(function):
                continue
            with self.subTest(name=name):
                space = {"smelt": smelt}
                test = doctest.DocTestParser().get_doctest(inspect.getdoc(function) or "", space, name, None, 0)
                self.assertTrue(test.examples, "no example")
                runner = doctest.DocTestRunner(verbose=False)
                said: list[str] = []
                runner.run(test, out=said.append)
                self.assertEqual(runner.failures, 0, "".join(said))
                count += 1
        self.assertGreater(count, 8)

    @unittest.skipUnless("SITE" in os.environ, "SKIPPED: no site was built")
    def test_the_site_has_an_entry_for_every_name(self) -> None:
        page = (pathlib.Path(os.environ["SITE"]) / "reference" / "python-api.html").read_text()
        for name in smelt.__all__:
            with self.subTest(name=name):
                self.assertIn(f'id="smelt.{name}"', page)
        text = html.unescape(re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", page)))
        documentation = importlib.import_module("smelt").compile.__doc__
        first = (documentation or "").split("\n")[0].split(",")[0]
        self.assertIn(first, text)
        self.assertIn("functions to treat as kernels", text)


class Headers(unittest.TestCase):
    """C and C++, as Doxygen reads their headers."""

    entries: list[tuple[str, str, str, str]] = []  # file, kind, name, text

    @classmethod
    def setUpClass(cls) -> None:
        if not os.environ.get("DOXYGEN"):
            raise unittest.SkipTest("SKIPPED: no doxygen (scripts/setup)")
        with tempfile.TemporaryDirectory() as out:
            settings = f'@INCLUDE = scripts/doxygen.conf\nOUTPUT_DIRECTORY = "{out}"\nGENERATE_XML = YES\n'
            done = subprocess.run([os.environ["DOXYGEN"], "-"], input=settings, text=True, cwd=ROOT, capture_output=True)
            cls.said = done.stderr
            cls.entries = []
            for path in pathlib.Path(out, "xml").glob("*.xml"):
                root = ET.parse(path).getroot()
                for compound in root.findall("compounddef"):
                    kind = compound.get("kind", "")
                    if kind in ("struct", "class") and compound.get("prot") == "public":
                        cls.add(compound, kind, compound.findtext("compoundname") or "")
                    for member in compound.iter("memberdef"):
                        if member.get("prot") == "public" and member.get("kind") in ("function", "typedef", "enum", "define"):
                            cls.add(member, member.get("kind", ""), member.findtext("name") or "")

    @classmethod
    def add(cls, entry: ET.Element, kind: str, name: str) -> None:
        place = entry.find("location")
        text = "".join("".join(part.itertext()) for tag in ("briefdescription", "detaileddescription") for part in entry.findall(tag))
        where = "" if place is None else f"{place.get('file')}:{place.get('line')}"
        definition = entry.findtext("argsstring") or ""
        if name.startswith(("~", "operator", "@")) or definition.endswith(("=delete", "=default")):
            return
        cls.entries.append((where, kind, name, text.strip()))

    def test_doxygen_understands_every_comment(self) -> None:
        self.assertEqual(self.said, "")

    def test_every_function_of_c_has_an_entry(self) -> None:
        header = read("loader/include/smelt/smelt.h") + read("service/c_api/include/smelt/compiler.h")
        functions = set(re.findall(r"SMELT_API [^;(]*?(smelt_\w+)\(", header))
        self.assertGreater(len(functions), 80)
        self.assertEqual(functions - {name for _, _, name, _ in self.entries}, set())

    def test_every_public_name_has_a_text(self) -> None:
        internal = re.compile(r"^SMELT_CONCAT|_$|^SMELT_(PIXEL|COMPRESSED)_FORMAT$|^SMELT_ERRC$|^SMELT_(SMELT|COMPILER)_H$|^SMELT_API$")
        bare = [entry[:3] for entry in self.entries if len(entry[3]) < 8 and not internal.search(entry[2])]
        self.assertGreater(len(self.entries), 250)
        self.assertEqual(sorted(bare), [])


if __name__ == "__main__":
    unittest.main()
