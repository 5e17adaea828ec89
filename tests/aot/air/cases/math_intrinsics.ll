llvm.* in AIR's words.
;;; renamed, precise by default
; expect: call float @air.sqrt.f32(float
; expect: call half @air.exp2.f16(half
; expect: call <4 x float> @air.fma.v4f32(<4 x float>
; expect: call float @air.rint.f32(float
; expect: call float @air.fmin.f32(float
; never: @llvm.
; target: macos12 macos13 macos14 macos15 macos26 ios15 ios26
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile float, ptr %p
  %a = call float @llvm.sqrt.f32(float %x)
  store volatile float %a, ptr %q
  %h = load volatile half, ptr %p
  %b = call half @llvm.exp2.f16(half %h)
  store volatile half %b, ptr %q
  %v = load volatile <4 x float>, ptr %p
  %c = call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %v, <4 x float> %v, <4 x float> %v)
  store volatile <4 x float> %c, ptr %q
  %d = call float @llvm.nearbyint.f32(float %x)
  store volatile float %d, ptr %q
  %e = call float @llvm.minnum.f32(float %x, float 1.0)
  store volatile float %e, ptr %q
  ret void
}
declare float @llvm.sqrt.f32(float)
declare half @llvm.exp2.f16(half)
declare <4 x float> @llvm.fmuladd.v4f32(<4 x float>, <4 x float>, <4 x float>)
declare float @llvm.nearbyint.f32(float)
declare float @llvm.minnum.f32(float, float)
;;; afn asks for the fast form, half has none
; expect: call afn float @air.fast_exp.f32(float
; expect: call afn half @air.exp.f16(half
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile float, ptr %p
  %a = call afn float @llvm.exp.f32(float %x)
  store volatile float %a, ptr %q
  %h = load volatile half, ptr %p
  %b = call afn half @llvm.exp.f16(half %h)
  store volatile half %b, ptr %q
  ret void
}
declare float @llvm.exp.f32(float)
declare half @llvm.exp.f16(half)
;;; so does --fast-math
; option: fast_math
; expect: call float @air.fast_log2.f32(float
; expect: air.compile.fast_math_enable
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile float, ptr %p
  %a = call float @llvm.log2.f32(float %x)
  store volatile float %a, ptr %q
  ret void
}
declare float @llvm.log2.f32(float)
;;; bfloat goes through float
; expect: fpext bfloat
; expect: call float @air.sqrt.f32
; expect: fptrunc float
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile bfloat, ptr %p
  %a = call bfloat @llvm.sqrt.bf16(bfloat %x)
  store volatile bfloat %a, ptr %q
  ret void
}
declare bfloat @llvm.sqrt.bf16(bfloat)
;;; eight lanes in two calls
; expect: call <4 x float> @air.exp2.v4f32
; expect: call <4 x float> @air.exp2.v4f32
; never: @air.exp2.v8f32
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile <8 x float>, ptr %p
  %a = call <8 x float> @llvm.exp2.v8f32(<8 x float> %x)
  store volatile <8 x float> %a, ptr %q
  ret void
}
declare <8 x float> @llvm.exp2.v8f32(<8 x float>)
;;; minimum keeps NaN
; expect: call float @air.fmin.f32
; expect: fcmp oeq float
; expect: fcmp uno float
; expect: 0x7FF8000000000000
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile float, ptr %p
  %y = load volatile float, ptr %p
  %a = call float @llvm.minimum.f32(float %x, float %y)
  store volatile float %a, ptr %q
  ret void
}
declare float @llvm.minimum.f32(float, float)
;;; counting
; expect: call i32 @air.clz.i32(i32 %x, i1 false)
; expect: call i64 @air.popcount.i64(i64
; expect: call i16 @air.reverse_bits.i16(i16
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile i32, ptr %p
  %a = call i32 @llvm.ctlz.i32(i32 %x, i1 true)
  store volatile i32 %a, ptr %q
  %l = load volatile i64, ptr %p
  %b = call i64 @llvm.ctpop.i64(i64 %l)
  store volatile i64 %b, ptr %q
  %s = load volatile i16, ptr %p
  %c = call i16 @llvm.bitreverse.i16(i16 %s)
  store volatile i16 %c, ptr %q
  ret void
}
declare i32 @llvm.ctlz.i32(i32, i1)
declare i64 @llvm.ctpop.i64(i64)
declare i16 @llvm.bitreverse.i16(i16)
;;; what Apple's optimiser leaves stays from AIR 2.6
; target: macos14 macos15 macos26 ios17
; expect: call i32 @llvm.smax.i32
; expect: call i32 @llvm.fshl.i32
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile i32, ptr %p
  %y = load volatile i32, ptr %p
  %a = call i32 @llvm.smax.i32(i32 %x, i32 %y)
  store volatile i32 %a, ptr %q
  %b = call i32 @llvm.fshl.i32(i32 %x, i32 %y, i32 7)
  store volatile i32 %b, ptr %q
  ret void
}
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
;;; what it never leaves is spelt out
; target: macos14 macos15 macos26 ios17
; never: @llvm.
; expect: icmp ult i32
; expect: select i1
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile i32, ptr %p
  %y = load volatile i32, ptr %p
  %a = call i32 @llvm.umin.i32(i32 %x, i32 %y)
  store volatile i32 %a, ptr %q
  %s = load volatile i16, ptr %p
  %b = call i16 @llvm.fshl.i16(i16 %s, i16 %s, i16 14)
  store volatile i16 %b, ptr %q
  %c = call i16 @llvm.usub.sat.i16(i16 %s, i16 3)
  store volatile i16 %c, ptr %q
  ret void
}
declare i32 @llvm.umin.i32(i32, i32)
declare i16 @llvm.fshl.i16(i16, i16, i16)
declare i16 @llvm.usub.sat.i16(i16, i16)
;;; and is spelt out before
; target: macos12 macos13 ios15 ios16
; never: @llvm.
; expect: icmp sgt i32
; expect: select i1
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile i32, ptr %p
  %y = load volatile i32, ptr %p
  %a = call i32 @llvm.smax.i32(i32 %x, i32 %y)
  store volatile i32 %a, ptr %q
  %b = call i32 @llvm.fshl.i32(i32 %x, i32 %y, i32 7)
  store volatile i32 %b, ptr %q
  ret void
}
declare i32 @llvm.smax.i32(i32, i32)
declare i32 @llvm.fshl.i32(i32, i32, i32)
;;; frem is fmod, half in float
; expect: call float @air.fmod.f32
; expect: call float @air.fmod.f32
; never: frem
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile float, ptr %p
  %a = frem float %x, 3.5
  store volatile float %a, ptr %q
  %h = load volatile half, ptr %p
  %b = frem half %h, 3.5
  store volatile half %b, ptr %q
  ret void
}
;;; reductions lane by lane
; never: @llvm.vector
; expect: fadd float
; expect: fadd float
; expect: fadd float
; expect: fadd float
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile <4 x float>, ptr %p
  %x = load volatile float, ptr %p
  %a = call float @llvm.vector.reduce.fadd.v4f32(float %x, <4 x float> %v)
  store volatile float %a, ptr %q
  ret void
}
declare float @llvm.vector.reduce.fadd.v4f32(float, <4 x float>)
;;; an intrinsic without meaning in AIR
; error: 'llvm.readcyclecounter' has no meaning in AIR
; error: function 'k'
define void @k(ptr %p) "smelt.kernel" {
  %a = call i64 @llvm.readcyclecounter()
  store i64 %a, ptr %p
  ret void
}
declare i64 @llvm.readcyclecounter()

;;; lanes the other way round
; expect: shufflevector <4 x i32> %v, <4 x i32> poison, <4 x i32> <i32 3, i32 2, i32 1, i32 0>
define void @k(ptr %p) "smelt.kernel" {
  %v = load volatile <4 x i32>, ptr %p
  %r = call <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32> %v)
  store volatile <4 x i32> %r, ptr %p
  ret void
}
declare <4 x i32> @llvm.vector.reverse.v4i32(<4 x i32>)
;;; the least half stays half
; expect: call half @air.fmin.f16(half
; never: @air.fmin.f32
define void @k(ptr %p) "smelt.kernel" {
  %v = load volatile <4 x half>, ptr %p
  %r = call half @llvm.vector.reduce.fmin.v4f16(<4 x half> %v)
  store volatile half %r, ptr %p
  ret void
}
declare half @llvm.vector.reduce.fmin.v4f16(<4 x half>)
