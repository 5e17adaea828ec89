# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""No argument is accepted and then lost or misread: every kind of array and number, of every rank and type, to every kind of
parameter either gives the kernel its value and takes back what the kernel wrote, or is an error or a warning."""

import array
import itertools
import unittest
import warnings

from support import DLPackOnly, numpy

import smelt
import smelt.compat.torch

TYPES = {
    "bool": "?",
    "char": "b",
    "uchar": "B",
    "short": "h",
    "ushort": "H",
    "int": "i",
    "uint": "I",
    "long": "q",
    "ulong": "Q",
    "half": "e",
    "float": "f",
}
SOURCE = "#include <metal_stdlib>\nusing namespace metal;\n" + "".join(
    f"""
kernel void read_{t}(device const {t}* in, device {t}* out) {{ out[0] = in[0]; }}
kernel void constant_{t}(constant {t}& in, device {t}* out) {{ out[0] = in; }}
kernel void write_{t}(device {t}* io) {{ io[0] = {t}({"!io[0]" if t == "bool" else "io[0] + 1"}); }}
"""
    for t in TYPES
)
DTYPES = "?bBhHiIqQefdFD"
RANKS = {0: (), 1: (1,), 2: (1, 1)}


def containers(value):
    """The same memory in every clothing that an array comes in. Each with how to read it back."""
    yield value
    if value.dtype.char != "?":  # NumPy's DLPack of today has no bool
        yield DLPackOnly(value)
    if value.dtype.char in "bBhHiIqQfd" and value.ndim == 1:
        yield memoryview(value)


def attempt(kernel, *args, **options):
    """Whether the call went through without a word."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", smelt.ArgumentWarning)
        try:
            kernel(*args, threads=1, **options)
        except (smelt.ArgumentError, smelt.ArgumentWarning):
            return False
    return True


@unittest.skipIf(numpy is None, "SKIPPED: no NumPy")
class Properties(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.library = smelt.compile_shader(SOURCE)
        cls.upstream = smelt.compat.torch.compile_shader(SOURCE)

    def pairs(self):
        """Every parameter type with every element type and rank, and a number that both hold."""
        for (name, char), dtype, rank in itertools.product(TYPES.items(), DTYPES, RANKS):
            # Raw memory is left to the caller: parameters of type char, which is also what a kernel from IR without types
            # says of every buffer.
            if name == "char":
                continue
            yield name, char, dtype, rank, 1 if "?" in (char, dtype) else 3 if dtype in "bBhHiIqQ" else 2.5

    def test_what_a_kernel_reads_is_the_value(self):
        silent = 0
        for name, char, dtype, rank, number in self.pairs():
            for how, value in itertools.product(
                ("read", "constant"), containers(numpy.full(RANKS[rank], number, dtype))
            ):
                out = numpy.zeros(1, char)
                if attempt(self.library[f"{how}_{name}"], value, out):
                    silent += 1
                    with self.subTest(parameter=name, how=how, dtype=dtype, rank=rank, container=type(value)):
                        self.assertEqual(out[0], number)
        self.assertGreater(silent, 200)  # the right calls are silent

    def test_what_a_kernel_writes_comes_back(self):
        silent = 0
        for name, char, dtype, rank, number in self.pairs():
            if dtype == "?" != char:
                continue  # the memory holds the 2, and NumPy shows any such byte as True
            before = numpy.full(RANKS[rank], number, dtype)
            for value in containers(before):
                before.fill(number)
                if attempt(self.library["write_" + name], value):
                    silent += 1
                    want = 0 if name == "bool" else number + 1
                    with self.subTest(parameter=name, dtype=dtype, rank=rank, container=type(value)):
                        self.assertEqual(before.item(), want)
        self.assertGreater(silent, 60)

    def test_read_only_memory_is_never_written(self):
        for (name, char), rank in itertools.product(TYPES.items(), RANKS):
            value = numpy.full(RANKS[rank], 1, char)
            value.flags.writeable = False
            for library in (self.library, self.upstream):
                with self.subTest(parameter=name, rank=rank):
                    with self.assertRaises(smelt.ArgumentError):
                        library["write_" + name](value, threads=1)
                    self.assertEqual(value.item(), 1)

    def test_as_upstream_results_of_rank_zero_come_back(self):
        for name, char in TYPES.items():
            number = numpy.ones((), char)
            for value in containers(number):
                number[()] = 1
                self.upstream["write_" + name](value, threads=1)
                self.assertEqual(number.item(), 0 if name == "bool" else 2, name)

    def test_as_upstream_doubles_of_rank_zero_are_converted(self):
        out = numpy.zeros(1, "f")
        for value in (numpy.array(2.5), DLPackOnly(numpy.array(2.5))):
            for how in ("read_float", "constant_float"):
                out[:] = 0
                self.upstream[how](value, out, threads=1)
                self.assertEqual(out[0], 2.5)

    def test_doubles_with_a_rank_or_to_be_written_are_refused(self):
        for library in (self.library, self.upstream):
            for name in ("half", "float", "int"):
                for kernel, args in (
                    ("read_", (numpy.ones(2), numpy.zeros(2, TYPES[name]))),
                    ("write_", (numpy.ones(()),)),
                    ("write_", (numpy.ones(2),)),
                    ("write_", (numpy.ones(2, "D"),)),
                ):
                    with self.subTest(parameter=name, kernel=kernel):
                        with self.assertRaises(smelt.ArgumentError) as raised:
                            library[kernel + name](*args, threads=1, check="off")
                        self.assertEqual(raised.exception.code, "argument_mismatch")

    def test_elements_that_no_kernel_knows(self):
        foreign = [
            numpy.array([1, "a"], object),
            numpy.array(None, object),
            numpy.array([b"ab", b"c"]),
            numpy.array(["ab", "c"]),
            numpy.ones(2, ">f4"),
            numpy.ones(2, ">i8"),
            numpy.ones((), ">f4"),
            numpy.ones(2, numpy.longdouble),
            numpy.zeros(2, [("a", "f4"), ("b", object)]),
            numpy.zeros(2, [("a", ">f4")]),
        ]
        out = numpy.zeros(1, "f")
        for value in foreign:
            for how in ("off", "warn", "error"):
                with self.subTest(dtype=value.dtype, check=how):
                    with self.assertRaises(smelt.ArgumentError) as raised:
                        self.library.read_float(value, out, threads=1, check=how)
                    self.assertEqual(raised.exception.code, "argument_type")

    def test_structures_pass(self):
        source = """struct S { float a; int b; };
        kernel void k(constant S& s, device float* out) { out[0] = s.a + s.b; }"""
        out = numpy.zeros(1, "f")
        smelt.compile_shader(source).k(numpy.array([(1.5, 2)], [("a", "f4"), ("b", "i4")]), out, threads=1)
        self.assertEqual(out[0], 3.5)

    def test_views_with_less_memory_than_elements(self):
        out = numpy.zeros(4, "f")
        wide = numpy.broadcast_to(numpy.ones(1, "f"), (1 << 20,))
        for library, code in ((self.library, "argument_mismatch"), (self.upstream, "argument_type")):
            with self.assertRaises(smelt.ArgumentError) as raised:
                library.read_float(wide, out)
            self.assertEqual(raised.exception.code, code)
        with self.assertRaises(smelt.ArgumentError):
            self.library.read_float(wide, out, threads=1, check="error")
        with self.assertRaises(smelt.ArgumentError):
            self.library.read_float(wide, out, threads=1)
        # A kernel that is told the strides may be handed such a view; upstream asks nothing.
        self.upstream.read_float(wide, out, threads=1)
        self.assertEqual(out[0], 1)

    def test_numbers_that_would_be_lost_are_said(self):
        for value in (1, 2.5, [0.0, 0.0], True):
            with self.assertRaises(smelt.ArgumentError):
                self.library.write_float(value, threads=1, check="error")

    def test_array_module(self):
        out = array.array("f", [0])
        self.assertTrue(attempt(self.library.read_float, array.array("f", [2.5]), out))
        self.assertEqual(out[0], 2.5)


if __name__ == "__main__":
    unittest.main()
