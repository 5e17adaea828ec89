;;; 64 bits in two halves, bfloat and i1 as bits
; expect: call i32 @air.simd_shuffle_xor.u.i32(i32
; expect: call i32 @air.simd_shuffle_xor.u.i32(i32
; expect: call i16 @air.simd_shuffle.u.i16(i16
; expect: call i8 @air.simd_broadcast.u.i8(i8
; never: .i64(
; never: bf16
define void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) "smelt.kernel" {
  %x = load volatile i64, ptr addrspace(1) %p
  %a = call i64 @air.simd_shuffle_xor.s.i64(i64 %x, i16 1)
  store volatile i64 %a, ptr addrspace(1) %q
  %y = load volatile bfloat, ptr addrspace(1) %p
  %b = call bfloat @air.simd_shuffle.bf16(bfloat %y, i16 3)
  store volatile bfloat %b, ptr addrspace(1) %q
  %c = icmp sgt i64 %x, 0
  %d = call i1 @air.simd_broadcast.u.i1(i1 %c, i16 0)
  %z = zext i1 %d to i32
  store volatile i32 %z, ptr addrspace(1) %q
  ret void
}
declare i64 @air.simd_shuffle_xor.s.i64(i64, i16)
declare bfloat @air.simd_shuffle.bf16(bfloat, i16)
declare i1 @air.simd_broadcast.u.i1(i1, i16)
;;; bfloat sums in float, eight lanes one by one
; expect: call float @air.simd_sum.f32(float
; expect: fptrunc float
; expect: @air.simd_shuffle_down.f32
define void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) "smelt.kernel" {
  %y = load volatile bfloat, ptr addrspace(1) %p
  %b = call bfloat @air.simd_sum.bf16(bfloat %y)
  store volatile bfloat %b, ptr addrspace(1) %q
  %v = load volatile <8 x float>, ptr addrspace(1) %p
  %w = call <8 x float> @air.simd_shuffle_down.v8f32(<8 x float> %v, i16 4)
  store volatile <8 x float> %w, ptr addrspace(1) %q
  ret void
}
declare bfloat @air.simd_sum.bf16(bfloat)
declare <8 x float> @air.simd_shuffle_down.v8f32(<8 x float>, i16)
;;; no sum of 64 bits
; error: air.simd_sum.s.i64
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %y = load volatile i64, ptr addrspace(1) %p
  %b = call i64 @air.simd_sum.s.i64(i64 %y)
  store volatile i64 %b, ptr addrspace(1) %p
  ret void
}
declare i64 @air.simd_sum.s.i64(i64)
;;; four lanes of 8 and 16 bits in one call
; expect: call <4 x i16> @air.simd_shuffle_xor.u.v4i16(<4 x i16>
; expect: call <2 x i8> @air.simd_broadcast.u.v2i8(<2 x i8>
; expect: call <4 x i16> @air.simd_sum.u.v4i16(<4 x i16>
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %x = load volatile <4 x i16>, ptr addrspace(1) %p
  %a = call <4 x i16> @air.simd_shuffle_xor.u.v4i16(<4 x i16> %x, i16 1)
  store volatile <4 x i16> %a, ptr addrspace(1) %p
  %y = load volatile <2 x i8>, ptr addrspace(1) %p
  %b = call <2 x i8> @air.simd_broadcast.u.v2i8(<2 x i8> %y, i16 0)
  store volatile <2 x i8> %b, ptr addrspace(1) %p
  %s = call <4 x i16> @air.simd_sum.u.v4i16(<4 x i16> %a)
  store volatile <4 x i16> %s, ptr addrspace(1) %p
  ret void
}
declare <4 x i16> @air.simd_shuffle_xor.u.v4i16(<4 x i16>, i16)
declare <2 x i8> @air.simd_broadcast.u.v2i8(<2 x i8>, i16)
declare <4 x i16> @air.simd_sum.u.v4i16(<4 x i16>)
