# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Triton kernels of many kinds, each with a check against PyTorch: KERNELS maps a name to a function that runs the kernel
and says whether the result is right. For check.sh."""

import torch
import triton
import triton.language as tl

DEVICE = "cuda"
N, BLOCK = 5000, 1024  # not a multiple
GRID = (triton.cdiv(N, BLOCK),)
ROWS, COLUMNS = 37, 300
torch.manual_seed(0)


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def close(got, wanted, tolerance=2e-3):
    return torch.allclose(got.float(), wanted.float(), rtol=tolerance, atol=tolerance)


@triton.jit
def add(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def axpy(x, y, out, a, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, a * tl.load(x + i, i < n) + tl.load(y + i, i < n), i < n)


@triton.jit
def relu(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.maximum(tl.load(x + i, i < n), 0.0), i < n)


@triton.jit
def silu(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n)
    tl.store(out + i, v * tl.sigmoid(v), i < n)


@triton.jit
def gelu(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n)
    tl.store(out + i, 0.5 * v * (1 + tl.erf(v * 0.7071067811865476)), i < n)


@triton.jit
def leaky(x, out, n, slope, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n)
    tl.store(out + i, tl.where(v > 0, v, v * slope), i < n)


@triton.jit
def clamp(x, out, n, low, high, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.minimum(tl.maximum(tl.load(x + i, i < n), low), high), i < n)


@triton.jit
def exponential(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.exp(tl.load(x + i, i < n)), i < n)


@triton.jit
def reciprocal_root(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, 1.0 / tl.sqrt(tl.load(x + i, i < n, 1.0)), i < n)


@triton.jit
def sine_cosine(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n)
    tl.store(out + i, tl.sin(v) * tl.cos(v), i < n)


@triton.jit
def dropout(x, out, n, p, seed, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n)
    tl.store(out + i, tl.where(tl.rand(seed, i) > p, v / (1 - p), 0.0), i < n)


@triton.jit
def gather(x, index, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + tl.load(index + i, i < n), i < n), i < n)


@triton.jit
def atomic_sum(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + (i % 16), tl.load(x + i, i < n, 0.0), i < n)


@triton.jit
def atomic_count(x, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.atomic_add(out + tl.load(x + i, i < n, 0), 1, i < n)


@triton.jit
def softmax(x, out, c, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * c + j, j < c, -float("inf"))
    e = tl.exp(v - tl.max(v, 0))
    tl.store(out + row * c + j, e / tl.sum(e, 0), j < c)


@triton.jit
def log_sum_exp(x, out, c, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * c + j, j < c, -float("inf"))
    top = tl.max(v, 0)
    tl.store(out + row, top + tl.log(tl.sum(tl.exp(v - top), 0)))


@triton.jit
def layer_norm(x, weight, bias, out, c, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * c + j, j < c, 0.0)
    d = tl.where(j < c, v - tl.sum(v, 0) / c, 0.0)
    scale = 1 / tl.sqrt(tl.sum(d * d, 0) / c + 1e-5)
    tl.store(out + row * c + j, d * scale * tl.load(weight + j, j < c) + tl.load(bias + j, j < c), j < c)


@triton.jit
def rms_norm(x, weight, out, c, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * c + j, j < c, 0.0)
    tl.store(out + row * c + j, v / tl.sqrt(tl.sum(v * v, 0) / c + 1e-6) * tl.load(weight + j, j < c), j < c)


@triton.jit
def row_sum(x, out, c, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    tl.store(out + row, tl.sum(tl.load(x + row * c + j, j < c, 0.0), 0))


@triton.jit
def row_max(x, out, c, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    tl.store(out + row, tl.max(tl.load(x + row * c + j, j < c, -float("inf")), 0))


@triton.jit
def row_argmax(x, out, c, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    tl.store(out + row, tl.argmax(tl.load(x + row * c + j, j < c, -float("inf")), 0))


@triton.jit
def row_variance(x, out, c, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    v = tl.load(x + row * c + j, j < c, 0.0)
    d = tl.where(j < c, v - tl.sum(v, 0) / c, 0.0)
    tl.store(out + row, tl.sum(d * d, 0) / c)


@triton.jit
def running_sum(x, out, c, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    tl.store(out + row * c + j, tl.cumsum(tl.load(x + row * c + j, j < c, 0.0), 0), j < c)


@triton.jit
def running_product(x, out, c, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    tl.store(out + row * c + j, tl.cumprod(tl.load(x + row * c + j, j < c, 1.0), 0), j < c)


@triton.jit
def sort_rows(x, out, B: tl.constexpr):
    row, j = tl.program_id(0), tl.arange(0, B)
    tl.store(out + row * B + j, tl.sort(tl.load(x + row * B + j)))


@triton.jit
def transpose(x, out, h, w, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.program_id(1) * B + tl.arange(0, B)
    v = tl.load(x + i[:, None] * w + j[None, :], (i[:, None] < h) & (j[None, :] < w))
    tl.store(out + j[:, None] * h + i[None, :], tl.trans(v), (j[:, None] < w) & (i[None, :] < h))


@triton.jit
def matmul(a, b, out, M, N, K, BM: tl.constexpr, BK: tl.constexpr):
    i = tl.program_id(0) * BM + tl.arange(0, BM)
    j = tl.program_id(1) * BM + tl.arange(0, BM)
    acc = tl.zeros((BM, BM), dtype=tl.float32)
    for s in range(0, K, BK):
        k = s + tl.arange(0, BK)
        x = tl.load(a + i[:, None] * K + k[None, :], (i[:, None] < M) & (k[None, :] < K), 0.0)
        y = tl.load(b + k[:, None] * N + j[None, :], (k[:, None] < K) & (j[None, :] < N), 0.0)
        acc = tl.dot(x, y, acc)
    tl.store(out + i[:, None] * N + j[None, :], acc, (i[:, None] < M) & (j[None, :] < N))


@triton.jit
def outer(x, y, out, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    j = tl.arange(0, B)
    tl.store(out + i[:, None] * n + j[None, :], tl.load(x + i)[:, None] * tl.load(y + j)[None, :])


@triton.jit
def three_axes(x, out, a, b, B: tl.constexpr):
    program = (tl.program_id(2) * b + tl.program_id(1)) * a + tl.program_id(0)
    i = program * B + tl.arange(0, B)
    tl.store(out + i, tl.load(x + i) * 3)


@triton.jit
def quantise(x, out, n, scale, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    v = tl.load(x + i, i < n) / scale
    tl.store(out + i, tl.minimum(tl.maximum(v, -127.0), 127.0).to(tl.int8), i < n)


def unary(kernel, reference, *args, positive=False):
    def check():
        x = random(N).abs() + 0.1 if positive else random(N)
        out = torch.empty_like(x)
        kernel[GRID](x, out, N, *args, B=BLOCK)
        return close(out, reference(x))

    return check


def adds(dtype, tolerance):
    def check():
        x, y = random(N, dtype=dtype), random(N, dtype=dtype)
        out = torch.empty_like(x)
        add[GRID](x, y, out, N, B=BLOCK)
        return close(out, x + y, tolerance)

    return check


def by_rows(kernel, reference, scalar=False, dtype=torch.float32, extra=0, tolerance=2e-3):
    def check():
        x = random(ROWS, COLUMNS)
        more = [random(COLUMNS) for _ in range(extra)]
        out = torch.empty(ROWS if scalar else (ROWS, COLUMNS), device=DEVICE, dtype=dtype)
        kernel[(ROWS,)](x, *more, out, COLUMNS, B=512)
        return close(out, reference(x, *more), tolerance)

    return check


def multiplies(dtype, tolerance, block=32):
    def check():
        a, b = random(100, 96, dtype=dtype), random(96, 80, dtype=dtype)
        out = torch.empty(100, 80, device=DEVICE)
        matmul[(triton.cdiv(100, block), triton.cdiv(80, block))](a, b, out, 100, 80, 96, BM=block, BK=32)
        return close(out, a.float() @ b.float(), tolerance)

    return check


def check_axpy():
    x, y = random(N), random(N)
    out = torch.empty_like(x)
    axpy[GRID](x, y, out, 2.5, N, B=BLOCK)
    return close(out, 2.5 * x + y)


def check_dropout():
    x = torch.ones(N, device=DEVICE)
    out = torch.empty_like(x)
    dropout[GRID](x, out, N, 0.25, 7, B=BLOCK)
    return 0.2 < (out == 0).float().mean().item() < 0.3


def check_gather():
    x, index = random(N), torch.randperm(N, device=DEVICE)
    out = torch.empty_like(x)
    gather[GRID](x, index, out, N, B=BLOCK)
    return torch.equal(out, x[index])


def check_atomic_sum():
    x, out = random(N), torch.zeros(16, device=DEVICE)
    atomic_sum[GRID](x, out, N, B=BLOCK)
    wanted = torch.zeros(16, device=DEVICE).index_add_(0, torch.arange(N, device=DEVICE) % 16, x)
    return close(out, wanted, 1e-2)


def check_atomic_count():
    x = torch.randint(0, 10, (N,), device=DEVICE, dtype=torch.int32)
    out = torch.zeros(10, device=DEVICE, dtype=torch.int32)
    atomic_count[GRID](x, out, N, B=BLOCK)
    return torch.equal(out.long(), torch.bincount(x.long(), minlength=10))


def check_sort():
    x = random(9, 256)
    out = torch.empty_like(x)
    sort_rows[(9,)](x, out, B=256)
    return torch.equal(out, x.sort(1).values)


def check_transpose():
    x, out = random(70, 45), torch.empty(45, 70, device=DEVICE)
    transpose[(3, 2)](x, out, 70, 45, B=32)
    return torch.equal(out, x.t())


def check_outer():
    x, y, out = random(64), random(64), torch.empty(64, 64, device=DEVICE)
    outer[(1,)](x, y, out, 64, B=64)
    return close(out, torch.outer(x, y))


def check_three_axes():
    x = random(3 * 4 * 5 * 64)
    out = torch.empty_like(x)
    three_axes[(3, 4, 5)](x, out, 3, 4, B=64)
    return close(out, x * 3)


def check_quantise():
    x, out = random(N) * 40, torch.empty(N, device=DEVICE, dtype=torch.int8)
    quantise[GRID](x, out, N, 0.5, B=BLOCK)
    return torch.equal(out, (x / 0.5).clamp(-127, 127).trunc().to(torch.int8))


F = torch.nn.functional
KERNELS = {
    "add_f32": adds(torch.float32, 1e-5),
    "add_f16": adds(torch.float16, 1e-2),
    "add_bf16": adds(torch.bfloat16, 3e-2),
    "axpy": check_axpy,
    "relu": unary(relu, torch.relu),
    "silu": unary(silu, F.silu),
    "gelu": unary(gelu, F.gelu),
    "leaky": unary(leaky, lambda x: F.leaky_relu(x, 0.1), 0.1),
    "clamp": unary(clamp, lambda x: x.clamp(-0.5, 0.5), -0.5, 0.5),
    "exponential": unary(exponential, torch.exp),
    "reciprocal_root": unary(reciprocal_root, torch.rsqrt, positive=True),
    "sine_cosine": unary(sine_cosine, lambda x: x.sin() * x.cos()),
    "dropout": check_dropout,
    "gather": check_gather,
    "atomic_sum": check_atomic_sum,
    "atomic_count": check_atomic_count,
    "softmax": by_rows(softmax, lambda x: x.softmax(1)),
    "log_sum_exp": by_rows(log_sum_exp, lambda x: x.logsumexp(1), True),
    "layer_norm": by_rows(layer_norm, lambda x, w, b: F.layer_norm(x, (COLUMNS,), w, b), extra=2),
    "rms_norm": by_rows(rms_norm, lambda x, w: x / (x.square().mean(1, keepdim=True) + 1e-6).sqrt() * w, extra=1),
    "row_sum": by_rows(row_sum, lambda x: x.sum(1), True),
    "row_max": by_rows(row_max, lambda x: x.amax(1), True),
    "row_argmax": by_rows(row_argmax, lambda x: x.argmax(1), True, torch.int32),
    "row_variance": by_rows(row_variance, lambda x: x.var(1, correction=0), True),
    "running_sum": by_rows(running_sum, lambda x: x.cumsum(1), tolerance=1e-2),
    "running_product": by_rows(running_product, lambda x: x.cumprod(1)),
    "sort": check_sort,
    "transpose": check_transpose,
    "matmul_f16": multiplies(torch.float16, 2e-2),
    "matmul_bf16": multiplies(torch.bfloat16, 5e-2),
    "matmul_f32": multiplies(torch.float32, 5e-2),
    "matmul_f16_64": multiplies(torch.float16, 2e-2, 64),
    "outer": check_outer,
    "three_axes": check_three_axes,
    "quantise": check_quantise,
}
