# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""threads, group_size and the rest of a call: docs/design/loader.md 1.3, 3.6, 3.8 and the errors of docs/reference/errors.md."""

import array
import itertools
import threading
import unittest

import support
from support import DLPackOnly, library, needs_numpy, numpy

import smelt


def visit(threads, group=None, kernel=None):
    """Runs `visit` over a grid with room around it: (counts inside, group sizes inside, whether outside is untouched)."""
    shape = [threads] if isinstance(threads, int) else list(threads)
    shape += [1] * (3 - len(shape))
    room = [n + 2 for n in shape]
    cells = room[0] * room[1] * room[2]
    visits, sizes = array.array("i", [0] * cells), array.array("i", [0] * cells)
    (kernel or library().visit)(visits, sizes, room[0], room[1], threads=threads, group_size=group)
    inside, widths, outside = [], [], []
    for z, y, x in itertools.product(*(range(n) for n in reversed(room))):
        at = x + room[0] * (y + room[1] * z)
        if x < shape[0] and y < shape[1] and z < shape[2]:
            inside.append(visits[at])
            widths.append(sizes[at])
        else:
            outside.append(visits[at])
    return inside, widths, not any(outside)


class Grids(unittest.TestCase):
    def test_every_thread_once_and_none_outside(self):
        cases = [(5, None), (130, 64), ((7, 5), (4, 4)), ((5, 3, 2), (2, 2, 2)), ((33,), (32,)), ([9, 2], [3, 1])]
        for threads, group in cases:
            with self.subTest(threads=threads, group=group):
                inside, _, clean = visit(threads, group)
                self.assertEqual(set(inside), {1})
                self.assertTrue(clean)

    def test_edge_groups_are_trimmed(self):
        _, widths, _ = visit(130, 64)
        self.assertEqual(widths, [64] * 128 + [2] * 2)

    def test_default_group(self):
        kernel = library().visit
        _, widths, _ = visit(5)
        self.assertEqual(set(widths), {5})  # min(threads, limit)
        _, widths, _ = visit(2000)
        self.assertEqual(widths[0], kernel.max_threads_per_threadgroup)
        _, widths, _ = visit((6, 4))
        self.assertEqual(set(widths), {6})

    def test_sequences(self):
        for threads in (5, (5,), [5], range(5, 6)):
            inside, _, _ = visit(threads if isinstance(threads, int) else list(threads))
            self.assertEqual(len(inside), 5)
        for bad in ((), (1, 2, 3, 4), "5", 2.5, (2.5,), -1, (1, -1), {}):
            with self.assertRaises(smelt.ArgumentError, msg=bad) as raised:
                library().info(bytearray(4), threads=bad)
            self.assertEqual(raised.exception.code, "invalid_argument", bad)

    @needs_numpy
    def test_counts_as_numpy_integers(self):
        x = numpy.zeros(1, numpy.int32)
        library().info(x, threads=numpy.int64(1), group_size=(numpy.int32(1),))
        self.assertEqual(x[0], 7)


class Threadgroups(unittest.TestCase):
    """threadgroups=: the grid as a count of whole groups."""

    def test_every_group_has_all_its_threads(self):
        for groups, size, threads in ((5, 32, (160,)), ((2, 3), (4, 2), (8, 6)), ((1, 2, 3), (2, 2, 2), (2, 4, 6))):
            with self.subTest(groups=groups, size=size):
                visits, widths = (array.array("i", [0] * 512) for _ in range(2))
                shape = [*threads, 1, 1]
                library().visit(visits, widths, shape[0], shape[1], threadgroups=groups, group_size=size)
                cells = shape[0] * shape[1] * shape[2]
                self.assertEqual(list(visits), [1] * cells + [0] * (512 - cells))
                self.assertEqual(set(widths[:cells]), {size if isinstance(size, int) else size[0]})

    def test_no_groups_is_nothing_to_do(self):
        out = array.array("i", [0])
        library().close(out, out, threadgroups=0, group_size=1)
        self.assertEqual(list(out), [0])

    def test_refused(self):
        for code, options in (
            ("invalid_argument", {"threadgroups": 2}),
            ("invalid_argument", {"threadgroups": 2, "threads": 2, "group_size": 2}),
            ("invalid_argument", {"threadgroups": "2", "group_size": 2}),
            ("rank_mismatch", {"threadgroups": (2, 2), "group_size": 2}),
            ("group_zero", {"threadgroups": 2, "group_size": 0}),
            ("group_too_large", {"threadgroups": 2, "group_size": 1 << 20}),
        ):
            out = array.array("i", [0])
            with self.assertRaises(smelt.Error, msg=options) as raised:
                library().close(out, out, **options)
            self.assertEqual(raised.exception.code, code, options)
            self.assertEqual(list(out), [0])


class Defaults(unittest.TestCase):
    def test_first_direct_array(self):
        out = array.array("i", [0] * 8)
        library().close(array.array("f", [0] * 6), out)
        self.assertEqual(sum(out), 6)

    @needs_numpy
    def test_any_shape_counts_its_elements(self):
        out = numpy.zeros(32, numpy.int32)
        library().close(numpy.zeros((3, 4), numpy.float64), out)
        self.assertEqual(out.sum(), 12)
        out[:] = 0
        library().close(DLPackOnly(numpy.zeros((5, 2), numpy.int8)), out)
        self.assertEqual(out.sum(), 10)

    @needs_numpy
    def test_zero_rank_in_front_gives_one(self):
        out = numpy.zeros(8, numpy.int32)
        library().close(numpy.array(3.0), out)
        self.assertEqual(out.sum(), 1)

    def test_lists_do_not_count(self):
        a = array.array("f", [1] * 4)
        out = array.array("f", [0] * 3)
        library().gather([a, a], out)
        self.assertEqual(list(out), [2, 2, 2])

    def test_no_array_and_no_threads(self):
        a = array.array("f", [1] * 4)
        with self.assertRaises(smelt.ArgumentError) as raised:
            library().gather([a, a], [a])
        self.assertEqual(raised.exception.code, "threads_missing")

    def test_zero_threads_is_nothing_to_do(self):
        out = array.array("i", [0])
        library().close(array.array("f"), out)
        library().close(out, out, threads=0)
        library().close(out, out, threads=(0, 4))
        self.assertEqual(list(out), [0])


class Groups(unittest.TestCase):
    def refused(self, kind, code, **options):
        x = array.array("i", [0])
        with self.assertRaises(kind) as raised:
            library().info(x, **options)
        self.assertEqual(raised.exception.code, code)
        self.assertEqual(list(x), [0])  # nothing ran
        self.assertIsInstance(raised.exception, RuntimeError)
        return raised.exception

    def test_rank_mismatch(self):
        self.refused(smelt.ArgumentError, "rank_mismatch", threads=(4, 4), group_size=4)
        self.refused(smelt.ArgumentError, "rank_mismatch", group_size=(1, 1))  # with the default threads too

    def test_zero(self):
        error = self.refused(smelt.GroupZeroError, "group_zero", threads=4, group_size=0)
        self.assertIsInstance(error, ValueError)
        self.assertIsInstance(error, smelt.ArgumentError)
        self.refused(smelt.GroupZeroError, "group_zero", threads=(4, 4), group_size=(4, 0))

    def test_too_large(self):
        limit = library().info.max_threads_per_threadgroup
        library().info(bytearray(4), threads=1, group_size=limit)
        error = self.refused(smelt.GroupSizeError, "group_too_large", threads=1, group_size=limit + 1)
        self.assertIsInstance(error, ValueError)
        self.assertIn(str(limit), str(error))
        self.refused(smelt.GroupSizeError, "group_too_large", threads=(1, 1), group_size=(limit, 2))

    def test_limit_below_1024(self):
        small = smelt.load_metallib(smelt.compile(support.FOLDER / "kernels.ll", threads_per_threadgroup=832)).visit
        self.assertEqual(small.max_threads_per_threadgroup, 832)
        _, widths, _ = visit(2000, kernel=small)
        self.assertEqual(widths[0], 832)
        visit(2000, 832, kernel=small)
        with self.assertRaises(smelt.GroupSizeError):
            visit(2000, 833, kernel=small)


class Memory(unittest.TestCase):
    def test_dynamic_threadgroup_memory(self):
        x = array.array("i", range(128))
        library().reverse(x, threads=128, group_size=64, threadgroup_memory=256)
        self.assertEqual(list(x), [*reversed(range(64)), *reversed(range(64, 128))])
        library().reverse(x, threads=128, group_size=64, threadgroup_memory={0: 256})
        self.assertEqual(list(x), list(range(128)))

    def test_does_not_stay_for_the_next_call(self):
        x = array.array("i", range(64))
        library().reverse(x, group_size=64, threadgroup_memory=256)
        with self.assertRaises(smelt.ArgumentError) as raised:
            library().reverse(x, group_size=64)
        self.assertEqual(raised.exception.code, "argument_mismatch")

    def test_length_that_a_function_constant_decides(self):
        """A host gives threadgroup memory no length when the constants say that the kernel does not use it."""
        text = """#include <metal_stdlib>
        using namespace metal;
        constant bool by_tile [[function_constant(0)]];
        kernel void twice(device int* x, threadgroup int* tile [[threadgroup(0)]], threadgroup int* more [[threadgroup(1)]],
                          uint i [[thread_position_in_grid]], uint t [[thread_position_in_threadgroup]]) {
          threadgroup int own[64];
          own[t] = x[i];
          if (by_tile) { tile[t] = x[i]; more[t] = 1; threadgroup_barrier(mem_flags::mem_threadgroup); x[i] = tile[t] + own[t]; }
          else x[i] = 2 * own[t];
        }"""
        for checked in (None, "memory"):
            made = smelt.compile_shader(text, device="cpu", checked=checked)
            x = array.array("i", range(128))
            smelt.specialize(made, "twice", {0: False})(x, group_size=64)
            smelt.specialize(made, "twice", {0: True})(x, group_size=64, threadgroup_memory={0: 256, 1: 256})
            self.assertEqual(list(x), [4 * i for i in range(128)])
        with self.assertRaises(smelt.BoundsError) as raised:
            smelt.specialize(made, "twice", {0: True})(x, group_size=64, threadgroup_memory={0: 256})
        self.assertIn("threadgroup 1 'more', which has 0 bytes", str(raised.exception))
        self.assertEqual(raised.exception.findings[0]["kind"], "bounds")

    def test_arguments_do_not_stay_for_the_next_call(self):
        x = array.array("f", [1])
        library().saxpy(x, x, 1.0)
        with self.assertRaises(smelt.ArgumentError):
            library().saxpy(x, x)

    def test_too_large(self):
        x = array.array("i", range(64))
        with self.assertRaises(smelt.ResourceError) as raised:
            library().reverse(x, group_size=64, threadgroup_memory=40000)
        self.assertEqual(raised.exception.code, "threadgroup_memory_too_large")
        # The form that Triton's Apple driver looks for.
        self.assertRegex(str(raised.exception), r"[Tt]hreadgroup memory size \(40000\) exceeds the maximum .*\(32768\)")

    def test_bad_values(self):
        for bad in ("1", 1.5, -1, {40: 8}, {"a": 8}):
            with self.assertRaises(smelt.ArgumentError):
                library().reverse(array.array("i", range(64)), group_size=64, threadgroup_memory=bad)


class Slots(unittest.TestCase):
    def test_index_above_30(self):
        x = bytearray(4)
        library().info(x, *range(30), check="off")
        with self.assertRaises(smelt.ArgumentError) as raised:
            library().info(x, *range(31), check="off")
        self.assertEqual(raised.exception.code, "buffer_index")

    def test_long_inline_bytes(self):
        out = bytearray(8 * 1000)
        library().peek(out, list(range(1000)), threads=8000)  # above Metal's 4096
        self.assertEqual(array.array("q", bytes(out)).tolist(), list(range(1000)))

    def test_error_buffer(self):
        # `info` writes 7 where its error buffer's count would be.
        with self.assertRaises(smelt.Error) as raised:
            library().info(error_buf_idx=0, threads=1)
        self.assertEqual(raised.exception.code, "kernel_reported")
        out = array.array("f", [0, 0])
        library().saxpy(out, out, 1.0, error_buf_idx=3)
        for bad, code in ((31, "buffer_index"), (-1, "invalid_argument"), ("0", "invalid_argument")):
            with self.assertRaises(smelt.ArgumentError) as raised:
                library().info(bytearray(4), error_buf_idx=bad)
            self.assertEqual(raised.exception.code, code)

    def test_unknown_option(self):
        with self.assertRaises(TypeError):
            library().info(bytearray(4), grid=4)
        with self.assertRaises(TypeError):
            library().info(bytearray(4), thread=4)

    def test_returns_none_and_none_options_are_defaults(self):
        answer = library().info(
            bytearray(4), threads=1, group_size=None, arg_casts=None, error_buf_idx=None, threadgroup_memory=None, check=None
        )
        self.assertIsNone(answer)


class Threads(unittest.TestCase):
    def test_gil_is_released_while_running(self):
        # On a machine with more to do than processors this thread may get none of them for the time of a kernel, so
        # it has several chances; with the GIL held it would have none.
        for _ in range(20):
            if self.counted_while_running() > 1000:
                return
        self.fail("no thread of Python runs while a kernel does")

    def counted_while_running(self):
        x = array.array("i", [1])
        counted = [0]
        seen = []

        def work():
            seen.append(counted[0])
            library().spin(x, 300_000_000, threads=1)
            seen.append(counted[0])

        running = threading.Thread(target=work)
        running.start()
        while running.is_alive():
            counted[0] += 1
        running.join()
        self.assertNotEqual(x[0], 1)
        return seen[1] - seen[0]

    def test_one_kernel_from_many_threads(self):
        arrays = [array.array("f", [0] * 256) for _ in range(8)]
        ones = array.array("f", [1] * 256)

        def work(y):
            for _ in range(200):
                library().saxpy(ones, y, 1.0)

        workers = [threading.Thread(target=work, args=(y,)) for y in arrays]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for y in arrays:
            self.assertEqual(set(y), {200.0})

    def test_fork(self):
        import os

        x = array.array("f", [1] * 5000)
        library().saxpy(x, x, 0.0, group_size=8)  # the device has workers now; the child has none
        child = os.fork()
        if child == 0:
            y = array.array("f", [0] * 5000)
            library().saxpy(x, y, 2.0, group_size=8)
            os._exit(0 if set(y) == {2.0} else 1)
        self.assertEqual(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), 0)


if __name__ == "__main__":
    unittest.main()
