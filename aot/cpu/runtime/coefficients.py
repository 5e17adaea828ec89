#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the polynomial coefficients of math.c: nearly minimax in *relative* error (Lawson), lowest power rounded first
and the rest fitted again around it. Needs mpmath. Not part of the build: run it, compare, paste.

usage: coefficients.py [NAME...]
"""

import struct
import sys

from mpmath import acos, asin, atan, cos, e, log, lu_solve, matrix, mp, mpf, pi, sin, sinh, sqrt, tan, tanh

mp.prec = 160


def to_single(x):
    return mpf(struct.unpack("<f", struct.pack("<f", float(x)))[0])


def to_double(x):
    return mpf(float(x))


def nearly_minimax(values, degree, lowest):
    """c[k] of t**(k + lowest) for values (t, g, weight): Lawson's iteration, i.e. least squares whose weights grow
    where the error is large."""
    n = degree + 1
    lawson = [mpf(1)] * len(values)
    powers = [[w * t ** (k + lowest) for k in range(n)] for t, _, w in values]
    best = None
    for _ in range(30):
        a, b = matrix(n, n), matrix(n, 1)
        for (t, g, w), row, weight in zip(values, powers, lawson):
            for i in range(n):
                scaled = weight * row[i]
                b[i] += scaled * w * g
                for k in range(i, n):
                    a[i, k] += scaled * row[k]
        for i in range(n):
            for k in range(i):
                a[i, k] = a[k, i]
        c = list(lu_solve(a, b))
        errors = [abs(w * g - sum(x * y for x, y in zip(c, row))) for (t, g, w), row in zip(values, powers)]
        if best is None or max(errors) < best[0]:
            best = (max(errors), c)
        mean = sum(errors) / len(errors)
        lawson = [weight * error / mean for weight, error in zip(lawson, errors)]
    return best[1]


def fit(g, weight, low, high, degree, rounded):
    low, high = mpf(low), mpf(high)
    nodes = 120  # even, so that the middle, where some quotients are 0/0, is no node
    grid = [(low + high) / 2 + (low - high) / 2 * cos(pi * (2 * i + 1) / (2 * nodes)) for i in range(nodes)]
    values = [(t, g(t), weight(t)) for t in grid]
    done = []
    for k in range(degree + 1):
        rest = [(t, v - sum(c * t**i for i, c in enumerate(done)), w) for t, v, w in values]
        done.append(rounded(nearly_minimax(rest, degree - k, k)[0]))
    error = max(abs(w * (v - sum(c * t**i for i, c in enumerate(done)))) for t, v, w in values)
    return done, error


tiny = mpf(2) ** -40
ln2 = log(2)
# name: (P(t), weight = d(result)/dP / result, interval, degree, precision)
JOBS = {
    # e^r = 1 + r + r^2 P(r)
    "exp": (lambda r: (e**r - 1 - r) / r**2, lambda r: r**2 / e**r, -ln2 / 2, ln2 / 2, 4, to_single),
    # e^r = 1 + r P(r)
    "exp_fast": (lambda r: (e**r - 1) / r, lambda r: r / e**r, -ln2 / 2, ln2 / 2, 4, to_single),
    # 2^r = 1 + r P(r)
    "exp2": (lambda r: (2**r - 1) / r, lambda r: r / 2**r, -0.5, 0.5, 5, to_single),
    "exp2_fast": (lambda r: (2**r - 1) / r, lambda r: r / 2**r, -0.5, 0.5, 4, to_single),
    # 10^r = 1 + r P(r)
    "exp10": (lambda r: (10**r - 1) / r, lambda r: r / 10**r, -log(2, 10) / 2, log(2, 10) / 2, 5, to_single),
    # log(1 + f) = f - f^2/2 + f^3 P(f)
    "log": (lambda f: (log(1 + f) - f + f * f / 2) / f**3, lambda f: f**3 / log(1 + f), sqrt(0.5) - 1, sqrt(2) - 1, 8, to_single),
    "log_fast": (lambda f: (log(1 + f) - f + f * f / 2) / f**3, lambda f: f**3, sqrt(0.5) - 1, sqrt(2) - 1, 5, to_single),
    # sin r = r + r^3 P(r^2); cos r = 1 - z/2 + z^2 P(z), z = r^2
    "sin": (lambda z: (sin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z * sqrt(z) / sin(sqrt(z)), tiny, (pi / 4) ** 2, 2, to_single),
    "cos": (lambda z: (cos(sqrt(z)) - 1 + z / 2) / z**2, lambda z: z**2 / cos(sqrt(z)), tiny, (pi / 4) ** 2, 2, to_single),
    # sin(pi r) = pi r + r^3 P(z); cos(pi r) = 1 + z P(z)
    "sinpi": (lambda z: (sin(pi * sqrt(z)) / sqrt(z) - pi) / z, lambda z: z * sqrt(z) / sin(pi * sqrt(z)), tiny, mpf(1) / 16, 3, to_single),
    "cospi": (lambda z: (cos(pi * sqrt(z)) - 1) / z, lambda z: z / cos(pi * sqrt(z)), tiny, mpf(1) / 16, 3, to_single),
    # tan r = r + r^3 P(z)
    "tan": (lambda z: (tan(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z * sqrt(z) / tan(sqrt(z)), tiny, (pi / 4) ** 2, 6, to_single),
    # asin x = x + x^3 P(z), |x| <= 1/2
    "asin": (lambda z: (asin(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z * sqrt(z) / asin(sqrt(z)), tiny, mpf(1) / 4, 4, to_single),
    # atan t = t + t^3 P(z), |t| <= tan(pi/8)
    "atan": (lambda z: (atan(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z * sqrt(z) / atan(sqrt(z)), tiny, tan(pi / 8) ** 2, 4, to_single),
    # sinh x = x + x^3 P(z), |x| <= 1
    "sinh": (lambda z: (sinh(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z * sqrt(z) / sinh(sqrt(z)), tiny, mpf(1), 3, to_single),
    # tanh x = x + x^3 P(z), |x| <= 5/8
    "tanh": (lambda z: (tanh(sqrt(z)) / sqrt(z) - 1) / z, lambda z: z * sqrt(z) / tanh(sqrt(z)), tiny, mpf(25) / 64, 5, to_single),
    # log2((1 + s) / (1 - s)) = s P(s^2), in double: pow
    "log2_double": (lambda z: log((1 + sqrt(z)) / (1 - sqrt(z)), 2) / sqrt(z), lambda z: sqrt(z) / log((1 + sqrt(z)) / (1 - sqrt(z)), 2), tiny, ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2, 4, to_double),
}

if __name__ == "__main__":
    for name in sys.argv[1:] or JOBS:
        g, weight, low, high, degree, rounded = JOBS[name]
        coefficients, error = fit(g, weight, low, high, degree, rounded)
        print(f"{name}: error 2^{float(log(error, 2)):.1f}")
        print("  " + ", ".join(float(c).hex() + ("f" if rounded is to_single else "") for c in coefficients))
