; C = A x B of 8 x 8 in threadgroup memory, A from the middle of a wider tile.
target triple = "air64_v28-apple-macosx26.0.0"

@tile = internal addrspace(3) global [256 x float] undef, align 4
@small = internal addrspace(3) global [64 x float] undef, align 4

declare i32 @air.thread_index_in_simdgroup()
declare void @air.threadgroup.barrier(i32, i32)
declare <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p3f32(ptr addrspace(3), <2 x i64>, <2 x i64>, <2 x i64>)
declare <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float>, <64 x float>, <64 x float>)
declare void @air.simdgroup_matrix_8x8_store.v64f32.p3f32(<64 x float>, ptr addrspace(3), <2 x i64>, <2 x i64>, <2 x i64>)

define void @product(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(1) %c) {
entry:
  %lane = call i32 @air.thread_index_in_simdgroup()
  br label %fill

fill:
  %k = phi i32 [ %lane, %entry ], [ %next, %fill ]
  %pa = getelementptr float, ptr addrspace(1) %a, i32 %k
  %va = load float, ptr addrspace(1) %pa, align 4
  %ta = getelementptr inbounds [256 x float], ptr addrspace(3) @tile, i32 0, i32 %k
  store float %va, ptr addrspace(3) %ta, align 4
  %wrapped = and i32 %k, 63
  %pb = getelementptr float, ptr addrspace(1) %b, i32 %wrapped
  %vb = load float, ptr addrspace(1) %pb, align 4
  %tb = getelementptr inbounds [64 x float], ptr addrspace(3) @small, i32 0, i32 %wrapped
  store float %vb, ptr addrspace(3) %tb, align 4
  %next = add i32 %k, 32
  %more = icmp ult i32 %next, 256
  br i1 %more, label %fill, label %multiply

multiply:
  call void @air.threadgroup.barrier(i32 1, i32 4)
  %ma = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p3f32(ptr addrspace(3) @tile, <2 x i64> splat (i64 16), <2 x i64> <i64 1, i64 16>, <2 x i64> <i64 8, i64 0>)
  %mb = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p3f32(ptr addrspace(3) @small, <2 x i64> splat (i64 8), <2 x i64> <i64 1, i64 8>, <2 x i64> zeroinitializer)
  %mc = call <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float> %ma, <64 x float> %mb, <64 x float> zeroinitializer)
  call void @air.simdgroup_matrix_8x8_store.v64f32.p3f32(<64 x float> %mc, ptr addrspace(3) @small, <2 x i64> splat (i64 8), <2 x i64> <i64 1, i64 8>, <2 x i64> zeroinitializer)
  call void @air.threadgroup.barrier(i32 1, i32 4)
  %second = add i32 %lane, 32
  %t0 = getelementptr inbounds [64 x float], ptr addrspace(3) @small, i32 0, i32 %lane
  %c0 = load float, ptr addrspace(3) %t0, align 4
  %p0 = getelementptr float, ptr addrspace(1) %c, i32 %lane
  store float %c0, ptr addrspace(1) %p0, align 4
  %t1 = getelementptr inbounds [64 x float], ptr addrspace(3) @small, i32 0, i32 %second
  %c1 = load float, ptr addrspace(3) %t1, align 4
  %p1 = getelementptr float, ptr addrspace(1) %c, i32 %second
  store float %c1, ptr addrspace(1) %p1, align 4
  ret void
}
