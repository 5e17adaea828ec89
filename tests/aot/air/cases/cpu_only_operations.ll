Doubles as their bits, and atomics of 64 bits, of kernels for the CPU alone.
;;; arithmetic, memory, phis and constants
; option: cpu_only
; target: macos14 macos26 ios15
; expect: load i64, ptr addrspace(1) %p
; expect: phi i64 [ 4607182418800017408,
; expect: call i64 @smelt.cpu.f64.mul(i64 
; expect: call i1 @smelt.cpu.f64.olt(i64 
; expect: store i64
; expect: !smelt.cpu_only = !{
; never: double
define void @k(ptr %p, i32 %n) "smelt.kernel" {
entry:
  %x = load double, ptr %p
  br label %loop
loop:
  %f = phi double [ 1.0, %entry ], [ %g, %loop ]
  %g = fmul double %f, %x
  %c = fcmp olt double %g, 1.0e300
  br i1 %c, label %loop, label %out
out:
  store double %g, ptr %p
  ret void
}
;;; vectors element by element, structures, tables
; option: cpu_only
; expect: [2 x i64] [i64 4609434218613702656, i64 4612811918334230528]
; expect: call i64 @smelt.cpu.f64.fma(
; expect: call i64 @smelt.cpu.f64.fma(
; never: double
@t = internal addrspace(2) constant [2 x double] [double 1.5, double 2.5]
declare <2 x double> @llvm.fma.v2f64(<2 x double>, <2 x double>, <2 x double>)
define void @k(ptr %p, i32 %i) "smelt.kernel" {
  %x = load <2 x double>, ptr %p, align 8
  %q = getelementptr [2 x double], ptr addrspace(2) @t, i32 0, i32 %i
  %c = load double, ptr addrspace(2) %q
  %v = insertelement <2 x double> %x, double %c, i32 0
  %y = call <2 x double> @llvm.fma.v2f64(<2 x double> %x, <2 x double> %v, <2 x double> <double 1.0, double poison>)
  store <2 x double> %y, ptr %p, align 8
  ret void
}
;;; conversions, of narrow integers through wider ones
; option: cpu_only
; expect: call i32 @smelt.cpu.f64.to_s32(i64
; expect: call i64 @smelt.cpu.f64.from_u32(i32
; expect: call half @smelt.cpu.f64.to_f16(i64
; never: double
define void @k(ptr %p, ptr %h, i32 %n) "smelt.kernel" {
  %x = load double, ptr %p
  %i = fptosi double %x to i8
  %j = zext i8 %i to i32
  %y = uitofp i32 %j to double
  store double %y, ptr %p
  %z = fptrunc double %x to half
  store half %z, ptr %h
  ret void
}
;;; atomics of 64 bits
; option: cpu_only
; expect: call i64 @smelt.cpu.atomic.fadd.1(ptr addrspace(1) %p, i64 4607182418800017408)
; expect: call i64 @smelt.cpu.atomic.add.1(ptr addrspace(1) %p, i64 5)
; expect: call i64 @smelt.cpu.atomic.cmpxchg.1(ptr addrspace(1) %p, i64 
; never: atomicrmw
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw fadd ptr %p, double 1.0 syncscope("agent") acq_rel
  %b = atomicrmw add ptr %p, i64 5 monotonic
  %c = cmpxchg ptr %p, i64 %b, i64 7 acq_rel monotonic
  %d = extractvalue { i64, i1 } %c, 0
  store i64 %d, ptr %q
  ret void
}
;;; a scalar argument
; option: cpu_only
; expect: load i64, ptr addrspace(2) %x
; expect: !"double"
define void @k(ptr %p, double %x) "smelt.kernel" {
  %y = fadd double %x, 1.0
  store double %y, ptr %p
  ret void
}
;;; a kernel without either is as it was
; option: cpu_only
; never: smelt.cpu
define void @k(ptr %p) "smelt.kernel" {
  %a = atomicrmw add ptr %p, i32 1 monotonic
  ret void
}
;;; what CPU code has not
; option: cpu_only
; error: there is no such operation on double in CPU code
declare double @llvm.vector.reduce.fadd.v2f64(double, <2 x double>)
define void @k(ptr %p) "smelt.kernel" {
  %x = load <2 x double>, ptr %p, align 8
  %y = call double @llvm.vector.reduce.fadd.v2f64(double 0.0, <2 x double> %x)
  store double %y, ptr %p
  ret void
}
;;; wider floats
; option: cpu_only
; error: uses fp128; no Apple GPU computes in it
define void @k(ptr %p) "smelt.kernel" {
  %x = load fp128, ptr %p
  %y = fadd fp128 %x, %x
  store fp128 %y, ptr %p
  ret void
}
;;; without the option the error names it
; error: --cpu-only
define void @k(ptr %p) "smelt.kernel" {
  %x = load double, ptr %p
  %y = fmul double %x, %x
  store double %y, ptr %p
  ret void
}

;;; constant structures, and the two parts of a double
; option: cpu_only
; expect: , i64 4611686018427387904, i64 %x
; expect: call i32 @smelt.cpu.f64.frexp_exponent(i64
; expect: call i64 @smelt.cpu.f64.frexp_fraction(i64
; never: double
define void @k(ptr %p, ptr %q, i1 %c) "smelt.kernel" {
  %x = load volatile double, ptr %p
  %n = load volatile i32, ptr %q
  %a = insertvalue { double, i32 } poison, double %x, 0
  %b = insertvalue { double, i32 } %a, i32 %n, 1
  %s = select i1 %c, { double, i32 } { double 2.0, i32 3 }, { double, i32 } %b
  %y = extractvalue { double, i32 } %s, 0
  %pair = call { double, i32 } @llvm.frexp.f64.i32(double %y)
  %f = extractvalue { double, i32 } %pair, 0
  %e = extractvalue { double, i32 } %pair, 1
  store volatile double %f, ptr %p
  store volatile i32 %e, ptr %q
  ret void
}
declare { double, i32 } @llvm.frexp.f64.i32(double)
