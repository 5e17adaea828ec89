; Hardware values asked for by calls, each in another wrapping.
target triple = "air64_v28-apple-macosx26.0.0"

declare [3 x i32] @air.thread_position_in_grid()
declare { i32, i32, i32 } @air.threadgroup_position_in_grid()
declare <3 x i32> @air.thread_position_in_threadgroup.v3i32()
declare [3 x i32] @air.threadgroups_per_grid()
declare i32 @air.threads_per_threadgroup.i32()
declare i32 @air.thread_index_in_simdgroup()
declare i16 @air.simdgroup_index_in_threadgroup.i16()
declare i32 @air.never_called()

define void @positions(ptr addrspace(1) %out, i32 %scale) {
  %grid = call [3 x i32] @air.thread_position_in_grid()
  %x = extractvalue [3 x i32] %grid, 0
  %y = extractvalue [3 x i32] %grid, 1
  %group = call { i32, i32, i32 } @air.threadgroup_position_in_grid()
  %gx = extractvalue { i32, i32, i32 } %group, 0
  %inside = call <3 x i32> @air.thread_position_in_threadgroup.v3i32()
  %tx = extractelement <3 x i32> %inside, i32 0
  %groups = call [3 x i32] @air.threadgroups_per_grid()
  %ng = extractvalue [3 x i32] %groups, 1
  %size = call i32 @air.threads_per_threadgroup.i32()
  %lane = call i32 @air.thread_index_in_simdgroup()
  %wave16 = call i16 @air.simdgroup_index_in_threadgroup.i16()
  %wave = zext i16 %wave16 to i32
  %gx2 = mul i32 %gx, 100
  %ng2 = mul i32 %ng, 10000
  %size2 = mul i32 %size, 1000000
  %lane2 = mul i32 %lane, %scale
  %s0 = add i32 %tx, %gx2
  %s1 = add i32 %s0, %ng2
  %s2 = add i32 %s1, %size2
  %s3 = add i32 %s2, %lane2
  %s4 = add i32 %s3, %wave
  %row = mul i32 %y, 128
  %at = add i32 %row, %x
  %p = getelementptr i32, ptr addrspace(1) %out, i32 %at
  store i32 %s4, ptr addrspace(1) %p, align 4
  ret void
}
