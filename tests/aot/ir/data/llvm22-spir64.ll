; ModuleID = 'kernels.cl'
source_filename = "kernels.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64-unknown-unknown"

@table = dso_local local_unnamed_addr addrspace(2) constant [4 x float] [float 1.000000e+00, float 2.000000e+00, float 3.000000e+00, float 4.000000e+00], align 4, !dbg !0

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @saxpy(ptr addrspace(1) noundef align 4 captures(none) %0, ptr addrspace(1) noundef readonly align 4 captures(none) %1, float noundef %2, i32 noundef %3) local_unnamed_addr #0 !dbg !22 !kernel_arg_addr_space !35 !kernel_arg_access_qual !36 !kernel_arg_type !37 !kernel_arg_base_type !37 !kernel_arg_type_qual !38 !kernel_arg_name !39 {
    #dbg_value(ptr addrspace(1) %0, !31, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !40)
    #dbg_value(ptr addrspace(1) %1, !32, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !40)
    #dbg_value(float %2, !33, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !40)
    #dbg_value(i32 %3, !34, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !40)
    #dbg_value(ptr addrspace(1) %0, !41, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !50)
    #dbg_value(ptr addrspace(1) %1, !44, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !50)
    #dbg_value(float %2, !45, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !50)
    #dbg_value(i32 %3, !46, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !50)
  %5 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #9, !dbg !52
    #dbg_value(i64 %5, !47, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !50)
  %6 = zext i32 %3 to i64, !dbg !53
  %7 = icmp ult i64 %5, %6, !dbg !55
  br i1 %7, label %8, label %14, !dbg !55

8:                                                ; preds = %4
  %9 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %5, !dbg !56
  %10 = load float, ptr addrspace(1) %9, align 4, !dbg !56, !tbaa !57
  %11 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %5, !dbg !59
  %12 = load float, ptr addrspace(1) %11, align 4, !dbg !60, !tbaa !57
  %13 = tail call float @llvm.fmuladd.f32(float %2, float %10, float %12), !dbg !60
  store float %13, ptr addrspace(1) %11, align 4, !dbg !60, !tbaa !57
  br label %14, !dbg !59

14:                                               ; preds = %4, %8
  ret void, !dbg !61
}

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_func void @__clang_ocl_kern_imp_saxpy(ptr addrspace(1) noundef align 4 captures(none) %0, ptr addrspace(1) noundef readonly align 4 captures(none) %1, float noundef %2, i32 noundef %3) local_unnamed_addr #1 !dbg !42 !kernel_arg_addr_space !35 !kernel_arg_access_qual !36 !kernel_arg_type !37 !kernel_arg_base_type !37 !kernel_arg_type_qual !38 !kernel_arg_name !39 {
    #dbg_value(ptr addrspace(1) %0, !41, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !62)
    #dbg_value(ptr addrspace(1) %1, !44, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !62)
    #dbg_value(float %2, !45, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !62)
    #dbg_value(i32 %3, !46, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !62)
  %5 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #9, !dbg !63
    #dbg_value(i64 %5, !47, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !62)
  %6 = zext i32 %3 to i64, !dbg !64
  %7 = icmp ult i64 %5, %6, !dbg !65
  br i1 %7, label %8, label %14, !dbg !65

8:                                                ; preds = %4
  %9 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %5, !dbg !66
  %10 = load float, ptr addrspace(1) %9, align 4, !dbg !66, !tbaa !57
  %11 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %5, !dbg !67
  %12 = load float, ptr addrspace(1) %11, align 4, !dbg !68, !tbaa !57
  %13 = tail call float @llvm.fmuladd.f32(float %2, float %10, float %12), !dbg !68
  store float %13, ptr addrspace(1) %11, align 4, !dbg !68, !tbaa !57
  br label %14, !dbg !67

14:                                               ; preds = %8, %4
  ret void, !dbg !69
}

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @row_sum(ptr addrspace(1) noalias noundef readonly align 4 captures(none) %0, ptr addrspace(1) noundef writeonly align 4 captures(none) %1, ptr addrspace(3) noundef align 4 captures(none) %2, i32 noundef %3) local_unnamed_addr #2 !dbg !70 !kernel_arg_addr_space !81 !kernel_arg_access_qual !36 !kernel_arg_type !82 !kernel_arg_base_type !82 !kernel_arg_type_qual !83 !kernel_arg_name !84 !reqd_work_group_size !85 {
    #dbg_value(ptr addrspace(1) %0, !77, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !86)
    #dbg_value(ptr addrspace(1) %1, !78, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !86)
    #dbg_value(ptr addrspace(3) %2, !79, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !86)
    #dbg_value(i32 %3, !80, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !86)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !87), !dbg !90
    #dbg_value(ptr addrspace(1) %0, !91, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !104)
    #dbg_value(ptr addrspace(1) %1, !94, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !104)
    #dbg_value(ptr addrspace(3) %2, !95, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !104)
    #dbg_value(i32 %3, !96, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !104)
  %5 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #9, !dbg !106
  %6 = trunc i64 %5 to i32, !dbg !106
    #dbg_value(i32 %6, !97, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !104)
  %7 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #9, !dbg !107
    #dbg_value(i64 %7, !98, !DIExpression(DW_OP_LLVM_convert, 64, DW_ATE_unsigned, DW_OP_LLVM_convert, 32, DW_ATE_unsigned, DW_OP_lit0, DW_OP_swap, DW_OP_xderef, DW_OP_stack_value), !104)
    #dbg_value(float 0.000000e+00, !99, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !104)
    #dbg_value(i32 %6, !100, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !108)
  %8 = icmp ugt i32 %3, %6, !dbg !109
  br i1 %8, label %9, label %12, !dbg !111

9:                                                ; preds = %4
  %10 = trunc i64 %7 to i32, !dbg !107
    #dbg_value(i32 %10, !98, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !104)
  %11 = mul i32 %3, %10
  br label %16, !dbg !111

12:                                               ; preds = %16, %4
  %13 = phi float [ 0.000000e+00, %4 ], [ %29, %16 ], !dbg !112
  %14 = and i64 %5, 4294967295, !dbg !113
  %15 = getelementptr inbounds nuw float, ptr addrspace(3) %2, i64 %14, !dbg !113
  store float %13, ptr addrspace(3) %15, align 4, !dbg !114, !tbaa !57, !noalias !87
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #10, !dbg !115, !noalias !87
    #dbg_value(i32 32, !102, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !116)
  br label %36, !dbg !117

16:                                               ; preds = %9, %16
  %17 = phi i32 [ %6, %9 ], [ %32, %16 ]
  %18 = phi float [ 0.000000e+00, %9 ], [ %29, %16 ]
    #dbg_value(i32 %17, !100, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !108)
    #dbg_value(float %18, !99, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !104)
  %19 = add i32 %17, %11, !dbg !118
  %20 = zext i32 %19 to i64, !dbg !119
  %21 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %20, !dbg !119
  %22 = load float, ptr addrspace(1) %21, align 4, !dbg !119, !tbaa !57, !alias.scope !87
  %23 = tail call spir_func float @_Z4exp2f(float noundef %22) #9, !dbg !120
  %24 = zext i32 %17 to i64, !dbg !121
  %25 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %24, !dbg !121
  %26 = load float, ptr addrspace(1) %25, align 4, !dbg !121, !tbaa !57, !alias.scope !87
  %27 = tail call spir_func float @_Z4fabsf(float noundef %26) #9, !dbg !122
  %28 = tail call spir_func float @_Z4sqrtf(float noundef %27) #9, !dbg !123, !fpmath !124
  %29 = tail call float @llvm.fmuladd.f32(float %23, float %28, float %18), !dbg !125
    #dbg_value(float %29, !99, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !104)
  %30 = tail call spir_func i64 @_Z14get_local_sizej(i32 noundef 0) #9, !dbg !126
  %31 = trunc i64 %30 to i32, !dbg !127
  %32 = add i32 %17, %31, !dbg !127
    #dbg_value(i32 %32, !100, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !108)
  %33 = icmp ult i32 %32, %3, !dbg !109
  br i1 %33, label %16, label %12, !dbg !111, !llvm.loop !128

34:                                               ; preds = %46
  %35 = icmp eq i32 %6, 0, !dbg !131
  br i1 %35, label %49, label %53, !dbg !131

36:                                               ; preds = %12, %46
  %37 = phi i32 [ 32, %12 ], [ %47, %46 ]
    #dbg_value(i32 %37, !102, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !116)
  %38 = icmp ugt i32 %37, %6, !dbg !133
  br i1 %38, label %39, label %46, !dbg !133

39:                                               ; preds = %36
  %40 = add i32 %37, %6, !dbg !137
  %41 = zext i32 %40 to i64, !dbg !138
  %42 = getelementptr inbounds nuw float, ptr addrspace(3) %2, i64 %41, !dbg !138
  %43 = load float, ptr addrspace(3) %42, align 4, !dbg !138, !tbaa !57, !noalias !87
  %44 = load float, ptr addrspace(3) %15, align 4, !dbg !139, !tbaa !57, !noalias !87
  %45 = fadd float %43, %44, !dbg !139
  store float %45, ptr addrspace(3) %15, align 4, !dbg !139, !tbaa !57, !noalias !87
  br label %46, !dbg !140

46:                                               ; preds = %39, %36
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #10, !dbg !141, !noalias !87
  %47 = lshr i32 %37, 1, !dbg !142
    #dbg_value(i32 %47, !102, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !116)
  %48 = icmp eq i32 %47, 0, !dbg !117
  br i1 %48, label %34, label %36, !dbg !117, !llvm.loop !143

49:                                               ; preds = %34
  %50 = load float, ptr addrspace(3) %2, align 4, !dbg !145, !tbaa !57, !noalias !87
  %51 = and i64 %7, 4294967295, !dbg !146
  %52 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %51, !dbg !146
  store float %50, ptr addrspace(1) %52, align 4, !dbg !147, !tbaa !57, !noalias !87
  br label %53, !dbg !146

53:                                               ; preds = %34, %49
  ret void, !dbg !148
}

; Function Attrs: alwaysinline convergent norecurse nounwind
define dso_local spir_func void @__clang_ocl_kern_imp_row_sum(ptr addrspace(1) noalias noundef readonly align 4 captures(none) %0, ptr addrspace(1) noundef writeonly align 4 captures(none) %1, ptr addrspace(3) noundef align 4 captures(none) %2, i32 noundef %3) local_unnamed_addr #3 !dbg !92 !kernel_arg_addr_space !81 !kernel_arg_access_qual !36 !kernel_arg_type !82 !kernel_arg_base_type !82 !kernel_arg_type_qual !83 !kernel_arg_name !84 !reqd_work_group_size !85 {
    #dbg_value(ptr addrspace(1) %0, !91, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !149)
    #dbg_value(ptr addrspace(1) %1, !94, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !149)
    #dbg_value(ptr addrspace(3) %2, !95, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !149)
    #dbg_value(i32 %3, !96, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !149)
  %5 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #9, !dbg !150
  %6 = trunc i64 %5 to i32, !dbg !150
    #dbg_value(i32 %6, !97, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !149)
  %7 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #9, !dbg !151
    #dbg_value(i64 %7, !98, !DIExpression(DW_OP_LLVM_convert, 64, DW_ATE_unsigned, DW_OP_LLVM_convert, 32, DW_ATE_unsigned, DW_OP_lit0, DW_OP_swap, DW_OP_xderef, DW_OP_stack_value), !149)
    #dbg_value(float 0.000000e+00, !99, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !149)
    #dbg_value(i32 %6, !100, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !152)
  %8 = icmp ugt i32 %3, %6, !dbg !153
  br i1 %8, label %9, label %12, !dbg !154

9:                                                ; preds = %4
  %10 = trunc i64 %7 to i32, !dbg !151
    #dbg_value(i32 %10, !98, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !149)
  %11 = mul i32 %3, %10
  br label %16, !dbg !154

12:                                               ; preds = %16, %4
  %13 = phi float [ 0.000000e+00, %4 ], [ %29, %16 ], !dbg !155
  %14 = and i64 %5, 4294967295, !dbg !156
  %15 = getelementptr inbounds nuw float, ptr addrspace(3) %2, i64 %14, !dbg !156
  store float %13, ptr addrspace(3) %15, align 4, !dbg !157, !tbaa !57
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #10, !dbg !158
    #dbg_value(i32 32, !102, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !159)
  br label %36, !dbg !160

16:                                               ; preds = %9, %16
  %17 = phi i32 [ %6, %9 ], [ %32, %16 ]
  %18 = phi float [ 0.000000e+00, %9 ], [ %29, %16 ]
    #dbg_value(i32 %17, !100, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !152)
    #dbg_value(float %18, !99, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !149)
  %19 = add i32 %17, %11, !dbg !161
  %20 = zext i32 %19 to i64, !dbg !162
  %21 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %20, !dbg !162
  %22 = load float, ptr addrspace(1) %21, align 4, !dbg !162, !tbaa !57
  %23 = tail call spir_func float @_Z4exp2f(float noundef %22) #9, !dbg !163
  %24 = zext i32 %17 to i64, !dbg !164
  %25 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %24, !dbg !164
  %26 = load float, ptr addrspace(1) %25, align 4, !dbg !164, !tbaa !57
  %27 = tail call spir_func float @_Z4fabsf(float noundef %26) #9, !dbg !165
  %28 = tail call spir_func float @_Z4sqrtf(float noundef %27) #9, !dbg !166, !fpmath !124
  %29 = tail call float @llvm.fmuladd.f32(float %23, float %28, float %18), !dbg !167
    #dbg_value(float %29, !99, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !149)
  %30 = tail call spir_func i64 @_Z14get_local_sizej(i32 noundef 0) #9, !dbg !168
  %31 = trunc i64 %30 to i32, !dbg !169
  %32 = add i32 %17, %31, !dbg !169
    #dbg_value(i32 %32, !100, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !152)
  %33 = icmp ult i32 %32, %3, !dbg !153
  br i1 %33, label %16, label %12, !dbg !154, !llvm.loop !170

34:                                               ; preds = %46
  %35 = icmp eq i32 %6, 0, !dbg !172
  br i1 %35, label %49, label %53, !dbg !172

36:                                               ; preds = %12, %46
  %37 = phi i32 [ 32, %12 ], [ %47, %46 ]
    #dbg_value(i32 %37, !102, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !159)
  %38 = icmp ugt i32 %37, %6, !dbg !173
  br i1 %38, label %39, label %46, !dbg !173

39:                                               ; preds = %36
  %40 = add i32 %37, %6, !dbg !174
  %41 = zext i32 %40 to i64, !dbg !175
  %42 = getelementptr inbounds nuw float, ptr addrspace(3) %2, i64 %41, !dbg !175
  %43 = load float, ptr addrspace(3) %42, align 4, !dbg !175, !tbaa !57
  %44 = load float, ptr addrspace(3) %15, align 4, !dbg !176, !tbaa !57
  %45 = fadd float %43, %44, !dbg !176
  store float %45, ptr addrspace(3) %15, align 4, !dbg !176, !tbaa !57
  br label %46, !dbg !177

46:                                               ; preds = %39, %36
  tail call spir_func void @_Z7barrierj(i32 noundef 1) #10, !dbg !178
  %47 = lshr i32 %37, 1, !dbg !179
    #dbg_value(i32 %47, !102, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !159)
  %48 = icmp eq i32 %47, 0, !dbg !160
  br i1 %48, label %34, label %36, !dbg !160, !llvm.loop !180

49:                                               ; preds = %34
  %50 = load float, ptr addrspace(3) %2, align 4, !dbg !182, !tbaa !57
  %51 = and i64 %7, 4294967295, !dbg !183
  %52 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %51, !dbg !183
  store float %50, ptr addrspace(1) %52, align 4, !dbg !184, !tbaa !57
  br label %53, !dbg !183

53:                                               ; preds = %49, %34
  ret void, !dbg !185
}

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @misc(ptr addrspace(1) noundef align 16 captures(none) %0, ptr addrspace(1) noundef align 4 %1, ptr addrspace(1) noundef align 4 %2) local_unnamed_addr #2 !dbg !186 !kernel_arg_addr_space !198 !kernel_arg_access_qual !199 !kernel_arg_type !200 !kernel_arg_base_type !201 !kernel_arg_type_qual !202 !kernel_arg_name !203 {
  %4 = alloca [4 x float], align 4
    #dbg_value(ptr addrspace(1) %0, !195, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !204)
    #dbg_value(ptr addrspace(1) %1, !196, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !204)
    #dbg_value(ptr addrspace(1) %2, !197, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !204)
    #dbg_value(ptr addrspace(1) %0, !205, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !215)
    #dbg_value(ptr addrspace(1) %1, !208, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !215)
    #dbg_value(ptr addrspace(1) %2, !209, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !215)
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #11, !dbg !217
    #dbg_declare(ptr %4, !210, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !218)
    #dbg_value(i32 0, !211, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !219)
  br label %5, !dbg !220

5:                                                ; preds = %3, %5
  %6 = phi i32 [ 0, %3 ], [ %14, %5 ]
    #dbg_value(i32 %6, !211, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !219)
  %7 = zext nneg i32 %6 to i64, !dbg !221
  %8 = getelementptr inbounds nuw float, ptr addrspace(2) @table, i64 %7, !dbg !221
  %9 = load float, ptr addrspace(2) %8, align 4, !dbg !221, !tbaa !57
  %10 = getelementptr inbounds nuw <4 x float>, ptr addrspace(1) %0, i64 %7, !dbg !223
  %11 = load float, ptr addrspace(1) %10, align 16, !dbg !223
  %12 = fadd float %9, %11, !dbg !224
  %13 = getelementptr inbounds nuw float, ptr %4, i64 %7, !dbg !225
  store float %12, ptr %13, align 4, !dbg !226, !tbaa !57
  %14 = add nuw nsw i32 %6, 1, !dbg !227
    #dbg_value(i32 %14, !211, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !219)
  %15 = icmp samesign ult i32 %6, 3, !dbg !228
  br i1 %15, label %5, label %16, !dbg !220, !llvm.loop !229

16:                                               ; preds = %5
  %17 = addrspacecast ptr %4 to ptr addrspace(4), !dbg !231
    #dbg_value(ptr addrspace(4) %17, !213, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !215)
  %18 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 1) #9, !dbg !232
  %19 = and i64 %18, 1, !dbg !233
  %20 = icmp eq i64 %19, 0, !dbg !233
  %21 = getelementptr inbounds nuw i8, ptr addrspace(1) %0, i64 112, !dbg !234
  %22 = addrspacecast ptr addrspace(1) %21 to ptr addrspace(4), !dbg !234
  %23 = select i1 %20, ptr addrspace(4) %22, ptr addrspace(4) %17, !dbg !234
    #dbg_value(ptr addrspace(4) %23, !214, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !215)
  %24 = load i32, ptr addrspace(1) %1, align 4, !dbg !235, !tbaa !18
  %25 = and i32 %24, 3, !dbg !236
  %26 = zext nneg i32 %25 to i64, !dbg !237
  %27 = getelementptr inbounds nuw float, ptr %4, i64 %26, !dbg !237
  %28 = load float, ptr %27, align 4, !dbg !237, !tbaa !57
  %29 = insertelement <4 x float> poison, float %28, i64 0, !dbg !238
  %30 = load float, ptr addrspace(4) %23, align 4, !dbg !239, !tbaa !57
  %31 = insertelement <4 x float> %29, float %30, i64 1, !dbg !238
  %32 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 4, !dbg !240
  %33 = load i32, ptr addrspace(1) %32, align 4, !dbg !240, !tbaa !18
  %34 = tail call spir_func i32 @_Z3maxii(i32 noundef %24, i32 noundef %33) #9, !dbg !241
  %35 = sitofp i32 %34 to float, !dbg !241
  %36 = insertelement <4 x float> %31, float %35, i64 2, !dbg !238
  %37 = load float, ptr %4, align 4, !dbg !242, !tbaa !57
  %38 = getelementptr inbounds nuw i8, ptr %4, i64 4, !dbg !243
  %39 = load float, ptr %38, align 4, !dbg !243, !tbaa !57
  %40 = getelementptr inbounds nuw i8, ptr %4, i64 8, !dbg !244
  %41 = load float, ptr %40, align 4, !dbg !244, !tbaa !57
  %42 = tail call spir_func float @_Z3fmafff(float noundef %37, float noundef %39, float noundef %41) #9, !dbg !245
  %43 = insertelement <4 x float> %36, float %42, i64 3, !dbg !238
  %44 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #9, !dbg !246
  %45 = getelementptr inbounds nuw <4 x float>, ptr addrspace(1) %0, i64 %44, !dbg !247
  store <4 x float> %43, ptr addrspace(1) %45, align 16, !dbg !248, !tbaa !249
  %46 = tail call spir_func i32 @_Z10atomic_addPU3AS1Vii(ptr addrspace(1) noundef align 4 %1, i32 noundef 3) #10, !dbg !250
  %47 = tail call spir_func i32 @_Z10atomic_maxPU3AS1Vjj(ptr addrspace(1) noundef align 4 %2, i32 noundef 7) #10, !dbg !251
  %48 = tail call spir_func i32 @_Z10atomic_incPU3AS1Vj(ptr addrspace(1) noundef align 4 %2) #10, !dbg !252
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #11, !dbg !253
  ret void, !dbg !254
}

; Function Attrs: alwaysinline convergent norecurse nounwind
define dso_local spir_func void @__clang_ocl_kern_imp_misc(ptr addrspace(1) noundef align 16 captures(none) %0, ptr addrspace(1) noundef align 4 %1, ptr addrspace(1) noundef align 4 %2) local_unnamed_addr #3 !dbg !206 !kernel_arg_addr_space !198 !kernel_arg_access_qual !199 !kernel_arg_type !200 !kernel_arg_base_type !201 !kernel_arg_type_qual !202 !kernel_arg_name !203 {
  %4 = alloca [4 x float], align 4
    #dbg_value(ptr addrspace(1) %0, !205, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !255)
    #dbg_value(ptr addrspace(1) %1, !208, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !255)
    #dbg_value(ptr addrspace(1) %2, !209, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !255)
  call void @llvm.lifetime.start.p0(ptr nonnull %4) #11, !dbg !256
    #dbg_declare(ptr %4, !210, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !257)
    #dbg_value(i32 0, !211, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !258)
  br label %38, !dbg !259

5:                                                ; preds = %38
  %6 = addrspacecast ptr %4 to ptr addrspace(4), !dbg !260
    #dbg_value(ptr addrspace(4) %6, !213, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !255)
  %7 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 1) #9, !dbg !261
  %8 = and i64 %7, 1, !dbg !262
  %9 = icmp eq i64 %8, 0, !dbg !262
  %10 = getelementptr inbounds nuw i8, ptr addrspace(1) %0, i64 112, !dbg !263
  %11 = addrspacecast ptr addrspace(1) %10 to ptr addrspace(4), !dbg !263
  %12 = select i1 %9, ptr addrspace(4) %11, ptr addrspace(4) %6, !dbg !263
    #dbg_value(ptr addrspace(4) %12, !214, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !255)
  %13 = load i32, ptr addrspace(1) %1, align 4, !dbg !264, !tbaa !18
  %14 = and i32 %13, 3, !dbg !265
  %15 = zext nneg i32 %14 to i64, !dbg !266
  %16 = getelementptr inbounds nuw float, ptr %4, i64 %15, !dbg !266
  %17 = load float, ptr %16, align 4, !dbg !266, !tbaa !57
  %18 = insertelement <4 x float> poison, float %17, i64 0, !dbg !267
  %19 = load float, ptr addrspace(4) %12, align 4, !dbg !268, !tbaa !57
  %20 = insertelement <4 x float> %18, float %19, i64 1, !dbg !267
  %21 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 4, !dbg !269
  %22 = load i32, ptr addrspace(1) %21, align 4, !dbg !269, !tbaa !18
  %23 = tail call spir_func i32 @_Z3maxii(i32 noundef %13, i32 noundef %22) #9, !dbg !270
  %24 = sitofp i32 %23 to float, !dbg !270
  %25 = insertelement <4 x float> %20, float %24, i64 2, !dbg !267
  %26 = load float, ptr %4, align 4, !dbg !271, !tbaa !57
  %27 = getelementptr inbounds nuw i8, ptr %4, i64 4, !dbg !272
  %28 = load float, ptr %27, align 4, !dbg !272, !tbaa !57
  %29 = getelementptr inbounds nuw i8, ptr %4, i64 8, !dbg !273
  %30 = load float, ptr %29, align 4, !dbg !273, !tbaa !57
  %31 = tail call spir_func float @_Z3fmafff(float noundef %26, float noundef %28, float noundef %30) #9, !dbg !274
  %32 = insertelement <4 x float> %25, float %31, i64 3, !dbg !267
  %33 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #9, !dbg !275
  %34 = getelementptr inbounds nuw <4 x float>, ptr addrspace(1) %0, i64 %33, !dbg !276
  store <4 x float> %32, ptr addrspace(1) %34, align 16, !dbg !277, !tbaa !249
  %35 = tail call spir_func i32 @_Z10atomic_addPU3AS1Vii(ptr addrspace(1) noundef %1, i32 noundef 3) #10, !dbg !278
  %36 = tail call spir_func i32 @_Z10atomic_maxPU3AS1Vjj(ptr addrspace(1) noundef %2, i32 noundef 7) #10, !dbg !279
  %37 = tail call spir_func i32 @_Z10atomic_incPU3AS1Vj(ptr addrspace(1) noundef %2) #10, !dbg !280
  call void @llvm.lifetime.end.p0(ptr nonnull %4) #11, !dbg !281
  ret void, !dbg !281

38:                                               ; preds = %3, %38
  %39 = phi i32 [ 0, %3 ], [ %47, %38 ]
    #dbg_value(i32 %39, !211, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !258)
  %40 = zext nneg i32 %39 to i64, !dbg !282
  %41 = getelementptr inbounds nuw float, ptr addrspace(2) @table, i64 %40, !dbg !282
  %42 = load float, ptr addrspace(2) %41, align 4, !dbg !282, !tbaa !57
  %43 = getelementptr inbounds nuw <4 x float>, ptr addrspace(1) %0, i64 %40, !dbg !283
  %44 = load float, ptr addrspace(1) %43, align 16, !dbg !283
  %45 = fadd float %42, %44, !dbg !284
  %46 = getelementptr inbounds nuw float, ptr %4, i64 %40, !dbg !285
  store float %45, ptr %46, align 4, !dbg !286, !tbaa !57
  %47 = add nuw nsw i32 %39, 1, !dbg !287
    #dbg_value(i32 %47, !211, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !258)
  %48 = icmp samesign ult i32 %39, 3, !dbg !288
  br i1 %48, label %38, label %5, !dbg !259, !llvm.loop !289
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.start.p0(ptr captures(none)) #4

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !291 dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #5

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #6

; Function Attrs: mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite)
declare void @llvm.lifetime.end.p0(ptr captures(none)) #4

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !294 dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #5

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !295 dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #5

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !296 dso_local spir_func float @_Z4exp2f(float noundef) local_unnamed_addr #5

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !299 dso_local spir_func float @_Z4sqrtf(float noundef) local_unnamed_addr #5

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !300 dso_local spir_func float @_Z4fabsf(float noundef) local_unnamed_addr #5

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !301 dso_local spir_func i64 @_Z14get_local_sizej(i32 noundef) local_unnamed_addr #5

; Function Attrs: convergent nounwind
declare !dbg !302 dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #7

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !306 dso_local spir_func i32 @_Z3maxii(i32 noundef, i32 noundef) local_unnamed_addr #5

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !309 dso_local spir_func float @_Z3fmafff(float noundef, float noundef, float noundef) local_unnamed_addr #5

; Function Attrs: convergent nounwind
declare !dbg !312 dso_local spir_func i32 @_Z10atomic_addPU3AS1Vii(ptr addrspace(1) noundef, i32 noundef) local_unnamed_addr #7

; Function Attrs: convergent nounwind
declare !dbg !317 dso_local spir_func i32 @_Z10atomic_maxPU3AS1Vjj(ptr addrspace(1) noundef, i32 noundef) local_unnamed_addr #7

; Function Attrs: convergent nounwind
declare !dbg !322 dso_local spir_func i32 @_Z10atomic_incPU3AS1Vj(ptr addrspace(1) noundef) local_unnamed_addr #7

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.experimental.noalias.scope.decl(metadata) #8

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { alwaysinline convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #2 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #3 = { alwaysinline convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #4 = { mustprogress nocallback nofree nosync nounwind willreturn memory(argmem: readwrite) }
attributes #5 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #6 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #7 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #8 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }
attributes #9 = { convergent nounwind willreturn memory(none) }
attributes #10 = { convergent nounwind }
attributes #11 = { nounwind }

!llvm.dbg.cu = !{!2}
!llvm.module.flags = !{!12, !13, !14, !15}
!opencl.ocl.version = !{!16}
!opencl.spir.version = !{!16}
!llvm.ident = !{!17}
!llvm.errno.tbaa = !{!18}

!0 = !DIGlobalVariableExpression(var: !1, expr: !DIExpression(DW_OP_constu, 2, DW_OP_swap, DW_OP_xderef))
!1 = distinct !DIGlobalVariable(name: "table", scope: !2, file: !3, line: 13, type: !9, isLocal: false, isDefinition: true)
!2 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !3, producer: "Debian clang version 22.1.8 (1~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, retainedTypes: !4, globals: !8, splitDebugInlining: false, nameTableKind: None)
!3 = !DIFile(filename: "kernels.cl", directory: ".", checksumkind: CSK_MD5, checksum: "29b7be0c7252d4aa3120ff9e7d46359f")
!4 = !{!5, !7}
!5 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !6, size: 64, dwarfAddressSpace: 4)
!6 = !DIBasicType(name: "float", size: 32, encoding: DW_ATE_float)
!7 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !6, size: 64, dwarfAddressSpace: 1)
!8 = !{!0}
!9 = !DICompositeType(tag: DW_TAG_array_type, baseType: !6, size: 128, elements: !10)
!10 = !{!11}
!11 = !DISubrange(count: 4)
!12 = !{i32 7, !"Dwarf Version", i32 5}
!13 = !{i32 2, !"Debug Info Version", i32 3}
!14 = !{i32 1, !"wchar_size", i32 4}
!15 = !{i32 7, !"frame-pointer", i32 2}
!16 = !{i32 2, i32 0}
!17 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!18 = !{!19, !19, i64 0}
!19 = !{!"int", !20, i64 0}
!20 = !{!"omnipotent char", !21, i64 0}
!21 = !{!"Simple C/C++ TBAA"}
!22 = distinct !DISubprogram(name: "saxpy", scope: !3, file: !3, line: 1, type: !23, scopeLine: 1, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !30)
!23 = !DISubroutineType(cc: DW_CC_LLVM_DeviceKernel, types: !24)
!24 = !{null, !7, !25, !6, !27}
!25 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !26, size: 64, dwarfAddressSpace: 1)
!26 = !DIDerivedType(tag: DW_TAG_const_type, baseType: !6)
!27 = !DIDerivedType(tag: DW_TAG_typedef, name: "uint", file: !28, line: 38, baseType: !29)
!28 = !DIFile(filename: "opencl-c-base.h", directory: "", checksumkind: CSK_MD5, checksum: "be11a690c37450a0034f006875ffc62b")
!29 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!30 = !{!31, !32, !33, !34}
!31 = !DILocalVariable(name: "y", arg: 1, scope: !22, file: !3, line: 1, type: !7)
!32 = !DILocalVariable(name: "x", arg: 2, scope: !22, file: !3, line: 1, type: !25)
!33 = !DILocalVariable(name: "a", arg: 3, scope: !22, file: !3, line: 1, type: !6)
!34 = !DILocalVariable(name: "n", arg: 4, scope: !22, file: !3, line: 1, type: !27)
!35 = !{i32 1, i32 1, i32 0, i32 0}
!36 = !{!"none", !"none", !"none", !"none"}
!37 = !{!"float*", !"float*", !"float", !"uint"}
!38 = !{!"", !"const", !"", !""}
!39 = !{!"y", !"x", !"a", !"n"}
!40 = !DILocation(line: 0, scope: !22)
!41 = !DILocalVariable(name: "y", arg: 1, scope: !42, file: !3, line: 1, type: !7)
!42 = distinct !DISubprogram(name: "saxpy", linkageName: "__clang_ocl_kern_imp_saxpy", scope: !3, file: !3, line: 1, type: !23, scopeLine: 1, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !43)
!43 = !{!41, !44, !45, !46, !47}
!44 = !DILocalVariable(name: "x", arg: 2, scope: !42, file: !3, line: 1, type: !25)
!45 = !DILocalVariable(name: "a", arg: 3, scope: !42, file: !3, line: 1, type: !6)
!46 = !DILocalVariable(name: "n", arg: 4, scope: !42, file: !3, line: 1, type: !27)
!47 = !DILocalVariable(name: "i", scope: !42, file: !3, line: 2, type: !48)
!48 = !DIDerivedType(tag: DW_TAG_typedef, name: "size_t", file: !28, line: 51, baseType: !49)
!49 = !DIBasicType(name: "unsigned long", size: 64, encoding: DW_ATE_unsigned)
!50 = !DILocation(line: 0, scope: !42, inlinedAt: !51)
!51 = distinct !DILocation(line: 1, column: 82, scope: !22)
!52 = !DILocation(line: 2, column: 14, scope: !42, inlinedAt: !51)
!53 = !DILocation(line: 3, column: 11, scope: !54, inlinedAt: !51)
!54 = distinct !DILexicalBlock(scope: !42, file: !3, line: 3, column: 7)
!55 = !DILocation(line: 3, column: 9, scope: !54, inlinedAt: !51)
!56 = !DILocation(line: 3, column: 26, scope: !54, inlinedAt: !51)
!57 = !{!58, !58, i64 0}
!58 = !{!"float", !20, i64 0}
!59 = !DILocation(line: 3, column: 14, scope: !54, inlinedAt: !51)
!60 = !DILocation(line: 3, column: 19, scope: !54, inlinedAt: !51)
!61 = !DILocation(line: 4, column: 1, scope: !22)
!62 = !DILocation(line: 0, scope: !42)
!63 = !DILocation(line: 2, column: 14, scope: !42)
!64 = !DILocation(line: 3, column: 11, scope: !54)
!65 = !DILocation(line: 3, column: 9, scope: !54)
!66 = !DILocation(line: 3, column: 26, scope: !54)
!67 = !DILocation(line: 3, column: 14, scope: !54)
!68 = !DILocation(line: 3, column: 19, scope: !54)
!69 = !DILocation(line: 4, column: 1, scope: !42)
!70 = distinct !DISubprogram(name: "row_sum", scope: !3, file: !3, line: 6, type: !71, scopeLine: 6, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !76)
!71 = !DISubroutineType(cc: DW_CC_LLVM_DeviceKernel, types: !72)
!72 = !{null, !73, !7, !74, !75}
!73 = !DIDerivedType(tag: DW_TAG_restrict_type, baseType: !25)
!74 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !6, size: 64, dwarfAddressSpace: 3)
!75 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!76 = !{!77, !78, !79, !80}
!77 = !DILocalVariable(name: "x", arg: 1, scope: !70, file: !3, line: 6, type: !73)
!78 = !DILocalVariable(name: "out", arg: 2, scope: !70, file: !3, line: 6, type: !7)
!79 = !DILocalVariable(name: "tmp", arg: 3, scope: !70, file: !3, line: 6, type: !74)
!80 = !DILocalVariable(name: "n", arg: 4, scope: !70, file: !3, line: 6, type: !75)
!81 = !{i32 1, i32 1, i32 3, i32 0}
!82 = !{!"float*", !"float*", !"float*", !"int"}
!83 = !{!"restrict const", !"", !"", !""}
!84 = !{!"x", !"out", !"tmp", !"n"}
!85 = !{i32 64, i32 1, i32 1}
!86 = !DILocation(line: 0, scope: !70)
!87 = !{!88}
!88 = distinct !{!88, !89, !"__clang_ocl_kern_imp_row_sum: argument 0"}
!89 = distinct !{!89, !"__clang_ocl_kern_imp_row_sum"}
!90 = !DILocation(line: 6, column: 96, scope: !70)
!91 = !DILocalVariable(name: "x", arg: 1, scope: !92, file: !3, line: 6, type: !73)
!92 = distinct !DISubprogram(name: "row_sum", linkageName: "__clang_ocl_kern_imp_row_sum", scope: !3, file: !3, line: 6, type: !71, scopeLine: 6, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !93)
!93 = !{!91, !94, !95, !96, !97, !98, !99, !100, !102}
!94 = !DILocalVariable(name: "out", arg: 2, scope: !92, file: !3, line: 6, type: !7)
!95 = !DILocalVariable(name: "tmp", arg: 3, scope: !92, file: !3, line: 6, type: !74)
!96 = !DILocalVariable(name: "n", arg: 4, scope: !92, file: !3, line: 6, type: !75)
!97 = !DILocalVariable(name: "l", scope: !92, file: !3, line: 7, type: !27)
!98 = !DILocalVariable(name: "g", scope: !92, file: !3, line: 7, type: !27)
!99 = !DILocalVariable(name: "s", scope: !92, file: !3, line: 8, type: !6)
!100 = !DILocalVariable(name: "i", scope: !101, file: !3, line: 8, type: !27)
!101 = distinct !DILexicalBlock(scope: !92, file: !3, line: 8, column: 16)
!102 = !DILocalVariable(name: "k", scope: !103, file: !3, line: 10, type: !27)
!103 = distinct !DILexicalBlock(scope: !92, file: !3, line: 10, column: 3)
!104 = !DILocation(line: 0, scope: !92, inlinedAt: !105)
!105 = distinct !DILocation(line: 6, column: 96, scope: !70)
!106 = !DILocation(line: 7, column: 12, scope: !92, inlinedAt: !105)
!107 = !DILocation(line: 7, column: 33, scope: !92, inlinedAt: !105)
!108 = !DILocation(line: 0, scope: !101, inlinedAt: !105)
!109 = !DILocation(line: 8, column: 35, scope: !110, inlinedAt: !105)
!110 = distinct !DILexicalBlock(scope: !101, file: !3, line: 8, column: 16)
!111 = !DILocation(line: 8, column: 16, scope: !101, inlinedAt: !105)
!112 = !DILocation(line: 8, scope: !92, inlinedAt: !105)
!113 = !DILocation(line: 9, column: 3, scope: !92, inlinedAt: !105)
!114 = !DILocation(line: 9, column: 10, scope: !92, inlinedAt: !105)
!115 = !DILocation(line: 9, column: 15, scope: !92, inlinedAt: !105)
!116 = !DILocation(line: 0, scope: !103, inlinedAt: !105)
!117 = !DILocation(line: 10, column: 3, scope: !103, inlinedAt: !105)
!118 = !DILocation(line: 8, column: 82, scope: !110, inlinedAt: !105)
!119 = !DILocation(line: 8, column: 74, scope: !110, inlinedAt: !105)
!120 = !DILocation(line: 8, column: 69, scope: !110, inlinedAt: !105)
!121 = !DILocation(line: 8, column: 100, scope: !110, inlinedAt: !105)
!122 = !DILocation(line: 8, column: 95, scope: !110, inlinedAt: !105)
!123 = !DILocation(line: 8, column: 90, scope: !110, inlinedAt: !105)
!124 = !{float 3.000000e+00}
!125 = !DILocation(line: 8, column: 66, scope: !110, inlinedAt: !105)
!126 = !DILocation(line: 8, column: 45, scope: !110, inlinedAt: !105)
!127 = !DILocation(line: 8, column: 42, scope: !110, inlinedAt: !105)
!128 = distinct !{!128, !111, !129, !130}
!129 = !DILocation(line: 8, column: 105, scope: !101, inlinedAt: !105)
!130 = !{!"llvm.loop.unroll.disable"}
!131 = !DILocation(line: 11, column: 9, scope: !132, inlinedAt: !105)
!132 = distinct !DILexicalBlock(scope: !92, file: !3, line: 11, column: 7)
!133 = !DILocation(line: 10, column: 41, scope: !134, inlinedAt: !105)
!134 = distinct !DILexicalBlock(scope: !135, file: !3, line: 10, column: 39)
!135 = distinct !DILexicalBlock(scope: !136, file: !3, line: 10, column: 33)
!136 = distinct !DILexicalBlock(scope: !103, file: !3, line: 10, column: 3)
!137 = !DILocation(line: 10, column: 62, scope: !134, inlinedAt: !105)
!138 = !DILocation(line: 10, column: 56, scope: !134, inlinedAt: !105)
!139 = !DILocation(line: 10, column: 53, scope: !134, inlinedAt: !105)
!140 = !DILocation(line: 10, column: 46, scope: !134, inlinedAt: !105)
!141 = !DILocation(line: 10, column: 68, scope: !135, inlinedAt: !105)
!142 = !DILocation(line: 10, column: 26, scope: !136, inlinedAt: !105)
!143 = distinct !{!143, !117, !144, !130}
!144 = !DILocation(line: 10, column: 98, scope: !103, inlinedAt: !105)
!145 = !DILocation(line: 11, column: 24, scope: !132, inlinedAt: !105)
!146 = !DILocation(line: 11, column: 15, scope: !132, inlinedAt: !105)
!147 = !DILocation(line: 11, column: 22, scope: !132, inlinedAt: !105)
!148 = !DILocation(line: 12, column: 1, scope: !70)
!149 = !DILocation(line: 0, scope: !92)
!150 = !DILocation(line: 7, column: 12, scope: !92)
!151 = !DILocation(line: 7, column: 33, scope: !92)
!152 = !DILocation(line: 0, scope: !101)
!153 = !DILocation(line: 8, column: 35, scope: !110)
!154 = !DILocation(line: 8, column: 16, scope: !101)
!155 = !DILocation(line: 8, scope: !92)
!156 = !DILocation(line: 9, column: 3, scope: !92)
!157 = !DILocation(line: 9, column: 10, scope: !92)
!158 = !DILocation(line: 9, column: 15, scope: !92)
!159 = !DILocation(line: 0, scope: !103)
!160 = !DILocation(line: 10, column: 3, scope: !103)
!161 = !DILocation(line: 8, column: 82, scope: !110)
!162 = !DILocation(line: 8, column: 74, scope: !110)
!163 = !DILocation(line: 8, column: 69, scope: !110)
!164 = !DILocation(line: 8, column: 100, scope: !110)
!165 = !DILocation(line: 8, column: 95, scope: !110)
!166 = !DILocation(line: 8, column: 90, scope: !110)
!167 = !DILocation(line: 8, column: 66, scope: !110)
!168 = !DILocation(line: 8, column: 45, scope: !110)
!169 = !DILocation(line: 8, column: 42, scope: !110)
!170 = distinct !{!170, !154, !171, !130}
!171 = !DILocation(line: 8, column: 105, scope: !101)
!172 = !DILocation(line: 11, column: 9, scope: !132)
!173 = !DILocation(line: 10, column: 41, scope: !134)
!174 = !DILocation(line: 10, column: 62, scope: !134)
!175 = !DILocation(line: 10, column: 56, scope: !134)
!176 = !DILocation(line: 10, column: 53, scope: !134)
!177 = !DILocation(line: 10, column: 46, scope: !134)
!178 = !DILocation(line: 10, column: 68, scope: !135)
!179 = !DILocation(line: 10, column: 26, scope: !136)
!180 = distinct !{!180, !160, !181, !130}
!181 = !DILocation(line: 10, column: 98, scope: !103)
!182 = !DILocation(line: 11, column: 24, scope: !132)
!183 = !DILocation(line: 11, column: 15, scope: !132)
!184 = !DILocation(line: 11, column: 22, scope: !132)
!185 = !DILocation(line: 12, column: 1, scope: !92)
!186 = distinct !DISubprogram(name: "misc", scope: !3, file: !3, line: 14, type: !187, scopeLine: 14, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !194)
!187 = !DISubroutineType(cc: DW_CC_LLVM_DeviceKernel, types: !188)
!188 = !{null, !189, !192, !193}
!189 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !190, size: 64, dwarfAddressSpace: 1)
!190 = !DIDerivedType(tag: DW_TAG_typedef, name: "float4", file: !28, line: 118, baseType: !191)
!191 = !DICompositeType(tag: DW_TAG_array_type, baseType: !6, size: 128, flags: DIFlagVector, elements: !10)
!192 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !75, size: 64, dwarfAddressSpace: 1)
!193 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !27, size: 64, dwarfAddressSpace: 1)
!194 = !{!195, !196, !197}
!195 = !DILocalVariable(name: "v", arg: 1, scope: !186, file: !3, line: 14, type: !189)
!196 = !DILocalVariable(name: "c", arg: 2, scope: !186, file: !3, line: 14, type: !192)
!197 = !DILocalVariable(name: "h", arg: 3, scope: !186, file: !3, line: 14, type: !193)
!198 = !{i32 1, i32 1, i32 1}
!199 = !{!"none", !"none", !"none"}
!200 = !{!"float4*", !"int*", !"uint*"}
!201 = !{!"float __attribute__((ext_vector_type(4)))*", !"int*", !"uint*"}
!202 = !{!"", !"", !""}
!203 = !{!"v", !"c", !"h"}
!204 = !DILocation(line: 0, scope: !186)
!205 = !DILocalVariable(name: "v", arg: 1, scope: !206, file: !3, line: 14, type: !189)
!206 = distinct !DISubprogram(name: "misc", linkageName: "__clang_ocl_kern_imp_misc", scope: !3, file: !3, line: 14, type: !187, scopeLine: 14, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !2, retainedNodes: !207)
!207 = !{!205, !208, !209, !210, !211, !213, !214}
!208 = !DILocalVariable(name: "c", arg: 2, scope: !206, file: !3, line: 14, type: !192)
!209 = !DILocalVariable(name: "h", arg: 3, scope: !206, file: !3, line: 14, type: !193)
!210 = !DILocalVariable(name: "p", scope: !206, file: !3, line: 15, type: !9)
!211 = !DILocalVariable(name: "i", scope: !212, file: !3, line: 15, type: !75)
!212 = distinct !DILexicalBlock(scope: !206, file: !3, line: 15, column: 25)
!213 = !DILocalVariable(name: "q", scope: !206, file: !3, line: 16, type: !5)
!214 = !DILocalVariable(name: "z", scope: !206, file: !3, line: 16, type: !5)
!215 = !DILocation(line: 0, scope: !206, inlinedAt: !216)
!216 = distinct !DILocation(line: 14, column: 75, scope: !186)
!217 = !DILocation(line: 15, column: 3, scope: !206, inlinedAt: !216)
!218 = !DILocation(line: 15, column: 19, scope: !206, inlinedAt: !216)
!219 = !DILocation(line: 0, scope: !212, inlinedAt: !216)
!220 = !DILocation(line: 15, column: 25, scope: !212, inlinedAt: !216)
!221 = !DILocation(line: 15, column: 60, scope: !222, inlinedAt: !216)
!222 = distinct !DILexicalBlock(scope: !212, file: !3, line: 15, column: 25)
!223 = !DILocation(line: 15, column: 71, scope: !222, inlinedAt: !216)
!224 = !DILocation(line: 15, column: 69, scope: !222, inlinedAt: !216)
!225 = !DILocation(line: 15, column: 53, scope: !222, inlinedAt: !216)
!226 = !DILocation(line: 15, column: 58, scope: !222, inlinedAt: !216)
!227 = !DILocation(line: 15, column: 49, scope: !222, inlinedAt: !216)
!228 = !DILocation(line: 15, column: 43, scope: !222, inlinedAt: !216)
!229 = distinct !{!229, !220, !230, !130}
!230 = !DILocation(line: 15, column: 76, scope: !212, inlinedAt: !216)
!231 = !DILocation(line: 16, column: 14, scope: !206, inlinedAt: !216)
!232 = !DILocation(line: 16, column: 37, scope: !206, inlinedAt: !216)
!233 = !DILocation(line: 16, column: 54, scope: !206, inlinedAt: !216)
!234 = !DILocation(line: 16, column: 36, scope: !206, inlinedAt: !216)
!235 = !DILocation(line: 17, column: 36, scope: !206, inlinedAt: !216)
!236 = !DILocation(line: 17, column: 41, scope: !206, inlinedAt: !216)
!237 = !DILocation(line: 17, column: 34, scope: !206, inlinedAt: !216)
!238 = !DILocation(line: 17, column: 33, scope: !206, inlinedAt: !216)
!239 = !DILocation(line: 17, column: 47, scope: !206, inlinedAt: !216)
!240 = !DILocation(line: 17, column: 61, scope: !206, inlinedAt: !216)
!241 = !DILocation(line: 17, column: 51, scope: !206, inlinedAt: !216)
!242 = !DILocation(line: 17, column: 72, scope: !206, inlinedAt: !216)
!243 = !DILocation(line: 17, column: 78, scope: !206, inlinedAt: !216)
!244 = !DILocation(line: 17, column: 84, scope: !206, inlinedAt: !216)
!245 = !DILocation(line: 17, column: 68, scope: !206, inlinedAt: !216)
!246 = !DILocation(line: 17, column: 5, scope: !206, inlinedAt: !216)
!247 = !DILocation(line: 17, column: 3, scope: !206, inlinedAt: !216)
!248 = !DILocation(line: 17, column: 23, scope: !206, inlinedAt: !216)
!249 = !{!20, !20, i64 0}
!250 = !DILocation(line: 18, column: 3, scope: !206, inlinedAt: !216)
!251 = !DILocation(line: 18, column: 21, scope: !206, inlinedAt: !216)
!252 = !DILocation(line: 18, column: 40, scope: !206, inlinedAt: !216)
!253 = !DILocation(line: 19, column: 1, scope: !206, inlinedAt: !216)
!254 = !DILocation(line: 19, column: 1, scope: !186)
!255 = !DILocation(line: 0, scope: !206)
!256 = !DILocation(line: 15, column: 3, scope: !206)
!257 = !DILocation(line: 15, column: 19, scope: !206)
!258 = !DILocation(line: 0, scope: !212)
!259 = !DILocation(line: 15, column: 25, scope: !212)
!260 = !DILocation(line: 16, column: 14, scope: !206)
!261 = !DILocation(line: 16, column: 37, scope: !206)
!262 = !DILocation(line: 16, column: 54, scope: !206)
!263 = !DILocation(line: 16, column: 36, scope: !206)
!264 = !DILocation(line: 17, column: 36, scope: !206)
!265 = !DILocation(line: 17, column: 41, scope: !206)
!266 = !DILocation(line: 17, column: 34, scope: !206)
!267 = !DILocation(line: 17, column: 33, scope: !206)
!268 = !DILocation(line: 17, column: 47, scope: !206)
!269 = !DILocation(line: 17, column: 61, scope: !206)
!270 = !DILocation(line: 17, column: 51, scope: !206)
!271 = !DILocation(line: 17, column: 72, scope: !206)
!272 = !DILocation(line: 17, column: 78, scope: !206)
!273 = !DILocation(line: 17, column: 84, scope: !206)
!274 = !DILocation(line: 17, column: 68, scope: !206)
!275 = !DILocation(line: 17, column: 5, scope: !206)
!276 = !DILocation(line: 17, column: 3, scope: !206)
!277 = !DILocation(line: 17, column: 23, scope: !206)
!278 = !DILocation(line: 18, column: 3, scope: !206)
!279 = !DILocation(line: 18, column: 21, scope: !206)
!280 = !DILocation(line: 18, column: 40, scope: !206)
!281 = !DILocation(line: 19, column: 1, scope: !206)
!282 = !DILocation(line: 15, column: 60, scope: !222)
!283 = !DILocation(line: 15, column: 71, scope: !222)
!284 = !DILocation(line: 15, column: 69, scope: !222)
!285 = !DILocation(line: 15, column: 53, scope: !222)
!286 = !DILocation(line: 15, column: 58, scope: !222)
!287 = !DILocation(line: 15, column: 49, scope: !222)
!288 = !DILocation(line: 15, column: 43, scope: !222)
!289 = distinct !{!289, !259, !290, !130}
!290 = !DILocation(line: 15, column: 76, scope: !212)
!291 = !DISubprogram(name: "get_global_id", linkageName: "_Z13get_global_idj", scope: !3, file: !3, line: 2, type: !292, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!292 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !293)
!293 = !{!49, !29}
!294 = !DISubprogram(name: "get_local_id", linkageName: "_Z12get_local_idj", scope: !3, file: !3, line: 7, type: !292, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!295 = !DISubprogram(name: "get_group_id", linkageName: "_Z12get_group_idj", scope: !3, file: !3, line: 7, type: !292, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!296 = !DISubprogram(name: "exp2", linkageName: "_Z4exp2f", scope: !3, file: !3, line: 8, type: !297, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!297 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !298)
!298 = !{!6, !6}
!299 = !DISubprogram(name: "sqrt", linkageName: "_Z4sqrtf", scope: !3, file: !3, line: 8, type: !297, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!300 = !DISubprogram(name: "fabs", linkageName: "_Z4fabsf", scope: !3, file: !3, line: 8, type: !297, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!301 = !DISubprogram(name: "get_local_size", linkageName: "_Z14get_local_sizej", scope: !3, file: !3, line: 8, type: !292, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!302 = !DISubprogram(name: "barrier", linkageName: "_Z7barrierj", scope: !3, file: !3, line: 9, type: !303, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!303 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !304)
!304 = !{null, !305}
!305 = !DIDerivedType(tag: DW_TAG_typedef, name: "cl_mem_fence_flags", file: !28, line: 281, baseType: !27)
!306 = !DISubprogram(name: "max", linkageName: "_Z3maxii", scope: !3, file: !3, line: 17, type: !307, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!307 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !308)
!308 = !{!75, !75, !75}
!309 = !DISubprogram(name: "fma", linkageName: "_Z3fmafff", scope: !3, file: !3, line: 17, type: !310, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!310 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !311)
!311 = !{!6, !6, !6, !6}
!312 = !DISubprogram(name: "atomic_add", linkageName: "_Z10atomic_addPU3AS1Vii", scope: !3, file: !3, line: 18, type: !313, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!313 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !314)
!314 = !{!75, !315, !75}
!315 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !316, size: 64, dwarfAddressSpace: 1)
!316 = !DIDerivedType(tag: DW_TAG_volatile_type, baseType: !75)
!317 = !DISubprogram(name: "atomic_max", linkageName: "_Z10atomic_maxPU3AS1Vjj", scope: !3, file: !3, line: 18, type: !318, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!318 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !319)
!319 = !{!29, !320, !29}
!320 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !321, size: 64, dwarfAddressSpace: 1)
!321 = !DIDerivedType(tag: DW_TAG_volatile_type, baseType: !29)
!322 = !DISubprogram(name: "atomic_inc", linkageName: "_Z10atomic_incPU3AS1Vj", scope: !3, file: !3, line: 18, type: !323, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!323 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !324)
!324 = !{!29, !320}
