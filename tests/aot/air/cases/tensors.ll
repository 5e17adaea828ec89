;;; a product of tensors that the kernel makes
; target: macos26 ios26
; expect: @_ZTAXtlN3mpp10tensor_ops19matmul2d_descriptorELi64ELi32ELin1ELb0ELb1EEE = linkonce_odr local_unnamed_addr constant
; expect: call i64 @tensor.2.i32.MTL_SIZEAS()
; expect: alloca i8, i64
; expect: call void @llvm.memcpy.p0.p0.i64
; expect: call void @__tensorops_impl_matmul2d_op_run_dv_f16_tg_f16_dv_f32(
; expect: section "air.externally_defined"
; never: smelt.tensor
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %t = alloca [1024 x i8], align 8
  %e = alloca [2 x i32], align 4
  call void @smelt.tensor.memory(ptr %t, i16 2, i16 4)
  call void @air.init_strided_private_tensor.i32.global(ptr %t, i16 2, ptr addrspace(1) %p, ptr %e, ptr %e, i8 1)
  %size = call i32 @air.get_simdgroup_size.i32()
  %threads = shl i32 %size, 2
  call void @smelt.tensor.run(i32 64, i32 32, i32 -1, i8 0, i8 1, i8 0, i32 0, ptr %t, i32 2, ptr %t, i32 2, ptr %t, i32 2, i32 %threads, i32 1, i32 268435472, i32 3, i32 268435472, i32 1, i32 268435488)
  ret void
}
declare void @smelt.tensor.memory(ptr, i16, i16)
declare void @air.init_strided_private_tensor.i32.global(ptr, i16, ptr addrspace(1), ptr, ptr, i8)
declare i32 @air.get_simdgroup_size.i32()
declare void @smelt.tensor.run(i32, i32, i32, i8, i8, i8, i32, ptr, i32, ptr, i32, ptr, i32, i32, i32, i32, i32, i32, i32, i32)
;;; a tensor that is part of another object
; target: macos26
; error: AIR has tensors as variables of their own
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %t = alloca [2048 x i8], align 8
  %part = getelementptr i8, ptr %t, i64 1024
  call void @smelt.tensor.memory(ptr %part, i16 2, i16 4)
  call void @air.init_strided_private_tensor.i32.global(ptr %part, i16 2, ptr addrspace(1) %p, ptr %t, ptr %t, i8 1)
  ret void
}
declare void @smelt.tensor.memory(ptr, i16, i16)
declare void @air.init_strided_private_tensor.i32.global(ptr, i16, ptr addrspace(1), ptr, ptr, i8)
