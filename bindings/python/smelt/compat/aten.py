# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks a Metal kernel of PyTorch against PyTorch's CPU operator, on a machine that need not be a Mac.

    python -m smelt.compat.aten KERNEL.metal --op hypot
    python -m smelt.compat.aten KERNEL.metal                    every operator that the file registers

A kernel that c10's macros register (REGISTER_UNARY_OP, REGISTER_BINARY_OP, the ternary and the alpha forms) has a name that contains
its form and types. PyTorch's host code chooses the kernel by that name, and binds tensors, sizes, strides and types to it
(exec_unary_kernel, exec_binary_kernel and exec_ternary_kernel of aten/src/ATen/native/mps/OperationUtils.mm). This module binds the
same arguments, runs the kernel on the CPU from the finished Metal library, and compares the result with PyTorch's operator.

The samples are special values and, if PyTorch's test package can be imported, those of its OpInfo. The exit code is 0 if every
kernel computes the same as the operator, 1 if one does not, and 2 if something could not be tested."""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import os
import re
import struct
import sys
from typing import Any, Callable, Iterable, Iterator

import smelt

from .. import _torch_headers

# Metal's name of an element, PyTorch's, the number of c10::ScalarType (c10/metal/common.h), and the bytes of one.
TYPES = {
    "uchar": ("uint8", 0, 1), "char": ("int8", 1, 1), "short": ("int16", 2, 2), "int": ("int32", 3, 4), "long": ("int64", 4, 8),
    "half": ("float16", 5, 2), "float": ("float32", 6, 4), "half2": ("complex32", 8, 4), "float2": ("complex64", 9, 8),
    "bool": ("bool", 11, 1), "bfloat": ("bfloat16", 15, 2),
    "ushort": ("uint16", 27, 2), "uint": ("uint32", 28, 4), "ulong": ("uint64", 29, 8),
}  # fmt: skip
METAL = {name: metal for metal, (name, _, _) in TYPES.items()}
_TYPE = "|".join(sorted(TYPES, key=len, reverse=True))
_NAME = re.compile(
    rf"(?P<op>\w+?)_(?P<form>dense|strided)(?:_(?P<part>scalar_lhs|scalar|broadcast_rhs|broadcast))?(?P<cast>_cast)?"
    rf"_(?P<out>{_TYPE})(?:_(?P<input>{_TYPE}))?(?:_(?P<alpha>{_TYPE}))?"
)
# (rtol, atol). rtol of half and bfloat is that of torch.testing.assert_close; float32 has what PyTorch's tests of MPS have for functions that a
# GPU approximates. atol of half and bfloat is wider than the 1e-5 of assert_close.
TOLERANCES = {"float16": (1e-3, 1e-3), "bfloat16": (1.6e-2, 1e-3), "float32": (2e-5, 1e-5), "complex64": (2e-5, 1e-5), "complex32": (2e-3, 2e-3)}


@dataclasses.dataclass(frozen=True)
class Form:
    """The form of a registered kernel, as its name gives it. Types are Metal's; `input` is empty if each operand has a type of its own (a cast)."""

    name: str
    op: str
    layout: str  # "dense" or "strided"
    part: str  # "", "scalar", "scalar_lhs", "broadcast", "broadcast_rhs": which operand is smaller than the result
    cast: bool
    out: str
    input: str
    alpha: str


def form_of(name: str) -> Form | None:
    """Return the form of a kernel by its name; None if no macro of c10 registered it."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    kind, alpha = found["input"] or "", found["alpha"] or ""
    if found["cast"] and kind:  # a cast names its result, then the type of alpha
        kind, alpha = "", kind
    if not found["cast"] and not kind:
        return None
    return Form(name, found["op"], found["form"], found["part"] or "", bool(found["cast"]), found["out"], kind, alpha)


class UnknownArgument(ValueError):
    """A kernel has an argument that PyTorch's host code does not bind."""


_NOT_TENSORS = {"alpha", "sizes", "ndim", "ndim_types", "sizes_types", "types", "numel", "broadcast_numel"}


def tensors_of(args: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the arguments of a kernel that are tensors: the result and the operands, which come first."""
    return list(
        itertools.takewhile(
            lambda one: one["kind"] == "buffer" and one["name"] not in _NOT_TENSORS and not one["name"].endswith("_strides"),
            (one for one in args if one["kind"] == "buffer"),
        )
    )


def _longs(values: Iterable[int]) -> bytes:
    values = list(values)
    return struct.pack(f"<{len(values)}q", *values)


def arguments(form: Form, args: list[dict[str, Any]], shape: tuple[int, ...], operands: list[Operand], alpha: bytes) -> dict[int, bytes]:
    """Return the arguments that are not tensors, as a dict from buffer index to bytes.

    Dimensions are in order from the innermost. Strides are in bytes if the kernel takes untyped memory, else in elements.

    Args:
        form: the form of the kernel.
        args: the kernel's arguments.
        shape: the shape of the result.
        operands: the result and its inputs.
        alpha: the bytes of the scalar factor.

    Raises:
        UnknownArgument: the kernel has an argument that PyTorch's host code does not bind.
    """
    tensors = tensors_of(args)
    names = ("output", "input", "other") if len(operands) == 3 else ("output", "input", "other1", "other2")
    bound = {}
    for one in args:
        if one["kind"] != "buffer" or one in tensors:
            continue
        name, index = one["name"], one["index"]
        inputs = operands[1:]
        if name == "alpha":
            bound[index] = alpha
        elif name == "sizes" and one["type_name"] == "long":
            bound[index] = _longs(reversed(shape))
        elif name.endswith("_strides") and name[: -len("_strides")] in names:
            at = names.index(name[: -len("_strides")])
            unit = 1 if tensors[at]["type_name"] == "void" else operands[at].size
            bound[index] = _longs(stride // unit for stride in reversed(operands[at].strides))
        elif name == "ndim":
            bound[index] = struct.pack("<I", len(shape))
        elif name == "ndim_types":
            bound[index] = struct.pack("<4I", len(shape), *(one.number for one in inputs[:2]), operands[0].number)
        elif name == "sizes_types":
            bound[index] = struct.pack("<4I", *(one.size for one in inputs), *(one.number for one in inputs))
        elif name == "sizes":  # of elements: uint3
            bound[index] = struct.pack("<4I", *(one.size for one in inputs), 0)
        elif name == "types":
            numbers = [one.number for one in inputs]
            bound[index] = struct.pack("<4I", *numbers, *([operands[0].number] if form.layout == "strided" else [0]))
        elif name in ("numel", "broadcast_numel"):
            bound[index] = _longs([min(one.count for one in inputs)])
        else:
            raise UnknownArgument(f"{form.name}: PyTorch's host code binds nothing to '{name}' ({one['type_name']}, buffer {index})")
    return bound


@dataclasses.dataclass
class Operand:
    """A tensor as it is bound: its memory and its strides."""

    memory: Any  # what a kernel of smelt takes: a contiguous array
    dtype: str  # PyTorch's name
    strides: tuple[int, ...]  # in bytes, of the result's shape; 0 where it is broadcast
    count: int

    @property
    def number(self) -> int:
        return TYPES[METAL[self.dtype]][1]

    @property
    def size(self) -> int:
        return TYPES[METAL[self.dtype]][2]


# --- with PyTorch ---------------------------------------------------------------------------------------------------------------------


def _name_of(dtype: Any) -> str:
    return str(dtype).replace("torch.", "")


def _memory(tensor: Any) -> Any:
    """Return the memory of a tensor's storage, from its first element, without a copy."""
    import torch

    elements = 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride())) if tensor.numel() else 0
    return tensor.as_strided((elements,), (1,), tensor.storage_offset()).view(torch.uint8)


def _operand(tensor: Any, shape: tuple[int, ...]) -> Operand:
    seen = tensor.expand(shape)
    size = tensor.element_size()
    return Operand(_memory(tensor), _name_of(tensor.dtype), tuple(stride * size for stride in seen.stride()), tensor.numel())


def _strided(tensor: Any) -> Any:
    """Return a tensor with the same numbers, but with gaps between them and the last dimension first in memory."""
    import torch

    if tensor.dim() == 0:
        return tensor
    room = torch.zeros([2 * tensor.shape[-1], *tensor.shape[:-1]], dtype=tensor.dtype)
    view = room[::2].permute([*range(1, tensor.dim()), 0])
    view.copy_(tensor)
    return view


def operator_named(name: str) -> Callable[..., Any]:
    """Return torch.NAME, torch.special.NAME, torch.nn.functional.NAME or torch.ops.aten.NAME. A name with a dot is a full name."""
    import torch

    places: tuple[tuple[Any, str], ...]
    if "." in name:
        found: Any = torch
        for part in name.split(".")[1 if name.startswith("torch.") else 0 :]:
            found = getattr(found, part, None)
        places = ((found, ""),)
    else:
        places = tuple((place, name) for place in (torch, torch.special, torch.nn.functional, torch.ops.aten))
    for place, word in places:
        found = getattr(place, word, None) if word else place
        if callable(found):
            return found  # type: ignore[no-any-return]
    raise LookupError(f"no operator {name!r} in torch, torch.special, torch.nn.functional and torch.ops.aten; --as names one")


def _values(dtype: Any) -> list[Any]:
    """Return the values that functions treat specially: zeros, ones, limits, infinities and NaN."""
    import torch

    if dtype == torch.bool:
        return [False, True]
    if dtype.is_floating_point or dtype.is_complex:
        return [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, 3.0, 7.0, float("inf"), float("-inf"), float("nan")]
    info = torch.iinfo(dtype)
    return [one for one in (0, 1, 2, 3, 7, -1, -2, info.max, info.min) if info.min <= one <= info.max]


def _random(dtype: Any, shape: tuple[int, ...], generator: Any) -> Any:
    import torch

    if dtype.is_floating_point or dtype.is_complex:
        kind = torch.complex64 if dtype.is_complex else torch.float32
        return (torch.randn(shape, dtype=kind, generator=generator) * 3).to(dtype)
    low, high = (0, 2) if dtype == torch.bool else (max(torch.iinfo(dtype).min, -50), 51)
    return torch.randint(low, high, shape, generator=generator).to(dtype)


def _special(dtype: Any, inputs: int) -> Iterator[list[Any]]:
    """Iterate over operands: each special value with each other, then random numbers in two shapes."""
    import torch

    rows = itertools.product(_values(dtype), repeat=inputs)
    yield [torch.tensor(column, dtype=dtype) for column in zip(*rows)]
    generator = torch.Generator().manual_seed(20261129)
    for shape in ((257,), (7, 5, 3)):
        yield [_random(dtype, shape, generator) for _ in range(inputs)]


def _opinfo(op: str, dtype: Any) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Iterate over the samples that PyTorch's own tests have for an operator; there are none if its test package is missing."""
    import torch

    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except Exception:  # it imports packages that only PyTorch's developers have
        return
    for info in op_db:
        if op not in (info.name, info.name.split(".")[-1], info.aten_name) or dtype not in info.supported_dtypes("cpu"):
            continue
        for sample in info.sample_inputs("cpu", dtype):
            tensors = [sample.input, *sample.args]
            if all(isinstance(one, torch.Tensor) for one in tensors) and not set(sample.kwargs) - {"alpha"}:
                yield [one.detach() for one in tensors], dict(sample.kwargs)


def _expected(operator: Callable[..., Any], tensors: list[Any], options: dict[str, Any], out: Any) -> Any:
    """Return the operator's result. If the CPU lacks the operator for 16-bit floats, this is the rounded result of float32."""
    import torch

    try:
        return operator(*tensors, **options)
    except (RuntimeError, NotImplementedError):
        small = (torch.float16, torch.bfloat16)
        if not any(one.dtype in small for one in tensors):
            raise
        return operator(*(one.float() if one.dtype in small else one for one in tensors), **options).to(out)


@dataclasses.dataclass
class Row:
    """The result for one kernel: "right", "wrong" or "refused", with the first reason, and how many samples were compared."""

    kernel: str
    outcome: str
    samples: int = 0
    worst: float = 0.0
    reason: str = ""


class Checker:
    """Runs the registered kernels of a library, and compares their results. `tolerance` is (rtol, atol), which replaces that of the table."""

    def __init__(self, library: Any, checked: bool = False, tolerance: tuple[float, float] | None = None) -> None:
        self.library = library
        self.tolerance = tolerance
        self.options: dict[str, Any] = {"checked": True} if checked else {}

    def forms(self, op: str | None = None) -> list[Form]:
        """Return the kernels that c10's macros registered, for one operator or for all."""
        found = (form_of(name) for name in dir(self.library))
        return [form for form in found if form is not None and op in (None, form.op)]

    def run(self, form: Form, tensors: list[Any], alpha: Any = None) -> Any:
        """Return the kernel's result for operands with their strides. They are broadcast to one shape, as PyTorch's iterator does."""
        import torch

        kernel = self.library[form.name]
        shape = torch.broadcast_shapes(*(one.shape for one in tensors))
        out = torch.full(shape, 0, dtype=getattr(torch, TYPES[form.out][0]))
        result = _strided(out) if form.layout == "strided" else out
        operands = [_operand(result, shape), *(_operand(one, shape) for one in tensors)]
        bytes_of_alpha = b""
        if form.alpha:
            kind = getattr(torch, TYPES[form.alpha][0])
            bytes_of_alpha = bytes(torch.tensor([1 if alpha is None else alpha], dtype=kind).view(torch.uint8).tolist())
        bound = arguments(form, kernel.args, tuple(shape), operands, bytes_of_alpha)
        places: dict[int, Any] = {one["index"]: operand.memory for one, operand in zip(tensors_of(kernel.args), operands)}
        places.update({index: memoryview(data) for index, data in bound.items()})
        kernel(*(places.get(at) for at in range(max(places) + 1)), threads=result.numel(), check="off")
        return result

    def check(self, form: Form, operator: Callable[..., Any], op: str) -> Row:
        """Compare a kernel with the operator, on every sample that fits its form."""
        import torch

        try:
            inputs = len(tensors_of(self.library[form.name].args)) - 1
            row = Row(form.name, "right")
            for tensors, options in self._samples(form, inputs, op):
                try:
                    want = _expected(operator, tensors, options, getattr(torch, TYPES[form.out][0]))
                except (RuntimeError, NotImplementedError, TypeError) as error:
                    row.reason = row.reason or f"the CPU's operator refuses: {str(error).splitlines()[0]}"
                    continue
                got = self.run(form, tensors, options.get("alpha"))
                row.samples += 1
                if not self._same(row, got, want, tensors):
                    row.outcome = "wrong"
                    return row
        except (UnknownArgument, smelt.Error) as error:
            return Row(form.name, "wrong" if isinstance(error, smelt.CheckError) else "refused", reason=str(error).splitlines()[0])
        if row.samples == 0:
            row.outcome, row.reason = "refused", row.reason or "no sample fits"
        return row

    def _samples(self, form: Form, inputs: int, op: str) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        import torch

        dtype = getattr(torch, TYPES[form.input or self._computed_in(form)][0])
        options: list[dict[str, Any]] = [{"alpha": 1}, {"alpha": 2}] if form.alpha else [{}]
        plain: Iterable[tuple[list[Any], dict[str, Any]]] = itertools.chain(
            ((tensors, dict(one)) for tensors in _special(dtype, inputs) for one in options), _opinfo(op, dtype)
        )
        for tensors, given in plain:
            if len(tensors) != inputs or any(one.numel() == 0 for one in tensors):
                continue
            if form.part:
                small = 0 if form.part in ("scalar_lhs", "broadcast_rhs") else 1
                full = tensors[1 - small]
                if full.dim() == 0 or form.part.startswith("broadcast") and full.dim() < 2:
                    continue
                tensors = list(tensors)
                tensors[1 - small] = full.contiguous()
                rows = tensors[small].expand(full.shape) if tensors[small].dim() <= full.dim() else tensors[small]
                tensors[small] = rows.reshape(-1)[0].clone() if form.part.startswith("scalar") else rows.reshape(-1, full.shape[-1])[0].clone()
            elif form.layout == "dense":
                shape = torch.broadcast_shapes(*(one.shape for one in tensors))
                tensors = [one.expand(shape).contiguous() for one in tensors]
            else:
                tensors = [_strided(one) for one in tensors]
            if form.cast:  # the second operand has a smaller type, which PyTorch promotes to the first's
                smaller = next((one for one in (torch.int32, torch.int16, torch.int8) if one != dtype and torch.promote_types(dtype, one) == dtype), None)
                if smaller is None:
                    continue
                tensors[1] = torch.nan_to_num(tensors[1].float(), 0, 9, -9).clamp(-99, 99).to(smaller)
            yield tensors, given

    def _computed_in(self, form: Form) -> str:
        """Return the type in which a cast computes. Its name gives only the type of the result; the names of kernels without a cast give both."""
        kinds = {one.input for one in self.forms(form.op) if one.out == form.out and one.input}
        if len(kinds) > 1:
            kinds &= {"float"}
        return kinds.pop() if kinds else form.out

    def _same(self, row: Row, got: Any, want: Any, tensors: list[Any]) -> bool:
        import torch

        if got.dtype != want.dtype:
            row.reason = f"the operator gives {_name_of(want.dtype)}, the kernel {_name_of(got.dtype)}"
            return False
        if got.is_complex():
            got, want = torch.view_as_real(got.to(torch.complex64)), torch.view_as_real(want.to(torch.complex64))
        rtol, atol = TOLERANCES.get(_name_of(want.dtype), (0.0, 0.0)) if self.tolerance is None else self.tolerance
        close = torch.isclose(got.double(), want.double(), rtol=rtol, atol=atol, equal_nan=True) if got.is_floating_point() else got == want
        if got.is_floating_point():
            off = ((got.double() - want.double()).abs() / want.double().abs().clamp(min=1e-5)).nan_to_num(0, 0, 0)
            row.worst = max(row.worst, float(off[want.isfinite()].max()) if want.isfinite().any() else 0.0)
        if bool(close.all()):
            return True
        at = tuple(int(one) for one in (~close).nonzero()[0][: want.dim()])
        operands = ", ".join(str(one.expand(got.shape[: one.dim()] if one.is_complex() else torch.broadcast_shapes(one.shape, want.shape))[at].item()) for one in tensors)
        row.reason = f"({operands}) gives {got[at].tolist()}, the operator {want[at].tolist()}; {int((~close).sum())} of {close.numel()} differ"
        return False


def load(path: str, folders: list[str], checked: bool = False) -> Any:
    """Compile the file of a kernel as PyTorch compiles its own kernels, without fast math, and return the library."""
    package = smelt.compile(
        path, include_folders=[*folders, os.path.dirname(os.path.abspath(path)), *_torch_headers.include_folders()], cpu=False, checked=checked, fast_math=False
    )
    return smelt.load_metallib(package.metallib(), checked=checked)


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m smelt.compat.aten", description="Checks a Metal kernel of PyTorch against the CPU's operator.")
    parser.add_argument("file", help="the kernel's source, as in aten/src/ATen/native/mps/kernels")
    parser.add_argument("--op", action="append", help="only this operator, as the file registers it; may be repeated")
    parser.add_argument("--as", dest="operator", help="the operator to compare with, if its name differs, e.g. torch.special.i0")
    parser.add_argument("-I", "--include", action="append", default=[], help="folder that holds c10/metal (default: the installed torch's)")
    parser.add_argument("--checked", action="store_true", help="find accesses out of bounds, races and unwritten memory too")
    parser.add_argument("--rtol", type=float, help="relative tolerance (default: both tolerances depend on the type; float32: 2e-5, 1e-5)")
    parser.add_argument("--atol", type=float, default=0.0, help="absolute tolerance, used only with --rtol (default: 0)")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each kernel, not only for those that are wrong")
    options = parser.parse_args(words)
    try:
        import torch  # noqa: F401
    except ImportError:
        print("smelt.compat.aten compares with PyTorch: pip install torch", file=sys.stderr)
        return 2
    library = load(options.file, options.include, options.checked)
    checker = Checker(library, options.checked, (options.rtol, options.atol) if options.rtol is not None else None)
    ops: list[str] = options.op or []
    forms = [form for form in checker.forms() if not ops or form.op in ops]
    if not forms:
        registered = ", ".join(sorted({form.op for form in checker.forms()})) or "none"
        print(f"{options.file}: registers no {' or '.join(ops or ['operator'])}; it registers {registered}", file=sys.stderr)
        return 2
    wrong = untried = False
    for op in sorted({form.op for form in forms}):
        try:
            operator = operator_named(options.operator or op)
        except LookupError as error:
            print(f"{op}: not tried: {error}")
            untried = True
            continue
        rows = [checker.check(form, operator, (options.operator or op).split(".")[-1]) for form in forms if form.op == op]
        count = {outcome: sum(row.outcome == outcome for row in rows) for outcome in ("right", "wrong", "refused")}
        samples, off = sum(row.samples for row in rows), max((row.worst for row in rows), default=0.0)
        print(f"{op}: {len(rows)} kernels, {samples} samples: {count['right']} right, {count['wrong']} wrong, {count['refused']} not tried; furthest off {off:.1e}")
        for row in rows:
            if options.verbose or row.outcome != "right":
                print(f"  {row.outcome:8} {row.kernel}{': ' + row.reason if row.reason else ''}")
        wrong = wrong or count["wrong"] > 0
        untried = untried or count["refused"] > 0
    return 1 if wrong else 2 if untried else 0


if __name__ == "__main__":
    sys.exit(main())
