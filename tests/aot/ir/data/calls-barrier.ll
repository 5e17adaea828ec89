; The barrier by its other name, a shuffle, and a helper that other files could see.
target triple = "air64_v28-apple-macosx26.0.0"

@row = internal addrspace(3) global [64 x i32] undef, align 4

declare [3 x i32] @air.thread_position_in_threadgroup()
declare void @air.threadgroup.barrier(i32, i32)
declare i32 @air.simd_shuffle_xor.u.i32(i32, i16)

define i32 @opposite(i32 %i) {
  %o = sub i32 63, %i
  ret i32 %o
}

define void @reverse(ptr addrspace(1) %in, ptr addrspace(1) %out) {
  %tid = call [3 x i32] @air.thread_position_in_threadgroup()
  %i = extractvalue [3 x i32] %tid, 0
  %p = getelementptr i32, ptr addrspace(1) %in, i32 %i
  %v = load i32, ptr addrspace(1) %p, align 4
  %slot = getelementptr inbounds [64 x i32], ptr addrspace(3) @row, i32 0, i32 %i
  store i32 %v, ptr addrspace(3) %slot, align 4
  call void @air.threadgroup.barrier(i32 1, i32 4)
  %j = call i32 @opposite(i32 %i)
  %other = getelementptr inbounds [64 x i32], ptr addrspace(3) @row, i32 0, i32 %j
  %w = load i32, ptr addrspace(3) %other, align 4
  call void @air.threadgroup.barrier(i32 2, i32 1)
  %n = call i32 @air.simd_shuffle_xor.u.i32(i32 %w, i16 1)
  %m = mul i32 %n, 1000
  %s = add i32 %m, %w
  %q = getelementptr i32, ptr addrspace(1) %out, i32 %i
  store i32 %s, ptr addrspace(1) %q, align 4
  ret void
}
