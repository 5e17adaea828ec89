# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Conditions of the error table in docs/reference/errors.md, that the other files do not meet on their way."""

import os
import sqlite3
import unittest

import support

import smelt

KEY = "0123456789abcdef" * 4


class Targets(unittest.TestCase):
    """Slices that a device cannot take, each for its own reason; offline devices pretend to be the machine."""

    @classmethod
    def setUpClass(cls):
        cls.package = smelt.compile(support.FOLDER / "kernels.ll", targets=["macos15"], cpu=False)

    def refused(self, code, device, **options):
        with self.assertRaises(smelt.UnsupportedTargetError) as raised:
            smelt.load_metallib(self.package, device=device, **options)
        self.assertEqual(raised.exception.code, code)
        self.assertIn("macos15", str(raised.exception))  # one line per slice

    def test_os(self):
        self.refused("unsupported_os", smelt.Device("offline", target="macos14"))

    def test_platform(self):
        self.refused("unsupported_platform", smelt.Device("offline", target="ios18"))
        self.refused("unsupported_platform", "cpu")

    def test_language(self):
        self.refused("unsupported_language", smelt.Device("offline", target="macos26"), metal="2.4")

    def test_fits(self):
        loaded = smelt.load_metallib(self.package, device=smelt.Device("offline", target="macos26"))
        self.assertEqual(smelt.info(loaded).target, "macos15")
        self.assertEqual(smelt.load_metallib(self.package, device="offline", metal="3.2")["saxpy"].name, "saxpy")

    def test_device_arguments(self):
        for wrong in ({"kind": "cpu", "target": "macos14"}, {"kind": "offline", "target": "macos1"}, {"kind": "tpu"}):
            with self.assertRaises(smelt.ArgumentError):
                smelt.Device(**wrong)
        with self.assertRaises(smelt.ArgumentError):
            smelt.Device("cpu", cpu_level="z80")
        self.assertEqual(smelt.Device("offline", target="ios17").kind, "offline")


class Functions(unittest.TestCase):
    def test_kind(self):
        data = support.shared("metallibs/constants.14.metallib").read_bytes()
        vertex = data.replace(b"TYPE\x01\x00\x02", b"TYPE\x01\x00\x00")
        self.assertNotEqual(vertex, data)
        loaded = smelt.load_metallib(vertex, device="offline")
        self.assertEqual(smelt.function_info(loaded, "vadd").kind, "vertex")
        with self.assertRaises(smelt.FunctionKindError) as raised:
            loaded.vadd
        self.assertEqual(raised.exception.code, "function_kind")


class Files(unittest.TestCase):
    def test_corrupt(self):
        data = bytearray(support.shared("metallibs/kernels.14.metallib").read_bytes())
        data[40] ^= 0x40  # where a section lies
        with self.assertRaises(smelt.InvalidLibraryError) as raised:
            smelt.load_metallib(bytes(data), device="offline")
        self.assertIn(raised.exception.code, ("corrupt", "truncated"))

    def test_one_byte_too_many(self):
        with self.assertRaises(smelt.InvalidLibraryError) as raised:
            smelt.open(bytes(support.package()) + b"\0")
        self.assertEqual(raised.exception.code, "corrupt")

    def test_newer_format(self):
        data = bytearray(bytes(support.package()))
        data[4:8] = b"\x63\0\x63\0"  # format 99, and no older reader may
        with self.assertRaises(smelt.InvalidLibraryError) as raised:
            smelt.open(bytes(data))
        self.assertEqual(raised.exception.code, "format_newer")

    def test_digest_of_an_index(self):
        from smelt._session import device

        with self.assertRaises(smelt.IntegrityError) as raised:
            support.package()._native.load(device(), {"expect": "00" * 32})
        self.assertEqual(raised.exception.code, "digest_mismatch")


class Stores(unittest.TestCase):
    def setUp(self):
        self.folder = support.temporary(f"conditions-{self.id()}")
        smelt.Store(self.folder).put(KEY, {"a": b"1"})

    def refused(self, kind, code, **options):
        with self.assertRaises(kind) as raised:
            smelt.Store(self.folder, **options).get(KEY)
        self.assertEqual(raised.exception.code, code)

    def test_newer(self):
        with sqlite3.connect(self.folder / "store.db") as database:
            database.execute("PRAGMA user_version = 99")
            database.execute("UPDATE meta SET value = 99 WHERE name = 'schema'")
        database.close()
        with self.assertRaises(smelt.StoreError) as raised:
            store = smelt.Store(self.folder)
            store.put("ee" * 32, {"b": b"2"})  # what its index knows is still found
        self.assertEqual(raised.exception.code, "store_newer")
        self.assertIn("99", str(raised.exception))

    def test_untrusted(self):
        os.chmod(self.folder, 0o777)
        try:
            self.refused(smelt.TrustError, "untrusted")
        finally:
            os.chmod(self.folder, 0o700)

    def test_damaged_database_is_set_aside(self):
        for leftover in self.folder.glob("store.db*"):
            leftover.unlink()
        (self.folder / "index").unlink(missing_ok=True)
        (self.folder / "store.db").write_bytes(b"no database, " * 1000)
        with self.assertWarns(RuntimeWarning):
            fresh = smelt.Store(self.folder)
            self.assertEqual(fresh.get(KEY), {"a": b"1"})  # from the packs
        self.assertTrue(list(self.folder.glob("store.db.damaged-*")))
        fresh.put(KEY, {"a": b"2"})
        self.assertEqual(fresh.get(KEY), {"a": b"2"})

    def test_bad_verify_word(self):
        self.refused(smelt.ArgumentError, "invalid_argument", verify="sometimes")


if __name__ == "__main__":
    unittest.main()
