;;; macOS 14
; target: macos14
; expect: target triple = "air64-apple-macosx14.0.0"
; expect: !llvm.module.flags = !{
; expect: !{i32 2, !"SDK Version", [2 x i32] [i32 14, i32 0]}
; expect: !{i32 1, !"wchar_size", i32 4}
; expect: !{i32 7, !"frame-pointer", i32 2}
; expect: !{i32 7, !"air.max_device_buffers", i32 31}
; expect: !{i32 7, !"air.max_samplers", i32 16}
; expect: !{!"air.compile.denorms_disable"}
; expect: !{!"air.compile.fast_math_disable"}
; expect: !{!"air.compile.framebuffer_fetch_enable"}
; expect: !{i32 2, i32 6, i32 0}
; expect: !{!"Metal", i32 3, i32 1, i32 0}
define void @k(ptr %a) "smelt.kernel" {
  ret void
}
;;; macOS 12 has no frame-pointer flag
; target: macos12 macos13
; never: frame-pointer
define void @k(ptr %a) "smelt.kernel" {
  ret void
}
;;; finished AIR for another target
; target: macos15
; expect: target triple = "air64-apple-macosx15.0.0"
; expect: !{i32 2, i32 7, i32 0}
; expect: !{!"Metal", i32 3, i32 1, i32 0}
target triple = "air64-apple-macosx14.0.0"
define void @k(ptr addrspace(1) %p) {
  ret void
}
!air.kernel = !{!2}
!air.version = !{!0}
!air.language_version = !{!1}
!0 = !{i32 2, i32 6, i32 0}
!1 = !{!"Metal", i32 3, i32 1, i32 0}
!2 = !{ptr @k, !3, !4}
!3 = !{}
!4 = !{!5}
!5 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 1, !"air.arg_type_align_size", i32 1, !"air.arg_type_name", !"char", !"air.arg_name", !"p"}
