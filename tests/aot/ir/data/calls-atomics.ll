; AIR's atomics, on a float in constant memory and a compare-and-swap through an alloca.
target triple = "air64_v28-apple-macosx26.0.0"

declare [3 x i32] @air.thread_position_in_threadgroup()
declare float @air.atomic.global.add.f32(ptr addrspace(1), float, i32, i32, i1)
declare i32 @air.atomic.global.xchg.i32(ptr addrspace(1), i32, i32, i32, i1)
declare i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1), ptr, i32, i32, i32, i32, i1)

define void @atomics(ptr addrspace(1) %sum, ptr addrspace(1) %words, ptr addrspace(2) %step) {
  %tid = call [3 x i32] @air.thread_position_in_threadgroup()
  %i = extractvalue [3 x i32] %tid, 0
  %v = load float, ptr addrspace(2) %step, align 4
  %old = call float @air.atomic.global.add.f32(ptr addrspace(1) %sum, float %v, i32 0, i32 2, i1 true)
  %p = getelementptr i32, ptr addrspace(1) %words, i32 %i
  %was = call i32 @air.atomic.global.xchg.i32(ptr addrspace(1) %p, i32 %i, i32 0, i32 2, i1 true)
  %expected = alloca i32, align 4
  store i32 5, ptr %expected, align 4
  %seen = call i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1) %p, ptr %expected, i32 %was, i32 0, i32 0, i32 2, i1 true)
  ret void
}
