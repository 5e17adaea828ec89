;;; positions are vectors, indices scalars, in a fixed order
; expect: define void @k(ptr addrspace(1)
; expect: <3 x i32> noundef %thread_position_in_grid, <3 x i32> noundef %threadgroups_per_grid, i32 noundef %thread_index_in_simdgroup)
; expect: extractelement <3 x i32> %thread_position_in_grid, i64 1
; expect: !"air.thread_position_in_grid", !"air.arg_type_name", !"uint3", !"air.arg_name", !"thread_position_in_grid"
; expect: !"air.thread_index_in_simdgroup", !"air.arg_type_name", !"uint", !"air.arg_name"
; target: macos12 macos14 macos26 ios15 ios26
define void @k(ptr %p) "smelt.kernel" {
  %l = call i32 @smelt.builtin.thread_index_in_simdgroup()
  store volatile i32 %l, ptr %p
  %g = call i32 @smelt.builtin.threadgroups_per_grid.x()
  store volatile i32 %g, ptr %p
  %y = call i32 @smelt.builtin.thread_position_in_grid.y()
  store volatile i32 %y, ptr %p
  ret void
}
declare i32 @smelt.builtin.thread_index_in_simdgroup()
declare i32 @smelt.builtin.threadgroups_per_grid.x()
declare i32 @smelt.builtin.thread_position_in_grid.y()
;;; a parameter that is the value already serves
; expect: !"air.arg_type_name", !"uint2", !"air.arg_name", !"id"
define void @k(ptr %p, <2 x i32> "smelt.builtin"="thread_position_in_grid" %id) "smelt.kernel" {
  %y = call i32 @smelt.builtin.thread_position_in_grid.y()
  store volatile i32 %y, ptr %p
  ret void
}
declare i32 @smelt.builtin.thread_position_in_grid.y()
;;; no such value
; error: 'thread_colour' is not a hardware value of a kernel
define void @k(ptr %p) "smelt.kernel" {
  %y = call i32 @smelt.builtin.thread_colour()
  store volatile i32 %y, ptr %p
  ret void
}
declare i32 @smelt.builtin.thread_colour()
;;; a vector without a component
; error: is a vector
define void @k(ptr %p) "smelt.kernel" {
  %y = call i32 @smelt.builtin.thread_position_in_grid()
  store volatile i32 %y, ptr %p
  ret void
}
declare i32 @smelt.builtin.thread_position_in_grid()
