# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What Triton's entry points name, with a stand-in for Triton that does what its discovery does: a smelt that does not load is no
reason for Triton, or PyTorch behind it, to fail."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import smelt

if sys.version_info < (3, 10):
    raise unittest.SkipTest("SKIPPED: Triton needs Python 3.10")

PACKAGES = pathlib.Path(smelt.__file__).resolve().parent.parent
TRITON = {
    "triton/__init__.py": "",
    "triton/backends/__init__.py": """
import collections, importlib, inspect
from importlib.metadata import entry_points
from .compiler import BaseBackend
from .driver import DriverBase

def one(module, base):
    found = [value for value in vars(module).values()
             if isinstance(value, type) and issubclass(value, base) and not inspect.isabstract(value)]
    if len(found) != 1:
        raise RuntimeError(f"{len(found)} classes in {module.__name__}")
    return found[0]

Backend = collections.namedtuple("Backend", "compiler driver")
backends = {}
for point in entry_points(group="triton.backends"):
    backends[point.name] = Backend(one(importlib.import_module(point.value + ".compiler"), BaseBackend),
                                   one(importlib.import_module(point.value + ".driver"), DriverBase))
""",
    "triton/backends/compiler.py": """
import abc

class GPUTarget: pass

class BaseBackend(abc.ABC):
    def __init__(self, target): pass
    @staticmethod
    @abc.abstractmethod
    def supports_target(target): ...
    @abc.abstractmethod
    def hash(self): ...
""",
    "triton/backends/driver.py": """
import abc

class DriverBase(abc.ABC):
    @classmethod
    @abc.abstractmethod
    def is_active(self): ...
    @abc.abstractmethod
    def get_current_target(self): ...
""",
}
LOOKS = """
from triton.backends import backends
for name, (backend, driver) in sorted(backends.items()):
    print(name, backend.supports_target(None), driver.is_active())
    for make in (lambda: backend(None), driver):
        try:
            make()
        except ImportError as error:
            print(error)
"""


class EntryPointTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="smelt-triton-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in TRITON.items():
            path = self.folder / "triton-here" / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def copy(self, native):
        """The package as it was built, with or without its native modules."""
        copy = self.folder / f"package-{native}"
        ignored = shutil.ignore_patterns() if native else shutil.ignore_patterns("*.so", "_bin")
        for path in PACKAGES.iterdir():
            if path.name in ("smelt", "smelt_triton") or path.suffix == ".dist-info":
                shutil.copytree(path, copy / path.name, ignore=ignored, symlinks=True)
        return copy

    def python(self, package, *words, **environment):
        paths = f"{package}:{self.folder / 'triton-here'}"
        return subprocess.run([sys.executable, *words], capture_output=True, text=True, cwd=self.folder,
                              env=os.environ | {"PYTHONPATH": paths} | environment)

    def test_a_smelt_without_native_modules_disturbs_nobody(self):
        broken = self.copy(native=False)
        self.assertEqual(self.python(broken, "-c", "import smelt; print(smelt.edition)").stdout, "reader\n")
        said = self.python(broken, "-c", LOOKS)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        lines = said.stdout.splitlines()
        self.assertEqual([line for line in lines if not line.startswith("smelt's")], ["cpu False False", "smelt False False"])
        self.assertEqual(len([line for line in lines if "is not available" in line and "_loader" in line]), 4, lines)

    def test_it_says_why_when_asked(self):
        broken = self.copy(native=False)
        said = self.python(broken, "-m", "smelt_triton")
        self.assertEqual(said.returncode, 1)
        for word in ("smelt.compat.triton_backend.compiler", "smelt.compat.triton_cpu.driver", "_loader"):
            self.assertIn(word, said.stdout)
        self.assertIn("smelt: its back end for Triton is not available", self.python(broken, "-c", LOOKS, SMELT_LOG="info").stderr)

    def test_use_triton_says_it_too(self):
        broken = self.copy(native=False)
        said = self.python(broken, "-c", "from smelt.compat import inductor\nwith inductor.use_triton():\n    pass")
        self.assertRegex(said.stderr, r"RuntimeError: use_triton: smelt's back end for Triton is not available: smelt\..*_loader")

    def test_a_triton_that_smelt_does_not_know_is_not_disturbed_either(self):
        # The stand-in has neither triton.runtime nor a back end for AMD, which ours are made on.
        said = self.python(PACKAGES, "-c", LOOKS)
        self.assertEqual((said.returncode, said.stderr), (0, ""))
        self.assertIn("No module named 'triton.", said.stdout)


if __name__ == "__main__":
    unittest.main()
