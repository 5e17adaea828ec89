convergent, and the scope of this AIR version.
;;; scope 1 up to AIR 2.5
; target: macos12 macos13 ios16
; expect: call void @air.simdgroup.barrier(i32 2, i32 1)
; expect: attributes #1 = { convergent
define void @k(ptr %p) "smelt.kernel" {
  call void @air.simdgroup.barrier(i32 2, i32 4)
  ret void
}
declare void @air.simdgroup.barrier(i32, i32)
;;; scope 4 from AIR 2.6
; target: macos14 macos15 macos26 ios17
; expect: call void @air.simdgroup.barrier(i32 2, i32 4)
define void @k(ptr %p) "smelt.kernel" {
  call void @air.simdgroup.barrier(i32 2, i32 1)
  ret void
}
declare void @air.simdgroup.barrier(i32, i32)
