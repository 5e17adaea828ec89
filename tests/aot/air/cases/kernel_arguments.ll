;;; scalars by reference, buffers by pointer
; expect: define void @k(ptr addrspace(1)
; expect: ptr addrspace(2) nocapture noundef readonly align 2 dereferenceable(2) %h
; expect: !"air.buffer", !"air.buffer_size", i32 1, !"air.location_index", i32 2, i32 1, !"air.read", !"air.address_space", i32 2, !"air.arg_type_size", i32 1, !"air.arg_type_align_size", i32 1, !"air.arg_type_name", !"bool", !"air.arg_name", !"flag"
; expect: !"air.arg_type_name", !"long", !"air.arg_name", !"n"
; expect: !"air.arg_type_name", !"float4", !"air.arg_name", !"v"
; target: macos13 macos14 macos26 ios16
define void @k(ptr %out, half %h, i1 %flag, i64 %n, <4 x float> %v) "smelt.kernel" {
  store volatile half %h, ptr %out
  %z = zext i1 %flag to i32
  store volatile i32 %z, ptr %out
  store volatile i64 %n, ptr %out
  store volatile <4 x float> %v, ptr %out
  ret void
}
;;; before AIR 2.5 the address space is not said
; target: macos12 ios15
; expect: !"air.read_write", !"air.arg_type_size"
; never: air.address_space
define void @k(ptr %out, half %h) "smelt.kernel" {
  store volatile half %h, ptr %out
  ret void
}
;;; structs by value
; expect: ptr addrspace(2) nocapture noundef readonly align 8 dereferenceable(16) %s
; expect: load i32, ptr addrspace(2) %s
; never: alloca
define void @k(ptr %out, ptr byval({ i32, i64 }) align 8 %s) "smelt.kernel" {
  %x = load i32, ptr %s
  store volatile i32 %x, ptr %out
  ret void
}
;;; threadgroup pointers have their own slots
; expect: !{i32 1, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 3
; expect: !{i32 2, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1
define void @k(ptr addrspace(1) %a, ptr addrspace(3) %s, ptr addrspace(1) %b) "smelt.kernel" {
  store volatile i32 1, ptr addrspace(1) %a
  store volatile i32 1, ptr addrspace(3) %s
  store volatile i32 1, ptr addrspace(1) %b
  ret void
}
;;; all scalars in one buffer
; option: pack_scalars
; expect: define void @k(ptr addrspace(1)
; expect: dereferenceable(16) %arguments)
; expect: !"air.struct_type_info"
; expect: i32 0, i32 4, i32 0, !"int", !"n", i32 8, i32 8, i32 0, !"long", !"m"
define void @k(ptr %out, i32 %n, i64 %m) "smelt.kernel" {
  store volatile i32 %n, ptr %out
  store volatile i64 %m, ptr %out
  ret void
}
;;; an address space of others
; error: points to address space 5
define void @k(ptr addrspace(5) %out) "smelt.kernel" {
  ret void
}
;;; double as an argument
; error: no Apple GPU computes in double precision
define void @k(ptr %out, double %x) "smelt.kernel" {
  ret void
}
