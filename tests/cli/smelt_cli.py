# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the command-line tests share: running the tool, and where inputs are. Standard library only."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

SOURCE = pathlib.Path(os.environ.get("SMELT_SOURCE_DIR", pathlib.Path(__file__).resolve().parents[2]))
SMELT = os.environ.get("SMELT", str(SOURCE / "build/dev/bin/smelt"))
SHARED = pathlib.Path(os.environ.get("SMELT_SHARED", SOURCE / "../shared"))
CORPUS = pathlib.Path(os.environ.get("SMELT_CORPUS", SOURCE / "build/corpus"))
SANITIZED = bool(os.environ.get("SMELT_SANITIZE"))  # the build's sanitizers
SEEDS = SOURCE / "tests/fuzz/metallib_seeds"  # small libraries, in the tree


def smelt(*arguments, stdin=b"", environment=None, cwd=None):
    """Runs the tool; stdout and stderr are bytes. `environment` is all of it, or this process's."""
    command = [SMELT, *map(str, arguments)]
    return subprocess.run(command, input=stdin, env=environment, cwd=cwd, capture_output=True, timeout=300)


def copy_of_smelt(to):
    """The program at that path, with nothing beside it but the compiler that it opens (a build may have it in the program)."""
    library = pathlib.Path(SMELT).resolve().parent / "../lib/smelt/libsmelt-aot.so"
    if library.exists():
        shutil.copy(library, to.parent)
    return shutil.copy(SMELT, to)


class CliTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="smelt-cli-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def succeed(self, *arguments, stdin=b"", environment=None):
        """Exit 0 and a silent stderr; returns stdout."""
        result = smelt(*arguments, stdin=stdin, environment=environment)
        self.assertEqual((result.returncode, result.stderr.decode()), (0, ""), arguments)
        return result.stdout

    def fail_with(self, code, *arguments, stdin=b"", environment=None):
        """That exit code and an empty stdout; returns stderr as text."""
        result = smelt(*arguments, stdin=stdin, environment=environment)
        self.assertEqual((result.returncode, result.stdout), (code, b""), result.stderr.decode())
        return result.stderr.decode()

    def shared(self, below):
        """A folder of tests or ../shared, or the test is skipped."""
        path = next((folder / below for folder in (SOURCE / "tests", SHARED) if (folder / below).exists()), SHARED / below)
        if not path.exists():
            self.skipTest(f"../shared/{below} is absent")
        return path
