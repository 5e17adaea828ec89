; ModuleID = 'cuda.c'
source_filename = "cuda.c"
target datalayout = "e-p6:32:32-i64:64-i128:128-i256:256-v16:16-v32:32-n16:32:64"
target triple = "nvptx64-nvidia-cuda"

@smem = external dso_local local_unnamed_addr addrspace(3) global [0 x float], align 4

; Function Attrs: convergent norecurse nounwind
define dso_local ptx_kernel void @group_sum(ptr addrspace(1) noundef readonly captures(none) %0, ptr addrspace(1) noundef writeonly captures(none) %1, i32 noundef %2) local_unnamed_addr #0 {
  %4 = tail call i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %5 = tail call i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %6 = tail call i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %7 = mul nuw nsw i32 %5, %6
  %8 = add nuw nsw i32 %7, %4
  %9 = icmp slt i32 %8, %2
  br i1 %9, label %10, label %14

10:                                               ; preds = %3
  %11 = zext nneg i32 %8 to i64
  %12 = getelementptr inbounds nuw float, ptr addrspace(1) %0, i64 %11
  %13 = load float, ptr addrspace(1) %12, align 4, !tbaa !7
  br label %14

14:                                               ; preds = %3, %10
  %15 = phi float [ %13, %10 ], [ 0.000000e+00, %3 ]
  br label %19

16:                                               ; preds = %19
  %17 = and i32 %4, 31
  %18 = icmp eq i32 %17, 0
  br i1 %18, label %26, label %30

19:                                               ; preds = %14, %19
  %20 = phi i32 [ %24, %19 ], [ 16, %14 ]
  %21 = phi float [ %23, %19 ], [ %15, %14 ]
  %22 = tail call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %21, i32 %20, i32 31)
  %23 = fadd float %21, %22
  %24 = lshr i32 %20, 1
  %25 = icmp eq i32 %24, 0
  br i1 %25, label %16, label %19, !llvm.loop !9

26:                                               ; preds = %16
  %27 = lshr exact i32 %4, 5
  %28 = zext nneg i32 %27 to i64
  %29 = getelementptr inbounds nuw float, ptr addrspace(3) @smem, i64 %28
  store float %23, ptr addrspace(3) %29, align 4, !tbaa !7
  br label %30

30:                                               ; preds = %26, %16
  tail call void @llvm.nvvm.barrier.cta.sync.aligned.all(i32 0)
  %31 = icmp eq i32 %4, 0
  br i1 %31, label %32, label %47

32:                                               ; preds = %30
  %33 = add nuw nsw i32 %6, 31
  %34 = lshr i32 %33, 5
  br label %38

35:                                               ; preds = %38
  %36 = zext nneg i32 %5 to i64
  %37 = getelementptr inbounds nuw float, ptr addrspace(1) %1, i64 %36
  store float %44, ptr addrspace(1) %37, align 4, !tbaa !7
  br label %47

38:                                               ; preds = %32, %38
  %39 = phi i32 [ %45, %38 ], [ 0, %32 ]
  %40 = phi float [ %44, %38 ], [ 0.000000e+00, %32 ]
  %41 = zext nneg i32 %39 to i64
  %42 = getelementptr inbounds nuw float, ptr addrspace(3) @smem, i64 %41
  %43 = load float, ptr addrspace(3) %42, align 4, !tbaa !7
  %44 = fadd float %40, %43
  %45 = add nuw nsw i32 %39, 1
  %46 = icmp eq i32 %45, %34
  br i1 %46, label %35, label %38, !llvm.loop !12

47:                                               ; preds = %35, %30
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #1

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #1

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32) #2

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier.cta.sync.aligned.all(i32) #3

attributes #0 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-cpu"="sm_80" "target-features"="+ptx70,+ptx88,+sm_80" }
attributes #1 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #2 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #3 = { convergent nocallback nounwind }

!llvm.module.flags = !{!0, !1}
!llvm.ident = !{!2}
!llvm.errno.tbaa = !{!3}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"frame-pointer", i32 2}
!2 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!3 = !{!4, !4, i64 0}
!4 = !{!"int", !5, i64 0}
!5 = !{!"omnipotent char", !6, i64 0}
!6 = !{!"Simple C/C++ TBAA"}
!7 = !{!8, !8, i64 0}
!8 = !{!"float", !5, i64 0}
!9 = distinct !{!9, !10, !11}
!10 = !{!"llvm.loop.mustprogress"}
!11 = !{!"llvm.loop.unroll.disable"}
!12 = distinct !{!12, !10, !11}
