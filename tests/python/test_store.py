# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt.Store, and smelt.compat.triton over it."""

import json
import multiprocessing
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
import unittest
import unittest.mock
import warnings

import support

import smelt
from smelt.compat import triton

KEY = "0123456789abcdef" * 4
STAGES = ("ttir", "ttgir", "llir", "ptx", "cubin")
REPEATS = 2000  # large enough that members are not kept inside the entry's record


class Stores(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary(f"store-{self.id()}")
        self.store = smelt.Store(self.folder)

    def test_get_and_put(self):
        self.assertIsNone(self.store.get(KEY))
        self.assertNotIn(KEY, self.store)
        parts = {"kernel.json": b"{}", "kernel.metallib": b"MTLB" + bytes(100)}
        self.store.put(KEY, parts)
        entry = self.store.get(KEY)
        self.assertEqual(entry, parts)
        self.assertEqual(entry["kernel.json"], b"{}")
        self.assertEqual(sorted(entry), sorted(parts))
        self.assertIn(KEY, self.store)
        self.assertEqual(bytes(entry.view("kernel.metallib")), parts["kernel.metallib"])
        self.assertTrue(entry.view("kernel.metallib").readonly)
        with self.assertRaises(KeyError):
            entry["nope"]
        self.assertEqual(self.store.get_all([KEY, "ff" * 32]), [parts, None])
        self.assertTrue(self.store.remove(KEY))
        self.assertFalse(self.store.remove(KEY))
        self.assertEqual(entry["kernel.json"], b"{}")  # what is held stays

    def test_buffers_and_compression(self):
        self.store.put(KEY, {"a": bytearray(b"x" * 5000), "b": memoryview(b"y")}, compress=True)
        self.assertEqual(self.store.get(KEY)["a"], b"x" * 5000)

    def test_several_at_once(self):
        entries = {f"{i:064x}": {"n": str(i).encode()} for i in range(20)}
        self.store.put_all(entries)
        self.assertEqual(self.store.get_all(entries), list(entries.values()))
        self.assertEqual(len(self.store.entries()), 20)

    def test_tags(self):
        for i, version in enumerate(("2.0.0", "2.1.0", "2.10.0", "3.0")):
            key = f"{i:064x}"
            self.store.put(key, {"v": version.encode()})
            self.store.tag(f"flash_attn@{version}", key)
        resolve = self.store.resolve
        self.assertEqual(self.store[resolve("flash_attn@2")]["v"], b"2.10.0")
        self.assertEqual(self.store[resolve("flash_attn@2.1.0")]["v"], b"2.1.0")
        self.assertEqual(self.store[resolve("flash_attn")]["v"], b"3.0")
        self.assertEqual(self.store[resolve("flash_attn@>=2.1,<2.10")]["v"], b"2.1.0")
        self.assertEqual([t.version for t in self.store.candidates("flash_attn@2")], ["2.10.0", "2.1.0", "2.0.0"])
        self.assertEqual(len(self.store.tags()), 4)
        with self.assertRaises(smelt.Error):
            self.store.tag("flash_attn@3.0", f"{0:064x}")
        self.store.tag("flash_attn@3.0", f"{0:064x}", move=True)
        self.assertEqual(len(self.store.tag_history("flash_attn@3.0")), 2)
        for bad in ("flash_attn", "@1", "flash_attn@"):
            with self.assertRaises(smelt.ArgumentError):
                self.store.tag(bad, KEY)
        with self.assertRaises(smelt.Error):
            resolve("nothing@1")

    def test_errors(self):
        for bad in ("", "xyz", "zz" * 32, "0" * 63):
            with self.assertRaises(smelt.ArgumentError):
                self.store.get(bad)
        with self.assertRaises(smelt.ArgumentError):
            self.store.put(KEY, {})
        with self.assertRaises(TypeError):
            self.store.put(KEY, {"a": "text"})
        with self.assertRaises(smelt.CacheMissError):
            self.store[KEY]
        blocked = self.folder / "file"
        blocked.write_text("")
        with self.assertRaises(smelt.Error):
            smelt.Store(blocked)

    def test_read_only(self):
        self.store.put(KEY, {"a": b"1"})
        reader = smelt.Store(self.folder, read_only=True)
        self.assertEqual(reader.get(KEY), {"a": b"1"})
        with self.assertRaises(smelt.Error):
            reader.put(KEY, {"a": b"2"})

    def test_counts_and_care(self):
        self.store.put(KEY, {"a": bytes(1000)})
        self.store.get(KEY)
        self.store.get("ff" * 32)
        counters = self.store.counters()
        self.assertEqual((counters["hits"], counters["misses"], counters["puts"]), (1, 1, 1))
        self.assertEqual(self.store.stat()["entries"], 1)
        self.assertEqual(self.store.verify(), [])
        self.store.trim(1)
        self.assertEqual(self.store.stat()["entries"], 0)

    def test_budget_age_and_nothing(self):
        for number in range(30):
            self.store.put(f"{number:064x}", {"part": bytes([number]) * 3000})
        self.store.tag("kept@1", f"{3:064x}")
        self.assertEqual(self.store.trim(1 << 30), 0)
        self.assertEqual(self.store.trim(unused_hours=1), 0)
        self.assertEqual([entry.key for entry in self.store.iter_entries()], sorted(entry.key for entry in self.store.entries()))
        self.assertEqual(self.store.clear(), 29)
        self.assertEqual([entry.key for entry in self.store.entries()], [f"{3:064x}"])
        self.assertEqual(self.store.clear(tagged=True), 1)
        self.assertEqual((self.store.entries(), self.store.tags()), ([], []))
        self.store.reset_counters()
        self.assertEqual(self.store.stat()["counters"]["puts"], 0)
        with unittest.mock.patch.dict(os.environ, SMELT_STORE_MAX_SIZE="1MiB"):
            small = smelt.Store(self.folder / "small")
            with self.assertRaisesRegex(smelt.ArgumentError, "max_bytes"):
                small.put(KEY, {"part": bytes(2 << 20)})
            smelt.Store(self.folder / "large", max_bytes=8 << 20).put(KEY, {"part": bytes(2 << 20)})
        with unittest.mock.patch.dict(os.environ, SMELT_STORE_MAX_SIZE="plenty"):
            with self.assertRaisesRegex(smelt.ArgumentError, "SMELT_STORE_MAX_SIZE"):
                smelt.Store(self.folder / "none")

    def test_fork(self):
        self.store.put(KEY, {"a": b"1"})
        child = os.fork()
        if child == 0:
            ok = self.store.get(KEY) == {"a": b"1"}
            self.store.put("ee" * 32, {"b": b"2"})
            os._exit(0 if ok else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)
        self.assertEqual(self.store.get("ee" * 32), {"b": b"2"})


def compile_once(key: str, log: pathlib.Path, seconds: float = 0.05) -> dict:
    """What Triton's compile() does with its cache manager; a real compile leaves a line in the log."""
    manager = triton.CacheManager(key)
    group = manager.get_group("k.json") or {}
    if "k.json" in group:
        return group
    with open(log, "a") as file:
        file.write(f"{key}\n")
    time.sleep(seconds)
    group = {f"k.{stage}": manager.put(f"{key} {stage}".encode() * REPEATS, f"k.{stage}") for stage in STAGES}
    group["k.json"] = manager.put(json.dumps({"name": key}), "k.json", binary=False)
    manager.put_group("k.json", group)
    return group


def compile_all(keys, log):
    for key in keys:
        group = compile_once(key, log)
        assert len(group) == len(STAGES) + 1
        for stage in STAGES:
            assert pathlib.Path(group[f"k.{stage}"]).read_bytes() == f"{key} {stage}".encode() * REPEATS


class TritonCache(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary(f"triton-{self.id()}")
        self.before = os.environ["SMELT_STORE"]
        os.environ["SMELT_STORE"] = str(self.folder / "store")
        self.log = self.folder / "log"
        self.log.touch()

    def tearDown(self):
        os.environ["SMELT_STORE"] = self.before

    def compiles(self):
        return self.log.read_text().splitlines()

    def test_group_there_and_back(self):
        made = compile_once("KEY", self.log)
        found = triton.CacheManager("KEY").get_group("k.json")
        self.assertEqual(found, made)
        for name, path in found.items():
            self.assertEqual(pathlib.Path(path).name, name)
        self.assertEqual(json.loads(pathlib.Path(found["k.json"]).read_text()), {"name": "KEY"})
        self.assertEqual(triton.CacheManager("KEY").get_file("k.ptx"), found["k.ptx"])
        self.assertTrue(triton.CacheManager("KEY").has_file("k.ptx"))
        self.assertIsNone(triton.CacheManager("KEY").get_file("k.hsaco"))
        self.assertIsNone(triton.CacheManager("KEY").get_group("other.json"))
        self.assertIsNone(triton.CacheManager("OTHER").get_group("k.json"))
        counts = triton.counters()
        self.assertGreaterEqual(counts["hits"], 3)
        self.assertEqual(counts["failed"], 0)

    def test_single_files(self):
        manager = triton.CacheManager("SO")
        self.assertIsNone(manager.get_file("launcher.so"))
        path = manager.put(b"\x7fELF", "launcher.so", binary=True)
        self.assertEqual(pathlib.Path(path).read_bytes(), b"\x7fELF")
        self.assertEqual(triton.CacheManager("SO").get_file("launcher.so"), path)
        text = triton.CacheManager("SO").put({"a": 1}, "tuned.autotune.json", binary=False)
        self.assertEqual(pathlib.Path(text).read_text(), "{'a': 1}")  # str() of what is not bytes
        replaced = triton.CacheManager("SO").put(b"new", "launcher.so")
        self.assertEqual(pathlib.Path(replaced).read_bytes(), b"new")

    def test_deleted_and_edited_members_come_back(self):
        group = compile_once("KEY", self.log)
        os.unlink(group["k.cubin"])
        pathlib.Path(group["k.json"]).write_text("{}" + " " * (len(json.dumps({"name": "KEY"})) - 2))  # the same size
        again = triton.CacheManager("KEY").get_group("k.json")
        self.assertEqual(pathlib.Path(again["k.cubin"]).read_bytes(), b"KEY cubin" * REPEATS)
        self.assertEqual(json.loads(pathlib.Path(again["k.json"]).read_text()), {"name": "KEY"})
        shutil.rmtree(triton.CacheManager("KEY").cache_dir)
        compile_all(["KEY"], self.log)
        self.assertEqual(len(self.compiles()), 1)

    def test_store_can_be_moved(self):
        compile_once("KEY", self.log)
        moved = self.folder / "moved"
        shutil.move(os.environ["SMELT_STORE"], moved)
        shutil.rmtree(moved / "files")
        os.environ["SMELT_STORE"] = str(moved)
        group = triton.CacheManager("KEY").get_group("k.json")
        self.assertEqual(len(group), len(STAGES) + 1)
        for path in group.values():
            self.assertTrue(path.startswith(str(moved)))
            self.assertTrue(os.path.exists(path))

    def test_damaged_member_makes_the_group_a_miss(self):
        compile_once("KEY", self.log)
        (pack,) = (self.folder / "store" / "packs").iterdir()
        data = bytearray(pack.read_bytes())
        at = data.index(b"KEY ptx" * REPEATS)
        data[at] ^= 1
        pack.write_bytes(data)
        code = (
            "import smelt.compat.triton as t; assert %s(t.CacheManager('KEY').get_group('k.json')); "
            "assert t.counters()['damaged'] == %d, t.counters()"
        )
        subprocess.run([sys.executable, "-c", code % ("len", 0)], check=True)  # the mirror is whole
        shutil.rmtree(self.folder / "store" / "files")
        subprocess.run([sys.executable, "-c", code % ("not ", 1)], check=True)
        compile_all(["KEY"], self.log)
        self.assertEqual(len(self.compiles()), 2)
        shutil.rmtree(self.folder / "store" / "files")
        compile_all(["KEY"], self.log)  # mended for good
        self.assertEqual(len(self.compiles()), 2)
        self.assertEqual(smelt.Store().verify(), [])

    def test_equal_members_are_kept_once(self):
        big = os.urandom(200_000)
        for key in ("A", "B", "C"):
            manager = triton.CacheManager(key)
            manager.get_group("k.json")
            group = {"k.cubin": manager.put(big, "k.cubin"), "k.json": manager.put(key, "k.json")}
            manager.put_group("k.json", group)
        stat = smelt.Store().stat()
        self.assertLess(stat["live_bytes"], 300_000)
        self.assertGreater(stat["raw_bytes"], 600_000)

    def test_failed_compile_publishes_nothing(self):
        manager = triton.CacheManager("KEY")
        self.assertIsNone(manager.get_group("k.json"))
        manager.put(b"half", "k.ttir")
        del manager
        began = time.monotonic()
        compile_all(["KEY"], self.log)  # nobody waits for the one that failed
        self.assertLess(time.monotonic() - began, 30)

    def test_same_thread_does_not_wait_for_itself(self):
        outer = triton.CacheManager("KEY")
        self.assertIsNone(outer.get_group("k.json"))
        began = time.monotonic()
        self.assertIsNone(triton.CacheManager("KEY").get_group("k.json"))
        self.assertLess(time.monotonic() - began, 30)

    def test_processes_at_once_compile_each_once(self):
        context = multiprocessing.get_context("spawn" if sys.platform == "darwin" else "fork")
        keys = [f"K{i}" for i in range(10)]
        workers = [context.Process(target=compile_all, args=(keys, self.log)) for _ in range(8)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join(60)
            self.assertEqual(worker.exitcode, 0)
        self.assertEqual(sorted(self.compiles()), sorted(keys))

    def test_killed_compiler_leaves_nothing_broken(self):
        context = multiprocessing.get_context("fork")
        victim = context.Process(target=compile_once, args=("KEY", self.log, 60.0))
        victim.start()
        while not self.compiles():
            time.sleep(0.01)
        waiter = context.Process(target=compile_all, args=(["KEY"], self.log))
        waiter.start()
        time.sleep(0.2)
        os.kill(victim.pid, signal.SIGKILL)
        victim.join()
        waiter.join(20)
        self.assertEqual(waiter.exitcode, 0)
        self.assertEqual(len(self.compiles()), 2)
        self.assertEqual(smelt.Store().verify(), [])

    def test_killed_at_any_moment(self):
        context = multiprocessing.get_context("fork")
        for i in range(8):
            keys = [f"V{i}-{n}" for n in range(40)]
            victim = context.Process(target=compile_all, args=(keys, self.log))
            victim.start()
            time.sleep(0.01 * (i + 1))
            os.kill(victim.pid, signal.SIGKILL)
            victim.join()
            found = triton.CacheManager(keys[0]).get_group("k.json")
            self.assertIn(len(found or {}), (0, len(STAGES) + 1))  # whole or not at all
        self.assertEqual(smelt.Store().verify(), [])

    def test_read_only_store(self):
        compile_once("KEY", self.log)
        shutil.rmtree(self.folder / "store" / "files")
        if os.getuid() == 0:
            self.skipTest("SKIPPED: root may write anywhere")
        for path in [self.folder / "store", *(self.folder / "store").rglob("*")]:
            path.chmod(0o500 if path.is_dir() else 0o400)
        code = "import smelt.compat.triton as t; assert len(t.CacheManager('KEY').get_group('k.json')) == 6"
        subprocess.run([sys.executable, "-c", code], check=True)

    def test_override_and_dump_are_plain_folders(self):
        os.environ["TRITON_DUMP_DIR"] = str(self.folder / "dump")
        os.environ["TRITON_OVERRIDE_DIR"] = str(self.folder / "override")
        try:
            path = triton.CacheManager("KEY", dump=True).put("text", "k.ttir")
            self.assertEqual(path, str(self.folder / "dump" / "KEY" / "k.ttir"))
            self.assertEqual(pathlib.Path(path).read_text(), "text")
            self.assertFalse(triton.CacheManager("KEY", override=True).has_file("k.ttir"))
            dump = triton.CacheManager("KEY", dump=True)
            dump.put_group("k.json", {"k.ttir": path})
            self.assertEqual(dump.get_group("k.json"), {"k.ttir": path})
            os.unlink(path)
            self.assertIsNone(dump.get_group("k.json"))
        finally:
            del os.environ["TRITON_DUMP_DIR"], os.environ["TRITON_OVERRIDE_DIR"]

    def test_without_a_store_it_goes_on(self):
        (self.folder / "blocked").write_text("")
        os.environ["SMELT_STORE"] = str(self.folder / "blocked")
        os.environ["TRITON_CACHE_DIR"] = str(self.folder / "plain")
        try:
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                compile_all(["KEY", "KEY"], self.log)
            self.assertEqual(len(seen), 1)
            self.assertEqual(len(self.compiles()), 1)
        finally:
            del os.environ["TRITON_CACHE_DIR"]

    def test_interface_names(self):
        # Triton looks for classes of these names.
        self.assertEqual(triton.CacheManager.__mro__[0].__name__, "CacheManager")
        self.assertEqual(triton.RemoteCacheBackend.__mro__[0].__name__, "RemoteCacheBackend")

    def test_remote_backend(self):
        backend = triton.RemoteCacheBackend("KEY")
        self.assertEqual(backend.get(["a", "b"]), {})
        backend.put("a", b"1")
        self.assertEqual(backend.get(["a", "b"]), {"a": b"1"})
        self.assertEqual(triton.RemoteCacheBackend("OTHER").get(["a"]), {})

    def test_sweep(self):
        compile_all(["KEPT", "GONE"], self.log)
        store = smelt.Store()
        for kind in ("triton group", "triton names"):
            fields = (kind, "GONE", "k.json") if kind == "triton group" else (kind, "GONE")
            store.remove(triton._store.sha256(*fields))
        folders = [triton.CacheManager(key).cache_dir for key in ("KEPT", "GONE")]
        self.assertEqual(triton.sweep(), 0)  # too young
        for folder in folders:
            os.utime(folder, (1, 1))
        self.assertEqual(triton.sweep(), 1)
        self.assertEqual([os.path.exists(folder) for folder in folders], [True, False])


class LoadBinary(unittest.TestCase):
    def test_five_values(self):
        blob = support.package().metallib("macos14")
        module, function, registers, spills, most = triton.load_binary("saxpy", blob, 0, 0)
        self.assertIs(function, module.saxpy)
        self.assertEqual((registers, spills, most), (0, 0, function.max_threads_per_threadgroup))

    def test_out_of_resources(self):
        with self.assertRaises(Exception) as raised:
            triton.load_binary("saxpy", b"", 100_000, 0)
        self.assertIn("100000", str(raised.exception))


if __name__ == "__main__":
    unittest.main()
