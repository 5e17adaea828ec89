# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the kernels of kernels.py, and of tests/data/triton-3.6.0, compute: NumPy in double precision.

cases(seed, shape) gives, by kernel, a Case: arguments in the kernel's order, grid, and what each written array must hold.
An array is an argument by reference, an int is an i32, a float an f32.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass
class Shape:
    """One size for every kind of kernel."""

    n: int  # elements
    rows: int
    width: int  # of a row
    m: int  # matrices: m x k by k x n_
    n_: int
    k: int
    heads: int
    length: int  # of a sequence


SHAPES = [
    Shape(n=3001, rows=7, width=1000, m=70, n_=90, k=50, heads=3, length=70),  # no multiple of any block
    Shape(n=37, rows=1, width=33, m=5, n_=33, k=130, heads=2, length=33),  # one row
    Shape(n=200_000, rows=64, width=1024, m=128, n_=96, k=160, heads=4, length=128),  # large
]


@dataclass
class Case:
    arguments: list[Any]
    grid: tuple[int, ...]
    wanted: dict[int, Any]  # argument number -> array, or a function that judges what is there
    tolerance: float = 0.0  # relative and absolute; 0: equal
    notes: dict[str, Any] = field(default_factory=dict)


def bfloat(x: np.ndarray) -> np.ndarray:
    """To bits of bfloat16, nearest even."""
    bits = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    return ((bits + 0x7FFF + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def from_bfloat(bits: np.ndarray) -> np.ndarray:
    return (bits.astype(np.uint32) << 16).view(np.float32)


def from_bytes(bits: np.ndarray, exponent_bits: int) -> np.ndarray:
    """Finite 8-bit floats: a sign, the exponent (4 bits: e4m3, 5: e5m2), the fraction."""
    bits = bits.view(np.uint8).astype(np.int64)
    fraction_bits, bias = 7 - exponent_bits, 2 ** (exponent_bits - 1) - 1
    exponent, fraction = bits >> fraction_bits & (2**exponent_bits - 1), bits & (2**fraction_bits - 1)
    size = np.where(exponent == 0, fraction, fraction + 2**fraction_bits) * 2.0 ** (np.maximum(exponent, 1) - bias - fraction_bits)
    return np.where(bits & 0x80, -size, size)


def philox(seed: int, counter: np.ndarray) -> list[np.ndarray]:
    """Philox 4x32 with ten rounds, as triton.language.philox counts: the offset first, the rest 0."""
    mask, words = 0xFFFFFFFF, [counter.astype(np.uint64)] + [np.zeros(counter.size, np.uint64)] * 3
    key = [seed & mask, seed >> 32 & mask]
    for _ in range(10):
        low, high = words[0] * np.uint64(0xD2511F53), words[2] * np.uint64(0xCD9E8D57)
        words = [
            (high >> np.uint64(32)) ^ words[1] ^ np.uint64(key[0]), high & np.uint64(mask),
            (low >> np.uint64(32)) ^ words[3] ^ np.uint64(key[1]), low & np.uint64(mask),
        ]  # fmt: skip
        key = [key[0] + 0x9E3779B9 & mask, key[1] + 0xBB67AE85 & mask]
    return [word.astype(np.uint32) for word in words]


def uniform(word: np.ndarray) -> np.ndarray:
    """Triton's map of 32 bits to [0, 1)."""
    signed = word.view(np.int32).astype(np.int64)
    return np.where(signed < 0, -signed - 1, signed).astype(np.float32) * np.float32(4.6566127342e-10)


def softmax(x: np.ndarray) -> np.ndarray:
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def cases(seed: int, at: Shape) -> dict[str, Case]:
    rng = np.random.default_rng(seed)
    made: dict[str, Case] = {}

    def f32(*shape: int) -> np.ndarray:
        return rng.standard_normal(shape, dtype=np.float32)

    def f16(*shape: int) -> np.ndarray:
        return f32(*shape).astype(np.float16)

    def blocks(count: int, block: int) -> int:
        return -(-count // block)

    def zeros(shape: Any, kind: Any = np.float32) -> np.ndarray:
        return np.zeros(shape, kind)

    wide = np.float64
    n, rows, width = at.n, at.rows, at.width

    # tests/data/triton-3.6.0
    x, y, xh, yh = f32(n), f32(n), f16(n), f16(n)
    made["vector_add"] = Case([x, y, zeros(n), n], (blocks(n, 1024),), {2: x + y})
    made["vector_add_f16"] = Case([xh, yh, zeros(n, np.float16), n], (blocks(n, 1024),), {2: xh + yh})
    v = xh.astype(wide)
    made["silu_f16"] = Case([xh, zeros(n, np.float16), n], (blocks(n, 512),), {1: v / (1 + np.exp(-v))}, 1e-3)
    v = x.astype(wide)
    gelu = 0.5 * v * (1 + np.tanh(0.7978845608 * (v + 0.044715 * v**3)))
    made["gelu_f32"] = Case([x, zeros(n), n], (blocks(n, 512),), {1: gelu}, 3e-6)
    table, w, b = f32(rows, width), f32(width), f32(width)
    made["softmax_row"] = Case([table, zeros(table.shape), width, width], (rows,), {1: softmax(table.astype(wide))}, 1e-6)
    t = table.astype(wide)
    normal = (t - t.mean(1, keepdims=True)) / np.sqrt(t.var(1, keepdims=True) + 1e-5) * w + b
    made["layer_norm"] = Case([table, w, b, zeros(table.shape), width, width, 1e-5], (rows,), {3: normal}, 2e-5)
    m, n_, k = at.m, at.n_, at.k
    tiles = (blocks(m, 32), blocks(n_, 32))
    for name, kind, tolerance in (("matmul_f32", np.float32, 3e-5), ("matmul_f16", np.float16, 5e-3)):
        left, right = f32(m, k).astype(kind), f32(k, n_).astype(kind)
        strides = [m, n_, k, k, 1, n_, 1, n_, 1]
        product = left.astype(wide) @ right.astype(wide)
        made[name] = Case([left, right, zeros((m, n_), kind), *strides], tiles, {2: product}, tolerance)
    index = rng.integers(0, 64, n, dtype=np.int32)
    counts = np.bincount(index, minlength=64)
    made["histogram_atomic"] = Case([index, zeros(64, np.int32), n], (blocks(n, 1024),), {1: counts})
    noise = f32(n)
    keep = uniform(philox(1234, np.arange(n))[0]) > np.float32(0.3)
    kept = np.where(keep, noise.astype(wide) / np.float32(0.7), 0)
    made["dropout"] = Case([noise, zeros(n), n, 0.3, 1234], (blocks(n, 1024),), {1: kept}, 1e-6)
    row = f32(rows, 1024)
    sums = np.cumsum(row.astype(wide), 1)
    made["cumsum_row"] = Case([row, zeros(row.shape), 1024], (rows,), {1: sums}, 3e-5)
    matrix = f32(m, n_)
    made["transpose"] = Case([matrix, zeros((n_, m)), m, n_], tiles, {1: matrix.T})
    heads, length = at.heads, at.length
    q, kk, vv = f16(heads, length, 64), f16(heads, length, 64), f16(heads, length, 64)
    scores = np.einsum("hqd,hkd->hqk", q.astype(wide), kk.astype(wide)) * 0.125
    mixed = np.einsum("hqk,hkd->hqd", softmax(scores), vv.astype(wide))
    grid = (blocks(length, 32), heads)
    made["attention"] = Case([q, kk, vv, zeros(q.shape, np.float16), length, 0.125], grid, {3: mixed}, 3e-3)

    # kernels.py
    xb, yb = bfloat(f32(n)), bfloat(f32(n))
    doubled = from_bfloat(bfloat(from_bfloat(bfloat(2 * from_bfloat(xb))) + from_bfloat(yb))).astype(wide)
    made["add_bf16"] = Case(
        [xb, yb, zeros(n, np.uint16), n], (blocks(n, 1024),),
        {2: lambda got: np.allclose(from_bfloat(got), doubled, rtol=8e-3, atol=8e-3)},
    )  # fmt: skip
    lb, rb = bfloat(f32(m, k)), bfloat(f32(k, n_))
    product = from_bfloat(lb).astype(wide) @ from_bfloat(rb).astype(wide)
    made["matmul_bf16"] = Case([lb, rb, zeros((m, n_)), m, n_, k], tiles, {2: product}, 3e-5)
    for name, kind, tolerance in (("matmul_f32_tiles", np.float32, 3e-5), ("matmul_f16_tiles", np.float16, 5e-3)):
        left, right = f32(80, 48).astype(kind), f32(48, 112).astype(kind)  # multiples of 16, not of a tile
        product = left.astype(wide) @ right.astype(wide)
        made[name] = Case([left, right, zeros((80, 112), kind), 80, 112, 48], (2, 2), {2: product}, tolerance)
    li, ri = rng.integers(-128, 128, (m, k), dtype=np.int8), rng.integers(-128, 128, (k, n_), dtype=np.int8)
    exact = li.astype(np.int64) @ ri.astype(np.int64)
    made["matmul_i8"] = Case([li, ri, zeros((m, n_), np.int32), m, n_, k], tiles, {2: exact})
    peaks = f32(rows, width)
    made["argmax_row"] = Case([peaks, zeros(rows, np.int32), width, width], (rows,), {1: peaks.argmax(1)})
    mixed_up = f32(rows, 256)
    made["sort_row"] = Case([mixed_up, zeros(mixed_up.shape)], (rows,), {1: np.sort(mixed_up, 1)})
    decay, push = rng.uniform(0.5, 1, (rows, width)).astype(np.float32), f32(rows, width)
    h, state = np.zeros((rows, width)), np.zeros(rows)
    for i in range(width):
        state = decay[:, i].astype(wide) * state + push[:, i]
        h[:, i] = state
    made["linear_scan"] = Case([decay, push, zeros(h.shape), width], (rows,), {2: h}, 2e-5)
    part = f32(n)
    both = np.array([part.astype(wide).sum(), max(part.max(), 0)])
    made["sum_atomic"] = Case([part, zeros(2), n], (blocks(n, 512),), {1: both}, 1e-4 * max(1.0, n**0.5 / 20))
    key = rng.integers(0, 50, n, dtype=np.int32)
    sums = np.bincount(key, part.astype(wide), 50)
    made["scatter_atomic"] = Case([part, key, zeros(50), n], (blocks(n, 256),), {2: sums}, 2e-3)
    long = f32(rows, width)
    made["row_sum_wide"] = Case([long, zeros(rows), width], (rows,), {1: long.astype(wide).sum(1)}, 5e-5)
    cube = f32(3, 5, width)
    made["permute_3d"] = Case(
        [cube, zeros((width, 3, 5)), 3, 5, width], (blocks(width, 128), 5, 3), {1: cube.transpose(2, 0, 1)}
    )
    slab = f32(m, 64)
    made["cumsum_2d"] = Case([slab, zeros(slab.shape), m], (blocks(m, 16),), {1: np.cumsum(slab.astype(wide), 1)}, 1e-5)
    small = rng.integers(0, 64, n, dtype=np.int32)
    counts = np.bincount(small, minlength=64)
    counts[0] += -n % 512  # lanes past the end count as 0
    made["histogram_block"] = Case([small, zeros(64, np.int32), n], (blocks(n, 512),), {1: counts})
    words = philox(77, np.arange(n))
    u1 = np.maximum(uniform(words[0]), np.float32(1e-7)).astype(wide)
    normal = np.sqrt(-2 * np.log(u1)) * np.cos(6.283185307179586 * uniform(words[1]).astype(wide))
    made["normal_noise"] = Case(
        [x, zeros(n), n, 77], (blocks(n, 512),), {1: np.where(x > 0, x.astype(wide), x.astype(wide) + normal)}, 2e-5
    )
    made["random_integers"] = Case([zeros(n, np.int32), n, 77], (blocks(n, 512),), {0: words[0].view(np.int32)})
    halves = x.astype(np.float16).view(np.uint16).astype(np.uint32)
    near = lambda got: bool(np.all(np.abs(got - x) <= np.abs(x) * 0.126 + 1e-4))  # 2 bits behind the point
    pattern = lambda got: bool(np.all((got.view(np.uint8).astype(np.uint32) - (halves >> 8)) % 256 <= 1))
    made["quantise_fp8"] = Case([x, zeros(n), zeros(n, np.int8), n], (blocks(n, 512),), {1: near, 2: pattern})
    q, kk, vv = f16(heads, length, 32), f16(heads, length, 32), f16(heads, length, 32)
    scores = np.einsum("hqd,hkd->hqk", q.astype(wide), kk.astype(wide)) * 0.25
    scores = np.where(np.tril(np.ones((length, length), bool)), scores, -np.inf)
    mixed = np.einsum("hqk,hkd->hqd", softmax(scores), vv.astype(wide))
    grid = (blocks(length, 32), heads)
    made["flash_attention"] = Case([q, kk, vv, zeros(q.shape, np.float16), length, 0.25], grid, {3: mixed}, 4e-3)
    th, wh = f16(rows, width), f16(width)
    t = th.astype(wide)
    normal = t / np.sqrt((t * t).mean(1, keepdims=True) + 1e-5) * wh.astype(wide)
    made["rms_norm_f16"] = Case([th, wh, zeros(th.shape, np.float16), width, 1e-5], (rows,), {2: normal}, 2e-3)
    few = min(n, 3001)
    v = (f32(few) * 2).astype(np.float32)
    d = v.astype(wide)
    p = np.abs(d) + 0.5
    erf = np.vectorize(__import__("math").erf)
    results = np.stack([
        np.exp(d), np.log(p), np.sin(d), np.cos(d), erf(d), np.sqrt(p), 1 / np.sqrt(p), np.floor(d), np.log2(p), np.exp2(d),
        d * p + d, np.clip(d, -0.5, 0.5), np.ceil(d),
    ])  # fmt: skip
    made["functions"] = Case([v, zeros(results.shape), few], (blocks(few, 256),), {1: results}, 3e-6)
    a = rng.integers(-(2**31), 2**31, few, dtype=np.int32)
    c = rng.integers(1, 2**20, few, dtype=np.int32) * rng.choice([-1, 1], few).astype(np.int32)
    wide_a, wide_c = a.astype(np.int64), c.astype(np.int64)
    quotient = np.sign(wide_a) * np.sign(wide_c) * (np.abs(wide_a) // np.abs(wide_c))  # towards zero
    high = (a.view(np.uint32).astype(np.uint64) * c.view(np.uint32).astype(np.uint64)) >> np.uint64(32)
    shifted = (wide_a << (wide_c & 7)) + (wide_a >> (wide_c & 15))
    results = np.stack([
        quotient, wide_a - quotient * wide_c, high.astype(np.int64), (wide_a ^ wide_c) & (wide_a | wide_c), shifted,
        wide_a * wide_c >> 7,
    ]).astype(np.int32)  # fmt: skip
    made["integers"] = Case([a, c, zeros(results.shape, np.int32), few], (blocks(few, 256),), {2: results})
    made["programs"] = Case([zeros(3 * 4 * 5, np.int32)], (3, 4, 5), {0: np.full(60, 30405)})
    made["spin_count"] = Case([zeros(1, np.int32), zeros(1, np.int32), 3], (rows,), {0: np.zeros(1), 1: np.array([3 * rows])})
    short = min(width, 128)
    line = f32(rows, short)
    padded = np.zeros((rows, 128))
    padded[:, :short] = line
    flipped = np.cumsum(padded, 1)[:, ::-1][:, :short]
    made["one_warp"] = Case([line, zeros(line.shape), short], (rows,), {1: flipped}, 2e-5)
    row = f32(rows, 128)
    places = rng.integers(0, 128, (rows, 128), dtype=np.int32)
    made["gather_rows"] = Case([row, places, zeros(row.shape), 128], (rows,), {2: np.take_along_axis(row, places, 1)})
    logits, target = f16(rows, width), rng.integers(0, width, rows, dtype=np.int32)
    t = logits.astype(wide)
    losses = np.log(np.exp(t - t.max(1, keepdims=True)).sum(1)) + t.max(1) - t[np.arange(rows), target]
    made["cross_entropy"] = Case([logits, target, zeros(rows), width], (rows,), {2: losses}, 5e-6)
    p, g, m1, m2 = f32(n), f32(n), f32(n) * np.float32(0.1), np.abs(f32(n)) * np.float32(0.1)
    beta1, beta2 = np.float32(0.9), np.float32(0.999)
    m1_next = beta1 * m1.astype(wide) + (1 - beta1) * g.astype(wide)
    m2_next = beta2 * m2.astype(wide) + (1 - beta2) * g.astype(wide) ** 2
    p_next = p.astype(wide) - 0.001 * (m1_next / (np.sqrt(m2_next) + 1e-8) + 0.01 * p.astype(wide))
    scalars = [n, 0.001, 0.9, 0.999, 1e-8, 0.01]
    made["adamw"] = Case([p, g, m1, m2, *scalars], (blocks(n, 256),), {0: p_next, 2: m1_next, 3: m2_next}, 3e-6)
    for name, exponent_bits in (("matmul_fp8", 4), ("matmul_bf8", 5)):  # below 2
        left, right = (rng.integers(0, 256, shape, dtype=np.uint8) & 0xBF for shape in ((m, k), (k, n_)))
        product = from_bytes(left, exponent_bits) @ from_bytes(right, exponent_bits)
        made[name] = Case([left, right, zeros((m, n_)), m, n_, k], tiles, {2: product}, 3e-5)
    left, right = f16(m, k), f16(k, n_)
    product = left.astype(wide) @ right.astype(wide)
    made["matmul_f16_f16"] = Case([left, right, zeros((m, n_), np.float16), m, n_, k], tiles, {2: product}, 1e-2)
    loud = f32(n) * np.float32(10)
    rounded = lambda got: bool(np.all(np.abs(got - loud) <= np.abs(loud) * 0.0626 + 2**-10))  # 3 bits behind the point
    made["quantise_e4m3"] = Case(
        [loud, zeros(n), zeros(n, np.uint8), n], (blocks(n, 512),),
        {1: rounded, 2: lambda got: rounded(from_bytes(got, 4))},
    )  # fmt: skip
    p, g = f32(n), f32(n)
    p[::5], g[::7] = np.nan, np.nan
    both = np.stack([np.minimum(p, g), np.fmax(p, g)])
    made["extremes_nan"] = Case(
        [p, g, zeros(both.shape), n], (blocks(n, 256),), {2: lambda got: np.array_equal(got, both, equal_nan=True)}
    )
    octets = rng.integers(0, 256, 1024, dtype=np.uint8)
    octets[octets & 0x7F == 0x7F] = 1  # no NaN: AMD's way to bfloat has none
    widened = from_bytes(octets, 4)
    made["widen_e4m3"] = Case([octets, zeros(1024)], (1,), {1: widened})
    made["widen_e4m3_bf16"] = Case(
        [octets, zeros(1024, np.uint16)], (1,), {1: lambda got: np.array_equal(from_bfloat(got), widened)}
    )
    small = (f32(1024) * np.exp2(rng.integers(-11, 7, 1024))).astype(np.float16)
    near = lambda got: bool(np.all(np.abs(from_bytes(got, 4) - small) <= np.maximum(np.abs(small.astype(wide)) / 16, 2**-10)))
    made["narrow_e4m3"] = Case([small, zeros(1024, np.uint8)], (1,), {1: near})
    pairs, scales = rng.integers(0, 256, (32, 32), dtype=np.uint8), rng.integers(122, 132, (32, 2), dtype=np.uint8)
    right = bfloat(f32(64, 32))
    quarters = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6] + [-0.0, -0.5, -1, -1.5, -2, -3, -4, -6])  # e2m1, a nibble each
    left = np.stack([quarters[pairs & 15], quarters[pairs >> 4]], -1).reshape(32, 64) * np.exp2(scales.repeat(32, 1) - 127.0)
    made["scaled_e2m1"] = Case(
        [pairs, scales, right, zeros((32, 32))], (1,), {3: left @ from_bfloat(right).astype(wide)}, 2e-5
    )
    return made


def judge(got: np.ndarray, wanted: Any, tolerance: float) -> str:
    """Empty when it is right, else what is wrong."""
    if callable(wanted):
        return "" if wanted(got) else "the rule for it does not hold"
    if tolerance == 0:
        wrong = np.flatnonzero(np.asarray(got) != np.asarray(wanted))
    else:
        a, b = got.astype(np.float64), np.asarray(wanted, np.float64)
        wrong = np.flatnonzero(~(np.abs(a - b) <= tolerance * (1 + np.abs(b))))
    if wrong.size == 0:
        return ""
    first = wrong[0]
    return (
        f"{wrong.size} of {got.size} differ, the first at {first}: {got.reshape(-1)[first]}, "
        f"wanted {np.asarray(wanted).reshape(-1)[first]}"
    )
