# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The operators that PyTorch's own Metal kernels compute, if the name of a kernel is not that of an operator: smelt.compat.aten compares with them.

PyTorch's host code (aten/src/ATen/native/mps/operations) calls these kernels with operands in an order of its own, and with a scalar
or a structure as the last argument."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclasses.dataclass(frozen=True)
class Operator:
    """An operator of the CPU.

    Attributes:
        call: computes the result from the kernel's operands, and from `alpha` if the kernel has one.
        opinfo: the operator of PyTorch's OpInfo whose samples fit.
        alphas: the values of alpha that are tried; for a structure, tuples of its members.
        fractions: more values of alpha, for types with fractions.
        divides: integers must not be divided by zero, nor the least one by -1.
        negates: the least integer, which has no opposite, ends the process.
        real: PyTorch's host code uses only the real part of a complex result.
    """

    call: Callable[..., Any]
    opinfo: str
    alphas: tuple[Any, ...] = ()
    fractions: tuple[Any, ...] = ()
    divides: bool = False
    negates: bool = False
    real: bool = False


def known() -> Mapping[str, Operator]:
    """Return the operators by the name under which PyTorch registers the kernels."""
    import torch

    functional, special, aten = torch.nn.functional, torch.special, torch.ops.aten

    def real(operator: Callable[..., Any]) -> Callable[..., Any]:
        """The kernel for a complex operand gives a complex result."""
        return lambda x: operator(x).to(x.dtype) if x.is_complex() else operator(x)

    def divide(mode: str | None) -> Callable[..., Any]:
        return lambda a, b: torch.div(a, b, rounding_mode=mode)

    def log_sigmoid_backward(x: Any, gradient: Any) -> Any:
        return aten.log_sigmoid_backward(gradient, x, aten.log_sigmoid_forward(x)[1])

    def reduced_backward(operator: Callable[..., Any]) -> Callable[..., Any]:
        return lambda a, b, alpha: operator(torch.ones_like(a), a, b, 0, alpha)

    table = {
        "abs": Operator(real(torch.abs), "abs", real=True),
        "angle": Operator(real(torch.angle), "angle", real=True),
        "sqr": Operator(torch.square, "square"),
        "trigamma": Operator(lambda x: torch.polygamma(1, x), "polygamma"),
        "polygamma": Operator(lambda x, alpha: torch.polygamma(alpha, x), "polygamma", (0, 1, 2, 4)),
        "round_decimals": Operator(lambda x, alpha: torch.round(x, decimals=alpha), "round", (1, 3, -1)),
        "pow_scalar": Operator(lambda x, alpha: torch.pow(x, alpha), "pow", (0, 1, 2, 3), (0.5, -1.5)),
        "nan_to_num": Operator(lambda x, alpha: torch.nan_to_num(x, *alpha), "nan_to_num", ((0.0, 1000.0, -1000.0), (3.0, 7.0, 5.0))),
        "copy_identity": Operator(torch.clone, "clone"),
        "copy_conj": Operator(torch.conj_physical, "conj_physical"),
        "copy_neg": Operator(torch.neg, "neg"),
        "copy_conj_neg": Operator(lambda x: torch.neg(torch.conj_physical(x)), "conj_physical"),
        "clamp_scalar": Operator(lambda x, alpha: torch.clamp(x, *alpha), "clamp", ((0, 1), (2, 40), (5, 3)), ((-1.5, 0.5),)),
        "clamp_min_scalar": Operator(lambda x, alpha: torch.clamp_min(x, alpha), "clamp_min", (0, 1, 3), (-0.5,)),
        "clamp_max_scalar": Operator(lambda x, alpha: torch.clamp_max(x, alpha), "clamp_max", (0, 1, 3), (-0.5,)),
        "hardshrink": Operator(lambda x, alpha: functional.hardshrink(x, alpha), "nn.functional.hardshrink", (1, 0), (0.5,)),
        "softshrink": Operator(lambda x, alpha: functional.softshrink(x, alpha), "nn.functional.softshrink", (1, 0), (0.5,)),
        "shrink_backward": Operator(lambda gradient, x, alpha: aten.hardshrink_backward(gradient, x, alpha), "", (1, 0), (0.5,)),
        "hardshrink_backward": Operator(lambda gradient, x, alpha: aten.hardshrink_backward(gradient, x, alpha), "", (1, 0), (0.5,)),
        "softshrink_backward": Operator(lambda gradient, x, alpha: aten.softshrink_backward(gradient, x, alpha), "", (1, 0), (0.5,)),
        "leaky_relu": Operator(lambda x, alpha: functional.leaky_relu(x, alpha), "nn.functional.leaky_relu", (2,), (0.125, -0.25)),
        "leaky_relu_backward": Operator(
            lambda x, gradient, alpha: aten.leaky_relu_backward(gradient, x, alpha, False), "nn.functional.leaky_relu", (2,), (0.125,)
        ),
        "elu": Operator(lambda x, alpha: aten.elu(x, *alpha), "nn.functional.elu", ((1.0, 1.0, 1.0), (0.5, 2.0, 0.25))),
        "elu_backward": Operator(
            lambda gradient, x, alpha: aten.elu_backward(gradient, *alpha, x), "nn.functional.elu", ((1.0, 1.0, 1.0, False), (0.5, 2.0, 0.25, True))
        ),
        "gelu": Operator(functional.gelu, "nn.functional.gelu"),
        "gelu_tanh": Operator(lambda x: functional.gelu(x, approximate="tanh"), "nn.functional.gelu"),
        "gelu_backward": Operator(aten.gelu_backward, "nn.functional.gelu"),
        "gelu_tanh_backward": Operator(lambda gradient, x: aten.gelu_backward(gradient, x, approximate="tanh"), "nn.functional.gelu"),
        "glu": Operator(lambda a, b: functional.glu(torch.stack([a, b]), 0)[0], ""),
        "lcm": Operator(torch.lcm, "lcm", negates=True),
        "log_sigmoid_forward": Operator(functional.logsigmoid, "nn.functional.logsigmoid"),
        "log_sigmoid_backward": Operator(log_sigmoid_backward, "nn.functional.logsigmoid"),
        "mse": Operator(lambda a, b: functional.mse_loss(a, b, reduction="none"), "nn.functional.mse_loss"),
        "mse_backward2": Operator(lambda a, b, gradient: aten.mse_loss_backward(gradient, a, b, 0), ""),
        "mse_backward_scaled": Operator(lambda a, b, gradient: aten.mse_loss_backward(gradient * 0.5, a, b, 0), ""),
        "smooth_l1": Operator(
            lambda a, b, alpha: functional.smooth_l1_loss(a, b, reduction="none", beta=alpha), "nn.functional.smooth_l1_loss", (1, 0), (0.5,)
        ),
        "huber": Operator(lambda a, b, alpha: functional.huber_loss(a, b, reduction="none", delta=alpha), "nn.functional.huber_loss", (1, 2), (0.5,)),
        "smooth_l1_backward_clip": Operator(reduced_backward(aten.smooth_l1_loss_backward), "nn.functional.smooth_l1_loss", (1, 2), (0.5,)),
        "huber_backward_clip": Operator(reduced_backward(aten.huber_loss_backward), "nn.functional.huber_loss", (1, 2), (0.5,)),
        "add_alpha": Operator(lambda a, b, alpha: torch.add(a, b, alpha=alpha), "add", (1, 2)),
        "sub_alpha": Operator(lambda a, b, alpha: torch.sub(a, b, alpha=alpha), "sub", (1, 2)),
        "lerp_alpha": Operator(lambda a, b, alpha: torch.lerp(a, b, alpha), "lerp", (0, 1), (0.25, 0.75)),
        "make_complex": Operator(torch.complex, "complex"),
        "div_true": Operator(divide(None), "div"),
        "div_floor": Operator(divide("floor"), "div", divides=True),
        "div_trunc": Operator(divide("trunc"), "div", divides=True),
        "remainder": Operator(torch.remainder, "remainder", divides=True),
        "fmod": Operator(torch.fmod, "fmod", divides=True),
    }
    for name in ("bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "modified_bessel_i0", "modified_bessel_i1", "modified_bessel_k0",
                 "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1"):  # fmt: skip
        table[f"{name}_forward"] = Operator(getattr(special, name), f"special.{name}")
    return table
