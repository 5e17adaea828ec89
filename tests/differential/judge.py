# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs random kernels (generate.py) as smelt compiles them and as Clang compiles the C++ text, and compares every word
that they write. Tells of each difference by its seed.

    judge.py [--first 1] [--count 200] [--batch 20] [--launches 3] [--levels x86-64-v3,x86-64-v4] [--efforts fast,balanced] [--all]
             [--checked] [--threads N] [--without FEATURES] [--only KIND] [--machine COMMAND] [--show SEED]

A batch is one library. Batches take levels, efforts and kinds in turn; with --all each batch is compiled every way. The kind
"triton" is LLVM IR as Triton makes it (triton_ir.py); "fast" is Metal under fast math, of which some floats have a bound.
--machine: a command that runs runner.cpp of another machine, whose level --levels names, such as
"qemu-aarch64 -cpu max -L SYSROOT build/differential_runner".
An interrupted run tells what it has seen. Ends with 0 where all is the same, 1 where not, 77 without Clang or NumPy.
"""

import argparse
import collections
import ctypes
import functools
import itertools
import pathlib
import random
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import warnings

import generate
import triton_ir

try:
    import numpy as np
except ImportError:
    np = None
else:
    import smelt

FOLDER = pathlib.Path(__file__).resolve().parent
FLAGS = ["-std=c++20", "-O0", "-fwrapv", "-ffp-contract=off", "-Wno-everything", "-shared", "-fPIC"]
SHAPES = [((64, 1), (64, 1)), ((77, 1), (77, 1)), ((100, 1), (32, 1)), ((39, 8), (32, 1)), ((20, 9), (16, 4)),
          ((200, 1), (128, 1)), ((23, 5), (23, 5)), ((1, 1), (1, 1)), ((48, 2), (48, 2))]  # fmt: skip
KINDS = [{}, {"returns": False}, {"barriers": False}, {"collectives": False}, {"constants": True}, {"argument_buffer": True},
         {"collectives": False, "barriers": False}, {"textures": True}, {"matrices": True, "returns": False}, {"triton": True}, {"fast": True},
         {"vectors": True}, {"vectors": True, "constants": True, "zero_divisors": True}, {"objects": True}]  # fmt: skip
FULL_SHAPES = [((64, 1), (64, 1)), ((128, 2), (64, 1)), ((192, 1), (96, 1)), ((128, 1), (128, 1)), ((32, 6), (32, 2)), ((32, 1), (32, 1))]


def clang():
    return next(filter(None, map(shutil.which, ("clang++-19", "clang++"))), None)


class Machine:
    """A program of runner.cpp, with a package of one batch. Its library does what one of `smelt` does here."""

    KEPT, MEMORY, VALUE, PICTURE, STRUCTURE = range(5)

    def __init__(self, command, package, kept, folder):
        path = pathlib.Path(folder, "batch.smelt")
        package.save(path)
        self.kept = kept
        self.program = subprocess.Popen([*command.split(), str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.send(self.data(str(path).encode()))
        self.answer()
        self.send(struct.pack("<I", len(kept)), *(self.data(one.tobytes()) for one in kept))

    def data(self, what):
        return struct.pack("<I", len(what)) + what

    def send(self, *parts):
        self.program.stdin.write(b"".join(parts))
        self.program.stdin.flush()

    def answer(self):
        length = self.read(4)
        message = self.read(int.from_bytes(length, "little"))
        if message:
            raise smelt.Error(message.decode())

    def read(self, size):
        got = self.program.stdout.read(size)
        if len(got) != size:
            raise smelt.Error(f"the machine's program ended with {self.program.wait()}")
        return got

    def argument(self, kind, slot, first=0, second=0, form=b"", data=b""):
        return struct.pack("<IIII", kind, slot, first, second) + self.data(form) + self.data(data)

    def launch(self, name, grid, group, constants, arguments):
        """Arguments are those of a kernel's call, in the order of their slots; textures are (array, format)."""
        texts, back = [], []
        pictures = 0
        for slot, one in enumerate(arguments):
            place = next((i for i, kept in enumerate(self.kept) if one is kept), None)
            if place is not None:
                texts.append(self.argument(self.KEPT, slot, place))
            elif isinstance(one, dict):
                texts.append(self.argument(self.STRUCTURE, slot, 0, 2, data=struct.pack("<I", one["n"])))
            elif isinstance(one, tuple):
                height, width = one[0].shape
                texts.append(self.argument(self.PICTURE, pictures, width, height, one[1].encode(), one[0].tobytes()))
                pictures += 1
                back.append(one[0])
            elif isinstance(one, int):
                texts.append(self.argument(self.VALUE, slot, data=struct.pack("<i", one)))
            else:
                texts.append(self.argument(self.MEMORY, slot, data=one.tobytes()))
                back.append(one)
        self.send(self.data(name.encode()), struct.pack("<4I", *grid, *group), struct.pack(f"<{len(constants) + 1}I", len(constants), *constants),
                  struct.pack("<I", len(texts)), *texts)  # fmt: skip
        self.answer()
        for one in back:
            one[...] = np.frombuffer(self.read(one.nbytes), one.dtype).reshape(one.shape)

    def close(self):
        self.program.stdin.close()
        self.program.wait()


def kinds(options):
    return [kind for kind in KINDS if options.only in (None, *kind)]


class Launch(ctypes.Structure):
    _fields_ = [("grid", ctypes.c_uint * 3), ("group", ctypes.c_uint * 3),
                *((name, ctypes.c_void_p) for name in ("A", "O", "P", "B", "C", "bins", "S", "F", "T", "W")), ("texel_bits", ctypes.c_uint), ("R", ctypes.c_void_p)]  # fmt: skip


@functools.cache
def memory(count):
    """What a launch of that many threads finds: O, B, C and bins. Callers copy it."""
    generator = np.random.default_rng(count)
    return [np.full(count * 16, 0xABABABAB, np.uint32), generator.integers(0, 1 << 32, count * 4, dtype=np.uint64).astype(np.uint32),
            np.arange(count + 32, dtype=np.uint32), np.repeat(np.array([0, 0, 0xFFFFFFFF, 0, 0, 0xFFFFFFFF], np.uint32), 16)]  # fmt: skip


class Judge:
    def __init__(self, options):
        warnings.simplefilter("ignore")
        self.options = options
        self.folder = tempfile.TemporaryDirectory(prefix="smelt-differential-")
        self.compiler = clang()
        generator = np.random.default_rng(1)
        words = generator.integers(0, 1 << 32, 160 * 1024, dtype=np.uint64).astype(np.uint32)
        words[::3] &= 127  # small numbers among them
        words[5::7] = 0
        self.a = words
        self.s = generator.integers(0, 256, 1 << 18, dtype=np.uint8)
        self.tally = collections.Counter()
        self.different = []  # printed after each batch, since a kernel that traps ends this process
        self.kinds = kinds(options)
        self.levels = [level for level in options.levels.split(",") if options.machine or self.device(level)]

    def device(self, level):
        try:
            return smelt.Device("cpu", threads=self.options.threads, cpu_level=level)
        except smelt.Error:
            return None

    def reference(self, text):
        source = pathlib.Path(self.folder.name, "reference.cpp")
        source.write_text(text)
        library = pathlib.Path(self.folder.name, f"reference{self.tally['references']}.so")
        self.tally["references"] += 1
        subprocess.run([self.compiler, *FLAGS, f"-I{FOLDER}", str(source), "-o", str(library)], check=True)
        made = ctypes.CDLL(str(library))
        library.unlink()
        return made

    def compile(self, text, level, effort, features):
        options = {"store": False, "cpu_effort": effort, **({"checked": "memory"} if self.options.checked else {})}
        if self.options.machine or "triton" in features:
            metadata = {"metadata": triton_ir.metadata(self.warps)} if "triton" in features else {}
            package = smelt.compile(text, cpu=level, fast_math="fast" in features, **metadata, **options)
            if self.options.machine:
                return Machine(self.options.machine, package, [self.a, self.s], self.folder.name)
            return package.load(device=self.device(level))
        return smelt.compile_shader(text, fast_math="fast" in features, device=self.device(level), **options)

    def batch(self, seeds, features, ways):
        self.warps = 1 << seeds[0] // self.options.batch % 3
        names, metal, cpp = triton_ir.library(seeds, self.warps) if "triton" in features else generate.library(seeds, features)
        reference = self.reference(cpp)
        self.signed = set(re.findall(r"kernel void (\w+)\(.*texture2d<int,", metal))  # what is written to
        for level, effort in ways:
            try:
                library = self.compile(metal, level, effort, features)
            except (smelt.Error, SyntaxError) as error:
                self.tally["refused"] += 1
                self.different.append((f"{seeds[0]} to {seeds[-1]}", f"{level} {effort}", features, str(error)[:400]))
                continue
            for seed, name in zip(seeds, names):
                self.compare(seed, name, library, reference, features, f"{level} {effort}")
            if self.options.machine:
                library.close()

    def compare(self, seed, name, library, reference, features, way):
        choices = random.Random(seed)
        constants = np.array([choices.randrange(9) for _ in range(3)], np.uint32)
        if self.options.machine:
            kernel = functools.partial(self.elsewhere, library, name, constants if features.get("constants") else [])
        elif features.get("constants"):
            kernel = smelt.specialize(library, name, {f"F{i}": int(v) for i, v in enumerate(constants)})
        else:
            kernel = getattr(library, name)
        among = FULL_SHAPES if features.get("matrices") else SHAPES
        if "triton" in features:
            among = [((32 * self.warps * groups, 1), (32 * self.warps, 1)) for groups in (1, 2, 3, 5)]
        shapes = choices.sample(among, 3) + [choices.choice(among) for _ in range(self.options.launches - 3)]
        for grid, group in shapes[: self.options.launches]:
            count = grid[0] * grid[1]
            p = np.array([choices.randrange(16 if k % 2 else 8) for k in range(16)], np.uint32)
            wanted, got = ([one.copy() for one in memory(count)] for _ in range(2))
            bits = choices.choice((8, 16, 32)) if features.get("textures") else 32
            texels, wanted_texels = self.a[:512] >> (32 - bits), np.zeros(count, np.uint32)
            reals = np.zeros(4 * count)
            launch = Launch((*grid, 1), (*group, 1), *(x.ctypes.data for x in (self.a, wanted[0], p, *wanted[1:], self.s, constants, texels, wanted_texels)), bits, reals.ctypes.data)
            getattr(reference, name)(ctypes.byref(launch))
            arguments = [self.a, got[0], got[3], *p[:4].view(np.int32).tolist()] if "triton" in features else [self.a, got[0], p, *got[1:], self.s]
            if features.get("argument_buffer"):
                arguments.append({"a": self.a, "n": int(p[3]), "p": p})
            if features.get("textures"):
                sign = "s" if name in self.signed else "u"
                written = np.zeros((grid[1], grid[0]), f"uint{bits}")
                seen = written.view(f"int{bits}") if sign == "s" else written
                made = [(texels.astype(f"uint{bits}").reshape(8, 64), f"r{bits}uint"), (seen, f"r{bits}{sign}int")]
                arguments += made if self.options.machine else [smelt.Texture(*one) for one in made]
                wanted, got = [*wanted, wanted_texels.astype(f"uint{bits}")], [*got, written.reshape(-1)]
            kernel(*arguments, threads=grid, group_size=group)
            self.tally["launches"] += 1
            if features.get("fast"):
                self.within(wanted[0], got[0], reals)
            for what, want, have in zip(("O", "B", "C", "bins", "T1"), wanted, got):
                places = np.flatnonzero(want != have)
                if places.size:
                    at = int(places[0])
                    self.different.append((seed, way, features, f"{what}[{at}] is {have[at]:#x} and not {want[at]:#x}, {places.size} differ, grid {grid}, groups of {group}, P {p.tolist()}"))
                    return

    def elsewhere(self, library, name, constants, *arguments, threads, group_size):
        library.launch(name, threads, group_size, [int(one) for one in constants], arguments)

    def within(self, wanted, got, reals):
        """Takes what lies within its bound as what is wanted. A bound of 0: the thread ended early."""
        for i in range(2):
            value, error = reals[2 * i :: 4], reals[2 * i + 1 :: 4]
            there = got[13 + i :: 16]
            near = (error > 0) & (np.abs(there.view(np.float32).astype(float) - value) <= error)
            wanted[13 + i :: 16] = np.where(near, there, np.where(error > 0, value.astype(np.float32).view(np.uint32), wanted[13 + i :: 16]))

    def run(self):
        ways = list(itertools.product(self.levels, self.options.efforts.split(",")))
        first, end = self.options.first, self.options.first + self.options.count
        try:
            for number, seeds in itertools.groupby(range(first, end), lambda seed: seed // self.options.batch):
                features = {**self.kinds[number % len(self.kinds)], **self.options.features}
                seeds = list(seeds)
                told = len(self.different)
                self.batch(seeds, features, ways if self.options.all else [ways[number % len(ways)]])
                for seed, way, of, text in self.different[told:]:
                    print(f"seed {seed}, {way}, {of}: {text}", flush=True)
                self.tally["kernels"] += len(seeds)
        except KeyboardInterrupt:
            print("interrupted")
        print(f"{self.tally['kernels']} kernels, {self.tally['launches']} launches, {len(self.different)} different")
        return 1 if self.different else 0


def main(arguments=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=1)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--batch", type=int, default=20)
    parser.add_argument("--launches", type=int, default=3, help="of each kernel, each of another shape and with other parameters")
    parser.add_argument("--levels", default="x86-64-v3,x86-64-v4")
    parser.add_argument("--efforts", default="fast,balanced")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--checked", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--without", default="", help="features, by comma")
    parser.add_argument("--only", help="kernels with this feature, such as textures, triton or fast")
    parser.add_argument("--machine")
    parser.add_argument("--show", type=int)
    options = parser.parse_args(arguments)
    options.features = {name: False for name in options.without.split(",") if name}
    if options.show is not None:
        number, among = options.show // options.batch, kinds(options)
        features = {**among[number % len(among)], **options.features}
        texts = triton_ir.library([options.show], 1 << number % 3) if "triton" in features else generate.library([options.show], features)
        print("\n\n".join(texts[1:]))
        return 0
    if clang() is None or np is None:
        print("SKIPPED: needs clang++ and NumPy")
        return 77
    return Judge(options).run()


if __name__ == "__main__":
    sys.exit(main())
