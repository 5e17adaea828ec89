# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Stores with remotes behind them, and what Triton and Inductor see of them."""

import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest
import warnings

import smelt

KEY = "ab" * 32


class RemotesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="smelt-remotes-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "mirror").mkdir()
        self.url = f"file://{self.folder / 'mirror'}"
        before = dict(os.environ)
        self.addCleanup(lambda: (os.environ.clear(), os.environ.update(before)))
        os.environ.update(SMELT_TRUST="any", SMELT_REMOTE="", XDG_CONFIG_HOME=str(self.folder))

    def run_process(self, code, **environment):
        """In a process of its own, whose end sends what waits."""
        result = subprocess.run(
            [sys.executable, "-c", code], env={**os.environ, **environment}, capture_output=True, text=True, timeout=300
        )
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout.strip()

    def test_put_by_one_machine_found_by_another(self):
        code = "import smelt, os; smelt.Store(os.environ['AT']).put('%s', {'a': b'one', 'b': b'two' * 1000})" % KEY
        self.run_process(code, AT=str(self.folder / "first"), SMELT_REMOTE=self.url)
        store = smelt.Store(self.folder / "second", remotes=[self.url])
        entry = store[KEY]
        self.assertEqual(dict(entry), {"a": b"one", "b": b"two" * 1000})
        # Kept here: neither the remote nor what was noted of it is seen any more.
        again = smelt.Store(self.folder / "second", remotes=[])
        self.assertEqual(sorted(again[KEY]), ["a", "b"])
        self.assertEqual(sorted(again[KEY].files(self.folder / "files")), ["a", "b"])

    def test_without_remotes_the_network_is_not_loaded(self):
        code = (
            "import smelt, sys; smelt.Store(sys.argv[0] or '%s').get('%s');"
            "print('smelt._remote' in sys.modules)" % (self.folder / "plain", KEY)
        )
        self.assertEqual(self.run_process(code.replace("sys.argv[0] or ", "")), "False")

    def test_unsigned_entries_are_misses_unless_all_is_trusted(self):
        code = "import smelt, os; smelt.Store(os.environ['AT']).put('%s', {'a': b'one'})" % KEY
        self.run_process(code, AT=str(self.folder / "first"), SMELT_REMOTE=self.url)
        os.environ["SMELT_TRUST"] = "local"
        store = smelt.Store(self.folder / "second", remotes=[self.url])
        with warnings.catch_warnings(record=True) as said:
            warnings.simplefilter("always")
            self.assertIsNone(store.get(KEY))
        self.assertIn("nobody signed it", str(said[0].message))

    def test_a_wrong_url_is_an_error(self):
        with self.assertRaisesRegex(smelt.ArgumentError, "the options are"):
            smelt.Store(self.folder / "s", remotes=["http://host/?timeuot=1s"])

    def test_triton_backend(self):
        code = (
            "from smelt.compat.triton import RemoteCacheBackend as B; b = B('key');"
            "print(b.get(['x', 'y'])); b.put('x', b'1'); b.put('y', b'2')"
        )
        first = dict(SMELT_STORE=str(self.folder / "first"), SMELT_REMOTE=self.url)
        self.assertEqual(self.run_process(code, **first), "{}")
        second = dict(SMELT_STORE=str(self.folder / "second"), SMELT_REMOTE=self.url)
        self.assertEqual(self.run_process(code, **second), "{'x': b'1', 'y': b'2'}")

    def test_inductor_backend(self):
        # The interface as torch._inductor.remote_cache has it; PyTorch itself is seldom installed where this runs.
        module = types.ModuleType("torch._inductor.remote_cache")

        class RemoteCacheBackend:
            def get(self, key):
                return self._get(key)

            def put(self, key, data):
                self._put(key, data)

        class RedisRemoteCache:
            backend_override_cls = None

            def __init__(self):
                assert self.__class__.backend_override_cls is not None
                self.backend = self.__class__.backend_override_cls()

        module.RemoteCacheBackend, module.RedisRemoteCache = RemoteCacheBackend, RedisRemoteCache
        package = types.ModuleType("torch._inductor")
        package.remote_cache = module
        for name, module_of_torch in (("torch", types.ModuleType("torch")), ("torch._inductor", package), (module.__name__, module)):
            if name not in sys.modules:
                sys.modules[name] = module_of_torch
                self.addCleanup(sys.modules.pop, name)
        from smelt.compat import inductor_cache

        os.environ["SMELT_STORE"] = str(self.folder / "inductor")
        inductor_cache.install()
        cache = sys.modules["torch._inductor.remote_cache"].RedisRemoteCache()
        self.assertIsNone(cache.backend.get("pt2:fx::k:c1"))
        cache.backend.put("pt2:fx::k:c1", b"graph")
        self.assertEqual(cache.backend.get("pt2:fx::k:c1"), b"graph")


if __name__ == "__main__":
    unittest.main()
