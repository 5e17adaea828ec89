#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes the numbers of doubles.h that are no fractions: polynomials of the error function (Chebyshev interpolation, in
powers, rounded to double) and 2/pi. Needs mpmath. Not part of the build: run it, compare, paste."""

from mpmath import chebyfit, erf, erfc, exp, floor, mp, mpf, pi, sqrt

mp.prec = 300


def show(name, terms):
    print(f"static const double {name}[] = {{  // lowest power last")
    for term in terms:
        print(f"    {float(term).hex()},")
    print("};")


def main():
    # erf(x) = x + x P(x^2) for |x| <= 0.9
    show("kErf", chebyfit(lambda z: (erf(sqrt(z)) / sqrt(z) if z > 0 else 2 / sqrt(pi)) - 1, [mpf(0), mpf("0.82")], 13))

    # erfc(x) exp(x^2) = P(t) / (1 + 2 x), t = (x - 3.75) / (x + 3.75), for x in [0.9, 28]
    def scaled(t):
        x = mpf("3.75") * (1 + t) / (1 - t)
        return erfc(x) * exp(x * x) * (1 + 2 * x)

    low, high = (mpf("0.88") - mpf("3.75")) / (mpf("0.88") + mpf("3.75")), (28 - mpf("3.75")) / (28 + mpf("3.75"))
    terms, error = chebyfit(scaled, [low, high], 22, error=True)
    print("//", mp.nstr(error, 3))
    show("kErfcx", terms)
    mp.prec = 1400
    bits = int(floor(2 / pi * mpf(2) ** 1280))
    words = [f"0x{bits >> 32 * i & 0xFFFFFFFF:08x}u" for i in range(39, -1, -1)]
    print("// the first 1280 bits of 2/pi, behind the point")
    for i in range(0, len(words), 8):
        print("    " + ", ".join(words[i : i + 8]) + ",")


if __name__ == "__main__":
    main()
