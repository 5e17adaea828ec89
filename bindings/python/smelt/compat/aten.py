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
import functools
import itertools
import os
import re
import struct
import sys
from typing import Any, Callable, Container, Iterable, Iterator

import smelt

from .. import _aten_operators, _torch_headers

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
    rf"(?P<op>\w+?)_(?P<form>dense|strided|inner_contiguous)(?:_(?P<part>scalar_lhs|scalar|broadcast_rhs|broadcast))?(?P<cast>_castout|_cast)?"
    rf"(?:_ilp\d*)?_(?P<out>{_TYPE})(?:_(?P<input>{_TYPE}))?(?:_(?P<alpha>{_TYPE}|\w+Params_(?:{_TYPE})))?"
)
# Where a kernel converts its result, the type that it is given; a smaller or a larger one of the same kind.
_CONVERTED = {
    "uchar": "int", "char": "int", "short": "int", "int": "long", "long": "int", "ushort": "int", "uint": "long", "ulong": "long", "bool": "float",
    "half": "float", "bfloat": "float", "float": "half", "half2": "float2", "float2": "half2",
}  # fmt: skip
# (rtol, atol). rtol of half and bfloat is that of torch.testing.assert_close; float32 has what PyTorch's tests of MPS have for functions that a
# GPU approximates. atol of half and bfloat is wider than the 1e-5 of assert_close.
TOLERANCES = {"float16": (1e-3, 1e-3), "bfloat16": (1.6e-2, 1e-3), "float32": (2e-5, 1e-5), "complex64": (2e-5, 1e-5), "complex32": (2e-3, 2e-3)}


@dataclasses.dataclass(frozen=True)
class Form:
    """The form of a registered kernel, as its name gives it. Types are Metal's; `input` is empty if each operand has a type of its own (a cast)."""

    name: str
    op: str
    layout: str  # "dense", "strided", or "inner_contiguous": rows without gaps between the elements, but between the rows
    part: str  # "", "scalar", "scalar_lhs", "broadcast", "broadcast_rhs": which operand is smaller than the result
    cast: bool
    out: str  # what the kernel computes; empty if the name does not say it
    input: str
    alpha: str  # or the name of a structure
    castout: bool = False  # the result is converted to the type of the memory


def form_of(name: str, with_alpha: Container[str] | None = None) -> Form | None:
    """Return the form of a kernel by its name; None if no macro of c10 registered it. `with_alpha` are the operators with a scalar, if known."""
    found = _NAME.fullmatch(name)
    if found is None:
        return None
    cast, out, kind, alpha = found["cast"] or "", found["out"], found["input"] or "", found["alpha"] or ""
    if cast == "_castout":
        if not kind:  # a kernel with one operand names the type of that
            out, kind = "", out
    elif cast and kind and not alpha and (with_alpha is None or found["op"] in with_alpha):
        kind, alpha = "", kind  # in older versions a cast names its result, then the type of alpha
    elif not cast and not kind:
        return None
    return Form(name, found["op"], found["form"], found["part"] or "", cast == "_cast", out, kind, alpha, cast == "_castout")


class UnknownArgument(ValueError):
    """A kernel has an argument that PyTorch's host code does not bind."""


_NOT_TENSORS = {
    "alpha", "sizes", "outer_sizes", "ndim", "ndim_types", "ndim_outer_inner", "ndim_outtype", "ndimO_inner_elem_outtype", "sizes_types",
    "size_outtype", "size_outtype_numel", "types", "numel", "broadcast_numel",
}  # fmt: skip


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
    inputs, out = operands[1:], operands[0]
    outer, inner = max(len(shape) - 1, 0), shape[-1] if shape else 1
    count = min((one.count for one in inputs), default=0)
    words = {  # of 32 bits; a vector of three has room for a fourth
        "ndim": (len(shape), 0, 0, 0),
        "ndim_outtype": (len(shape), out.number),
        "ndim_outer_inner": (outer, inner),
        "ndimO_inner_elem_outtype": (outer, inner, out.size, out.number),
        "ndim_types": (len(shape), *(one.number for one in inputs[:2]), out.number),
        "sizes_types": (*(one.size for one in inputs), *(one.number for one in inputs)),
        "size_outtype": (out.size, out.number),
        "size_outtype_numel": (out.size, out.number, count, 0),
        "sizes": (*(one.size for one in inputs), 0),  # of elements: uint3
        "types": (*(one.number for one in inputs), out.number if form.layout == "strided" else 0),
    }
    bound = {}
    for one in args:
        if one["kind"] != "buffer" or one in tensors:
            continue
        name, index = one["name"], one["index"]
        of, _, rest = name.rpartition("_strides")[0].partition("_outer")
        if name == "alpha":
            bound[index] = alpha
        elif name in ("sizes", "outer_sizes") and one["type_name"] == "long":
            bound[index] = _longs(reversed(shape if name == "sizes" else shape[:-1]))
        elif name.endswith("_strides") and of in names and not rest:
            at = names.index(of)
            unit = 1 if tensors[at]["type_name"] == "void" else operands[at].size
            strides = operands[at].strides[:-1] if "_outer_" in name else operands[at].strides
            bound[index] = _longs(stride // unit for stride in reversed(strides))
        elif name in ("numel", "broadcast_numel"):
            bound[index] = _longs([count])
        elif name in words:
            bound[index] = struct.pack(f"<{len(words[name])}I", *words[name])
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


def _rows(tensor: Any) -> Any:
    """Return a tensor with the same numbers, without gaps in its last dimension but with gaps after each row."""
    import torch

    room = torch.zeros([*tensor.shape[:-1], tensor.shape[-1] + 3], dtype=tensor.dtype)
    view = room[..., : tensor.shape[-1]]
    view.copy_(tensor)
    return view


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


def _operator_of(op: str, named: str | None) -> _aten_operators.Operator:
    """Return the operator to compare a kernel with: the one that the user named, one of PyTorch's own kernels, or the one of this name."""
    if named is None and op in (known := _aten_operators.known()):
        return known[op]
    name = named or op
    return _aten_operators.Operator(operator_named(name), name.removeprefix("torch.").split(".")[-1])


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


def _opinfo(op: str, dtype: Any, inputs: int, given: bool) -> Iterator[tuple[list[Any], dict[str, Any]]]:
    """Iterate over the samples that PyTorch's own tests have for an operator; there are none if its test package is missing.

    Args:
        op: the name of the operator.
        dtype: the type of the samples.
        inputs: the number of operands of the kernel.
        given: whether the caller has options of its own; if so, the first tensors of a sample are taken, and nothing else.
    """
    import torch

    try:
        from torch.testing._internal.common_methods_invocations import op_db
    except Exception:  # it imports packages that only PyTorch's developers have
        return
    for info in op_db if op else ():
        if op not in (info.name, info.name.split(".")[-1], info.aten_name) or dtype not in info.supported_dtypes("cpu"):
            continue
        for sample in info.sample_inputs("cpu", dtype):
            tensors = [sample.input, *sample.args]
            if given:
                tensors = tensors[:inputs]
            elif set(sample.kwargs) - {"alpha"}:
                continue
            if len(tensors) == inputs and all(isinstance(one, torch.Tensor) and one.dtype == dtype for one in tensors):
                yield [one.detach() for one in tensors], {} if given else dict(sample.kwargs)


def _expected(operator: Callable[..., Any], tensors: list[Any], options: dict[str, Any], out: Any) -> list[Any]:
    """Return the operator's result and, for 16-bit floats, the rounded result of 32-bit ones. Few CPU operators compute 16-bit floats
    exactly, and some do not take them."""
    import torch

    # As PyTorch's iterator: some operators do not bring their operands to one shape and type.
    if len(tensors) == 2:
        common = torch.result_type(*tensors)
    else:
        common = functools.reduce(torch.promote_types, (one.dtype for one in tensors))
    tensors = [one.to(common) for one in torch.broadcast_tensors(*tensors)]
    larger = {torch.float16: torch.float32, torch.bfloat16: torch.float32, torch.complex32: torch.complex64}
    results = []
    try:
        results.append(operator(*tensors, **options))
    except (RuntimeError, NotImplementedError):
        if not any(one.dtype in larger for one in tensors):
            raise
    if any(one.dtype in larger for one in tensors):
        exact = operator(*(one.to(larger.get(one.dtype, one.dtype)) for one in tensors), **options)
        results.append(exact.to(out) if exact.dtype in larger.values() else exact)
    return results


@dataclasses.dataclass
class Row:
    """The result for one kernel: "right", "wrong" or "refused", with the first reason, and how many samples were compared."""

    kernel: str
    outcome: str
    samples: int = 0
    worst: float = 0.0
    reason: str = ""


_TEMPLATE = re.compile(r"kernel void (\w+)\(([^{;]*?)\)\s*\{")
_PLANE = re.compile(r"\buint2 \w+ \[\[thread_position_in_grid\]\]")


def planes_in(folders: Iterable[str]) -> frozenset[str]:
    """Return the templates of c10/metal/indexing.h whose grid has two dimensions: the elements of a row, and the rows."""
    for folder in folders:
        path = os.path.join(folder, "c10", "metal", "indexing.h")
        if os.path.isfile(path):
            with open(path, encoding="utf-8") as file:
                return frozenset(found[1] for found in _TEMPLATE.finditer(file.read()) if _PLANE.search(found[2]))
    return frozenset()


class Checker:
    """Runs the registered kernels of a library, and compares their results.

    Args:
        library: the library.
        checked: whether it has checks for accesses and races.
        tolerance: (rtol, atol), which replaces that of the table.
        folders: where c10/metal is.
    """

    def __init__(self, library: Any, checked: bool = False, tolerance: tuple[float, float] | None = None, folders: Iterable[str] = ()) -> None:
        self.library = library
        self.tolerance = tolerance
        self.options: dict[str, Any] = {"checked": True} if checked else {}
        self._planes = planes_in(folders)
        self._forms: list[Form] | None = None

    def forms(self, op: str | None = None) -> list[Form]:
        """Return the kernels that c10's macros registered, for one operator or for all."""
        if self._forms is None:
            names = dir(self.library)
            whole = [form for form in map(form_of, names) if form is not None]
            with_alpha = {form.op for form in whole if form.input and form.alpha}
            found = (form_of(name, with_alpha) for name in names)
            self._forms = [self._with_result(form, whole) for form in found if form is not None]
        return [form for form in self._forms if op in (None, form.op)]

    @staticmethod
    def _with_result(form: Form, others: list[Form]) -> Form:
        """Return a form whose `out` is known, by the other kernels of the operator."""
        if form.out:
            return form
        same = {one.out for one in others if one.op == form.op and one.input == form.input and one.out}
        return dataclasses.replace(form, out=same.pop() if len(same) == 1 else form.input)

    def run(self, form: Form, tensors: list[Any], alpha: Any = None) -> Any:
        """Return the kernel's result for operands with their strides. They are broadcast to one shape, as PyTorch's iterator does."""
        import torch

        kernel = self.library[form.name]
        shape = torch.broadcast_shapes(*(one.shape for one in tensors))
        out = torch.full(shape, 0, dtype=getattr(torch, TYPES[_CONVERTED[form.out] if form.castout else form.out][0]))
        result = _strided(out) if form.layout == "strided" else _rows(out) if form.layout == "inner_contiguous" else out
        operands = [_operand(result, shape), *(_operand(one, shape) for one in tensors)]
        bound = arguments(form, kernel.args, tuple(shape), operands, _bytes_of_alpha(form, 1 if alpha is None else alpha))
        places: dict[int, Any] = {one["index"]: operand.memory for one, operand in zip(tensors_of(kernel.args), operands)}
        places.update({index: memoryview(data) for index, data in bound.items()})
        threads: Any = result.numel()
        template = f"{('unary', 'binary', 'ternary')[len(tensors) - 1]}{'_alpha' if form.alpha else ''}_{form.layout}{'_castout' if form.castout else ''}"
        if template in self._planes and shape:
            threads = (shape[-1], threads // shape[-1])
        kernel(*(places.get(at) for at in range(max(places) + 1)), threads=threads, check="off")
        return result

    def check(self, form: Form, operator: _aten_operators.Operator) -> Row:
        """Compare a kernel with the operator, on every sample that fits its form."""
        import torch

        try:
            inputs = len(tensors_of(self.library[form.name].args)) - 1
            row = Row(form.name, "right")
            for tensors, options in self._samples(form, inputs, operator):
                try:
                    wants = _expected(operator.call, tensors, options, getattr(torch, TYPES[form.out][0]))
                    if form.castout:
                        wants = [want.to(getattr(torch, TYPES[_CONVERTED[form.out]][0])) for want in wants]
                except (RuntimeError, NotImplementedError, TypeError) as error:
                    row.reason = row.reason or f"the CPU's operator refuses: {str(error).splitlines()[0]}"
                    continue
                got = self.run(form, tensors, options.get("alpha"))
                row.samples += 1
                if operator.real and got.is_complex():
                    got, wants = got.real, [want.real for want in wants]
                if not self._same(row, got, wants, tensors, (TYPES[form.out][0], _name_of(got.dtype))):
                    row.outcome = "wrong"
                    return row
        except (UnknownArgument, smelt.Error) as error:
            return Row(form.name, "wrong" if isinstance(error, smelt.CheckError) else "refused", reason=str(error).splitlines()[0])
        except Exception as error:  # one kernel must not keep the others from being checked
            return Row(form.name, "refused", reason=f"{type(error).__name__}: {error}".splitlines()[0])
        if row.samples == 0:
            row.outcome, row.reason = "refused", row.reason or "no sample fits"
        return row

    def _samples(self, form: Form, inputs: int, operator: _aten_operators.Operator) -> Iterator[tuple[list[Any], dict[str, Any]]]:
        import torch

        dtype = getattr(torch, TYPES[form.input or self._computed_in(form)][0])
        alphas = operator.alphas or (1, 2)
        if dtype == torch.bool:
            alphas = tuple(dict.fromkeys(tuple(map(bool, one)) if isinstance(one, tuple) else bool(one) for one in alphas))
        if dtype.is_floating_point or dtype.is_complex:
            alphas += operator.fractions
        options: list[dict[str, Any]] = [{"alpha": one} for one in alphas] if form.alpha else [{}]
        given = bool(operator.alphas) or not form.alpha
        plain: Iterable[tuple[list[Any], dict[str, Any]]] = itertools.chain(
            ((tensors, dict(one)) for tensors in _special(dtype, inputs) for one in options),
            ((tensors, {**one, **own}) for tensors, own in _opinfo(operator.opinfo, dtype, inputs, given) for one in (options if given else [{}])),
        )
        part = form.part if inputs > 1 else ""  # the kernel of one operand that is named "scalar" takes one element in each thread
        for tensors, chosen in plain:
            if len(tensors) != inputs or any(one.numel() == 0 for one in tensors):
                continue
            smaller = None
            if form.cast:  # an operand has a smaller type, which PyTorch promotes to the other's
                kinds = (torch.int32, torch.int16, torch.int8, torch.bool)
                smaller = next((one for one in kinds if one != dtype and torch.promote_types(dtype, one) == dtype), None)
                if smaller is None:
                    continue
            small = 0 if part in ("scalar_lhs", "broadcast_rhs") else 1
            if part:
                full = tensors[1 - small]
                if full.dim() == 0 or part.startswith("broadcast") and full.dim() < 2:
                    continue
                tensors = list(tensors)
                tensors[1 - small] = full.contiguous()
                rows = tensors[small].expand(full.shape) if tensors[small].dim() <= full.dim() else tensors[small]
                tensors[small] = rows.reshape(-1)[0].clone() if part.startswith("scalar") else rows.reshape(-1, full.shape[-1])[0].clone()
            elif form.layout == "strided":
                tensors = [_strided(one) for one in tensors]
            else:
                shape = torch.broadcast_shapes(*(one.shape for one in tensors))
                if form.layout == "inner_contiguous" and len(shape) < 2:
                    continue
                tensors = [one.expand(shape).contiguous() for one in tensors]
                if form.layout == "inner_contiguous":
                    tensors = [_rows(one) for one in tensors]
            if smaller is not None:
                parts = tensors[small].real if tensors[small].is_complex() else tensors[small]
                tensors[small] = torch.nan_to_num(parts.float(), 0, 9, -9).clamp(-99, 99).to(smaller)
            if operator.divides and not dtype.is_floating_point:
                self._undivided(tensors)
            if operator.negates:
                for one in tensors:
                    if one.dtype.is_signed:
                        one[one == torch.iinfo(one.dtype).min] = 1
            yield tensors, chosen

    @staticmethod
    def _undivided(tensors: list[Any]) -> None:
        """Change divisors for which the CPU's operators raise an error, or which end the process: 0, and -1 for the least integer."""
        import torch

        dividend, divisor = tensors
        divisor[divisor == 0] = 1
        if dividend.dtype.is_signed and divisor.dtype.is_signed and bool((dividend == torch.iinfo(dividend.dtype).min).any()):
            divisor[divisor == -1] = 3

    def _computed_in(self, form: Form) -> str:
        """Return the type in which a cast computes if its name gives only the result's; the names of kernels without a cast give both."""
        kinds = {one.input for one in self.forms(form.op) if one.out == form.out and one.input}
        if len(kinds) > 1:
            kinds &= {"float"}
        return kinds.pop() if kinds else form.out

    def _same(self, row: Row, got: Any, wants: list[Any], tensors: list[Any], kinds: Iterable[str]) -> bool:
        """Compare the results: each element with that of one of `wants`. `kinds` are the types that the result has had; the least precise
        one gives the tolerance."""
        import torch

        want = wants[0]
        if got.dtype != want.dtype:
            row.reason = f"the operator gives {_name_of(want.dtype)}, the kernel {_name_of(got.dtype)}"
            return False
        rtol, atol = max(TOLERANCES.get(kind, (0.0, 0.0)) for kind in kinds) if self.tolerance is None else self.tolerance
        if got.dtype in (torch.uint16, torch.uint32, torch.uint64):  # few operators take these
            got, want = got.to(torch.int64), want.to(torch.int64)
            wants = [want]
        if got.is_floating_point() or got.is_complex():
            exact = torch.complex128 if got.is_complex() else torch.float64
            have, others = got.to(exact), [one.to(exact) for one in wants]
            close = functools.reduce(torch.logical_or, (torch.isclose(have, one, rtol=rtol, atol=atol, equal_nan=True) for one in others))
            off = functools.reduce(torch.minimum, ((have - one).abs() / one.abs().clamp(min=1e-5) for one in others)).nan_to_num(0, 0, 0)
            row.worst = max(row.worst, float(off[close].max()) if bool(close.any()) else 0.0)
        else:
            close = got == want
        if bool(close.all()):
            return True
        at = tuple(int(one) for one in (~close).nonzero()[0])
        operands = ", ".join(str(one.expand(want.shape)[at].item()) for one in tensors)
        row.reason = f"({operands}) gives {got[at].item()}, the operator {want[at].item()}; {int((~close).sum())} of {close.numel()} differ"
        return False


def _bytes_of_alpha(form: Form, alpha: Any) -> bytes:
    """Return the bytes of a scalar, or of a structure of scalars of one type and, at its end, truth values."""
    import torch

    if not form.alpha:
        return b""
    kind = getattr(torch, TYPES[form.alpha.rpartition("_")[2]][0])
    members = alpha if isinstance(alpha, tuple) else (alpha,)
    pieces = [torch.tensor([one], dtype=torch.bool if isinstance(one, bool) else kind) for one in members]
    data = b"".join(bytes(one.view(torch.uint8).tolist()) for one in pieces)
    return data + bytes(-len(data) % pieces[0].element_size())


def _folders(path: str, folders: list[str]) -> list[str]:
    return [*folders, os.path.dirname(os.path.abspath(path)), *_torch_headers.include_folders()]


def load(path: str, folders: list[str], checked: bool = False) -> Any:
    """Compile the file of a kernel as PyTorch compiles its own kernels, without fast math, and return the library."""
    package = smelt.compile(path, include_folders=_folders(path, folders), cpu=False, checked=checked, fast_math=False)
    return smelt.load_metallib(package.metallib(), checked=checked)


_checkers: dict[tuple[Any, ...], Checker] = {}  # of this process


def _check(options: argparse.Namespace, op: str) -> list[Row] | str:
    """Check the kernels of one operator, or return why that cannot be done."""
    key = (options.file, options.checked)
    if key not in _checkers:
        tolerance = (options.rtol, options.atol) if options.rtol is not None else None
        library = load(options.file, options.include, options.checked)
        _checkers[key] = Checker(library, options.checked, tolerance, _folders(options.file, options.include))
    checker = _checkers[key]
    try:
        operator = _operator_of(op, options.operator)
    except LookupError as error:
        return str(error)
    return [checker.check(form, operator) for form in checker.forms(op)]


def _check_alone(options: argparse.Namespace, op: str) -> list[Row] | str:
    import torch

    torch.set_num_threads(1)  # every core has a process
    return _check(options, op)


def _in_processes(options: argparse.Namespace, ops: list[str], jobs: int) -> Iterator[tuple[str, list[Row] | str | None]]:
    """Iterate over the results as they come; None for an operator that was being checked when a process ended, or later."""
    import concurrent.futures
    import multiprocessing

    with concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        asked = {pool.submit(_check_alone, options, op): op for op in ops}
        for done in concurrent.futures.as_completed(asked):
            try:
                yield asked[done], done.result()
            except concurrent.futures.process.BrokenProcessPool:
                yield asked[done], None


def _results(options: argparse.Namespace, ops: list[str]) -> Iterator[tuple[str, list[Row] | str]]:
    if options.jobs <= 1:
        for op in ops:
            yield op, _check(options, op)
        return
    left = []
    for op, rows in _in_processes(options, ops, options.jobs):
        if rows is None:
            left.append(op)
        else:
            yield op, rows
    for op in left:  # one of them ends its process
        for _, rows in _in_processes(options, [op], 1):
            yield op, rows if rows is not None else "the process ended: the CPU's operator or the kernel crashed"


def main(words: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m smelt.compat.aten", description="Checks a Metal kernel of PyTorch against the CPU's operator.")
    parser.add_argument("file", help="the kernel's source, as in aten/src/ATen/native/mps/kernels")
    parser.add_argument("--op", action="append", help="only this operator, as the file registers it; may be repeated")
    parser.add_argument("--as", dest="operator", help="the operator to compare with, if its name differs, e.g. torch.special.i0")
    parser.add_argument("-I", "--include", action="append", default=[], help="folder that holds c10/metal (default: the installed torch's)")
    parser.add_argument("--checked", action="store_true", help="find accesses out of bounds, races and unwritten memory too")
    parser.add_argument("--rtol", type=float, help="relative tolerance (default: both tolerances depend on the type; float32: 2e-5, 1e-5)")
    parser.add_argument("--atol", type=float, default=0.0, help="absolute tolerance, used only with --rtol (default: 0)")
    parser.add_argument("-j", "--jobs", type=int, default=1, help="processes, each of which checks an operator at a time (default: 1)")
    parser.add_argument("-v", "--verbose", action="store_true", help="a line for each kernel, not only for those that are wrong")
    options = parser.parse_args(words)
    try:
        import torch  # noqa: F401
    except ImportError:
        print("smelt.compat.aten compares with PyTorch: pip install torch", file=sys.stderr)
        return 2
    library = load(options.file, options.include, options.checked)
    registered = sorted({form.op for form in Checker(library).forms()})
    ops = [op for op in registered if not options.op or op in options.op]
    if not ops:
        print(f"{options.file}: registers no {' or '.join(options.op or ['operator'])}; it registers {', '.join(registered) or 'none'}", file=sys.stderr)
        return 2
    wrong = untried = False
    for op, rows in _results(options, ops):
        if isinstance(rows, str):
            print(f"{op}: not tried: {rows}")
            untried = True
            continue
        count = {outcome: sum(row.outcome == outcome for row in rows) for outcome in ("right", "wrong", "refused")}
        samples, off = sum(row.samples for row in rows), max((row.worst for row in rows), default=0.0)
        counts = f"{count['right']} right, {count['wrong']} wrong, {count['refused']} not tried"
        print(f"{op}: {len(rows)} kernels, {samples} samples: {counts}; furthest off {off:.1e}", flush=True)
        for row in rows:
            if options.verbose or row.outcome != "right":
                print(f"  {row.outcome:8} {row.kernel}{': ' + row.reason if row.reason else ''}")
        wrong = wrong or count["wrong"] > 0
        untried = untried or count["refused"] > 0
    return 1 if wrong else 2 if untried else 0


if __name__ == "__main__":
    sys.exit(main())
