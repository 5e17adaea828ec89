# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hooks of mkdocs (mkdocs.yml), for what it does not do by itself.

The home page begins as the repository's README does, and goes on with the list of pages. Doxygen writes the reference of C and C++ into the
site, in reference/headers. Marks of evidence that follow each other, [ZIG][PROBE], are kept
from being read as a link to a heading of that name.
"""

from __future__ import annotations

import logging
import pathlib
import re
import shutil
import subprocess
from typing import Any

ROOT = pathlib.Path(__file__).resolve().parents[1]


def home(index: str) -> str:
    """What smelt is and how to try it, from README.md; then the list of pages, from docs/README.md."""
    begin, found, _ = (ROOT / "README.md").read_text().partition("\n## Compared with")
    _, also_found, pages = index.partition("\n## Guide\n")
    if not found or not also_found:
        raise ValueError("README.md has no '## Compared with', or docs/README.md no '## Guide': the home page is cut there")
    return begin.replace("](docs/", "](") + "\n## Guide\n" + pages


def on_page_markdown(markdown: str, page: Any, **_: Any) -> str:
    if page.file.src_path == "README.md":
        return home(markdown)
    if not page.file.src_path.startswith(("formats", "design")):
        return markdown
    return re.sub(r"(\[[A-Z][\w -]*\])(?=\s?\[[A-Z][\w-]*\](?!\())", r"\1&#8203;", markdown)


def on_post_build(config: Any, **_: Any) -> None:
    doxygen = shutil.which("doxygen")
    if doxygen is None:
        logging.getLogger("mkdocs").warning("no doxygen (scripts/setup): the site has no reference of C and C++")
        return
    out = pathlib.Path(config["site_dir"], "reference").resolve()
    settings = f"@INCLUDE = scripts/doxygen.conf\nOUTPUT_DIRECTORY = \"{out}\"\nGENERATE_HTML = YES\nHTML_OUTPUT = headers\n"
    subprocess.run([doxygen, "-"], input=settings, text=True, cwd=ROOT, check=True)
