;;; old form for a new target
; target: macos26 ios26
; expect: call fast <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %p, <2 x i64>
; expect: <2 x i64> zeroinitializer)
; never: smelt.replaced
; expect: declare <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) nocapture readonly, <2 x i64>, <2 x i64>, <2 x i64>)
define void @k(ptr addrspace(1) %p, i64 %pitch) "smelt.kernel" {
  %m = call fast <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %p, i64 %pitch, <2 x i64> zeroinitializer, i1 false)
  call void @air.simdgroup_matrix_8x8_store.v64f32.p1f32(<64 x float> %m, ptr addrspace(1) %p, i64 8, <2 x i64> zeroinitializer, i1 true)
  ret void
}
declare <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1), i64, <2 x i64>, i1)
declare void @air.simdgroup_matrix_8x8_store.v64f32.p1f32(<64 x float>, ptr addrspace(1), i64, <2 x i64>, i1)
;;; new form for an old target
; target: macos14 macos15 ios17
; expect: call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %p, i64 16, <2 x i64> zeroinitializer, i1 true)
; expect: call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %p, i64 24, <2 x i64> <i64 3, i64 2>, i1 false)
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %m = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %p, <2 x i64> <i64 8, i64 16>, <2 x i64> <i64 16, i64 1>, <2 x i64> zeroinitializer)
  %n = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %p, <2 x i64> <i64 16, i64 8>, <2 x i64> <i64 1, i64 24>, <2 x i64> <i64 3, i64 2>)
  %f = extractelement <64 x float> %n, i64 0
  store float %f, ptr addrspace(1) %p
  %e = extractelement <64 x float> %m, i64 0
  store float %e, ptr addrspace(1) %p
  ret void
}
declare <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1), <2 x i64>, <2 x i64>, <2 x i64>)
;;; strides that old targets cannot say
; target: macos14
; error: macos26
define void @k(ptr addrspace(1) %p, ptr addrspace(1) %q) "smelt.kernel" {
  %s = load <2 x i64>, ptr addrspace(1) %q
  %m = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %p, <2 x i64> <i64 8, i64 8>, <2 x i64> %s, <2 x i64> zeroinitializer)
  %e = extractelement <64 x float> %m, i64 0
  store float %e, ptr addrspace(1) %p
  ret void
}
declare <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1), <2 x i64>, <2 x i64>, <2 x i64>)
