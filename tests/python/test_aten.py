# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt.compat.aten: names of registered kernels, what is bound to them, and the table that it prints.

The headers in tests/python/aten stand in for PyTorch's: the same macros, names and arguments."""

import contextlib
import io
import pathlib
import unittest

import support
from support import numpy as np

from smelt.compat import aten

FILES = pathlib.Path(__file__).with_name("aten")


class Names(unittest.TestCase):
    def test_what_a_name_says(self):
        for name, want in {
            "hypot_dense_float_float": ("hypot", "dense", "", False, "float", "float", ""),
            "eq_strided_bool_long": ("eq", "strided", "", False, "bool", "long", ""),
            "mul_dense_cast_half": ("mul", "dense", "", True, "half", "", ""),
            "add_dense_cast_float_float": ("add", "dense", "", True, "float", "", "float"),
            "add_alpha_dense_scalar_lhs_int_int_int": ("add_alpha", "dense", "scalar_lhs", False, "int", "int", "int"),
            "mul_dense_broadcast_rhs_bfloat_bfloat": ("mul", "dense", "broadcast_rhs", False, "bfloat", "bfloat", ""),
            "log_strided_float2_float2": ("log", "strided", "", False, "float2", "float2", ""),
            "bitwise_not_dense_uchar_uchar": ("bitwise_not", "dense", "", False, "uchar", "uchar", ""),
            "neg_inner_contiguous_int_int": ("neg", "inner_contiguous", "", False, "int", "int", ""),
            "add_dense_ilp4_half_half": ("add", "dense", "", False, "half", "half", ""),
            "elu_dense_ilp_half_half_ELUParams_half": ("elu", "dense", "", False, "half", "half", "ELUParams_half"),
            "add_alpha_strided_cast_int_int_int": ("add_alpha", "strided", "", True, "int", "int", "int"),
        }.items():
            form = aten.form_of(name)
            self.assertIsNotNone(form, name)
            self.assertEqual((form.op, form.layout, form.part, form.cast, form.out, form.input, form.alpha), want)

    def test_results_that_are_converted(self):
        for name, out, kind in (("exp_dense_castout_short", "", "short"), ("exp_strided_castout_half", "", "half"),
                                ("exp_dense_castout_ilp_bool", "", "bool"), ("eq_strided_castout_bool_long", "bool", "long")):  # fmt: skip
            form = aten.form_of(name)
            self.assertEqual((form.op, form.castout, form.cast, form.out, form.input), (name.split("_")[0], True, False, out, kind), name)

    def test_a_cast_of_two_types_names_alpha_only_for_operators_with_one(self):
        plain, scaled = aten.form_of("add_dense_cast_float_half", {"add_alpha"}), aten.form_of("add_alpha_dense_cast_float_half", {"add_alpha"})
        self.assertEqual((plain.out, plain.input, plain.alpha), ("float", "half", ""))
        self.assertEqual((scaled.out, scaled.input, scaled.alpha), ("float", "", "half"))

    def test_templates_whose_grid_is_a_plane(self):
        self.assertEqual(aten.planes_in([str(FILES)]), {"unary_inner_contiguous_castout"})
        self.assertEqual(aten.planes_in(["/nowhere"]), frozenset())

    def test_other_kernels_are_left_alone(self):
        for name in ("saxpy", "softmax_float", "hypot_dense_float", "hypot_dense_float4_float4", "dense_float_float"):
            self.assertIsNone(aten.form_of(name), name)

    def test_an_argument_that_the_host_does_not_bind(self):
        args = [{"kind": "buffer", "name": name, "type_name": "float", "index": at} for at, name in enumerate(("out", "input", "sizes"))]
        args[2]["type_name"] = "long"
        args.append({"kind": "buffer", "name": "numel", "type_name": "long", "index": 3})
        args.append({"kind": "buffer", "name": "seed_strides", "type_name": "long", "index": 4})
        operands = [aten.Operand(b"", "float32", (4,), 2)] * 2
        with self.assertRaisesRegex(aten.UnknownArgument, "'seed_strides'"):
            aten.arguments(aten.form_of("neg_strided_float_float"), args, (2,), operands, b"")


@support.needs_numpy
class Bound(unittest.TestCase):
    """Without PyTorch: the arguments are bound to NumPy arrays, and the numbers are NumPy's."""

    @classmethod
    def setUpClass(cls):
        cls.library = aten.load(str(FILES / "good.metal"), [str(FILES)])

    def run_form(self, name, out, inputs, alpha=b""):
        form, kernel = aten.form_of(name), self.library[name]
        operands = []
        for one in (out, *inputs):
            seen = np.broadcast_to(one, out.shape)
            base = one if one.base is None else one.base
            operands.append(aten.Operand(base, one.dtype.name, seen.strides, one.size))
        bound = aten.arguments(form, kernel.args, out.shape, operands, alpha)
        places = {one["index"]: operand.memory for one, operand in zip(aten.tensors_of(kernel.args), operands)}
        places.update({at: memoryview(data) for at, data in bound.items()})
        kernel(*(places[at] for at in range(len(places))), threads=out.size, check="off")
        return out

    def test_strided_operands_of_two_types_of_strides(self):
        a = np.arange(12, dtype=np.float32).reshape(3, 4).T[::2]  # a view whose memory is its base
        b = np.full((1, 3), 5, np.float32)
        out = np.zeros((2, 3), np.float32)
        self.run_form("hypot_strided_float_float", out, [np.lib.stride_tricks.as_strided(a, a.shape, a.strides), b])
        np.testing.assert_allclose(out, np.hypot(a, b), rtol=1e-6)
        x = np.arange(20, dtype=np.int32).reshape(4, 5)
        result = np.zeros((5, 4), np.int32)
        self.run_form("neg_strided_int_int", result, [x.T])
        self.assertTrue((result == -x.T).all())

    def test_casts_read_each_operand_in_its_own_type(self):
        a, b, out = np.float32([3, 1.5, 2]), np.int16([4, 2, -7]), np.zeros(3, np.float32)
        self.run_form("hypot_dense_cast_float", out, [a, b])
        np.testing.assert_allclose(out, np.hypot(a, b), rtol=1e-6)

    def test_rows_whose_result_is_converted(self):
        room, out = np.arange(24, dtype=np.int16).reshape(3, 8), np.full((3, 7), -1, np.float32)
        source, result = room[:, :5], out[:, :5]
        form, kernel = aten.form_of("neg_inner_contiguous_castout_short"), self.library["neg_inner_contiguous_castout_short"]
        operands = [aten.Operand(base, base.dtype.name, view.strides, view.size) for base, view in ((out, result), (room, source))]
        bound = aten.arguments(form, kernel.args, (3, 5), operands, b"")
        places = {one["index"]: operand.memory for one, operand in zip(aten.tensors_of(kernel.args), operands)}
        places.update({at: memoryview(data) for at, data in bound.items()})
        kernel(*(places[at] for at in range(len(places))), threads=(5, 3), check="off")
        self.assertTrue((result == -source).all() and (out[:, 5:] == -1).all())

    def test_alpha_broadcast_and_three_operands(self):
        a, b, c = (np.arange(start, start + 6, dtype=np.float32) for start in (0, 10, 20))
        self.assertTrue((self.run_form("add_dense_float_float_float", np.zeros(6, np.float32), [a, b], np.float32(3).tobytes()) == a + 3 * b).all())
        self.assertTrue((self.run_form("addcmul_dense_float_float", np.zeros(6, np.float32), [a, b, c]) == a + b * c).all())
        row = np.int64([1, 2, 3])
        grid = np.arange(6, dtype=np.int64).reshape(2, 3)
        self.assertTrue((self.run_form("eq_dense_broadcast_bool_long", np.zeros((2, 3), bool), [grid, row]) == (grid == row)).all())


class Table(unittest.TestCase):
    """With PyTorch: the command's words and exit codes."""

    def setUp(self):
        try:
            import torch  # noqa: F401
        except ImportError:
            self.skipTest("no PyTorch")

    def said(self, *words):
        with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.redirect_stderr(out):
            code = aten.main([*words, "-I", str(FILES)])
        return code, out.getvalue()

    def test_right_kernels(self):
        code, text = self.said(str(FILES / "good.metal"))
        self.assertEqual(code, 0, text)
        for line in ("add: 2 kernels", "addcmul: 1 kernels", "eq: 5 kernels", "hypot: 10 kernels", "neg: 7 kernels", "sqrt: 2 kernels"):
            self.assertIn(line, text)
        self.assertNotIn(" 0 samples", text)

    def test_each_wrong_kernel_is_found(self):
        code, text = self.said(str(FILES / "wrong.metal"))
        self.assertEqual(code, 1, text)
        for line in ("add_dense_int_int_int: (0, 1) gives 1, the operator 2", "eq_dense_bool_long", "(inf, nan) gives nan, the operator inf",
                     "neg_strided_uchar_uchar: (7) gives 7, the operator 249"):  # fmt: skip
            self.assertIn(line, text)
        self.assertIn("addcmul: 1 kernels, 3 samples: 1 right, 0 wrong", text)

    def test_an_operator_by_name(self):
        code, text = self.said(str(FILES / "good.metal"), "--op", "neg", "--as", "torch.abs")
        self.assertEqual(code, 1, text)
        self.assertNotIn("hypot", text)
        code, text = self.said(str(FILES / "good.metal"), "--op", "nothing")
        self.assertEqual(code, 2, text)
        self.assertIn("registers no nothing; it registers add, addcmul, eq, hypot, neg, sqrt", text)


if __name__ == "__main__":
    unittest.main()
