# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""smelt.compat.inductor over a stand-in for PyTorch that has what use_metal() touches: a type that Metal has not is named."""

import contextlib
import io
import sys
import types
import unittest
from unittest import mock

import support  # noqa: F401

from smelt.compat import inductor


class Float64:
    def __repr__(self):
        return "torch.float64"


def stand_in():
    """Modules by name; torch.compile asks the table of types, as Inductor's generator of Metal does for each argument."""
    names = ("torch", "torch._C", "torch._dynamo", "torch._inductor", "torch._inductor.config", "torch._inductor.codegen",
             "torch._inductor.codegen.common", "torch._inductor.codegen.mps", "torch._inductor.codegen.wrapper",
             "torch._inductor.codegen.cpp_wrapper_cpu", "torch.utils", "torch.utils._ordered_set", "torch.utils._pytree")
    made = {name: types.ModuleType(name) for name in names}
    for name, module in made.items():
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(made[parent], last, module)
    torch, mps, common = made["torch"], made["torch._inductor.codegen.mps"], made["torch._inductor.codegen.common"]
    torch.Tensor = type("Tensor", (), {})
    torch.manual_seed = torch._dynamo.reset = common.init_backend_registration = lambda *arguments: None
    common.device_codegens = {}
    common.register_backend_for_device = lambda *arguments: None
    made["torch._inductor.config"].cpu_backend = "cpp"
    made["torch.utils._ordered_set"].OrderedSet = list
    made["torch.utils._pytree"].tree_flatten = lambda value: ([value], None)
    made["torch._inductor.codegen.wrapper"].PythonWrapperCodegen = made["torch._inductor.codegen.cpp_wrapper_cpu"].CppWrapperCpu = None
    mps.MetalKernel = type("MetalKernel", (), {"__init__": lambda self: None})
    mps.DTYPE_TO_METAL = {"torch.float32": "float"}

    def compile(model, fullgraph):
        return lambda dtype: mps.DTYPE_TO_METAL[dtype]

    torch.compile = compile
    return made, mps


class TypesTest(unittest.TestCase):
    def test_check_names_a_type_that_metal_has_not(self):
        modules, mps = stand_in()
        table = mps.DTYPE_TO_METAL
        with mock.patch.dict(sys.modules, modules):
            (row,) = inductor.check(lambda dtype: None, (Float64(),), ("metal",))
            self.assertEqual(row["error"], "TypeError: torch.float64 is in a kernel, and Metal has no double precision; use_triton() "
                             "computes it on the CPU")
            (row,) = inductor.check(lambda dtype: None, ("torch.complex64",), ("metal",))
            self.assertIn("torch.complex64 is in a kernel, and Inductor's generator of Metal has no such type", row["error"])
            (row,) = inductor.check(lambda dtype: None, ("torch.float32",), ("metal",))
            self.assertIsNone(row["error"])
        self.assertIs(mps.DTYPE_TO_METAL, table)

    def test_what_counts_as_right(self):
        def verdict(ulp, relative):
            row = {"way": "metal", "ulp": ulp, "relative": relative, "error": None, "seconds": 0.0}
            said = io.StringIO()
            with mock.patch.object(inductor, "check", lambda *_: [row]), mock.patch("runpy.run_path", lambda _: {"model": None, "args": ()}):
                with contextlib.redirect_stdout(said):
                    code = inductor._main(["check", "model.py", "--way", "metal"])
            return code, said.getvalue().splitlines()[1].split()[2]

        self.assertEqual(verdict(70, 1e-4), (0, "right"))  # near 0 an ULP is small
        self.assertEqual(verdict(1, 0.0063), (0, "right"))  # of bfloat
        self.assertEqual(verdict(2, 0.0126), (1, "WRONG"))
        self.assertEqual(verdict(float("inf"), float("inf")), (1, "WRONG"))


if __name__ == "__main__":
    unittest.main()
