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
;;; what has no slot of its own shares the last one
; expect: %a29, <3 x i32>
; expect: dereferenceable(24) %further_arguments)
; expect: load ptr addrspace(1), ptr addrspace(2)
; expect: !"air.indirect_buffer", !"air.buffer_size", i32 24, !"air.location_index", i32 30, i32 1, !"air.read"
; expect: i32 0, i32 8, i32 0, !"char", !"a30", !"air.indirect_argument"
; expect: i32 8, i32 4, i32 0, !"int", !"n", !"air.indirect_argument"
; expect: i32 16, i32 8, i32 0, !"char", !"last", !"air.indirect_argument"
; target: macos14 macos26 ios17
define void @k(ptr addrspace(1) %a0, ptr addrspace(1) %a1, ptr addrspace(1) %a2, ptr addrspace(1) %a3, ptr addrspace(1) %a4, ptr addrspace(1) %a5, ptr addrspace(1) %a6, ptr addrspace(1) %a7, ptr addrspace(1) %a8, ptr addrspace(1) %a9, ptr addrspace(1) %a10, ptr addrspace(1) %a11, ptr addrspace(1) %a12, ptr addrspace(1) %a13, ptr addrspace(1) %a14, ptr addrspace(1) %a15, ptr addrspace(1) %a16, ptr addrspace(1) %a17, ptr addrspace(1) %a18, ptr addrspace(1) %a19, ptr addrspace(1) %a20, ptr addrspace(1) %a21, ptr addrspace(1) %a22, ptr addrspace(1) %a23, ptr addrspace(1) %a24, ptr addrspace(1) %a25, ptr addrspace(1) %a26, ptr addrspace(1) %a27, ptr addrspace(1) %a28, ptr addrspace(1) %a29, ptr addrspace(1) %a30, <3 x i32> "smelt.builtin"="thread_position_in_grid" %i, i32 %n, ptr %last) "smelt.kernel" {
  %x = load i32, ptr addrspace(1) %a0
  %y = add i32 %x, %n
  store i32 %y, ptr %last
  store i32 %y, ptr addrspace(1) %a30
  ret void
}
;;; as many as there are slots need no such buffer
; never: further_arguments
; expect: !"air.location_index", i32 30, i32 1
define void @k(ptr addrspace(1) %a0, ptr addrspace(1) %a1, ptr addrspace(1) %a2, ptr addrspace(1) %a3, ptr addrspace(1) %a4, ptr addrspace(1) %a5, ptr addrspace(1) %a6, ptr addrspace(1) %a7, ptr addrspace(1) %a8, ptr addrspace(1) %a9, ptr addrspace(1) %a10, ptr addrspace(1) %a11, ptr addrspace(1) %a12, ptr addrspace(1) %a13, ptr addrspace(1) %a14, ptr addrspace(1) %a15, ptr addrspace(1) %a16, ptr addrspace(1) %a17, ptr addrspace(1) %a18, ptr addrspace(1) %a19, ptr addrspace(1) %a20, ptr addrspace(1) %a21, ptr addrspace(1) %a22, ptr addrspace(1) %a23, ptr addrspace(1) %a24, ptr addrspace(1) %a25, ptr addrspace(1) %a26, ptr addrspace(1) %a27, ptr addrspace(1) %a28, ptr addrspace(1) %a29, ptr addrspace(1) %a30) "smelt.kernel" {
  store i32 1, ptr addrspace(1) %a30
  ret void
}
;;; slots that were chosen are kept, and a wrong one is an error
; error: Metal has 31 buffers (0 to 30)
define void @k(ptr addrspace(1) "smelt.location_index"="31" %a) "smelt.kernel" {
  store i32 1, ptr addrspace(1) %a
  ret void
}
;;; 65 bits take two words
; expect: dereferenceable(16) %n
define void @k(ptr %a, i65 %n) "smelt.kernel" {
  %m = lshr i65 %n, 64
  %t = trunc i65 %m to i32
  store i32 %t, ptr %a
  ret void
}
