A plain fence aborts Apple's compiler.
;;; next to a barrier it is the barrier's flags
; target: macos12 macos14 macos26
; expect: call void @air.wg.barrier(i32 3, i32 1)
; never: fence
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  store volatile i32 1, ptr %p
  fence syncscope("workgroup") release
  call void @air.wg.barrier(i32 2, i32 1)
  fence syncscope("workgroup") acquire
  %x = load volatile i32, ptr %q
  ret void
}
declare void @air.wg.barrier(i32, i32)
;;; also where something is computed between them, on either side
; target: macos14
; expect: call void @air.wg.barrier(i32 3, i32 1)
; never: fence
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %n = load volatile i32, ptr %p
  fence syncscope("workgroup") release
  %m = add i32 %n, 1
  call void @air.wg.barrier(i32 2, i32 1)
  %o = mul i32 %m, 3
  fence syncscope("workgroup") acquire
  store volatile i32 %o, ptr %q
  ret void
}
declare void @air.wg.barrier(i32, i32)
;;; an access between them keeps them apart, on either side
; target: macos15
; expect: call void @air.atomic.fence(
; expect: call void @air.wg.barrier(i32 2, i32 1)
; expect: call void @air.atomic.fence(
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  fence syncscope("workgroup") release
  store volatile i32 1, ptr %p
  call void @air.wg.barrier(i32 2, i32 1)
  store volatile i32 2, ptr %p
  fence syncscope("workgroup") acquire
  %x = load volatile i32, ptr %q
  ret void
}
declare void @air.wg.barrier(i32, i32)
;;; alone it is air.atomic.fence
; target: macos15 macos26 ios18
; expect: call void @air.atomic.fence(i32 3, i32 5, i32 2)
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  store volatile i32 1, ptr %p
  fence seq_cst
  store volatile i32 1, ptr %q
  ret void
}
;;; or an error
; target: macos14
; error: air.atomic.fence: not in AIR 2.6; targets that have it: macos15
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  store volatile i32 1, ptr %p
  fence seq_cst
  store volatile i32 1, ptr %q
  ret void
}
;;; inside a SIMD-group
; target: macos14
; expect: call void @air.simdgroup.barrier(i32 3, i32 4)
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  store volatile i32 1, ptr %p
  fence syncscope("wavefront") acq_rel
  store volatile i32 1, ptr %q
  ret void
}
