# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton kernels that cover what tests/data/triton-3.6.0 does not; generate.py compiles them with stock Triton.

Their IR lies in hip-gfx1030/, hip-gfx1100/ and hip-gfx1200/ beside this file, and references.py says what they compute.
thin.py has left out what the architectures share.
"""

import triton
import triton.language as tl


@triton.jit
def add_bf16(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.store(o + i, tl.load(x + i, mask=m) * 2.0 + tl.load(y + i, mask=m), mask=m)


@triton.jit
def matmul_small(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, ACC: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], ACC)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0)
        acc = tl.dot(x, y, acc, out_dtype=ACC)
    tl.store(c + rm[:, None] * N + rn[None, :], acc.to(c.dtype.element_ty), mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def argmax_row(x, o, stride, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * stride + c, mask=c < n, other=-float("inf"))
    tl.store(o + r, tl.argmax(v, 0))


@triton.jit
def sort_row(x, o, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    tl.store(o + r * BLOCK + c, tl.sort(tl.load(x + r * BLOCK + c)))


@triton.jit
def _recurrence(a1, b1, a2, b2):
    return a1 * a2, b1 * a2 + b2


@triton.jit
def linear_scan(a, b, o, n, BLOCK: tl.constexpr):
    """h[i] = a[i] * h[i-1] + b[i] along a row, block after block with a carry."""
    r = tl.program_id(0)
    carry = 0.0
    for k in range(0, n, BLOCK):
        c = k + tl.arange(0, BLOCK)
        m = c < n
        x = tl.load(a + r * n + c, mask=m, other=1.0)
        y = tl.load(b + r * n + c, mask=m, other=0.0)
        p, h = tl.associative_scan((x, y), 0, _recurrence)
        h = h + p * carry
        tl.store(o + r * n + c, h, mask=m)
        carry = tl.sum(tl.where(tl.arange(0, BLOCK) == BLOCK - 1, h, 0.0), 0)


@triton.jit
def sum_atomic(x, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    tl.atomic_add(o, tl.sum(v, 0))
    tl.atomic_max(o + 1, tl.max(v, 0))


@triton.jit
def scatter_atomic(x, key, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    tl.atomic_add(o + tl.load(key + i, mask=m, other=0), tl.load(x + i, mask=m), mask=m)


@triton.jit
def row_sum_wide(x, o, n, BLOCK: tl.constexpr):
    """Compiled for 8 warps."""
    r = tl.program_id(0)
    acc = tl.zeros([BLOCK], tl.float32)
    for k in range(0, n, BLOCK):
        c = k + tl.arange(0, BLOCK)
        acc += tl.load(x + r * n + c, mask=c < n, other=0.0)
    tl.store(o + r, tl.sum(acc, 0))


@triton.jit
def permute_3d(x, o, A, B, C, BLOCK: tl.constexpr):
    """o[c, a, b] = x[a, b, c] on a grid of three dimensions."""
    a = tl.program_id(2)
    b = tl.program_id(1)
    c = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = c < C
    tl.store(o + (c * A + a) * B + b, tl.load(x + (a * B + b) * C + c, mask=m), mask=m)


@triton.jit
def cumsum_2d(x, o, M, N: tl.constexpr, BM: tl.constexpr):
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.arange(0, N)
    at = rm[:, None] * N + rn[None, :]
    m = rm[:, None] < M
    tl.store(o + at, tl.cumsum(tl.load(x + at, mask=m, other=0.0), 1), mask=m)


@triton.jit
def histogram_block(x, o, n, BLOCK: tl.constexpr, BINS: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    h = tl.histogram(v, BINS)
    tl.atomic_add(o + tl.arange(0, BINS), h)


@triton.jit
def normal_noise(x, o, n, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m, other=0.0)
    tl.store(o + i, tl.where(v > 0, v + tl.randint(seed, i).to(tl.float32) * 0.0, v + tl.randn(seed, i)), mask=m)


@triton.jit
def random_integers(o, n, seed, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(o + i, tl.randint(seed, i), mask=i < n)


@triton.jit
def quantise_fp8(x, o, s, n, BLOCK: tl.constexpr):
    """To 8-bit floats (e5m2) and back."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m, other=0.0)
    q = v.to(tl.float8e5)
    tl.store(o + i, q.to(tl.float32), mask=m)
    tl.store(s + i, q.to(tl.int8, bitcast=True), mask=m)


@triton.jit
def flash_attention(q, k, v, o, S, scale, BM: tl.constexpr, BN: tl.constexpr, D: tl.constexpr):
    """Causal, with the running maximum in base 2."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    h = tl.program_id(1)
    rd = tl.arange(0, D)
    base = h * S * D
    qq = tl.load(q + base + rm[:, None] * D + rd[None, :], mask=rm[:, None] < S, other=0.0)
    mi = tl.full([BM], -float("inf"), tl.float32)
    li = tl.zeros([BM], tl.float32)
    acc = tl.zeros([BM, D], tl.float32)
    end = tl.minimum((tl.program_id(0) + 1) * BM, S)
    for n in range(0, end, BN):
        rn = n + tl.arange(0, BN)
        kk = tl.load(k + base + rn[None, :] * D + rd[:, None], mask=rn[None, :] < S, other=0.0)
        s = tl.dot(qq, kk) * (scale * 1.44269504)
        s = tl.where((rm[:, None] >= rn[None, :]) & (rn[None, :] < S), s, -1e30)
        mn = tl.maximum(mi, tl.max(s, 1))
        p = tl.exp2(s - mn[:, None])
        a = tl.exp2(mi - mn)
        li = li * a + tl.sum(p, 1)
        vv = tl.load(v + base + rn[:, None] * D + rd[None, :], mask=rn[:, None] < S, other=0.0)
        acc = acc * a[:, None] + tl.dot(p.to(vv.dtype), vv)
        mi = mn
    tl.store(o + base + rm[:, None] * D + rd[None, :], (acc / li[:, None]).to(o.dtype.element_ty), mask=rm[:, None] < S)


@triton.jit
def rms_norm_f16(x, w, o, n, eps, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    m = c < n
    v = tl.load(x + r * n + c, mask=m, other=0.0).to(tl.float32)
    rms = tl.rsqrt(tl.sum(v * v, 0) / n + eps)
    tl.store(o + r * n + c, (v * rms * tl.load(w + c, mask=m, other=0.0).to(tl.float32)).to(tl.float16), mask=m)


@triton.jit
def functions(x, o, n, BLOCK: tl.constexpr):
    """One row of the output for each function of tl.math."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    v = tl.load(x + i, mask=m, other=0.5)
    p = tl.abs(v) + 0.5
    tl.store(o + i, tl.exp(v), mask=m)
    tl.store(o + n + i, tl.log(p), mask=m)
    tl.store(o + 2 * n + i, tl.sin(v), mask=m)
    tl.store(o + 3 * n + i, tl.cos(v), mask=m)
    tl.store(o + 4 * n + i, tl.erf(v), mask=m)
    tl.store(o + 5 * n + i, tl.sqrt(p), mask=m)
    tl.store(o + 6 * n + i, tl.rsqrt(p), mask=m)
    tl.store(o + 7 * n + i, tl.floor(v), mask=m)
    tl.store(o + 8 * n + i, tl.log2(p), mask=m)
    tl.store(o + 9 * n + i, tl.exp2(v), mask=m)
    tl.store(o + 10 * n + i, tl.fma(v, p, v), mask=m)
    tl.store(o + 11 * n + i, tl.clamp(v, -0.5, 0.5), mask=m)
    tl.store(o + 12 * n + i, tl.ceil(v), mask=m)


@triton.jit
def integers(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    m = i < n
    a = tl.load(x + i, mask=m, other=1)
    b = tl.load(y + i, mask=m, other=1)
    tl.store(o + i, a // b, mask=m)
    tl.store(o + n + i, a % b, mask=m)
    tl.store(o + 2 * n + i, tl.umulhi(a, b), mask=m)
    tl.store(o + 3 * n + i, (a ^ b) & (a | b), mask=m)
    tl.store(o + 4 * n + i, (a << (b & 7)) + (a >> (b & 15)), mask=m)
    tl.store(o + 5 * n + i, (a.to(tl.int64) * b.to(tl.int64) >> 7).to(tl.int32), mask=m)


@triton.jit
def programs(o):
    at = tl.program_id(0) + tl.num_programs(0) * (tl.program_id(1) + tl.num_programs(1) * tl.program_id(2))
    tl.store(o + at, tl.num_programs(0) * 10000 + tl.num_programs(1) * 100 + tl.num_programs(2))


@triton.jit
def spin_count(lock, o, n):
    """Compare-and-swap: every program adds to a counter under a lock of its own making."""
    while tl.atomic_cas(lock, 0, 1) == 1:
        pass
    tl.store(o, tl.load(o) + n)
    tl.atomic_xchg(lock, 0)


@triton.jit
def one_warp(x, o, n, BLOCK: tl.constexpr):
    """Compiled for 1 warp."""
    r = tl.program_id(0)
    c = tl.arange(0, BLOCK)
    v = tl.load(x + r * n + c, mask=c < n, other=0.0)
    tl.store(o + r * n + c, tl.flip(tl.cumsum(v, 0), 0), mask=c < n)


@triton.jit
def gather_rows(x, index, o, n, BLOCK: tl.constexpr):
    c = tl.arange(0, BLOCK)
    r = tl.program_id(0)
    row = tl.load(x + r * BLOCK + c)
    at = tl.load(index + r * BLOCK + c)
    tl.store(o + r * BLOCK + c, tl.gather(row, at, 0))


@triton.jit
def cross_entropy(logits, target, loss, n, BLOCK: tl.constexpr):
    r = tl.program_id(0)
    mx = -float("inf")
    total = 0.0
    for k in range(0, n, BLOCK):
        c = k + tl.arange(0, BLOCK)
        v = tl.load(logits + r * n + c, mask=c < n, other=-float("inf")).to(tl.float32)
        new = tl.maximum(mx, tl.max(v, 0))
        total = total * tl.exp(mx - new) + tl.sum(tl.exp(v - new), 0)
        mx = new
    t = tl.load(target + r)
    tl.store(loss + r, mx + tl.log(total) - tl.load(logits + r * n + t).to(tl.float32))


@triton.jit
def adamw(p, g, m, v, n, lr, beta1, beta2, eps, decay, BLOCK: tl.constexpr):
    """In place, with loads and stores of the same arrays."""
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    k = i < n
    pp = tl.load(p + i, mask=k)
    gg = tl.load(g + i, mask=k)
    mm = beta1 * tl.load(m + i, mask=k) + (1 - beta1) * gg
    vv = beta2 * tl.load(v + i, mask=k) + (1 - beta2) * gg * gg
    tl.store(p + i, pp - lr * (mm / (tl.sqrt(vv) + eps) + decay * pp), mask=k)
    tl.store(m + i, mm, mask=k)
    tl.store(v + i, vv, mask=k)


@triton.jit
def matmul_bytes(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr, KIND: tl.constexpr):
    """Of 8-bit floats, passed as bytes."""
    rm = tl.program_id(0) * BM + tl.arange(0, BM)
    rn = tl.program_id(1) * BN + tl.arange(0, BN)
    acc = tl.zeros([BM, BN], tl.float32)
    for k in range(0, K, BK):
        rk = k + tl.arange(0, BK)
        x = tl.load(a + rm[:, None] * K + rk[None, :], mask=(rm[:, None] < M) & (rk[None, :] < K), other=0)
        y = tl.load(b + rk[:, None] * N + rn[None, :], mask=(rk[:, None] < K) & (rn[None, :] < N), other=0)
        acc = tl.dot(x.to(KIND, bitcast=True), y.to(KIND, bitcast=True), acc)
    tl.store(c + rm[:, None] * N + rn[None, :], acc, mask=(rm[:, None] < M) & (rn[None, :] < N))


@triton.jit
def quantise_e4m3(x, o, s, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    q = tl.load(x + i, mask=i < n, other=0.0).to(tl.float8e4nv)
    tl.store(o + i, q.to(tl.float32), mask=i < n)
    tl.store(s + i, q.to(tl.int8, bitcast=True), mask=i < n)


@triton.jit
def extremes_nan(x, y, o, n, BLOCK: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    a = tl.load(x + i, mask=i < n)
    b = tl.load(y + i, mask=i < n)
    tl.store(o + i, tl.minimum(a, b, propagate_nan=tl.PropagateNan.ALL), mask=i < n)
    tl.store(o + n + i, tl.maximum(a, b), mask=i < n)


@triton.jit
def widen_e4m3(x, o, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(o + i, tl.load(x + i).to(tl.float8e4nv, bitcast=True).to(o.dtype.element_ty))


@triton.jit
def narrow_e4m3(h, s, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(s + i, tl.load(h + i).to(tl.float8e4nv).to(tl.int8, bitcast=True))


@triton.jit
def scaled_e2m1(a, scale, b, c, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    rows, columns, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    pairs = tl.load(a + rows[:, None] * (K // 2) + tl.arange(0, K // 2)[None, :])
    scales = tl.load(scale + rows[:, None] * (K // 32) + tl.arange(0, K // 32)[None, :])
    right = tl.load(b + k[:, None] * N + columns[None, :])
    product = tl.dot_scaled(pairs, scales, "e2m1", right, None, "bf16")
    tl.store(c + rows[:, None] * N + columns[None, :], product)


@triton.jit
def prints(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0)
    w = tl.load(y + i, mask=i < n, other=0.0)
    tl.device_print("n", n)
    tl.device_print("v and w: ", v, w)
    tl.device_print("hex ", v, hex=True)
    tl.device_print("only words")


@triton.jit
def prints_types(x, h, n, f):
    r = tl.program_id(0)
    if r == n:
        tl.device_print("long", tl.load(x + r).to(tl.int64) * 1000000007)
        tl.device_print("half", tl.load(h + r))
        tl.device_print("three", f, f * 2, (r > 0))
        tl.device_print("small", tl.load(x + r).to(tl.uint8), (f * 3).to(tl.bfloat16))


# name: (kernel, {parameter: type}, {parameter: compile-time value}, number of warps)
F32, F16, BF16, I32, I8, U8 = "*fp32", "*fp16", "*bf16", "*i32", "*i8", "*u8"
VARIANTS = {
    "add_bf16": (add_bf16, dict(x=BF16, y=BF16, o=BF16, n="i32"), dict(BLOCK=1024), 4),
    "matmul_bf16": (matmul_small, dict(a=BF16, b=BF16, c=F32, M="i32", N="i32", K="i32"),
                    dict(BM=32, BN=32, BK=32, ACC=tl.float32), 4),
    "matmul_i8": (matmul_small, dict(a=I8, b=I8, c=I32, M="i32", N="i32", K="i32"),
                  dict(BM=32, BN=32, BK=32, ACC=tl.int32), 4),
    "matmul_f32_tiles": (matmul_small, dict(a=F32, b=F32, c=F32, M="i32", N="i32", K="i32"),
                         dict(BM=64, BN=64, BK=32, ACC=tl.float32), 4),
    "matmul_f16_tiles": (matmul_small, dict(a=F16, b=F16, c=F16, M="i32", N="i32", K="i32"),
                         dict(BM=64, BN=64, BK=32, ACC=tl.float32), 4),
    "argmax_row": (argmax_row, dict(x=F32, o=I32, stride="i32", n="i32"), dict(BLOCK=1024), 4),
    "sort_row": (sort_row, dict(x=F32, o=F32), dict(BLOCK=256), 4),
    "linear_scan": (linear_scan, dict(a=F32, b=F32, o=F32, n="i32"), dict(BLOCK=256), 4),
    "sum_atomic": (sum_atomic, dict(x=F32, o=F32, n="i32"), dict(BLOCK=512), 4),
    "scatter_atomic": (scatter_atomic, dict(x=F32, key=I32, o=F32, n="i32"), dict(BLOCK=256), 4),
    "row_sum_wide": (row_sum_wide, dict(x=F32, o=F32, n="i32"), dict(BLOCK=1024), 8),
    "permute_3d": (permute_3d, dict(x=F32, o=F32, A="i32", B="i32", C="i32"), dict(BLOCK=128), 4),
    "cumsum_2d": (cumsum_2d, dict(x=F32, o=F32, M="i32"), dict(N=64, BM=16), 4),
    "histogram_block": (histogram_block, dict(x=I32, o=I32, n="i32"), dict(BLOCK=512, BINS=64), 4),
    "normal_noise": (normal_noise, dict(x=F32, o=F32, n="i32", seed="i32"), dict(BLOCK=512), 4),
    "random_integers": (random_integers, dict(o=I32, n="i32", seed="i32"), dict(BLOCK=512), 4),
    "quantise_fp8": (quantise_fp8, dict(x=F32, o=F32, s=I8, n="i32"), dict(BLOCK=512), 4),
    "flash_attention": (flash_attention, dict(q=F16, k=F16, v=F16, o=F16, S="i32", scale="fp32"),
                        dict(BM=32, BN=32, D=32), 4),
    "rms_norm_f16": (rms_norm_f16, dict(x=F16, w=F16, o=F16, n="i32", eps="fp32"), dict(BLOCK=1024), 4),
    "functions": (functions, dict(x=F32, o=F32, n="i32"), dict(BLOCK=256), 4),
    "integers": (integers, dict(x=I32, y=I32, o=I32, n="i32"), dict(BLOCK=256), 4),
    "programs": (programs, dict(o=I32), dict(), 1),
    "spin_count": (spin_count, dict(lock=I32, o=I32, n="i32"), dict(), 1),
    "one_warp": (one_warp, dict(x=F32, o=F32, n="i32"), dict(BLOCK=128), 1),
    "gather_rows": (gather_rows, dict(x=F32, index=I32, o=F32, n="i32"), dict(BLOCK=128), 4),
    "cross_entropy": (cross_entropy, dict(logits=F16, target=I32, loss=F32, n="i32"), dict(BLOCK=512), 4),
    "adamw": (adamw, dict(p=F32, g=F32, m=F32, v=F32, n="i32", lr="fp32", beta1="fp32", beta2="fp32", eps="fp32",
                          decay="fp32"), dict(BLOCK=256), 4),
    "matmul_fp8": (matmul_bytes, dict(a=I8, b=I8, c=F32, M="i32", N="i32", K="i32"),
                   dict(BM=32, BN=32, BK=32, KIND=tl.float8e4nv), 4),
    "matmul_bf8": (matmul_bytes, dict(a=I8, b=I8, c=F32, M="i32", N="i32", K="i32"),
                   dict(BM=32, BN=32, BK=32, KIND=tl.float8e5), 4),
    "matmul_f16_f16": (matmul_small, dict(a=F16, b=F16, c=F16, M="i32", N="i32", K="i32"),
                       dict(BM=32, BN=32, BK=32, ACC=tl.float16), 4),
    "quantise_e4m3": (quantise_e4m3, dict(x=F32, o=F32, s=I8, n="i32"), dict(BLOCK=512), 4),
    "extremes_nan": (extremes_nan, dict(x=F32, y=F32, o=F32, n="i32"), dict(BLOCK=256), 4),
    "widen_e4m3": (widen_e4m3, dict(x=I8, o=F32), dict(BLOCK=1024), 1),
    "widen_e4m3_bf16": (widen_e4m3, dict(x=I8, o=BF16), dict(BLOCK=1024), 1),
    "narrow_e4m3": (narrow_e4m3, dict(h=F16, s=I8), dict(BLOCK=1024), 1),
    "scaled_e2m1": (scaled_e2m1, dict(a=U8, scale=U8, b=BF16, c=F32), dict(M=32, N=32, K=64), 4),
}
# Compiled as for arrays that begin at a multiple of 16 bytes: Triton then loads and stores whole vectors.
ALIGNED = {"widen_e4m3", "widen_e4m3_bf16", "narrow_e4m3", "scaled_e2m1"}
# As Triton's launcher finds most products: numbers are multiples of 16, too.
DIVISIBLE = {"matmul_f32_tiles", "matmul_f16_tiles"}
# Compiled as the plug-in does it, without the library that prints through a queue of AMD's; for test_prints.py.
PRINTS = {
    "prints": (prints, dict(x=I32, y=F32, n="i32"), dict(BLOCK=64), 1),
    "prints_types": (prints_types, dict(x=I32, h=F16, n="i32", f="fp32"), dict(), 1),
}
