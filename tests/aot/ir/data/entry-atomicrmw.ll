; An entry with its metadata, written by hand, and an atomic instruction of LLVM, which AIR has not.
target triple = "air64_v28-apple-macosx26.0.0"

define void @count(ptr addrspace(1) %buf, i32 %i) {
  %k = and i32 %i, 3
  %p = getelementptr i32, ptr addrspace(1) %buf, i32 %k
  %old = atomicrmw add ptr addrspace(1) %p, i32 1 monotonic
  ret void
}

!air.kernel = !{!0}
!air.version = !{!5}
!0 = !{ptr @count, !1, !2}
!1 = !{}
!2 = !{!3, !4}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 4, !"air.arg_type_align_size", i32 4, !"air.arg_type_name", !"uint", !"air.arg_name", !"buf"}
!4 = !{i32 1, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint", !"air.arg_name", !"i"}
!5 = !{i32 2, i32 8, i32 0}
