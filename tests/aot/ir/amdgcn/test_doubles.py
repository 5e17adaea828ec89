#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Kernels for the CPU alone (cpu_only=True): double precision and atomics of 64 bits in IR as Triton 3.6 writes it for
gfx1100, run on the CPU device against NumPy and the C library. Needs NumPy and the smelt package, no Triton."""

import ctypes
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
except ImportError:
    print("SKIPPED: no NumPy")
    sys.exit(77)

import smelt

HERE = pathlib.Path(__file__).resolve().parent
SMELT = os.environ.get("SMELT", str(HERE.parents[3] / "build/dev/bin/smelt"))
METADATA = {"shared": 4096, "num_warps": 4, "warp_size": 32, "global_scratch_size": 0, "profile_scratch_size": 0}
COUNT = 1000
GROUP = 128
INTRINSICS = {
    "rcp": "double (double)", "rsq": "double (double)", "sqrt": "double (double)", "fract": "double (double)",
    "frexp.mant": "double (double)", "frexp.exp.i32": "i32 (double)", "trig.preop": "double (double, i32)",
}  # fmt: skip

HEAD = """
target triple = "amdgcn-amd-amdhsa"
@global_smem = external addrspace(3) global [0 x i8], align 16
@table = internal addrspace(4) constant [3 x double] [double 1.5, double -2.25, double 0x3FF3333333333333], align 8
declare i32 @llvm.amdgcn.workgroup.id.x()
declare i32 @llvm.amdgcn.workitem.id.x()
declare void @llvm.amdgcn.s.barrier()
declare i32 @llvm.amdgcn.ds.bpermute(i32, i32)
declare i32 @llvm.amdgcn.update.dpp.i32(i32, i32, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
declare i32 @llvm.amdgcn.permlanex16.i32(i32, i32, i32, i32, i1 immarg, i1 immarg)
declare double @llvm.amdgcn.update.dpp.f64(double, double, i32 immarg, i32 immarg, i32 immarg, i1 immarg)
declare double @llvm.amdgcn.readlane.f64(double, i32)
declare double @llvm.fma.f64(double, double, double)
declare double @llvm.fmuladd.f64(double, double, double)
declare double @llvm.fabs.f64(double)
declare double @llvm.floor.f64(double)
declare double @llvm.rint.f64(double)
declare double @llvm.round.f64(double)
declare double @llvm.sqrt.f64(double)
declare double @llvm.copysign.f64(double, double)
declare double @llvm.maxnum.f64(double, double)
declare double @llvm.minimum.f64(double, double)
declare double @llvm.ldexp.f64.i32(double, i32)
declare {double, i32} @llvm.frexp.f64.i32(double)
declare i1 @llvm.is.fpclass.f64(double, i32 immarg)
declare <2 x double> @llvm.fma.v2f64(<2 x double>, <2 x double>, <2 x double>)
"""
BEGIN = """define amdgpu_kernel void @%s(ptr addrspace(1) inreg captures(none) %%a, ptr addrspace(1) inreg captures(none) %%b, ptr addrspace(1) inreg captures(none) %%out, i32 inreg %%n, ptr addrspace(1) inreg readnone captures(none) %%s1, ptr addrspace(1) inreg readnone captures(none) %%s2) {
  %%group = tail call i32 @llvm.amdgcn.workgroup.id.x()
  %%begin = shl i32 %%group, 7
  %%t = tail call i32 @llvm.amdgcn.workitem.id.x()
  %%i32 = or disjoint i32 %%begin, %%t
  %%i = sext i32 %%i32 to i64
  %%inside = icmp slt i32 %%i32, %%n
"""
ELEMENTWISE = """  br i1 %inside, label %on, label %off
on:
  %pa = getelementptr double, ptr addrspace(1) %a, i64 %i
  %va = load <1 x double>, ptr addrspace(1) %pa, align 8
  %x = extractelement <1 x double> %va, i64 0
  %pb = getelementptr double, ptr addrspace(1) %b, i64 %i
  %y = load double, ptr addrspace(1) %pb, align 8
{body}
  %po = getelementptr double, ptr addrspace(1) %out, i64 %i
  store double %r, ptr addrspace(1) %po, align 8
  br label %off
off:
  ret void
}}
"""


def bfloat(x):
    """The bfloat nearest to each double, by exact arithmetic on the bits of the double."""
    out = []
    for one in x:
        m, e = math.frexp(one)
        out.append(math.ldexp(float(round(m * 256)), e - 8))  # Python rounds ties to even
    return np.array(out)


def each(function):
    return lambda x, y: np.array([function(a, b) for a, b in zip(x.tolist(), y.tolist())])


def one(function):
    return lambda x, y: np.array([function(a) for a in x.tolist()])


def preop(x, segment):
    """2/pi by its bits, as AMD's instruction gives them."""
    unit = 1 << 1400  # pi by Machin's formula, in integers

    def arctan(k):
        total, term, n = 0, unit // k, 1
        while term:
            total += term // n if n % 4 == 1 else -(term // n)
            term //= k * k
            n += 2
        return total

    pi = 4 * (4 * arctan(5) - arctan(239))
    bits = (2 * unit << 1201) // pi
    exponent = math.frexp(x)[1] + 1022
    shift = segment * 53 + max(exponent - 1077, 0)
    return math.ldexp(float((bits << shift & (1 << 1201) - 1) >> 1148), -53 - shift + (128 if exponent >= 1968 else 0))


# name: (body that makes %r of %x and %y, reference, largest error in ulp)
CASES = {
    "arithmetic": ("  %s = fadd double %x, %y\n  %d = fsub double %x, %y\n  %m = fmul double %s, %d\n  %q = fdiv double %m, %y\n  %r = fneg double %q",
                   lambda x, y: -((x + y) * (x - y) / y), 0),
    "remainder": ("  %r = frem double %x, %y", each(math.fmod), 0),
    "fused": ("  %r = call double @llvm.fma.f64(double %x, double %y, double 0.1)", lambda x, y: (x.astype(np.longdouble) * y + 0.1).astype(float), 1),
    "rounding": ("  %f = call double @llvm.floor.f64(double %x)\n  %g = call double @llvm.rint.f64(double %y)\n  %h = call double @llvm.round.f64(double %y)\n  %k = fadd double %f, %g\n  %r = fadd double %k, %h",
                 lambda x, y: np.floor(x) + np.rint(y) + np.where(y < 0, -np.floor(-y + 0.5), np.floor(y + 0.5)), 0),
    "largest": ("  %k = call double @llvm.maxnum.f64(double %x, double %y)\n  %l = call double @llvm.minimum.f64(double %k, double 3.0)\n  %r = call double @llvm.copysign.f64(double %l, double %x)",
                lambda x, y: np.copysign(np.minimum(np.maximum(x, y), 3.0), x), 0),
    "compare": ("  %c = fcmp olt double %x, %y\n  %k = select i1 %c, double %x, double 7.0\n  %e = fcmp une double %k, 7.0\n  %u = uitofp i1 %e to double\n  %o = fcmp uno double %x, %y\n  %w = sitofp i1 %o to double\n  %z = fadd double %u, %w\n  %r = fadd double %k, %z",
                lambda x, y: np.where(x < y, x, 7.0) + np.where(x < y, 1.0, 0.0), 0),
    "to_float": ("  %f = fptrunc double %x to float\n  %g = fadd float %f, 1.0\n  %r = fpext float %g to double", lambda x, y: (x.astype(np.float32) + np.float32(1)).astype(float), 0),
    "to_half": ("  %f = fptrunc double %x to half\n  %r = fpext half %f to double", lambda x, y: x.astype(np.float16).astype(float), 0),
    "to_bfloat": ("  %f = fptrunc double %x to bfloat\n  %r = fpext bfloat %f to double", lambda x, y: bfloat(x), 0),
    "integers": ("  %k = fptosi double %x to i32\n  %l = sitofp i32 %k to double\n  %m = fptosi double %y to i64\n  %o = sitofp i64 %m to double\n  %p = fadd double %l, %o\n  %q = fptosi double %x to i8\n  %s = sext i8 %q to i64\n  %v = mul i64 %s, 1099511627776\n  %w = sitofp i64 %v to double\n  %r = fadd double %p, %w",
                 lambda x, y: np.trunc(x) + np.trunc(y) + np.trunc(x) * 2.0**40, 0),
    "unsigned": ("  %f = call double @llvm.fabs.f64(double %x)\n  %b1 = fmul double %f, 1.0e17\n  %k = fptoui double %b1 to i64\n  %l = uitofp i64 %k to double\n  %m = fptoui double %f to i16\n  %o = uitofp i16 %m to double\n  %r = fadd double %l, %o",
                 lambda x, y: (np.abs(x) * 1e17).astype(np.uint64).astype(float) + np.trunc(np.abs(x)), 0),
    "bits": ("  %k = bitcast double %x to i64\n  %l = xor i64 %k, -9223372036854775808\n  %m = bitcast i64 %l to double\n  %v = bitcast double %m to <2 x i32>\n  %h = extractelement <2 x i32> %v, i32 1\n  %f = insertelement <2 x i32> %v, i32 %h, i32 1\n  %r = bitcast <2 x i32> %f to double",
             lambda x, y: -x, 0),
    "constants": ("  %k = icmp slt i32 %t, 3\n  %j = select i1 %k, i32 %t, i32 2\n  %p = getelementptr [3 x double], ptr addrspace(4) @table, i32 0, i32 %j\n  %l = load double, ptr addrspace(4) %p, align 8\n  %r = fmul double %x, %l",
                  lambda x, y: x * np.where(np.arange(len(x)) % GROUP == 0, 1.5, np.where(np.arange(len(x)) % GROUP == 1, -2.25, 1.2)), 0),
    "apart": ("  %k = call {double, i32} @llvm.frexp.f64.i32(double %x)\n  %f = extractvalue {double, i32} %k, 0\n  %e = extractvalue {double, i32} %k, 1\n  %g = sub i32 0, %e\n  %l = call double @llvm.ldexp.f64.i32(double %y, i32 %g)\n  %r = fadd double %f, %l",
              each(lambda a, b: math.frexp(a)[0] + math.ldexp(b, -math.frexp(a)[1])), 0),
    "class": ("  %c = call i1 @llvm.is.fpclass.f64(double %x, i32 60)\n  %r = select i1 %c, double %x, double %y", lambda x, y: np.where(x < 0, x, y), 0),
    "loop": ("  br label %head\nhead:\n  %sum = phi double [ 0.0, %on ], [ %next, %head ]\n  %k = phi i32 [ 0, %on ], [ %kn, %head ]\n  %next = call double @llvm.fmuladd.f64(double %sum, double 0.5, double %x)\n  %kn = add i32 %k, 1\n  %more = icmp slt i32 %kn, 100\n  br i1 %more, label %head, label %out1\nout1:\n  %r = fadd double %next, %y",
             lambda x, y: 2 * x + y, 4),
    "rcp": ("  %r = call double @llvm.amdgcn.rcp.f64(double %x)", lambda x, y: 1 / x, 0),
    "rsq": ("  %f = call double @llvm.fabs.f64(double %x)\n  %r = call double @llvm.amdgcn.rsq.f64(double %f)", lambda x, y: (1 / np.sqrt(np.abs(x.astype(np.longdouble)))).astype(float), 1),
    "sqrt": ("  %f = call double @llvm.fabs.f64(double %x)\n  %g = call double @llvm.sqrt.f64(double %f)\n  %h = call double @llvm.amdgcn.sqrt.f64(double %f)\n  %r = fadd double %g, %h", lambda x, y: 2 * np.sqrt(np.abs(x)), 0),
    "fract": ("  %r = call double @llvm.amdgcn.fract.f64(double %x)", lambda x, y: x - np.floor(x), 0),
    "mantissa": ("  %f = call double @llvm.amdgcn.frexp.mant.f64(double %x)\n  %e = call i32 @llvm.amdgcn.frexp.exp.i32.f64(double %x)\n  %g = sitofp i32 %e to double\n  %r = fadd double %f, %g", each(lambda a, b: sum(math.frexp(a))), 0),
    "preop": ("  %k = and i32 %t, 7\n  %f = call double @llvm.ldexp.f64.i32(double %x, i32 400)\n  %c = icmp slt i32 %t, 64\n  %g = select i1 %c, double %x, double %f\n  %r = call double @llvm.amdgcn.trig.preop.f64(double %g, i32 %k)",
              lambda x, y: np.array([preop(math.ldexp(a, 0 if i % GROUP < 64 else 400), i % GROUP & 7) for i, a in enumerate(x.tolist())]), 0),
}
CASES.update({
    f"call_{name}": (f"  %r = call double @__ocml_{name}_f64(double {argument})", reference, ulp)
    for name, argument, reference, ulp in [
        ("exp", "%x", one(math.exp), 1), ("exp2", "%x", one(lambda a: 2.0**a), 1), ("expm1", "%x", one(math.expm1), 1), ("sin", "%x", one(math.sin), 1),
        ("cos", "%x", one(math.cos), 1), ("tan", "%x", one(math.tan), 1), ("tanh", "%x", one(math.tanh), 2), ("sinh", "%x", one(math.sinh), 2),
        ("cosh", "%x", one(math.cosh), 2), ("atan", "%x", one(math.atan), 1), ("erf", "%x", one(math.erf), 1), ("erfc", "%x", one(math.erfc), 2),
        ("asinh", "%x", one(math.asinh), 2), ("cbrt", "%x", lambda x, y: np.cbrt(x), 2),
    ]
})  # fmt: skip
CASES.update({
    f"call_{name}": (f"  %f = call double @llvm.fabs.f64(double %x)\n  %r = call double @__ocml_{name}_f64(double %f)", one(lambda a, f=reference: f(abs(a))), ulp)
    for name, reference, ulp in [("log", math.log, 1), ("log2", math.log2, 1), ("log10", math.log10, 2), ("log1p", math.log1p, 1), ("acosh", lambda a: math.acosh(a) if a >= 1 else math.nan, 2)]
})  # fmt: skip
CASES.update({
    f"call_{name}": (f"  %f = fdiv double %x, 21.0\n  %r = call double @__ocml_{name}_f64(double %f)", one(lambda a, f=reference: f(a / 21.0)), ulp)
    for name, reference, ulp in [("asin", math.asin, 1), ("acos", math.acos, 1), ("atanh", math.atanh, 2)]
})  # fmt: skip
CASES.update({
    "call_pow": ("  %f = call double @llvm.fabs.f64(double %x)\n  %r = call double @__ocml_pow_f64(double %f, double %y)", each(lambda a, b: abs(a) ** b), 1),
    "call_atan2": ("  %r = call double @__ocml_atan2_f64(double %x, double %y)", each(math.atan2), 1),
    "call_hypot": ("  %r = call double @__ocml_hypot_f64(double %x, double %y)", each(math.hypot), 1),
    "call_fmod": ("  %r = call double @__ocml_fmod_f64(double %x, double %y)", each(math.fmod), 0),
    "call_nextafter": ("  %r = call double @__ocml_nextafter_f64(double %x, double %y)", lambda x, y: np.nextafter(x, y), 0),
})  # fmt: skip

# The sum of 1000 doubles: each wave by moves of 32-bit halves, then threadgroup memory, then an atomic addition; the
# largest of their bits by an atomic of 64-bit integers, and a count by compare-and-swap.
REDUCTION = """  %pa = getelementptr double, ptr addrspace(1) %a, i64 %i
  br i1 %inside, label %on, label %joined
on:
  %v = load double, ptr addrspace(1) %pa, align 8
  br label %joined
joined:
  %x0 = phi double [ %v, %on ], [ 0.0, %0 ]
"""
STEP = """  %w{k} = bitcast double %x{k} to <2 x i32>
  %l{k} = extractelement <2 x i32> %w{k}, i32 0
  %h{k} = extractelement <2 x i32> %w{k}, i32 1
{moves}
  %m{k} = insertelement <2 x i32> poison, i32 %lm{k}, i32 0
  %n{k} = insertelement <2 x i32> %m{k}, i32 %hm{k}, i32 1
  %o{k} = bitcast <2 x i32> %n{k} to double
  %x{next} = fadd double %x{k}, %o{k}
"""


def reduction():
    text = REDUCTION
    lane = "  %lane = and i32 %t, 31\n"
    text += lane
    for k, distance in enumerate((16, 8, 4, 2, 1)):
        if distance == 1:  # as a whole
            text += f"  %o{k} = call double @llvm.amdgcn.update.dpp.f64(double %x{k}, double %x{k}, i32 177, i32 15, i32 15, i1 false)\n"
            text += f"  %y{k} = fadd double %x{k}, %o{k}\n  %x{k + 1} = call double @llvm.amdgcn.readlane.f64(double %y{k}, i32 31)\n"
            continue
        moves = ""
        for part in "lh":
            if distance == 16:
                moves += f"  %{part}m{k} = call i32 @llvm.amdgcn.permlanex16.i32(i32 poison, i32 %{part}{k}, i32 1985229328, i32 -19088744, i1 true, i1 false)\n"
            elif distance == 2:
                moves += f"  %{part}m{k} = call i32 @llvm.amdgcn.update.dpp.i32(i32 %{part}{k}, i32 %{part}{k}, i32 78, i32 15, i32 15, i1 false)\n"
            else:
                moves += f"  %{part}s{k} = xor i32 %lane, {distance}\n  %{part}b{k} = shl i32 %{part}s{k}, 2\n"
                moves += f"  %{part}m{k} = call i32 @llvm.amdgcn.ds.bpermute(i32 %{part}b{k}, i32 %{part}{k})\n"
        text += STEP.format(k=k, next=k + 1, moves=moves.rstrip("\n"))
    return text + """  %wave = lshr i32 %t, 5
  %ps = getelementptr double, ptr addrspace(3) @global_smem, i32 %wave
  %first = icmp eq i32 %lane, 0
  br i1 %first, label %put, label %wait
put:
  store double %x5, ptr addrspace(3) %ps, align 8
  br label %wait
wait:
  fence syncscope("workgroup") release
  call void @llvm.amdgcn.s.barrier()
  fence syncscope("workgroup") acquire
  %q0 = load <2 x double>, ptr addrspace(3) @global_smem, align 16
  %p1 = getelementptr i8, ptr addrspace(3) @global_smem, i32 16
  %q1 = load <2 x double>, ptr addrspace(3) %p1, align 16
  %q2 = fadd <2 x double> %q0, %q1
  %q3 = extractelement <2 x double> %q2, i32 0
  %q4 = extractelement <2 x double> %q2, i32 1
  %total = fadd double %q3, %q4
  %alone = icmp eq i32 %t, 0
  br i1 %alone, label %tell, label %each
tell:
  %uno1 = atomicrmw fadd ptr addrspace(1) %out, double %total syncscope("agent") acq_rel, align 8
  br label %each
each:
  br i1 %inside, label %more, label %end
more:
  %p2 = getelementptr double, ptr addrspace(1) %out, i64 1
  %positive = call double @llvm.fabs.f64(double %x0)
  %bits = bitcast double %positive to i64
  %uno2 = atomicrmw umax ptr addrspace(1) %p2, i64 %bits syncscope("agent") monotonic, align 8
  %p3 = getelementptr double, ptr addrspace(1) %out, i64 2
  %uno3 = atomicrmw add ptr addrspace(1) %p3, i64 3 syncscope("agent") monotonic, align 8
  %p4 = getelementptr double, ptr addrspace(1) %out, i64 3
  br label %again
again:
  %old = load atomic i64, ptr addrspace(1) %p4 syncscope("agent") monotonic, align 8
  %new = add i64 %old, 5
  %pair = cmpxchg ptr addrspace(1) %p4, i64 %old, i64 %new syncscope("agent") acq_rel monotonic, align 8
  %done = extractvalue { i64, i1 } %pair, 1
  br i1 %done, label %end, label %again
end:
  ret void
}
"""


VECTOR = """  %j = shl i64 %i, 1
  br i1 %inside, label %on, label %off
on:
  %pa = getelementptr double, ptr addrspace(1) %a, i64 %j
  %x = load <2 x double>, ptr addrspace(1) %pa, align 16
  %pb = getelementptr double, ptr addrspace(1) %b, i64 %j
  %y = load <2 x double>, ptr addrspace(1) %pb, align 16
  %z = call <2 x double> @llvm.fma.v2f64(<2 x double> %x, <2 x double> %y, <2 x double> <double 1.0, double -1.0>)
  %c = fcmp ogt <2 x double> %z, zeroinitializer
  %w = select <2 x i1> %c, <2 x double> %z, <2 x double> %x
  %s = shufflevector <2 x double> %w, <2 x double> poison, <2 x i32> <i32 1, i32 0>
  %po = getelementptr double, ptr addrspace(1) %out, i64 %j
  store <2 x double> %s, ptr addrspace(1) %po, align 16
  br label %off
off:
  ret void
}
"""
SCALAR = """define amdgpu_kernel void @scalar(ptr addrspace(1) inreg captures(none) %out, double inreg %by, i32 inreg %n, ptr addrspace(1) inreg readnone captures(none) %s1, ptr addrspace(1) inreg readnone captures(none) %s2) {
  %t = tail call i32 @llvm.amdgcn.workitem.id.x()
  %p = getelementptr double, ptr addrspace(1) %out, i32 %t
  %x = load double, ptr addrspace(1) %p, align 8
  %y = fmul double %x, %by
  store double %y, ptr addrspace(1) %p, align 8
  ret void
}
"""


def module():
    text = HEAD
    for name, type_ in INTRINSICS.items():
        result, operands = type_.split(" ", 1)
        text += f"declare {result} @llvm.amdgcn.{name}.f64{operands}\n"
    called = sorted({body.split("@__ocml_")[1].split("(")[0] for body, _, _ in CASES.values() if "@__ocml_" in body})
    for name in called:
        two = name.split("_")[0] in ("pow", "atan2", "hypot", "fmod", "nextafter")
        text += f"declare double @__ocml_{name}({'double, double' if two else 'double'})\n"
    for name, (body, _, _) in CASES.items():
        text += BEGIN % name + ELEMENTWISE.format(body=body).replace("[ 0.0, %on ]", "[ 0.0, %on ]")
    return text + BEGIN % "reduction" + reduction() + BEGIN % "vector" + VECTOR + SCALAR


def bound(array):
    return (ctypes.c_char * array.nbytes).from_address(array.ctypes.data)


def distance(got, want):
    """In units of the last place of what is wanted; what has no number must be none."""
    assert (np.isnan(got) == np.isnan(want)).all()
    same = (got == want) | np.isnan(want)
    return float(np.where(same, 0, np.abs(got - want) / np.spacing(np.abs(want))).max())


def run_all(library, how):
    rng = np.random.default_rng(3)
    x, y = rng.uniform(-20, 20, COUNT), rng.uniform(-5, 5, COUNT)
    threads, group = (-(-COUNT // GROUP) * GROUP, 1, 1), (GROUP, 1, 1)
    for name, (_, reference, ulp) in CASES.items():
        out = np.zeros(COUNT)
        library[name](bound(x), bound(y), bound(out), ctypes.c_int32(COUNT), threads=threads, group_size=group)
        far = distance(out, reference(x, y))
        assert far <= ulp, (how, name, far)
    out = np.zeros(4)
    library["reduction"](bound(x), bound(y), bound(out), ctypes.c_int32(COUNT), threads=threads, group_size=group)
    assert abs(out[0] - math.fsum(x)) < 1e-12 * np.abs(x).sum(), (how, out[0], math.fsum(x))
    assert out[1] == np.abs(x).max(), (how, out)
    assert out[2:].view(np.int64).tolist() == [3 * COUNT, 5 * COUNT], (how, out[2:].view(np.int64))
    out = np.zeros(COUNT)
    library["vector"](bound(x), bound(y), bound(out), ctypes.c_int32(COUNT // 2), threads=threads, group_size=group)
    z = (x.astype(np.longdouble) * y + np.tile([1.0, -1.0], COUNT // 2)).astype(float)
    want = np.where(z > 0, z, x).reshape(-1, 2)[:, ::-1].reshape(-1)
    assert distance(out, want) <= 1, (how, "vector")
    out = x[:GROUP].copy()
    library["scalar"](bound(out), ctypes.c_double(1 / 3), ctypes.c_int32(0), threads=group, group_size=group)
    assert (out == x[:GROUP] * (1 / 3)).all(), (how, "scalar")


def tool(*words):
    return subprocess.run([SMELT, *map(str, words)], capture_output=True, text=True, timeout=600)


def check_marks(package, text):
    """What is for the CPU alone is in no Metal library, and everybody says so."""
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        kernel, made, metadata = folder / "k.ll", folder / "k.smelt", folder / "k.json"
        kernel.write_text(text)
        metadata.write_text(json.dumps(METADATA))
        made.write_bytes(bytes(package))
        done = tool("compile", kernel, "--metadata", metadata, "--no-store", "-o", folder / "no.smelt")
        assert done.returncode == 1 and "double" in done.stderr and "--cpu-only" in done.stderr, done.stderr
        done = tool("compile", kernel, "--metadata", metadata, "--cpu-only", "--no-store", "-o", folder / "no.metallib")
        assert done.returncode != 0 and "--cpu-only" in done.stderr and not (folder / "no.metallib").exists(), done.stderr
        told = json.loads(tool("inspect", made, "--json").stdout)
        for one in told["slices"]:
            missing = [row["name"] for row in one["missing"]]
            assert ("scalar" in missing) == (not one["target"].startswith("cpu-")), one
            assert all("for the CPU alone" in row["reason"] for row in one["missing"]), one
        assert tool("verify", made).returncode == 0, tool("verify", made).stdout
        # The module itself says that it is none of Metal's, and verify objects to it.
        done = tool("compile", kernel, "--metadata", metadata, "--cpu-only", "--function", "scalar", "--emit", "ll", "-o", folder / "k2.ll")
        air = (folder / "k2.ll").read_text()
        assert done.returncode == 0 and "!smelt.cpu_only = " in air and "double" not in air.replace('!"double"', ""), done.stderr
    metallib = package.metallib("macos14")
    assert b"smelt.cpu" not in metallib, "a Metal library holds what is for the CPU alone"
    try:
        package.load(device=smelt.Device("offline", target="macos14"))["scalar"]
    except smelt.Error as problem:
        assert "for the CPU alone" in str(problem), problem
    else:
        raise AssertionError("a Metal device was given a kernel for the CPU alone")


def main():
    text = module()
    options = {"targets": ["macos14", "macos26"], "metadata": METADATA, "cpu_only": True, "store": False}
    package = smelt.compile(text.encode(), cpu="required", **options)
    assert smelt.compile(text.encode(), cpu=["x86-64-v3", "aarch64"], **options).warnings == []
    assert smelt.compile(text.encode(), cpu="required", **options).digest == package.digest
    run_all(package.load(), "as it is")
    run_all(smelt.compile(text.encode(), cpu="required", checked=True, **options).load(checked=True), "checked")
    check_marks(package, text)
    print(f"doubles: {len(CASES) + 3} kernels right")
    return 0


if __name__ == "__main__":
    sys.exit(main())
