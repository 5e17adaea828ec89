;;; thirty-two buffers
; option: pack_scalars
; error: Metal has 31 buffers
define void @k(ptr %a0, ptr %a1, ptr %a2, ptr %a3, ptr %a4, ptr %a5, ptr %a6, ptr %a7, ptr %a8, ptr %a9, ptr %a10, ptr %a11, ptr %a12, ptr %a13, ptr %a14, ptr %a15, ptr %a16, ptr %a17, ptr %a18, ptr %a19, ptr %a20, ptr %a21, ptr %a22, ptr %a23, ptr %a24, ptr %a25, ptr %a26, ptr %a27, ptr %a28, ptr %a29, ptr %a30, ptr %a31) "smelt.kernel" {
  ret void
}
;;; slots of one's own choice, the rest round them
; expect: !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1
; expect: !{i32 1, !"air.buffer", !"air.location_index", i32 5, i32 1
; expect: !{i32 2, !"air.buffer", !"air.location_index", i32 1, i32 1
define void @k(ptr %a, ptr "smelt.location_index"="5" %b, ptr %c) "smelt.kernel" {
  ret void
}
;;; names, types and access as the front end says
; expect: !"air.read", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"float", !"air.arg_name", !"weights", !"air.arg_unused"
define void @k(ptr addrspace(1) "smelt.arg_name"="weights" "smelt.arg_type_name"="float" "smelt.arg_type_size"="4" "smelt.arg_type_align"="4" "smelt.access"="read" %0) "smelt.kernel" {
  ret void
}
;;; threads per threadgroup
; option: threads=256
; expect: !"air.max_work_group_size", i32 256
define void @k(ptr %a) "smelt.kernel" {
  ret void
}
;;; from the kernel
; expect: !"air.max_work_group_size", i32 128
define void @k(ptr %a) #0 {
  ret void
}
attributes #0 = { "smelt.kernel" "smelt.max_threads_per_threadgroup"="128" }
;;; too many
; option: threads=2048
; error: asks for 2048 threads per threadgroup; Apple GPUs allow 1 to 1024
define void @k(ptr %a) "smelt.kernel" {
  ret void
}
;;; read where nothing is written
; expect: !"air.location_index", i32 0, i32 1, !"air.read",
; expect: !"air.location_index", i32 1, i32 1, !"air.read_write",
define void @k(ptr %a, ptr %b) "smelt.kernel" {
  %x = load float, ptr %a
  store float %x, ptr %b
  ret void
}
;;; no arguments: one empty node for both
; expect: !air.kernel
define void @k() "smelt.kernel" {
  ret void
}

;;; a long
; expect: !"air.arg_type_size", i32 8, !"air.arg_type_align_size", i32 8, !"air.arg_type_name", !"long", !"air.arg_name", !"n"
define void @k(ptr %a, i64 %n) "smelt.kernel" {
  store i64 %n, ptr %a, align 8
  ret void
}
;;; finished AIR that said spaces by the type alone
; target: macos14
; expect: !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 1,
; expect: !{i32 1, !"air.texture", !"air.location_index", i32 0, i32 1, !"air.read", !"air.arg_type_name",
target triple = "air64-apple-macosx12.0.0"
define void @k(ptr addrspace(1) %p, ptr addrspace(1) %t) {
  ret void
}
!air.kernel = !{!2}
!air.version = !{!0}
!air.language_version = !{!1}
!0 = !{i32 2, i32 4, i32 0}
!1 = !{!"Metal", i32 2, i32 4, i32 0}
!2 = !{ptr @k, !3, !4}
!3 = !{}
!4 = !{!5, !6}
!5 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.arg_type_size", i32 1, !"air.arg_type_align_size", i32 1, !"air.arg_type_name", !"char", !"air.arg_name", !"p"}
!6 = !{i32 1, !"air.texture", !"air.location_index", i32 0, i32 1, !"air.read", !"air.arg_type_name", !"texture2d<float, read>", !"air.arg_name", !"t"}
;;; a texture is in no address space
; expect: !{i32 0, !"air.texture", !"air.location_index", i32 3, i32 1, !"air.read", !"air.arg_type_name", !"texture2d<float, read>", !"air.arg_name", !"t"
define void @k(ptr addrspace(1) "smelt.handle"="texture" "smelt.location_index"="3" "smelt.access"="read" "smelt.arg_type_name"="texture2d<float, read>" %t) "smelt.kernel" {
  ret void
}
