;;; an unknown operation
; error: air.frobnicate.f32: no such AIR operation
; error: function 'k'
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %x = call float @air.frobnicate.f32(float 1.0)
  store float %x, ptr addrspace(1) %p
  ret void
}
declare float @air.frobnicate.f32(float)
;;; a known one with another signature
; error: air.simd_sum.f32: declared with another signature than AIR 2.6's: float (float)
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %x = call float @air.simd_sum.f32(float 1.0, i32 4)
  store float %x, ptr addrspace(1) %p
  ret void
}
declare float @air.simd_sum.f32(float, i32)
;;; bfloat on an old target
; target: macos12 macos13 ios15 ios16
; error: bfloat needs AIR 2.6
; error: macos14
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %x = load volatile bfloat, ptr addrspace(1) %p
  %y = fadd bfloat %x, %x
  store bfloat %y, ptr addrspace(1) %p
  ret void
}
;;; the same in finished AIR
; target: macos13
; error: bfloat needs AIR 2.6
target triple = "air64-apple-macosx14.0.0"
define void @k(ptr addrspace(1) %p) {
  %x = load volatile bfloat, ptr addrspace(1) %p
  store bfloat %x, ptr addrspace(1) %p
  ret void
}
!air.version = !{!0}
!air.language_version = !{!1}
!air.kernel = !{!2}
!0 = !{i32 2, i32 6, i32 0}
!1 = !{!"Metal", i32 3, i32 1, i32 0}
!2 = !{ptr @k, !3, !4}
!3 = !{}
!4 = !{!5}
!5 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 2, !"air.arg_type_align_size", i32 2, !"air.arg_type_name", !"bfloat", !"air.arg_name", !"p"}
;;; flags on phi and select since 2.6: all or none
; target: macos14 macos15 macos26 ios17
; never: select nsz
; expect: select i1
; expect: select fast i1
define void @k(ptr addrspace(1) %p, i32 %n) "smelt.kernel" {
  %x = load volatile float, ptr addrspace(1) %p
  %y = load volatile float, ptr addrspace(1) %p
  %c = icmp eq i32 %n, 3
  %s = select nsz i1 %c, float %x, float %y
  store volatile float %s, ptr addrspace(1) %p
  %f = select fast i1 %c, float %y, float %x
  store volatile float %f, ptr addrspace(1) %p
  ret void
}
;;; freeze, fneg and flags on select before 2.6
; target: macos12 macos13
; never: freeze
; never: fneg
; never: select fast
; expect: fsub float -0.000000e+00
define void @k(ptr addrspace(1) %p, i32 %n) "smelt.kernel" {
  %x = load volatile float, ptr addrspace(1) %p
  %m = fneg float %x
  store volatile float %m, ptr addrspace(1) %p
  %f = freeze i32 %n
  store volatile i32 %f, ptr addrspace(1) %p
  %c = icmp eq i32 %n, 3
  %s = select fast i1 %c, float %x, float %m
  store volatile float %s, ptr addrspace(1) %p
  ret void
}
;;; and from 2.6
; target: macos14 macos26
; expect: fneg float
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %x = load volatile float, ptr addrspace(1) %p
  %m = fneg float %x
  store volatile float %m, ptr addrspace(1) %p
  ret void
}
;;; flags and attributes that LLVM 14 has no bit for
; never: nneg
; never: disjoint
; never: nusw
; never: nofpclass
; never: captures
define void @k(ptr addrspace(1) %p, i32 range(i32 0, 9) %n) "smelt.kernel" {
  %z = zext nneg i32 %n to i64
  %o = or disjoint i64 %z, 1024
  %g = getelementptr nusw float, ptr addrspace(1) %p, i64 %o
  store volatile float 0.0, ptr addrspace(1) %g
  ret void
}
