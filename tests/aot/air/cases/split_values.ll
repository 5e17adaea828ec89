Vectors above four lanes, <1 x T>, vectors of pointers, aggregates and i128 in pieces.
;;; loads, arithmetic and stores of eight halves
; expect: load volatile <4 x half>, ptr addrspace(1) %p, align 16
; expect: getelementptr inbounds <4 x half>, ptr addrspace(1) %p, i64 1
; expect: load volatile <4 x half>, ptr addrspace(1)
; expect: align 8
; expect: fadd <4 x half>
; expect: fadd <4 x half>
; never: <8 x half>
; target: macos12 macos14 macos26
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile <8 x half>, ptr %p, align 16
  %w = fadd <8 x half> %v, %v
  store volatile <8 x half> %w, ptr %q, align 16
  ret void
}
;;; 128 bits as eight halves
; never: <8 x half>
; expect: bitcast i32
; expect: to <2 x half>
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile <4 x i32>, ptr %p, align 16
  %h = bitcast <4 x i32> %v to <8 x half>
  %w = fmul <8 x half> %h, %h
  %b = bitcast <8 x half> %w to <4 x i32>
  store volatile <4 x i32> %b, ptr %q, align 16
  ret void
}
;;; one lane is a scalar
; never: <1 x
; expect: load volatile float
; expect: store volatile float
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile <1 x float>, ptr %p
  %e = extractelement <1 x float> %v, i32 0
  %i = insertelement <1 x float> undef, float %e, i32 0
  store volatile <1 x float> %i, ptr %q
  ret void
}
;;; struct phi and select
; never: phi {
; never: phi [
; expect: phi float
define void @k(ptr %p, ptr %q, i32 %n) "smelt.kernel" {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi { float, i32, <2 x float> } [ zeroinitializer, %entry ], [ %t2, %loop ]
  %f = extractvalue { float, i32, <2 x float> } %s, 0
  %x = load volatile float, ptr %p
  %g = fadd float %f, %x
  %t0 = insertvalue { float, i32, <2 x float> } %s, float %g, 0
  %v = load volatile <2 x float>, ptr %p
  %t2 = insertvalue { float, i32, <2 x float> } %t0, <2 x float> %v, 2
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %r = extractvalue { float, i32, <2 x float> } %s, 0
  store float %r, ptr %q
  %u = extractvalue { float, i32, <2 x float> } %s, 2
  store volatile <2 x float> %u, ptr %q
  ret void
}
;;; structs in memory
; never: load volatile {
; never: store volatile {
; expect: load volatile i32, ptr addrspace(1) %p
; expect: getelementptr inbounds i64, ptr addrspace(1) %p, i64 1
; expect: load volatile i64
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %s = load volatile { i32, i64 }, ptr %p
  store volatile { i32, i64 } %s, ptr %q
  ret void
}
;;; vectors of pointers
; never: <2 x ptr
; expect: getelementptr
; expect: getelementptr
define void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) "smelt.kernel" {
  %i = load volatile <2 x i64>, ptr addrspace(1) %q
  %g = getelementptr float, ptr addrspace(1) %p, <2 x i64> %i
  %a = extractelement <2 x ptr addrspace(1)> %g, i32 0
  %b = extractelement <2 x ptr addrspace(1)> %g, i32 1
  %x = load float, ptr addrspace(1) %a
  %y = load float, ptr addrspace(1) %b
  %z = fadd float %x, %y
  store float %z, ptr addrspace(1) %q
  ret void
}
;;; matrices stay whole
; expect: phi <64 x float>
; target: macos14 macos26
define void @k(ptr addrspace(1) %p, i32 %n) "smelt.kernel" {
entry:
  %z = call <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32(float 0.0)
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %m = phi <64 x float> [ %z, %entry ], [ %d, %loop ]
  %d = call <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float> %m, <64 x float> %m, <64 x float> %m)
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  %e = extractelement <64 x float> %d, i64 0
  store float %e, ptr addrspace(1) %p
  ret void
}
declare <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32(float)
declare <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float>, <64 x float>, <64 x float>)
;;; the high half of a 64-bit product
; never: i128
; expect: mul i64
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = load volatile i64, ptr %p
  %b = load volatile i64, ptr %p
  %wa = zext i64 %a to i128
  %wb = zext i64 %b to i128
  %m = mul i128 %wa, %wb
  %h = lshr i128 %m, 64
  %t = trunc i128 %h to i64
  store i64 %t, ptr %q
  ret void
}
;;; no 128-bit division
; error: no AIR form of this operation on i128
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = load volatile i128, ptr %p
  %b = load volatile i128, ptr %p
  %m = udiv i128 %a, %b
  store i128 %m, ptr %q
  ret void
}
