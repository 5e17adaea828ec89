#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Shows that the tests of strangers' entries find what they are for: takes one protection out at a time, and expects a
finding.

    mendings.py BUILD [NAME...]        BUILD: a build folder, where the tests are built

Each is one edit of a copy of a source, as tests/support/relink.py has it. S13 is not among them: its mending is in the
Python module, which is no program (tests/python/test_exit.py). Prints a line for each, and exits 1 when one was not found. NAME: those whose names begin with it.
"""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "support"))
from relink import Relink  # noqa: E402

PATIENCE = 120  # seconds: a program that still runs waits for what a mending would have ended

# The model, with as many histories as find each; else a program and the case that is for it.
HISTORIES = ("service_histories", "--count", "800")
REMOTE, SERVICE, SANDBOX, CACHE = "test_remote", "test_service", "test_sandbox", "test_cache"

# Name: the source, what of it is replaced by what, and who should find that.
MENDINGS: dict[str, tuple[str, dict[str, str], tuple[str, ...]]] = {
    "S1 an unsigned entry is not used by who signs": (
        "signing/src/policy.cpp",
        {"    if (!fine) return {};\n": "    (void)fine;\n"},
        HISTORIES,
    ),
    "S2 functions are those that were asked for": (
        "service/src/asked.cpp",
        {"    SMELT_TRY_VOID(at_functions(asked));\n": ""},
        (SERVICE, "a remote's answer is held to what was asked*"),
    ),
    "S3 joined kernels keep their origins": (
        "service/src/build_package.cpp",
        {"    result.origin += part->origin;\n": ""},
        HISTORIES,
    ),
    "S3 a second key keeps the origin": (
        "service/src/find_or_make.cpp",
        {"found.origin.derived(), {}": "signing::Provenance::made_here(), {}"},
        HISTORIES,
    ),
    "S4 who only reads asks the policy": (
        "service/stored/src/stored.cpp",
        {"    if (fine) continue;\n": "    (void)fine;\n    continue;\n"},
        HISTORIES,
    ),
    "S4 a pull takes what proves its key": (
        "cache/remote/src/tiered_store.cpp",
        {"if (question.proves && !question.proves(record.key, parts)) {": "if (false) {"},
        HISTORIES,
    ),
    "S5 an unchecked answer to a checked question": (
        "service/src/asked.cpp",
        {"    if (slice.checked != asked.checked)\n": "    if (false)\n", "if (kernel.checked != asked.checked)": "if (false)"},
        HISTORIES,
    ),
    "S6 a FIFO is not waited for": (
        "cache/remote/src/file.cpp",
        {"O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY": "O_RDONLY | O_CLOEXEC | O_NOCTTY"},
        (REMOTE, "a folder's FIFO*"),
    ),
    "S6 regular files only": (
        "cache/remote/src/file.cpp",
        {"    if (!S_ISREG(facts.st_mode) || size > most)": "    if (size > most)"},
        (REMOTE, "a folder's FIFO*"),
    ),
    "S6 a lease that nobody renews is given up": (
        "cache/remote/src/remotes.cpp",
        {"if (Clock::now() - renewed > 2 * kLeaseLasts)": "if (false)"},
        (REMOTE, "a lease without an end*"),
    ),
    "S7 what all calls hold is bounded": (
        "cache/remote/src/budget.cpp",
        {"return before <= most && bytes <= most - before ? claim : nullptr;": "(void)before, (void)most;\n  return claim;"},
        (REMOTE, "a small blob under many names*"),
    ),
    "S8 credentials follow no redirect": (
        "cache/remote/src/http.cpp",
        {"target_.headers.empty() && target_.sigv4.empty() &&": "true &&"},
        (REMOTE, "no credential of ours*"),
    ),
    "S9 what a server says is printable, in one line": (
        "base/src/foreign_text.cpp",
        {"  std::string line = printable(text.substr(0, most));\n": "  return std::string(text);\n  std::string line;\n"},
        (REMOTE, "what a server says*"),
    ),
    "S10 a list that others may write is refused": (
        "signing/src/policy.cpp",
        {"read_key_file(file, 022,": "read_key_file(file, 0,"},
        (REMOTE, "a list of trusted keys*"),
    ),
    "S10 points of small order are no keys": (
        "signing/src/ed25519.cpp",
        {"  if (std::find(std::begin(kSmallOrder), std::end(kSmallOrder), y) != std::end(kSmallOrder))\n": "  if (false)\n"},
        (REMOTE, "points that anybody*"),
    ),
    "S10 a key has one spelling": (
        "signing/src/ed25519.cpp",
        {"  if (!std::lexicographical_compare(y.rbegin(), y.rend(), kModulus.rbegin(), kModulus.rend()))\n": "  if (false)\n"},
        (REMOTE, "points that anybody*"),
    ),
    "S11 a child gives back the package that it was given": (
        "service/src/asked.cpp",
        {'    if (!same_but_code(given, back)) return differs("other libraries");\n': "    (void)same_but_code;\n"},
        (SERVICE, "what a child remade*"),
    ),
    "S11 a child gives no code that nobody asked for": (
        "service/src/asked.cpp",
        {
            "      if (next == asked.codes.size() || functions_.empty()) return differs(\"CPU code that nobody asked for\");\n": (
                "      if (next == asked.codes.size() || functions_.empty()) return {};\n"
            )
        },
        (SERVICE, "what a compiling child gives back*"),
    ),
    "S11 an answer is bounded by the child's memory": (
        "service/src/child_protocol.cpp",
        {"Result<void> check_length(ByteView answer, uint64_t memory_bytes) {\n": (
            "Result<void> check_length(ByteView answer, uint64_t memory_bytes) {\n  if (memory_bytes) return {};\n"
        )},
        (SANDBOX, "an answer is bounded*"),
    ),
    "S12 a fork waits until nothing is being written": (
        "cache/src/fork_safety.cpp",
        {"::pthread_atfork(before_fork, [] { after_fork(false); }, [] { after_fork(true); });": (
            "(static_cast<void>(&before_fork), static_cast<void>(&after_fork), 0);"
        )},
        (CACHE, "forked while other threads put*"),
    ),
}  # fmt: skip


def without(build: Relink, program: str, source: str, edits: dict[str, str], work: pathlib.Path) -> pathlib.Path:
    build.add(program)
    text = (build.sources / source).read_text()
    for old, new in edits.items():
        if text.count(old) != 1:
            sys.exit(f"mendings: {source} has {text.count(old)} times: {old!r}")
        text = text.replace(old, new)
    for command in (build.compiling(source, text.encode(), work), build.linking(program, work)):
        subprocess.run(command, shell=True, cwd=build.folder, check=True)
    return work / program


def run(program: pathlib.Path, words: tuple[str, ...]) -> tuple[bool, str]:
    """Whether it found something, and its last line."""
    process = subprocess.Popen(
        [program, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", start_new_session=True
    )
    try:
        said, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
        return True, f"it went on for {PATIENCE} s"
    lines = said.strip().splitlines() or [f"exit status {process.returncode}"]
    return process.returncode not in (0, 77), lines[-1]


def main() -> int:
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    build = Relink(pathlib.Path(sys.argv[1]))
    missed = 0
    for name, (source, edits, (program, *words)) in MENDINGS.items():
        if len(sys.argv) > 2 and not name.startswith(tuple(sys.argv[2:])):
            continue
        with tempfile.TemporaryDirectory(prefix="smelt-mendings-") as folder:
            changed = without(build, program, source, edits, pathlib.Path(folder))
            found, last = run(changed, tuple(words) if program == HISTORIES[0] else (f"-tc={words[0]}",))
        missed += not found
        print(f"{'found' if found else 'MISSED'}: without '{name}': {last}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
