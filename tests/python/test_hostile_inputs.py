# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Inputs made to hurt, under a limit of time and memory, in the command, Python and C: each ends by an answer or an
error, holds the memory that it may, and what it writes passes `smelt verify`."""

import os
import pathlib
import subprocess
import sys
import time
import unittest

import support

BUILD = pathlib.Path(sys.modules["smelt"].__file__).resolve().parents[2]
SMELT = BUILD / "bin/smelt"
SECONDS, BYTES = 4, 1 << 30
LATEST = SECONDS + 60  # a limit and what a busy machine adds; without limits these take minutes, or never end

IN_PYTHON = f"""
import pathlib, sys, smelt
source, out = sys.argv[1:]
text = pathlib.Path(source).read_bytes()
if source.endswith(".metal"): text = text.decode()
try:
    made = smelt.compile(text, filename=source, timeout={SECONDS}, max_memory={BYTES}, store=None)
except (smelt.Error, SyntaxError) as error:
    sys.exit(f"{{type(error).__name__}}: {{error}}")
pathlib.Path(out).write_bytes(bytes(made))
"""

# smelt/compiler.h, in ctypes.
IN_C = f"""
import ctypes, pathlib, sys
from ctypes import c_char_p, c_double, c_int32, c_size_t, c_uint16, c_uint64, c_uint32, c_void_p, POINTER, byref, sizeof
source, out, library = sys.argv[1:]
api = ctypes.CDLL(library)
class CompilerOptions(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("store", c_char_p), ("no_store", c_int32), ("offline", c_int32), ("threads", c_uint32),
                ("warn", c_void_p), ("warn_context", c_void_p)]
class Source(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("data", c_char_p), ("size", c_size_t)]
class Options(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t)] + [
        field for name in ("target", "cpu_level", "include_folder", "definition", "kernel", "function")
        for field in ((name + "s", c_void_p), (name + "_count", c_size_t))] + [
        ("metadata", c_char_p), ("name", c_char_p), ("version", c_char_p), ("language", c_uint16 * 2), ("fast_math", c_int32),
        ("checked", c_int32), ("no_cpu", c_int32), ("debug_lines", c_int32), ("timeout", c_double), ("memory_bytes", c_uint64),
        ("progress", c_void_p), ("progress_context", c_void_p), ("cpu_effort", c_char_p)]
class Info(ctypes.Structure):
    _fields_ = [("struct_size", c_size_t), ("package", c_void_p), ("package_size", c_size_t), ("key", ctypes.c_uint8 * 32),
                ("hit", c_int32), ("kernels", c_size_t), ("kernels_kept", c_size_t), ("microseconds", c_uint64), ("warnings", c_size_t),
                ("origin", c_char_p), ("origin_length", c_size_t)]
compiler, compiled = c_void_p(), c_void_p()
with_ = CompilerOptions(struct_size=sizeof(CompilerOptions), no_store=1)
assert api.smelt_compiler_open(byref(with_), byref(compiler)) == 0
data = pathlib.Path(source).read_bytes()
one = Source(source.encode(), data, len(data))
limits = Options(struct_size=sizeof(Options), timeout={SECONDS}, memory_bytes={BYTES})
status = api.smelt_compile(compiler, byref(one), c_size_t(1), byref(limits), byref(compiled))
if status: sys.exit(f"status {{status}}")
info = Info(struct_size=sizeof(Info))
assert api.smelt_compiled_get_info(compiled, byref(info)) == 0
pathlib.Path(out).write_bytes(ctypes.string_at(info.package, info.package_size))
"""


def bomb() -> str:
    """2^40 tokens of an expression that the parser keeps."""
    head = "#define B0 1+\n" + "".join(f"#define B{n} B{n - 1} B{n - 1}\n" for n in range(1, 41))
    return head + "constant int vast = B40 0;\nkernel void one(device float* x) { x[0] = vast; }\n"


class HostileInputsTest(unittest.TestCase):
    def ways(self, source, out):
        yield "command", [SMELT, "compile", source, "--timeout", str(SECONDS), "--max-memory", str(BYTES), "--no-store", "-o", out]
        yield "Python", [sys.executable, "-B", "-c", IN_PYTHON, source, out]
        yield "C", [sys.executable, "-B", "-c", IN_C, source, out, BUILD / "lib/libsmelt-compiler.so"]

    def judge(self, source):
        for way, words in self.ways(source, out := support.temporary("hostile") / "out.smelt"):
            out.unlink(missing_ok=True)
            with self.subTest(source.name, way=way):
                process = subprocess.Popen([str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
                began = time.monotonic()
                said = process.stderr.read()
                _, status, used = os.wait4(process.pid, 0)
                process.returncode = os.waitstatus_to_exitcode(status)
                process.stderr.close()
                took, held = time.monotonic() - began, used.ru_maxrss * 1024
                print(f"{source.name}, {way}: exit {process.returncode}, {took:.1f} s, {held >> 20} MiB", flush=True)
                self.assertIn(process.returncode, (0, 1), said)
                self.assertLess(took, LATEST)
                self.assertLess(held, 1.1 * BYTES)
                self.assertEqual(out.exists(), process.returncode == 0, said)
                if out.exists():
                    checked = subprocess.run([SMELT, "verify", out], capture_output=True, text=True)
                    self.assertEqual(checked.returncode, 0, checked.stdout + checked.stderr)
                elif way == "command":
                    self.assertRegex(said, r"error: ")

    def test_a_bomb_of_macros(self):
        source = support.temporary("hostile") / "bomb.metal"
        source.write_text(bomb())
        self.judge(source)

    def test_those_that_were_sent(self):
        for source in sorted(support.shared("hostile").iterdir()):
            if source.suffix in (".metal", ".metallib"):
                self.judge(source)


if __name__ == "__main__":
    unittest.main()
