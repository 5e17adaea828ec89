#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs the fenced blocks of a page, in order, in an empty folder: what a reader would type works.

    blocks.py --build BUILD [--prefix PREFIX] PAGE...     run the pages; exit 1 when a block fails
    blocks.py --list PAGE...                              only say which blocks are not run, and why

What becomes of a block depends on its language:

    sh          run by bash; stops at the first command that fails
    python      run; all Python blocks of a page share one interpreter
    metal, c, cpp   compiled, unless the line above names a file
    output      what the block above it has printed; "..." stands for anything, alone on a line for any lines
    json        the same for JSON: what is written must be there, more may be
    text        for people: drawings, grammars; not looked at

A line above a block may say more:

    `NAME`:                              the block is a file of that name, written and not run
    <!-- Not run by the tests: REASON. -->   counted and listed; readers do not see it
    <!-- Needs NAME and NAME. -->        run where it is there (PyTorch, Triton, pytest, clangd-19, root, the corpus), else counted and listed

SMELT_ACCEPT=1 writes what was printed into the output blocks, but for those in which "..." stands for what may vary: a line of its own, or one
that ends with it and is not in what was printed.
"""

from __future__ import annotations

import argparse
import dataclasses
import fnmatch
import importlib.util
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = ("sh", "python", "metal", "c", "cpp", "cmake", "output", "json", "text")
FENCE = re.compile(r"^(?P<indent> *)(?P<fence>`{3,})(?P<language>\S*)\s*$")
FILE = re.compile(r"^`(?P<name>[\w./-]+)`:$")
NOT_RUN = re.compile(r"^<!-- Not run by the tests: (?P<reason>.+)\. -->$")
NEEDS = re.compile(r"^<!-- Needs (?P<names>.+)\. -->$")
SECONDS = 300

# Executes blocks that arrive as JSON lines, in one namespace; answers each with a line on descriptor 3.
INTERPRETER = r"""
import json, linecache, os, sys, traceback
answers = os.fdopen(int(sys.argv[1]), "w")
space = {"__name__": "__main__"}
for line in sys.stdin:
    name, first, text = json.loads(line)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    good = True
    try:
        exec(compile("\n" * (first - 1) + text, name, "exec"), space)
    except BaseException:
        traceback.print_exc(file=sys.stdout)
        good = False
    sys.stdout.flush()
    answers.write(json.dumps(good) + "\n")
    answers.flush()
"""


@dataclasses.dataclass
class Block:
    page: pathlib.Path
    line: int
    """Of its first line of text."""
    language: str
    text: str
    above: str
    """The nearest line above that is not empty."""
    follows: bool
    """Whether nothing but an empty line stands between it and the block before."""

    @property
    def place(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"


class Failure(Exception):
    pass


def read_blocks(page: pathlib.Path) -> list[Block]:
    blocks: list[Block] = []
    lines = page.read_text().splitlines()
    above, after_block, at = "", False, 0
    while at < len(lines):
        opening = FENCE.match(lines[at])
        if not opening:
            if lines[at].strip():
                above, after_block = lines[at].strip(), False
            at += 1
            continue
        language, indent = opening["language"], len(opening["indent"])
        end = next((i for i in range(at + 1, len(lines)) if lines[i].strip() == opening["fence"]), None)
        if end is None:
            raise Failure(f"{page}:{at + 1}: this block has no end")
        if language not in LANGUAGES:
            raise Failure(f"{page}:{at + 1}: a block of '{language}'; want one of {', '.join(LANGUAGES)}")
        text = "".join(line[indent:] + "\n" for line in lines[at + 1 : end])
        blocks.append(Block(page, at + 2, language, text, above, after_block))
        above, after_block, at = "", True, end + 1
    return blocks


def is_there(name: str, build: pathlib.Path) -> bool:
    if name == "the corpus":
        return corpus(build).is_dir()
    if name == "root":  # and what containers seldom let root do
        probe = subprocess.run(["unshare", "--mount", "true"], stderr=subprocess.DEVNULL) if os.geteuid() == 0 else None
        return probe is not None and probe.returncode == 0
    if name == "clangd-19":
        return shutil.which(name) is not None
    modules = {"PyTorch": "torch.mps", "Triton": "triton", "pytest": "pytest", "PIL": "PIL"}  # torch.mps came with PyTorch 2
    if name not in modules:
        raise Failure(f"<!-- Needs {name}. -->: known are {', '.join(modules)}, clangd-19, root and the corpus")
    try:
        return importlib.util.find_spec(modules[name]) is not None
    except ImportError:
        return False


def corpus(build: pathlib.Path) -> pathlib.Path:
    return pathlib.Path(os.environ.get("SMELT_CORPUS", build.parent / "corpus"))


def reason_not_to_run(block: Block, build: pathlib.Path) -> str | None:
    told = NOT_RUN.match(block.above)
    if told:
        return told["reason"]
    needs = NEEDS.match(block.above)
    if needs:
        missing = [name for name in re.split(r" and |, ", needs["names"]) if not is_there(name, build)]
        if missing:
            return f"{' and '.join(missing)} not here"
    return None


def matches(wanted: str, printed: str) -> bool:
    """Lines against lines; '...' in a line for anything, alone for any number of lines."""
    wants, has = wanted.rstrip().split("\n"), printed.rstrip().split("\n")

    def from_here(w: int, h: int) -> bool:
        while w < len(wants):
            if wants[w].strip() == "...":
                return any(from_here(w + 1, next_h) for next_h in range(h, len(has) + 1))
            if h == len(has):
                return False
            pattern = re.sub(r"([\[?*])", r"[\1]", wants[w].rstrip()).replace("...", "*")
            if not fnmatch.fnmatchcase(has[h].rstrip(), pattern):
                return False
            w, h = w + 1, h + 1
        return h == len(has)

    return from_here(0, 0)


def is_part(wanted: object, found: object) -> bool:
    if wanted == "...":
        return True
    if isinstance(wanted, dict):
        return isinstance(found, dict) and all(k in found and is_part(v, found[k]) for k, v in wanted.items())
    if isinstance(wanted, list):
        return isinstance(found, list) and all(any(is_part(w, f) for f in found) for w in wanted)
    return wanted == found


class Page:
    """One page being run: a folder, an environment, an interpreter, and what was printed last."""

    def __init__(self, folder: pathlib.Path, build: pathlib.Path, prefix: pathlib.Path) -> None:
        self.folder, self.build, self.prefix = folder, build, prefix
        self.printed: str | None = None
        self.interpreter: subprocess.Popen[str] | None = None
        tools = folder / ".bin"  # the Python that runs this is the one that smelt was built for
        tools.mkdir()
        (tools / "python3").symlink_to(sys.executable)
        self.environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("SMELT_", "TRITON_"))},
            "HOME": str(folder),
            "SMELT_STORE": str(folder / "store"),
            "PATH": f"{build / 'bin'}:{tools}:{os.environ['PATH']}",
            "PYTHONPATH": str(build / "python"),
            "PYTHONDONTWRITEBYTECODE": "1",
            "CMAKE_PREFIX_PATH": str(prefix),
            "PKG_CONFIG_PATH": ":".join(str(p) for p in sorted(prefix.glob("lib/**/pkgconfig"))),
            "LD_LIBRARY_PATH": ":".join(sorted({str(p.parent) for p in prefix.glob("lib/**/libsmelt*.so")})),
            "CORPUS": str(corpus(build)),
            "CHECKOUT": str(ROOT),
        }
        if not self.environment["LD_LIBRARY_PATH"]:
            del self.environment["LD_LIBRARY_PATH"]

    def run(self, block: Block) -> None:
        name = FILE.match(block.above)
        if name:
            path = self.folder / name["name"]
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(block.text)
        elif block.language in ("output", "json"):
            self.compare(block)
        elif block.language == "python":
            self.python(block)
        elif block.language == "sh":
            self.command(block, ["bash", "-euo", "pipefail", "-c", block.text])
        elif block.language == "metal":
            self.command(block, ["smelt", "compile", "-", "-o", "block.metallib", "--no-store"], block.text)
        elif block.language in ("c", "cpp"):
            compiler = ["cc", "-std=c11", "-xc"] if block.language == "c" else ["c++", "-std=c++20", "-xc++"]
            include = f"-I{self.prefix / 'include'}"
            self.command(block, [*compiler, "-Wall", "-fsyntax-only", include, "-"], block.text)
        elif block.language == "cmake":
            raise Failure("a block of cmake wants a file name on the line above")

    def command(self, block: Block, command: list[str], text: str = "") -> None:
        done = subprocess.run(
            command, input=text, cwd=self.folder, env=self.environment, text=True, timeout=SECONDS,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip
        self.printed = done.stdout
        if done.returncode:
            raise Failure(f"exit {done.returncode}\n{done.stdout}{done.stderr}")

    def python(self, block: Block) -> None:
        if self.interpreter is None:
            self.answers, ours = os.pipe()
            self.output = open(self.folder / ".python-output", "w+b")
            self.interpreter = subprocess.Popen(
                [sys.executable, "-c", INTERPRETER, str(ours)], stdin=subprocess.PIPE, stdout=self.output,
                stderr=subprocess.STDOUT, pass_fds=[ours], cwd=self.folder, env=self.environment, text=True,
            )  # fmt: skip
            os.close(ours)
            self.answer_lines = os.fdopen(self.answers)
        begin = self.output.seek(0, os.SEEK_END)
        assert self.interpreter.stdin
        self.interpreter.stdin.write(json.dumps([block.place.rpartition(":")[0], block.line, block.text]) + "\n")
        self.interpreter.stdin.flush()
        answer = self.answer_lines.readline()
        self.output.seek(begin)
        self.printed = self.output.read().decode()
        if answer.strip() != "true":
            raise Failure(self.printed or "the interpreter ended")

    def compare(self, block: Block) -> None:
        if self.printed is None or not block.follows:
            raise Failure("this is not right after a block that was run")
        if block.language == "json":
            if not is_part(json.loads(block.text), json.loads(self.printed)):
                raise Failure(f"printed was\n{self.printed}")
        elif not matches(block.text, self.printed):
            leaves_out = any(
                line.strip() == "..." or (line.endswith("...") and line not in self.printed)
                for line in block.text.splitlines()
            )
            if os.environ.get("SMELT_ACCEPT") and not leaves_out:
                accept(block, self.printed)
                return
            raise Failure(f"printed was\n{self.printed}")

    def close(self) -> None:
        if self.interpreter is not None:
            assert self.interpreter.stdin
            self.interpreter.stdin.close()
            self.interpreter.wait(SECONDS)
            self.output.close()


def accept(block: Block, printed: str) -> None:
    text = block.page.read_text()
    block.page.write_text(text.replace(f"```output\n{block.text}```", f"```output\n{printed.rstrip()}\n```", 1))
    print(f"{block.place}: rewritten")


def install(build: pathlib.Path, prefix: pathlib.Path) -> None:
    """What an application links, as `cmake --install` lays it out."""
    for component in ("loader", "dev", "compiler", "compiler-dev", "metal", "metal-dev"):
        done = subprocess.run(
            ["cmake", "--install", str(build), "--prefix", str(prefix), "--component", component],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
        )  # fmt: skip
        if done.returncode:
            raise Failure(f"cmake --install failed:\n{done.stdout}")


def run_page(page: pathlib.Path, build: pathlib.Path, prefix: pathlib.Path | None) -> tuple[int, int, list[str]]:
    """How many blocks were run or written, how many failed, and the lines about those that were not run."""
    blocks = read_blocks(page)
    ran = failed = 0
    skipped: list[str] = []
    folder = pathlib.Path(tempfile.mkdtemp(prefix="smelt-docs-"))
    try:
        if prefix is None:
            prefix = folder / ".prefix"
            if any(block.language in ("c", "cpp", "cmake") for block in blocks):
                install(build, prefix)
        running = Page(folder, build, prefix)
        last_ran = False
        for block in blocks:
            if block.language == "text":
                continue
            reason = reason_not_to_run(block, build)
            if reason is None and block.language in ("output", "json") and block.follows and not last_ran:
                reason = "shows what a block prints that is not run"
            last_ran = reason is None
            if reason is not None:
                skipped.append(f"{block.place}: {block.language}: {reason}")
                continue
            try:
                running.run(block)
                ran += 1
            except (Failure, subprocess.TimeoutExpired, ValueError) as failure:
                failed += 1
                print(f"{block.place}: this block of {block.language} failed: {failure}")
        running.close()
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return ran, failed, skipped


def main() -> int:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("--build", type=pathlib.Path, default=ROOT / "build/dev")
    arguments.add_argument("--prefix", type=pathlib.Path, help="where the loader is installed (default: installs it)")
    arguments.add_argument("--list", action="store_true")
    arguments.add_argument("pages", nargs="+", type=pathlib.Path)
    options = arguments.parse_args()
    ran = failed = 0
    skipped: list[str] = []
    try:
        for page in options.pages:
            page = page.resolve()
            if options.list:
                for block in read_blocks(page):
                    if told := NOT_RUN.match(block.above):
                        skipped.append(f"{block.place}: {block.language}: {told['reason']}")
                    elif needs := NEEDS.match(block.above):
                        skipped.append(f"{block.place}: {block.language}: Needs {needs['names']}")
                continue
            page_ran, page_failed, page_skipped = run_page(page, options.build.resolve(), options.prefix)
            ran, failed, skipped = ran + page_ran, failed + page_failed, skipped + page_skipped
    except Failure as failure:
        print(failure)
        return 1
    if not options.list:
        print(f"{ran} blocks are good, {failed} failed, {len(skipped)} were not run")
    for line in skipped:
        print(f"  {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
