; ModuleID = 'kernels.cl'
source_filename = "kernels.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024"
target triple = "spir64-unknown-unknown"

@table = dso_local local_unnamed_addr addrspace(2) constant [4 x float] [float 1.000000e+00, float 2.000000e+00, float 3.000000e+00, float 4.000000e+00], align 4

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn
define dso_local spir_kernel void @saxpy(float addrspace(1)* nocapture noundef %0, float addrspace(1)* nocapture noundef readonly %1, float noundef %2, i32 noundef %3) local_unnamed_addr #0 !kernel_arg_addr_space !4 !kernel_arg_access_qual !5 !kernel_arg_type !6 !kernel_arg_base_type !6 !kernel_arg_type_qual !7 !kernel_arg_name !8 {
  %5 = call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6
  %6 = zext i32 %3 to i64
  %7 = icmp ult i64 %5, %6
  br i1 %7, label %8, label %14

8:                                                ; preds = %4
  %9 = getelementptr inbounds float, float addrspace(1)* %1, i64 %5
  %10 = load float, float addrspace(1)* %9, align 4, !tbaa !9
  %11 = getelementptr inbounds float, float addrspace(1)* %0, i64 %5
  %12 = load float, float addrspace(1)* %11, align 4, !tbaa !9
  %13 = call float @llvm.fmuladd.f32(float %2, float %10, float %12)
  store float %13, float addrspace(1)* %11, align 4, !tbaa !9
  br label %14

14:                                               ; preds = %8, %4
  ret void
}

; Function Attrs: argmemonly mustprogress nofree nosync nounwind willreturn
declare void @llvm.lifetime.start.p0i8(i64 immarg, i8* nocapture) #1

; Function Attrs: convergent mustprogress nofree nounwind readnone willreturn
declare dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #2

; Function Attrs: mustprogress nofree nosync nounwind readnone speculatable willreturn
declare float @llvm.fmuladd.f32(float, float, float) #3

; Function Attrs: argmemonly mustprogress nofree nosync nounwind willreturn
declare void @llvm.lifetime.end.p0i8(i64 immarg, i8* nocapture) #1

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @row_sum(float addrspace(1)* noalias nocapture noundef readonly %0, float addrspace(1)* nocapture noundef writeonly %1, float addrspace(3)* nocapture noundef %2, i32 noundef %3) local_unnamed_addr #4 !kernel_arg_addr_space !13 !kernel_arg_access_qual !5 !kernel_arg_type !14 !kernel_arg_base_type !14 !kernel_arg_type_qual !15 !kernel_arg_name !16 !reqd_work_group_size !17 {
  %5 = call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #6
  %6 = trunc i64 %5 to i32
  %7 = call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #6
  %8 = icmp ult i32 %6, %3
  br i1 %8, label %9, label %12

9:                                                ; preds = %4
  %10 = trunc i64 %7 to i32
  %11 = mul i32 %10, %3
  br label %16

12:                                               ; preds = %16, %4
  %13 = phi float [ 0.000000e+00, %4 ], [ %29, %16 ]
  %14 = and i64 %5, 4294967295
  %15 = getelementptr inbounds float, float addrspace(3)* %2, i64 %14
  store float %13, float addrspace(3)* %15, align 4, !tbaa !9
  call spir_func void @_Z7barrierj(i32 noundef 1) #7
  br label %36

16:                                               ; preds = %9, %16
  %17 = phi i32 [ %6, %9 ], [ %32, %16 ]
  %18 = phi float [ 0.000000e+00, %9 ], [ %29, %16 ]
  %19 = add i32 %17, %11
  %20 = zext i32 %19 to i64
  %21 = getelementptr inbounds float, float addrspace(1)* %0, i64 %20
  %22 = load float, float addrspace(1)* %21, align 4, !tbaa !9
  %23 = call spir_func float @_Z4exp2f(float noundef %22) #6
  %24 = zext i32 %17 to i64
  %25 = getelementptr inbounds float, float addrspace(1)* %0, i64 %24
  %26 = load float, float addrspace(1)* %25, align 4, !tbaa !9
  %27 = call spir_func float @_Z4fabsf(float noundef %26) #6
  %28 = call spir_func float @_Z4sqrtf(float noundef %27) #6
  %29 = call float @llvm.fmuladd.f32(float %23, float %28, float %18)
  %30 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 0) #6
  %31 = trunc i64 %30 to i32
  %32 = add i32 %17, %31
  %33 = icmp ult i32 %32, %3
  br i1 %33, label %16, label %12, !llvm.loop !18

34:                                               ; preds = %46
  %35 = icmp eq i32 %6, 0
  br i1 %35, label %49, label %53

36:                                               ; preds = %12, %46
  %37 = phi i32 [ 32, %12 ], [ %47, %46 ]
  %38 = icmp ugt i32 %37, %6
  br i1 %38, label %39, label %46

39:                                               ; preds = %36
  %40 = add i32 %37, %6
  %41 = zext i32 %40 to i64
  %42 = getelementptr inbounds float, float addrspace(3)* %2, i64 %41
  %43 = load float, float addrspace(3)* %42, align 4, !tbaa !9
  %44 = load float, float addrspace(3)* %15, align 4, !tbaa !9
  %45 = fadd float %43, %44
  store float %45, float addrspace(3)* %15, align 4, !tbaa !9
  br label %46

46:                                               ; preds = %39, %36
  call spir_func void @_Z7barrierj(i32 noundef 1) #7
  %47 = lshr i32 %37, 1
  %48 = icmp ult i32 %37, 2
  br i1 %48, label %34, label %36, !llvm.loop !20

49:                                               ; preds = %34
  %50 = load float, float addrspace(3)* %2, align 4, !tbaa !9
  %51 = and i64 %7, 4294967295
  %52 = getelementptr inbounds float, float addrspace(1)* %1, i64 %51
  store float %50, float addrspace(1)* %52, align 4, !tbaa !9
  br label %53

53:                                               ; preds = %49, %34
  ret void
}

; Function Attrs: convergent mustprogress nofree nounwind readnone willreturn
declare dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind readnone willreturn
declare dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind readnone willreturn
declare dso_local spir_func float @_Z4exp2f(float noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind readnone willreturn
declare dso_local spir_func float @_Z4sqrtf(float noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind readnone willreturn
declare dso_local spir_func float @_Z4fabsf(float noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind readnone willreturn
declare dso_local spir_func i64 @_Z14get_local_sizej(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent
declare dso_local spir_func void @_Z7barrierj(i32 noundef) local_unnamed_addr #5

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @misc(<4 x float> addrspace(1)* nocapture noundef %0, i32 addrspace(1)* noundef %1, i32 addrspace(1)* noundef %2) local_unnamed_addr #4 !kernel_arg_addr_space !21 !kernel_arg_access_qual !22 !kernel_arg_type !23 !kernel_arg_base_type !24 !kernel_arg_type_qual !25 !kernel_arg_name !26 {
  %4 = alloca [4 x float], align 4
  %5 = bitcast [4 x float]* %4 to i8*
  call void @llvm.lifetime.start.p0i8(i64 16, i8* nonnull %5) #8
  br label %40

6:                                                ; preds = %40
  %7 = getelementptr inbounds [4 x float], [4 x float]* %4, i64 0, i64 0
  %8 = addrspacecast float* %7 to float addrspace(4)*
  %9 = call spir_func i64 @_Z13get_global_idj(i32 noundef 1) #6
  %10 = and i64 %9, 1
  %11 = icmp eq i64 %10, 0
  %12 = getelementptr inbounds <4 x float>, <4 x float> addrspace(1)* %0, i64 0, i64 28
  %13 = addrspacecast float addrspace(1)* %12 to float addrspace(4)*
  %14 = select i1 %11, float addrspace(4)* %13, float addrspace(4)* %8
  %15 = load i32, i32 addrspace(1)* %1, align 4, !tbaa !27
  %16 = and i32 %15, 3
  %17 = zext i32 %16 to i64
  %18 = getelementptr inbounds [4 x float], [4 x float]* %4, i64 0, i64 %17
  %19 = load float, float* %18, align 4, !tbaa !9
  %20 = insertelement <4 x float> undef, float %19, i64 0
  %21 = load float, float addrspace(4)* %14, align 4, !tbaa !9
  %22 = insertelement <4 x float> %20, float %21, i64 1
  %23 = getelementptr inbounds i32, i32 addrspace(1)* %1, i64 1
  %24 = load i32, i32 addrspace(1)* %23, align 4, !tbaa !27
  %25 = call spir_func i32 @_Z3maxii(i32 noundef %15, i32 noundef %24) #6
  %26 = sitofp i32 %25 to float
  %27 = insertelement <4 x float> %22, float %26, i64 2
  %28 = load float, float* %7, align 4, !tbaa !9
  %29 = getelementptr inbounds [4 x float], [4 x float]* %4, i64 0, i64 1
  %30 = load float, float* %29, align 4, !tbaa !9
  %31 = getelementptr inbounds [4 x float], [4 x float]* %4, i64 0, i64 2
  %32 = load float, float* %31, align 4, !tbaa !9
  %33 = call spir_func float @_Z3fmafff(float noundef %28, float noundef %30, float noundef %32) #6
  %34 = insertelement <4 x float> %27, float %33, i64 3
  %35 = call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #6
  %36 = getelementptr inbounds <4 x float>, <4 x float> addrspace(1)* %0, i64 %35
  store <4 x float> %34, <4 x float> addrspace(1)* %36, align 16, !tbaa !29
  %37 = call spir_func i32 @_Z10atomic_addPU3AS1Vii(i32 addrspace(1)* noundef %1, i32 noundef 3) #7
  %38 = call spir_func i32 @_Z10atomic_maxPU3AS1Vjj(i32 addrspace(1)* noundef %2, i32 noundef 7) #7
  %39 = call spir_func i32 @_Z10atomic_incPU3AS1Vj(i32 addrspace(1)* noundef %2) #7
  call void @llvm.lifetime.end.p0i8(i64 16, i8* nonnull %5) #8
  ret void

40:                                               ; preds = %3, %40
  %41 = phi i32 [ 0, %3 ], [ %49, %40 ]
  %42 = zext i32 %41 to i64
  %43 = getelementptr inbounds [4 x float], [4 x float] addrspace(2)* @table, i64 0, i64 %42
  %44 = load float, float addrspace(2)* %43, align 4, !tbaa !9
  %45 = getelementptr inbounds <4 x float>, <4 x float> addrspace(1)* %0, i64 %42, i64 0
  %46 = load float, float addrspace(1)* %45, align 16
  %47 = fadd float %44, %46
  %48 = getelementptr inbounds [4 x float], [4 x float]* %4, i64 0, i64 %42
  store float %47, float* %48, align 4, !tbaa !9
  %49 = add nuw nsw i32 %41, 1
  %50 = icmp ult i32 %41, 3
  br i1 %50, label %40, label %6, !llvm.loop !30
}

; Function Attrs: convergent mustprogress nofree nounwind readnone willreturn
declare dso_local spir_func i32 @_Z3maxii(i32 noundef, i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind readnone willreturn
declare dso_local spir_func float @_Z3fmafff(float noundef, float noundef, float noundef) local_unnamed_addr #2

; Function Attrs: convergent
declare dso_local spir_func i32 @_Z10atomic_addPU3AS1Vii(i32 addrspace(1)* noundef, i32 noundef) local_unnamed_addr #5

; Function Attrs: convergent
declare dso_local spir_func i32 @_Z10atomic_maxPU3AS1Vjj(i32 addrspace(1)* noundef, i32 noundef) local_unnamed_addr #5

; Function Attrs: convergent
declare dso_local spir_func i32 @_Z10atomic_incPU3AS1Vj(i32 addrspace(1)* noundef) local_unnamed_addr #5

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn "frame-pointer"="all" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #1 = { argmemonly mustprogress nofree nosync nounwind willreturn }
attributes #2 = { convergent mustprogress nofree nounwind readnone willreturn "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #3 = { mustprogress nofree nosync nounwind readnone speculatable willreturn }
attributes #4 = { convergent norecurse nounwind "frame-pointer"="all" "min-legal-vector-width"="0" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="false" }
attributes #5 = { convergent "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #6 = { convergent nounwind readnone willreturn }
attributes #7 = { convergent nounwind }
attributes #8 = { nounwind }

!llvm.module.flags = !{!0, !1}
!opencl.ocl.version = !{!2}
!opencl.spir.version = !{!2}
!llvm.ident = !{!3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"frame-pointer", i32 2}
!2 = !{i32 2, i32 0}
!3 = !{!"Debian clang version 14.0.6"}
!4 = !{i32 1, i32 1, i32 0, i32 0}
!5 = !{!"none", !"none", !"none", !"none"}
!6 = !{!"float*", !"float*", !"float", !"uint"}
!7 = !{!"", !"const", !"", !""}
!8 = !{!"y", !"x", !"a", !"n"}
!9 = !{!10, !10, i64 0}
!10 = !{!"float", !11, i64 0}
!11 = !{!"omnipotent char", !12, i64 0}
!12 = !{!"Simple C/C++ TBAA"}
!13 = !{i32 1, i32 1, i32 3, i32 0}
!14 = !{!"float*", !"float*", !"float*", !"int"}
!15 = !{!"restrict const", !"", !"", !""}
!16 = !{!"x", !"out", !"tmp", !"n"}
!17 = !{i32 64, i32 1, i32 1}
!18 = distinct !{!18, !19}
!19 = !{!"llvm.loop.unroll.disable"}
!20 = distinct !{!20, !19}
!21 = !{i32 1, i32 1, i32 1}
!22 = !{!"none", !"none", !"none"}
!23 = !{!"float4*", !"int*", !"uint*"}
!24 = !{!"float __attribute__((ext_vector_type(4)))*", !"int*", !"uint*"}
!25 = !{!"", !"", !""}
!26 = !{!"v", !"c", !"h"}
!27 = !{!28, !28, i64 0}
!28 = !{!"int", !11, i64 0}
!29 = !{!11, !11, i64 0}
!30 = distinct !{!30, !19}
