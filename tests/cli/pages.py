# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the tests of pages share: whether HTML is well-formed, what JSON a page holds, and what a browser makes of it."""

import base64
import html.parser
import json
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import urllib.parse
import zlib

VOID = {"meta", "input", "br", "link", "img"}


class Element:
    def __init__(self, tag, attributes, parent):
        self.tag, self.attributes, self.parent, self.children, self.own = tag, dict(attributes), parent, [], []

    def all(self):
        for child in self.children:
            yield child
            yield from child.all()

    def find(self, tag=None, **attributes):
        """The elements below of that tag, with these attributes; `class_` asks for one class."""
        wanted = {name.rstrip("_").replace("_", "-"): value for name, value in attributes.items()}
        for one in self.all():
            classes = (one.attributes.get("class") or "").split()
            if (tag is None or one.tag == tag) and all(
                value in classes if name == "class" else one.attributes.get(name) == value for name, value in wanted.items()):
                yield one

    def has(self, name):
        return name in (self.attributes.get("class") or "").split()

    @property
    def text(self):
        return "".join(one if isinstance(one, str) else one.text for one in self.own)


class Tree(html.parser.HTMLParser):
    """Every element is closed by its own tag, and every id is there once; else ValueError."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.root = self.at = Element("", {}, None)
        self.feed(text)
        self.close()
        if self.at is not self.root:
            raise ValueError(f"<{self.at.tag}> is not closed")
        ids = [one.attributes["id"] for one in self.root.all() if "id" in one.attributes]
        if len(ids) != len(set(ids)):
            raise ValueError("an id is there twice")

    def handle_starttag(self, tag, attrs):
        if len(attrs) != len(dict(attrs)):
            raise ValueError(f"<{tag}> has an attribute twice")
        made = Element(tag, attrs, self.at)
        self.at.children.append(made)
        self.at.own.append(made)
        if tag not in VOID:
            self.at = made

    def handle_endtag(self, tag):
        if tag != self.at.tag:
            raise ValueError(f"</{tag}> closes <{self.at.tag}>")
        self.at = self.at.parent

    def handle_data(self, data):
        self.at.own.append(data)


def tree(text):
    return Tree(text).root


def data_of(text):
    """The JSON of a page: its data, and its parts in order."""
    root = tree(text)
    (data,) = root.find("script", type="application/json")
    parts = list(root.find("script", type="text/plain"))
    assert [one.attributes["id"] for one in parts] == [f"part-{i}" for i in range(len(parts))]
    return json.loads(data.text), [json.loads(zlib.decompress(base64.b64decode(one.text, validate=True))) for one in parts]


def browser():
    return shutil.which("chromium")


def rendered(page, **state):
    """The page's elements after its script has run, with that state in its address. Skips without Chromium."""
    if not browser():
        raise unittest.SkipTest("chromium is not installed")
    with tempfile.TemporaryDirectory(prefix="smelt-browser-") as profile:
        run = [browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
               f"--user-data-dir={profile}", "--window-size=1280,900", "--virtual-time-budget=10000", "--dump-dom",
               pathlib.Path(page).resolve().as_uri() + "#" + urllib.parse.urlencode(state)]
        done = subprocess.run(run, capture_output=True, text=True, errors="replace", timeout=240)
    if done.returncode:
        raise AssertionError(f"chromium: exit {done.returncode}\n{done.stderr[-2000:]}")
    return tree(done.stdout)
