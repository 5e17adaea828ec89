# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/release: the same bytes twice, an index that pip takes from any web server, sums that fit. SMELT_FULL=1: the toolchain's archive too, which
runs with nothing but what is in it and glibc. (Debian packages need a build of all targets; tests/install makes and installs them.)"""

import functools
import hashlib
import http.server
import json
import os
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import threading
import unittest

import pure

BUILD = pure.PACKAGE.parents[1]
PARTS = ["wheels", "source", "notes", "container", "index", "sbom", "sums"]
FULL = bool(os.environ.get("SMELT_FULL"))


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass


def tree_of(folder):
    return {path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.rglob("*") if path.is_file()}


class ReleaseTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not (pure.ROOT / ".git").exists() or not (BUILD / "CMakeCache.txt").exists():
            raise unittest.SkipTest("SKIPPED: no git, or no build")
        cls.folder = tempfile.TemporaryDirectory(prefix="smelt-release-")
        cls.addClassCleanup(cls.folder.cleanup)
        cls.out = [pathlib.Path(cls.folder.name) / name for name in ("one", "two")]
        for out in cls.out:
            parts = PARTS[:2] + (["toolchain"] if FULL else []) + PARTS[2:]
            done = subprocess.run([sys.executable, pure.ROOT / "scripts" / "release", out, "--build", BUILD, "--as-built", "--only", *parts], capture_output=True, text=True)
            if done.returncode:
                raise AssertionError(done.stdout + done.stderr)

    def test_the_same_bytes_twice(self):
        one, two = map(tree_of, self.out)
        self.assertEqual(one, two)
        self.assertGreater(len(one), 8)
        sums = (self.out[0] / "SHA256SUMS").read_text().splitlines()
        self.assertEqual({line.split("  ")[1]: line.split("  ")[0] for line in sums}, {name: value for name, value in one.items() if name != "SHA256SUMS"})

    def test_pip_takes_it_from_a_web_server(self):
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(self.out[0])))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        tried = 0
        for python in pure.pythons():
            if subprocess.run([python, "-m", "pip", "--version"], capture_output=True).returncode:
                continue
            to = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name))
            index = f"http://127.0.0.1:{server.server_address[1]}/simple"
            words = ["-m", "pip", "install", "--quiet", "--index-url", index, "--only-binary", ":all:", "--target", str(to), "smelt"]
            done = subprocess.run([python, *words], capture_output=True, text=True, env={**os.environ, "PIP_CONFIG_FILE": os.devnull, "PYTHONPATH": ""})
            self.assertEqual(done.returncode, 0, done.stderr)
            code = f"import sys; sys.path.insert(0, {str(to)!r}); import smelt; print(smelt.edition, 'cp%d%d' % sys.version_info[:2])"
            told = subprocess.run([python, "-I", "-c", code], capture_output=True, text=True)
            self.assertEqual(told.returncode, 0, told.stderr + python)
            edition, tag = told.stdout.split()
            ours = any(tag in wheel.name.split("-")[2].split(".") for wheel in (self.out[0] / "wheels").glob("smelt-*.whl"))
            self.assertEqual(edition, "native" if ours else "reader", python)
            tried += 1
        if not tried:
            self.skipTest("SKIPPED: no Python here has pip")

    def test_what_is_in_it(self):
        with tarfile.open(next(self.out[0].glob("smelt-[0-9]*.tar.gz"))) as tree:
            names = {name.partition("/")[2] for name in tree.getnames()}
        for wanted in ("PKG-INFO", "pyproject.toml", "CMakeLists.txt", "bindings/python/smelt/_pure/api.py"):
            self.assertIn(wanted, names)
        sbom = json.loads((self.out[0] / "sbom.spdx.json").read_text())
        self.assertEqual(sbom["spdxVersion"], "SPDX-2.3")
        libraries = [one["comment"].split(" ")[0] for one in sbom["packages"] if "comment" in one]
        self.assertTrue(any(name.startswith("libnettle.so") for name in libraries), libraries)
        self.assertIn("Metal has never loaded a metallib that smelt made", (self.out[0] / "NOTES.md").read_text())

    if FULL:

        def test_the_toolchain_runs_from_its_folder(self):
            folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder.name))
            with tarfile.open(next(self.out[0].glob("smelt-toolchain-*.tar.xz"))) as tree:
                tree.extractall(folder)
            tools = next(folder.iterdir()) / "bin"
            source = folder / "k.metal"
            source.write_text("kernel void k(device float* x, uint i [[thread_position_in_grid]]) { x[i] = 1; }\n")
            environment = {"PATH": f"{tools}:/usr/bin:/bin", "HOME": str(folder)}
            subprocess.run(["xcrun", "-sdk", "macosx", "metal", str(source), "-o", str(folder / "k.metallib")], check=True, env=environment)
            self.assertEqual((folder / "k.metallib").read_bytes()[:4], b"MTLB")
            told = subprocess.run(["ldd", str(tools / "smelt")], capture_output=True, text=True, check=True).stdout
            outside = [line for line in told.splitlines() if "=>" in line and str(tools.parent) not in line and "linux" not in line.split("=>")[0]]
            self.assertTrue(all(line.split()[0] in ("libc.so.6", "libm.so.6", "libdl.so.2", "libpthread.so.0", "librt.so.1") for line in outside), outside)


if __name__ == "__main__":
    unittest.main()
