#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Hostile command lines through the built program.

    fuzz_cli.py --seconds 3600 --seed 7            as many as there is time for
    fuzz_cli.py --seed 7 --only 1234               one of them, shown

Verbs and options are those that the program's own help lists, so that a new one is tried without a line here. Values are
sensible ones, small real inputs, and hostile ones. Every command runs in a folder of its own, with limits of time and
memory, and may write nowhere else: Landlock forbids it, and what lies beside the folder is looked at afterwards.

A finding is: a signal; an exit code that is not documented; no end; an exception's or a sanitizer's text; not exactly one
error line of the documented form; a control byte in what is said; a file left by a command that failed; a file touched
beside the folder. It is printed with the shortest list of arguments that still gives it. Exit 1 when there was one.
"""

import argparse
import collections
import ctypes
import hashlib
import os
import pathlib
import random
import re
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time

from smelt_cli import SEEDS, SMELT, SOURCE

MEMORY = 4 << 30
PROCESSOR_SECONDS = 60
WALL_SECONDS = 300  # for what waits; the machine may be busy
PIPE_SECONDS = 3  # a pipe without another end is waited for, as by every program

# --- what the program takes ---------------------------------------------------------------------------------------


class Verb:
    """One verb that does something: its words, positionals and options as its help lists them."""

    def __init__(self, words, text):
        self.words = words
        self.positionals = []  # (name, required, many)
        self.options = []  # (spellings, takes a value, required, choices)
        section = ""
        for line in text.splitlines():
            if line and not line.startswith(" "):
                section = line.rstrip(":")
            elif section == "Positionals":
                if found := re.match(r"  (\S+) \S+( \.\.\.)?( REQUIRED)?", line):
                    self.positionals.append((found[1], bool(found[3]), bool(found[2])))
            elif section == "Options":
                if found := re.match(r"  (-\S+)( [A-Z][^ =]*(?:=\S+)?)?((?: \.\.\.)?)( REQUIRED)?", line):
                    choices = re.search(r"\{(.+)\}", found[2] or "")
                    self.options.append(
                        (found[1].split(","), bool(found[2]), bool(found[4]), choices[1].split(",") if choices else [])
                    )


def help_of(words):
    return subprocess.run([SMELT, *words, "--help"], capture_output=True, text=True, timeout=300).stdout


def verbs(words=()):
    text = help_of(words)
    below = text.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    if not below:
        return [Verb(list(words), text)]
    names = re.findall(r"^  ([a-z][a-z-]*) ", below, re.M)
    return [verb for name in names for verb in verbs((*words, name))]


def tools():
    """Apple's tools by name, each with the options of its table."""
    found, tool = [], None
    table = subprocess.run([SMELT, "toolchain", "--options"], capture_output=True, text=True, timeout=300).stdout
    for line in table.splitlines():
        if line.startswith("### "):
            tool = Verb(["toolchain-tool", line[4:].strip()], "")
            tool.positionals = [("INPUT", True, True)]
            found.append(tool)
        elif tool and (option := re.match(r"\| `(-[^`]*)` \|", line)):
            spelling = option[1]
            tool.options.append(([re.sub(r"(\[ \])?…$", "", spelling).rstrip()], "…" in spelling, False, []))
    return found


# --- the folder it works in ---------------------------------------------------------------------------------------

KEYS = {"zero": "0" * 64, "some": "5f" * 32}


def run_plainly(folder, *words):
    environment = {**os.environ, "SMELT_STORE": str(folder / "store"), "HOME": str(folder)}
    result = subprocess.run([SMELT, *words], cwd=folder, env=environment, capture_output=True, timeout=600)
    if result.returncode != 0:
        raise RuntimeError(f"{words}: {result.stderr.decode()}")
    return result.stdout.decode()


class World:
    """`work` is what a command works in; `beside` is what it must not touch; `store` stays from command to command."""

    def __init__(self, top):
        self.top = pathlib.Path(top)
        self.template, self.work, self.beside = (self.top / name for name in ("template", "work", "beside"))
        self.store = self.top / "store"
        for folder in (self.template, self.beside):
            folder.mkdir(mode=0o700)
        self.make_template()
        for name in ("home", "tmp", "theirs"):
            (self.beside / name).mkdir(mode=0o700)
            (self.beside / name / "file").write_text("mine")
        self.before = self.seen_beside()

    def make_template(self):
        at = self.template
        for name in ("saxpy.metal", "saxpy.ll"):
            shutil.copy(SOURCE / "examples" / name, at / name)
        for seed in sorted(SEEDS.iterdir())[:3]:
            shutil.copy(seed, at / f"{seed.stem}.metallib")
        run_plainly(at, "compile", "saxpy.ll", "-o", "saxpy.smelt", "--name", "lib", "--version-string", "1.0.0")
        run_plainly(at, "compile", "saxpy.metal", "-o", "saxpy.metallib", "--no-cpu")
        run_plainly(at, "key", "new", "ours", "-o", "ours.key")
        (at / "ours.pub").write_text(run_plainly(at, "key", "show", "ours.key"))
        shutil.move(at / "store", self.store)
        header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (16,), }".ljust(117) + b"\n"
        (at / "x.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header + bytes(64))
        (at / "empty").touch()
        (at / "words.txt").write_text("-o\nout.smelt\n--target\nmacos14\n")
        (at / "noise.bin").write_bytes(random.Random(1).randbytes(5000))
        (at / "cut.smelt").write_bytes((at / "saxpy.smelt").read_bytes()[:-100])
        (at / "cut.metallib").write_bytes((at / "saxpy.metallib").read_bytes()[:-100])
        (at / "meta.json").write_text('{"shared": 1024, "num_warps": 4, "warp_size": 32}')
        (at / "folder").mkdir()
        (at / "folder/inner.metal").write_text('#include "../saxpy.metal"\n')

    def fresh(self):
        shutil.rmtree(self.work, ignore_errors=True)
        shutil.copytree(self.template, self.work)
        os.mkfifo(self.work / "pipe")
        (self.work / "dangling").symlink_to("nothing")
        (self.work / "loop").symlink_to("loop")
        (self.work / "zeros").touch()
        os.truncate(self.work / "zeros", 8 << 30)

    def seen_beside(self):
        seen = []
        for path in sorted(self.beside.rglob("*")):
            status = path.lstat()
            seen.append((str(path), status.st_mode, status.st_size, status.st_mtime_ns, status.st_ino))
        return seen

    def files(self):
        return {str(path.relative_to(self.work)) for path in self.work.rglob("*") if not path.is_dir()}


# --- values -------------------------------------------------------------------------------------------------------

FILES = ["saxpy.metal", "saxpy.ll", "saxpy.smelt", "saxpy.metallib", "x.npy", "ours.key", "ours.pub", "meta.json"]
ODD_FILES = ["empty", "noise.bin", "cut.smelt", "cut.metallib", "folder", "folder/", "pipe", "dangling", "loop", "zeros"]
ODD_FILES += ["missing", "missing/also", "/dev/null", "/dev/full", "/dev/zero", "/dev/stdin", "/dev/fd/9", "/proc/self/mem"]
ODD_FILES += [".", "..", "/", "", "-", "--", "@words.txt", "saxpy.metal/x", "~", "*", "words.txt", "./-o", "store.db"]
OUTPUTS = ["out.smelt", "out.metallib", "out.ll", "out.bc", "out.html", "out.key", "out", "folder/out.smelt", "-"]
NUMBERS = ["0", "1", "-1", "2147483648", "4294967296", "18446744073709551615", "18446744073709551616", "-0", "+1", "1e9"]
NUMBERS += ["0x10", "1.5", "nan", "inf", "-inf", "1e-400", "1e400", "９", "1_000", " 1", "1 ", "4GiB", "1ZiB", "-1kb", "0b"]
TEXTS = ["", " ", "%s%n%x", "{}", "{0}", "$(id)", "`id`", "a;b", "a\nb", "a\rb", "\t", "a" * 5000, "é" * 300, "\u202e\u200b"]
TEXTS += ["\x1b[31m", "\x07", "\x9b31m", "\x7f", "\udcff\udcfe", "\udc80", "x\ud800".encode("utf-8", "replace").decode()]
TEXTS += ["name@1.0.0", "lib@1.0.0", "lib@", "@1", "lib@>=1,<2", "lib@>=1,<", "lib@1.0.0@2", "a/b", "a\\b", "-", "--", "-h"]
TEXTS += ["../x", "x" * 255, "x" * 256, "saxpy", "macos14", "ios17", "macos99", "all", "air64", "metal3.1", "x86-64-v3"]
TEXTS += ["aarch64", "0=1", "X=Y=Z", "=", "==", "1,2,3", "1,,3", "1,2,3,4", "0,0,0", "f32[16]", "f32[16]=y.npy", "f32[-1]"]
TEXTS += ["f32[99999999999999999999]", "f32[4294967296,4294967296]", "i32:5", "i32:", "i32:99999999999", "bool:2", "f16:nan"]
TEXTS += ["x.npy=y.npy", "x.npy=x.npy", "x.npy=", "=y.npy", "u8[1]=/dev/full", "file:///nowhere", "http://127.0.0.1:1/x"]
TEXTS += ["redis://127.0.0.1:1", "s3://127.0.0.1:1/b", "http://[::1", "file://./remote", "ftp://x", "://", "http://a b/"]
TEXTS += [KEYS["zero"], KEYS["some"], KEYS["some"][:-1], KEYS["some"].upper(), "g" * 64]

# For a name of an option or positional, values that make sense; what is not here gets a text.
SENSIBLE = {
    "--target": ["macos14", "macos15", "ios17"],
    "--cpu": ["x86-64-v3", "aarch64"],
    "--std": ["metal3.1"],
    "--metadata": ["meta.json"],
    "--kernel": ["saxpy"],
    "--function": ["saxpy"],
    "FUNCTION": ["saxpy"],
    "--include": ["folder", "."],
    "--define": ["A", "A=1"],
    "--threadgroup-memory": ["0", "1024", "0=1024"],
    "--threads-per-threadgroup": ["64"],
    "--emit": ["metallib", "air", "ll", "out.smelt"],
    "--tag": ["lib@1.0.0", "lib@2.0.0"],
    "--jobs": ["1"],
    "--timeout": ["10"],
    "--max-memory": ["4GiB"],
    "--sandbox": ["auto", "always", "never"],
    "--lines": ["3"],
    "--threads": ["16", "4,4"],
    "--group": ["16", "1"],
    "--expect": [KEYS["some"]],
    "--trust": ["any", "local", "signed"],
    "--trusted": ["ours.pub"],
    "--repeat": ["1"],
    "--key": ["ours.key"],
    "--package": ["saxpy.smelt"],
    "--max-bytes": ["1000000000"],
    "--output": OUTPUTS,
    "--depfile": ["out.d"],
    "KEY": [KEYS["some"]],
    "PART": ["library.smelt"],
    "PART=FILE": ["a=saxpy.ll"],
    "NAME@VERSION": ["lib@1.0.0"],
    "QUERY": ["lib@1"],
    "NAMES": ["lib@1.0.0"],
    "ARG": ["x.npy", "f32[16]=y.npy", "f32:2"],
    "URL": ["file://./remote", "http://127.0.0.1:1/x"],
    "DIR": ["out.tools"],
    "NAME": ["ours"],
}
for file_name in ("INPUT", "FILE", "A", "B", "PACKAGE"):
    SENSIBLE[file_name] = FILES

VARIABLES = ["SMELT_TARGET", "SMELT_SANDBOX", "SMELT_REMOTE", "SMELT_TRUST", "SMELT_TRUSTED", "SMELT_CPU", "SMELT_LOG"]
VARIABLES += ["SMELT_LAUNCH_LIMIT", "SMELT_OFFLINE", "SMELT_STORE", "HOME", "TMPDIR", "LANG", "COLUMNS", "XDG_CACHE_HOME"]


class Grower:
    """The command line of one number."""

    def __init__(self, seed, number, all_verbs, all_tools):
        self.random = random.Random(f"{seed}:{number}")
        self.all_verbs, self.all_tools = all_verbs, all_tools

    def value(self, name, choices=()):
        pick = self.random.random()
        if pick < 0.6:
            return self.random.choice(list(choices) or SENSIBLE.get(name, TEXTS))
        if pick < 0.75:
            return self.random.choice(NUMBERS)
        if pick < 0.88:
            return self.random.choice(FILES + ODD_FILES)
        return self.random.choice(TEXTS)

    def option(self, verb):
        spellings, valued, _, choices = self.random.choice(verb.options)
        spelling = self.random.choice(spellings)
        if not valued and self.random.random() < 0.95:
            return [spelling]
        value = self.value(spellings[-1] if spellings[-1] in SENSIBLE else spellings[0], choices)
        form = self.random.random()
        if form < 0.7:
            return [spelling, value]
        return [f"{spelling}={value}" if spelling.startswith("--") else spelling + value]

    def words(self):
        verb = self.random.choice(self.all_verbs if self.random.random() < 0.85 else self.all_tools or self.all_verbs)
        rest = []
        for name, required, many in verb.positionals:
            for _ in range(self.random.choice([1, 1, 1, 2, 3]) if many else 1):
                if self.random.random() < (0.95 if required else 0.5):
                    rest.append([self.value(name)])
        for spellings, _, required, choices in verb.options:
            if required and self.random.random() < 0.95:
                rest.append([spellings[0], self.value(spellings[-1], choices)])
        for _ in range(self.random.choice([0, 0, 1, 1, 2, 3, 5])):
            if verb.options:
                rest.append(self.option(verb))
        if self.random.random() < 0.3:
            self.random.shuffle(rest)
        words = [*verb.words, *(word for group in rest for word in group)]
        for _ in range(self.random.choice([0, 0, 0, 0, 0, 1, 2])):
            self.spoil(words)
        return words

    def spoil(self, words):
        at = self.random.randrange(len(words) + 1)
        match self.random.randrange(6):
            case 0:
                words[at:at] = [self.random.choice(TEXTS + NUMBERS + ODD_FILES)]
            case 1:
                del words[at : at + 1]
            case 2:
                words[at:at] = words[self.random.randrange(len(words) + 1) :][:2]
            case 3:
                words[at:at] = [self.random.choice(words or [""])] * self.random.choice([2, 50, 400])
            case 4:
                words[at:at] = [self.random.choice(["--", "-", "-h", "--help", "--version", "--json"])]
            case _:
                if at < len(words) and words[at]:
                    cut = self.random.randrange(len(words[at]))
                    words[at] = words[at][:cut] + self.random.choice(["", "\x1b", "\udcff", "=", ",", "9" * 30]) + words[at][cut:]

    def environment(self):
        """Variables that are set besides; most commands have none."""
        if self.random.random() < 0.85:
            return {}
        name = self.random.choice(VARIABLES)
        values = TEXTS + NUMBERS + ODD_FILES
        if name in ("SMELT_STORE", "HOME", "TMPDIR", "XDG_CACHE_HOME"):
            values = ["", "folder", "saxpy.ll", "missing/also", "pipe", "loop", "/", "/proc", "/dev/null", "\udcff", "x" * 5000]
        return {name: self.random.choice(values)}

    def command(self):
        words = [word.replace("\0", "") for word in self.words()]
        return words, self.environment(), self.random.choice([b"", b"", b"\x00" * 100, b"kernel void f() {}\n", b"MTLB"])


# --- running ------------------------------------------------------------------------------------------------------

LANDLOCK_WRITES = sum(1 << bit for bit in (1, 4, 5, 6, 7, 8, 9, 10, 11, 12))  # write, remove and make, of ABI 1


def forbid_writing_but(folders):
    """Landlock: this process and its children write below the folders and to devices alone. True where there is it."""
    libc = ctypes.CDLL(None, use_errno=True)
    handled = ctypes.c_uint64(LANDLOCK_WRITES)
    rules = libc.syscall(444, ctypes.byref(handled), ctypes.c_size_t(8), 0)
    if rules < 0:
        return False

    class Below(ctypes.Structure):
        _pack_ = 1
        _fields_ = [("allowed", ctypes.c_uint64), ("folder", ctypes.c_int32)]

    for folder, allowed in [(folder, LANDLOCK_WRITES) for folder in folders] + [("/dev", 1 << 1), ("/proc", 1 << 1)]:
        opened = os.open(folder, os.O_PATH | os.O_CLOEXEC)
        below = Below(allowed, opened)
        libc.syscall(445, rules, 1, ctypes.byref(below), 0)
        os.close(opened)
    libc.prctl(38, 1, 0, 0, 0)
    libc.syscall(446, rules, 0)
    os.close(rules)
    return True


class Outcome:
    def __init__(self, code, out, err, endless, waited, left, touched):
        self.code, self.out, self.err = code, out, err
        self.endless, self.waited = endless, waited  # ended by us; it may wait, for a pipe
        self.left, self.touched = left, touched  # files made by a command that failed; whether something beside changed


def run_in(world, words, environment, stdin):
    world.fresh()
    before = world.files()
    base = {"PATH": "/usr/bin:/bin", "HOME": str(world.beside / "home"), "TMPDIR": str(world.beside / "tmp"), "LANG": "C.UTF-8"}
    base |= {"SMELT_STORE": str(world.store), "ASAN_OPTIONS": "abort_on_error=1"}
    if os.environ.get("SMELT_SANITIZE"):
        base["TMPDIR"] = str(world.work)  # a sanitizer writes there

    def limits():
        os.setsid()
        forbid_writing_but([str(world.work), str(world.beside), str(world.store)])
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (256 << 20, 256 << 20))
        resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS + 5))
        if not os.environ.get("SMELT_SANITIZE"):  # a sanitizer's shadow is larger than any limit
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))

    process = subprocess.Popen(
        [os.fsencode(word) if isinstance(word, str) else word for word in (SMELT, *words)],
        cwd=world.work,
        env={**base, **environment},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=limits,
        restore_signals=False,  # a file that grows too large is an error there, not a signal
    )
    may_wait = any("pipe" in word for word in (*words, *environment.values())) or any("/dev/fd" in w for w in words)
    waited = False
    try:
        out, err = process.communicate(stdin, timeout=PIPE_SECONDS if may_wait else WALL_SECONDS)
    except subprocess.TimeoutExpired:
        waited = True
        os.killpg(process.pid, signal.SIGKILL)
        out, err = process.communicate()
    left = world.files() - before if process.returncode != 0 and not waited else set()
    # A store is made where it is asked for, whatever comes of the command, if that may write to it in the end.
    only_looks = words[:1] == ["store"] and bool({"import", "put", "show", "get", "tag", "export", "push"} & set(words[1:2]))
    if "SMELT_STORE" in environment and not only_looks:
        own = ("CACHEDIR.TAG", "store", "index", "locks", "reserve", "secret", "metal-headers")
        left = {name for name in left if not any(part in name for part in own)}
    seen = world.seen_beside()
    touched = seen != world.before and environment.get("SMELT_STORE") != ""  # the default store, in HOME, is asked for
    world.before = seen  # what one command does there is not the next one's
    return Outcome(process.returncode, out, err, waited and not may_wait, waited and may_wait, left, touched)


EXCEPTION_TEXT = re.compile(
    rb"terminate called|what\(\)|Sanitizer|runtime error:|Assertion|LLVM ERROR|PLEASE submit|Stack dump|std::|basic_string"
    rb"|_M_|__n \(|filesystem error|json\.exception|\bstoul|\bstoi|\bmap::at|bad_alloc|bad optional|vector<"
)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")
BINARY_OUT = {"get", "repack", "compile", "pack", "sign", "export", "toolchain-tool", "selftest"}


def judge(words, outcome):
    """What is wrong; empty: nothing. Begins with the kind, which stays while the list of words is shortened."""
    said = outcome.err.decode(errors="surrogateescape")
    verb = words[0] if words else ""
    if outcome.waited:
        return ""
    if outcome.endless:
        return f"no end within {WALL_SECONDS} s"
    if outcome.code < 0:
        return f"signal {-outcome.code} ({signal.Signals(-outcome.code).name})"
    if EXCEPTION_TEXT.search(outcome.err):
        return "an exception's text: " + EXCEPTION_TEXT.search(outcome.err)[0].decode()
    if outcome.touched:
        return "touched what lies beside its folder"
    if verb != "toolchain-tool" and outcome.code not in (0, 1, 2):
        return f"exit {outcome.code}"
    asked_for_colour = any(word.startswith(("-fdiagnostics-color", "-fcolor-diagnostics")) for word in words)
    if (CONTROL.search(said) and not asked_for_colour) or any("\udc80" <= c <= "\udcff" for c in said):
        return "a control byte on stderr"
    text_out = not BINARY_OUT & set(words) and "-" not in words and not any(word.endswith("=-") for word in words)
    if text_out and CONTROL.search(outcome.out.decode(errors="replace")):
        return "a control byte on stdout"
    if outcome.left and verb != "diff":  # which says by its exit code that there are differences
        return f"left a file: {sorted(outcome.left)[0]}"
    if verb != "toolchain-tool":
        errors = [line for line in said.splitlines() if line.startswith("smelt: error:")]
        if outcome.code == 0 and errors:
            return "an error line and exit 0"
        if outcome.code == 1 and len(errors) > 1:
            return f"{len(errors)} error lines"
        if outcome.code == 1 and not errors and not outcome.out:
            return "failed without a word"
        if outcome.code == 1 and errors and not re.search(r"\([a-z_]+\)$", said.rstrip("\n"), re.M):
            return "an error line without its code"
    if outcome.code == 2 and not outcome.err and not outcome.out:
        return "wrong usage without a word"
    return ""


def kind(problem):
    return problem.split(":")[0]


def shorten(world, words, environment, stdin, problem):
    """Words left out as long as the problem stays."""

    def still(candidate, variables):
        outcome = run_in(world, candidate, variables, stdin)
        return kind(judge(candidate, outcome)) == kind(problem)

    if environment and still(words, {}):
        environment = {}
    at, deadline = len(words) - 1, time.monotonic() + 600
    while at >= 1 and time.monotonic() < deadline:
        candidate = words[:at] + words[at + 1 :]
        if still(candidate, environment):
            words = candidate
        at -= 1
        at = min(at, len(words) - 1)
    return words, environment


def quoted(word):
    raw = os.fsencode(word)
    if all(0x20 <= byte < 0x7F for byte in raw):
        return shlex.quote(word)
    return "$'" + "".join(chr(b) if 0x20 <= b < 0x7F and chr(b) not in "'\\" else f"\\x{b:02x}" for b in raw) + "'"


def line_of(words, environment):
    variables = [f"{name}={quoted(value)}" for name, value in environment.items()]
    return " ".join([*variables, "smelt", *(quoted(word[:200]) for word in words)])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", type=int)
    settings = parser.parse_args()
    counts, findings = collections.Counter(), {}
    with tempfile.TemporaryDirectory(prefix="smelt-fuzz-") as top:
        world = World(top)
        all_verbs, all_tools = verbs(), tools()
        began = reported = time.monotonic()
        number = settings.first if settings.only is None else settings.only
        while time.monotonic() - began < settings.seconds or (settings.only is not None and not counts):
            words, environment, stdin = Grower(settings.seed, number, all_verbs, all_tools).command()
            outcome = run_in(world, words, environment, stdin)
            problem = judge(words, outcome)
            counts["commands"] += 1
            counts[f"exit {outcome.code}" if not outcome.waited else "waited for a pipe"] += 1
            if settings.only is not None:
                print(line_of(words, environment), outcome.code, outcome.out[:4000], outcome.err.decode(errors="replace"), sep="\n")
            if problem:
                digest = hashlib.sha256(f"{kind(problem)} {words[:2]}".encode(errors="replace")).hexdigest()
                if digest not in findings:
                    short, variables = shorten(world, words, environment, stdin, problem)
                    findings[digest] = f"--seed {settings.seed} --only {number}: {problem}\n    {line_of(short, variables)}"
                    print("FINDING", findings[digest], flush=True)
                counts["findings"] += 1
            if world.seen_beside() != world.before:
                world.before = world.seen_beside()
            number += 1
            if settings.only is not None:
                break
            if time.monotonic() - reported > 60:
                reported = time.monotonic()
                print(f"{reported - began:.0f} s: {dict(counts)}", flush=True)
        print(f"{time.monotonic() - began:.0f} s, seed {settings.seed}, next {number}: {dict(sorted(counts.items()))}")
        print(f"{len(findings)} findings")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
