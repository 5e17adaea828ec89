/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// erf and erfc of double.
#include "doubles.h"

/// (erf(x) - x) / x for |x| <= 0.9.
RT_INLINE double erf_less(double x) {
  const double z = x * x;
  double p = 0x1.1c5af8f5b0ff5p-34;
  p = FMA_D(p, z, -0x1.3feb8c6aee866p-30);
  p = FMA_D(p, z, 0x1.f9cc49905ae4ep-27);
  p = FMA_D(p, z, -0x1.5f4ae558d16acp-23);
  p = FMA_D(p, z, 0x1.b9e3bea3f992ap-20);
  p = FMA_D(p, z, -0x1.f4d234a8e32fep-17);
  p = FMA_D(p, z, 0x1.f9a32598a254bp-14);
  p = FMA_D(p, z, -0x1.c02db3f7ff363p-11);
  p = FMA_D(p, z, 0x1.565bcd0e4a935p-8);
  p = FMA_D(p, z, -0x1.b82ce31288239p-6);
  p = FMA_D(p, z, 0x1.ce2f21a042bccp-4);
  p = FMA_D(p, z, -0x1.812746b0379e7p-2);
  p = FMA_D(p, z, 0x1.06eba8214db69p-3);
  return p;
}
/// 1 - erf(x) for 0.88 <= x <= 28: e^(-x^2) / (1 + 2 x) and a polynomial of where x lies.
RT_INLINE double erfc_long(double x) {
  const Pair t = divide_pairs(sum_of(x, -3.75), sum_of(x, 3.75));
  double p = -0x1.32a62cafab86fp-27;
  p = FMA_D(p, t.high, 0x1.0e1f1076bce2fp-25);
  p = FMA_D(p, t.high, 0x1.29bac4b2104e3p-25);
  p = FMA_D(p, t.high, -0x1.1234551a97ab4p-22);
  p = FMA_D(p, t.high, -0x1.225e399b82ad4p-24);
  p = FMA_D(p, t.high, 0x1.d64cb0706f7b8p-20);
  p = FMA_D(p, t.high, -0x1.03e7073164ec2p-20);
  p = FMA_D(p, t.high, -0x1.8008fcbaf7e50p-17);
  p = FMA_D(p, t.high, 0x1.77842028191fep-16);
  p = FMA_D(p, t.high, 0x1.b14494b01abe7p-15);
  p = FMA_D(p, t.high, -0x1.303f8b0c140d4p-12);
  p = FMA_D(p, t.high, 0x1.33fb21c1ab28ep-12);
  p = FMA_D(p, t.high, 0x1.cc3a0d92f1006p-10);
  p = FMA_D(p, t.high, -0x1.3f603c30d7ff4p-7);
  p = FMA_D(p, t.high, 0x1.d0b0037e74424p-6);
  p = FMA_D(p, t.high, -0x1.e0d0fa6e0d7e5p-5);
  p = FMA_D(p, t.high, 0x1.7a14188a97feap-4);
  p = FMA_D(p, t.high, -0x1.bda9309a28531p-4);
  p = FMA_D(p, t.high, 0x1.510169d096887p-4);
  p = FMA_D(p, t.high, 0x1.d5f2948159bc6p-9);
  p = FMA_D(p, t.high, -0x1.1f367683f89a7p-3);
  const Pair all = add_to_pair(multiply_pairs(t, (Pair){p, 0.0}), 0x1.3ccda0b5d5dc2p+0);
  return exp_times(negated(product_of(x, x)), divide_pairs(all, sum_of(2.0 * x, 1.0)));
}
double smelt_rt_d_erf(double x) {
  const double a = magnitude_d(x), inner = a < 0.9 ? a : 0.9;
  const double far = 1.0 - erfc_long(a > 0.9 ? (a < 7.0 ? a : 7.0) : 0.9);
  const double near = FMA_D(inner, erf_less(inner), inner);
  return x == x ? with_sign_of_d(a < 0.9 ? near : far, x) : x;
}
double smelt_rt_d_erfc(double x) {
  const double a = magnitude_d(x), inner = a < 0.9 ? x : 0.9;
  const double far = erfc_long(a > 0.9 ? (a < 28.0 ? a : 28.0) : 0.9);
  const Pair rest = sum_of(1.0, -inner);
  const double near = rest.high - FMA_D(inner, erf_less(inner), -rest.low);
  const double r = a < 0.9 ? near : (x < 0.0 ? 2.0 - far : far);
  return x == x ? r : x;
}
