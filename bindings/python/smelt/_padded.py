# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The function smelt.padded (docs/reference/python.md)."""

from __future__ import annotations

from typing import Any

import smelt


def padded(array: Any) -> Any:
    """Copy an array of shape (..., 3) to one of shape (..., 4), with zeros in the fourth place.

    This is the layout of float3, half3, int3 and the columns of float3x3. To copy a result back, write
    ``array[...] = copy[..., :3]``.

    Args:
        array: an array of shape (..., 3): a NumPy array, a tensor, or anything that NumPy can convert to an array.

    Returns:
        The copy, of shape (..., 4) and the same element type: a tensor for a tensor, else a NumPy array.

    Raises:
        ArgumentError: the last dimension is not 3.

    Examples:
        >>> smelt.padded([[1, 2, 3]])
        array([[1, 2, 3, 0]])
    """
    is_tensor = hasattr(array, "new_zeros")
    if not is_tensor:
        import numpy  # type: ignore[import]

        array = numpy.asarray(array)
    if array.ndim == 0 or array.shape[-1] != 3:
        raise smelt.ArgumentError(f"padded: want an array whose last dimension is 3, got shape {tuple(array.shape)}")
    shape = (*array.shape[:-1], 4)
    copy = array.new_zeros(shape) if is_tensor else numpy.zeros(shape, array.dtype)
    copy[..., :3] = array
    return copy
