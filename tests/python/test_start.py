# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a process that only loads and calls has in it: no compiler, no SQLite, no NumPy."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import support
from support import library  # noqa: F401  (sets up the store)

import smelt

FOREIGN = re.compile(r"(libLLVM|libclang|libsqlite3|libzstd|_store\.|_compiler\.|numpy)", re.IGNORECASE)

LOAD = """
import sys
import smelt
lib = smelt.load_metallib(sys.argv[1])
x = bytearray(4)
lib.info(x, threads=1)
assert x[0] == 7
"""


def opened(code: str, *arguments: str) -> "list[str]":
    """Files that a fresh Python opens, by strace; or those that it has mapped in the end, where strace may not trace."""
    with tempfile.NamedTemporaryFile() as log:
        command = [sys.executable, "-c", code, *arguments]
        if shutil.which("strace"):
            traced = subprocess.run(
                ["strace", "-f", "-qq", "-e", "trace=open,openat", "-o", log.name, *command], capture_output=True, text=True
            )
            text = pathlib.Path(log.name).read_text()
            if traced.returncode == 0 and "smelt" in text:
                return re.findall(r'"([^"\n]*)"[^"\n]*= [0-9]+$', text, re.MULTILINE)
            if "ptrace" not in traced.stderr and "PTRACE" not in traced.stderr:
                raise AssertionError(traced.stderr)
    if not os.path.exists("/proc/self/maps"):
        raise unittest.SkipTest("SKIPPED: neither strace nor /proc")
    code += "\nprint(open('/proc/self/maps').read())"
    return subprocess.run([sys.executable, "-c", code, *arguments], check=True, capture_output=True, text=True).stdout.split()


class Start(unittest.TestCase):
    def only_the_loader(self, code, *arguments):
        files = opened(code, *arguments)
        self.assertTrue(any("_loader" in file for file in files), files)
        self.assertEqual([file for file in files if FOREIGN.search(os.path.basename(file))], [])

    def test_import(self):
        self.only_the_loader("import smelt")

    def test_exceptions_come_when_they_are_needed(self):
        path = support.temporary("start") / "k.smelt"
        support.package().save(path)
        code = LOAD + (
            "assert 'smelt.errors' not in sys.modules\n"
            "try: smelt.load_metallib(sys.argv[1] + '.absent')\n"
            "except smelt.LibraryNotFoundError as error: assert isinstance(error, smelt.errors.Error) and error.code == 'file_not_found'\n"
            "else: raise AssertionError('nothing was raised')\n"
            "assert smelt.LibraryNotFoundError is smelt.errors.LibraryNotFoundError\n"
        )
        subprocess.run([sys.executable, "-c", code, str(path)], check=True)

    def test_package(self):
        path = support.temporary("start") / "k.smelt"
        support.package().save(path)
        self.only_the_loader(LOAD, str(path))
        self.only_the_loader(LOAD.replace("smelt.load_metallib(sys.argv[1])", "smelt.open(sys.argv[1]).load()"), str(path))
        self.only_the_loader(
            "import smelt, sys\nmodel = smelt.open(sys.argv[1])\nassert model.prepare() > 1\nmodel[model.libraries[0]].info",
            str(path),
        )

    def test_the_check_can_fail(self):
        files = opened("import smelt, smelt._store")
        self.assertTrue(any("libsqlite3" in file for file in files))

    def test_plain_metallib_from_the_store(self):
        """Its CPU code is found without the compiler, once it has been made."""
        path = support.temporary("start") / "k.metallib"
        path.write_bytes(support.package().metallib("macos14"))
        smelt.prepare(smelt.load_metallib(path))
        files = opened(LOAD, str(path))
        self.assertTrue(any("_store" in file for file in files))
        self.assertEqual([file for file in files if re.search("libLLVM|libclang|smelt/_compiler", file)], [])

    def test_standard_modules_that_an_import_need_not_wait_for(self):
        code = "import sys; before = set(sys.modules); import smelt; smelt.load_metallib; print(*(set(sys.modules) - before))"
        new = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split()
        slow = {"typing", "dataclasses", "collections", "threading", "json", "importlib", "re", "inspect", "__future__"}
        self.assertEqual(slow & set(new), set())

    def test_modules_of_ours_that_a_first_load_need_not_wait_for(self):
        path = support.temporary("start") / "k.smelt"
        support.package().save(path)
        code = LOAD + "print(*sorted(name for name in sys.modules if name.startswith('smelt')))"
        ours = subprocess.run([sys.executable, "-c", code, str(path)], check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual(ours, ["smelt", "smelt._load", "smelt._loader", "smelt._session"])

    @unittest.skipUnless(os.environ.get("SMELT_RUNTIME_INSIDE"), "SKIPPED: this build takes the C++ runtime from the system")
    def test_the_loader_brings_its_runtime(self):
        """Relocating those of the system takes longer than all else that an import does."""
        files = opened("import smelt")
        self.assertEqual([file for file in files if re.search("libstdc|libfmt", file)], [])


if __name__ == "__main__":
    unittest.main()
