// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernels of `smelt selftest` as LLVM IR. Written by tools/smelt/selftest/make.sh from kernels.c; do not edit.
#include "selftest_kernels.hpp"

namespace smelt::cli {

// clang-format off
const char* const kSelftestKernels = R"IR(
target datalayout = "e-i64:64-i128:128-v16:16-v32:32-n16:32:64"
target triple = "nvptx64"

@tree = internal unnamed_addr addrspace(3) global [256 x float] zeroinitializer, align 4
@row = internal unnamed_addr addrspace(3) global [256 x float] zeroinitializer, align 4
@tile_a = internal unnamed_addr addrspace(3) global [256 x float] zeroinitializer, align 4
@tile_b = internal unnamed_addr addrspace(3) global [256 x float] zeroinitializer, align 4

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local void @saxpy(ptr addrspace(1) nocapture noundef readonly %0, ptr addrspace(1) nocapture noundef %1, float noundef %2) local_unnamed_addr #0 {
  %4 = tail call range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = mul nuw nsw i32 %4, %5
  %7 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %9
  %11 = load float, ptr addrspace(1) %10, align 4, !tbaa !13
  %12 = fmul float %11, %2
  %13 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %9
  %14 = load float, ptr addrspace(1) %13, align 4, !tbaa !13
  %15 = fadd float %12, %14
  store float %15, ptr addrspace(1) %13, align 4, !tbaa !13
  ret void
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local void @saxpy_half(ptr addrspace(1) nocapture noundef readonly %0, ptr addrspace(1) nocapture noundef %1, float noundef %2) local_unnamed_addr #0 {
  %4 = tail call range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = mul nuw nsw i32 %4, %5
  %7 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds half, ptr addrspace(1) %0, i64 %9
  %11 = load half, ptr addrspace(1) %10, align 2, !tbaa !17
  %12 = fpext half %11 to float
  %13 = fmul float %12, %2
  %14 = getelementptr inbounds half, ptr addrspace(1) %1, i64 %9
  %15 = load half, ptr addrspace(1) %14, align 2, !tbaa !17
  %16 = fpext half %15 to float
  %17 = fadd float %13, %16
  %18 = fptrunc float %17 to half
  store half %18, ptr addrspace(1) %14, align 2, !tbaa !17
  ret void
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write)
define dso_local void @positions(ptr addrspace(1) nocapture noundef writeonly %0, i32 noundef %1, i32 noundef %2) local_unnamed_addr #1 {
  %4 = tail call range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = mul nuw nsw i32 %4, %5
  %7 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %9 = tail call range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %10 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %11 = mul nuw nsw i32 %9, %10
  %12 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %13 = add nuw nsw i32 %11, %12
  %14 = tail call range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.z()
  %15 = tail call range(i32 1, 65) i32 @llvm.nvvm.read.ptx.sreg.ntid.z()
  %16 = mul nuw nsw i32 %14, %15
  %17 = tail call range(i32 0, 64) i32 @llvm.nvvm.read.ptx.sreg.tid.z()
  %18 = add nuw nsw i32 %16, %17
  %19 = shl i32 %13, 10
  %20 = shl i32 %18, 20
  %21 = or i32 %20, %19
  %22 = or i32 %21, %8
  %23 = mul i32 %18, %2
  %24 = add i32 %23, %13
  %25 = mul i32 %24, %1
  %26 = add i32 %25, %8
  %27 = zext i32 %26 to i64
  %28 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %27
  store i32 %22, ptr addrspace(1) %28, align 4, !tbaa !19
  ret void
}

; Function Attrs: mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite)
define dso_local void @integers(ptr addrspace(1) nocapture noundef readonly %0, ptr addrspace(1) nocapture noundef readonly %1, ptr addrspace(1) nocapture noundef writeonly %2) local_unnamed_addr #0 {
  %4 = tail call range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = mul nuw nsw i32 %4, %5
  %7 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %9
  %11 = load i32, ptr addrspace(1) %10, align 4, !tbaa !19
  %12 = getelementptr inbounds i32, ptr addrspace(1) %1, i64 %9
  %13 = load i32, ptr addrspace(1) %12, align 4, !tbaa !19
  %14 = or i32 %13, 1
  %15 = freeze i32 %11
  %16 = freeze i32 %14
  %17 = sdiv i32 %15, %16
  %18 = mul i32 %17, %16
  %19 = sub i32 %15, %18
  %20 = mul nsw i32 %19, 3
  %21 = and i32 %14, 31
  %22 = ashr i32 %11, %21
  %23 = sext i32 %11 to i64
  %24 = sext i32 %14 to i64
  %25 = mul nsw i64 %24, %23
  %26 = lshr i64 %25, 32
  %27 = trunc nuw i64 %26 to i32
  %28 = tail call range(i32 0, 33) i32 @llvm.ctpop.i32(i32 %11)
  %29 = add i32 %17, %28
  %30 = add i32 %29, %20
  %31 = add i32 %30, %22
  %32 = add i32 %31, %27
  %33 = getelementptr inbounds i32, ptr addrspace(1) %2, i64 %9
  store i32 %32, ptr addrspace(1) %33, align 4, !tbaa !19
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare i32 @llvm.ctpop.i32(i32) #2

; Function Attrs: norecurse nounwind memory(argmem: readwrite, inaccessiblemem: readwrite)
define dso_local void @simd_sums(ptr addrspace(1) nocapture noundef readonly %0, ptr addrspace(1) nocapture noundef writeonly %1) local_unnamed_addr #3 {
  %3 = tail call range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = mul nuw nsw i32 %3, %4
  %6 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = add nuw nsw i32 %5, %6
  %8 = zext nneg i32 %7 to i64
  %9 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %8
  %10 = load float, ptr addrspace(1) %9, align 4, !tbaa !13
  br label %13

11:                                               ; preds = %13
  %12 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %8
  store float %17, ptr addrspace(1) %12, align 4, !tbaa !13
  ret void

13:                                               ; preds = %2, %13
  %14 = phi i32 [ 16, %2 ], [ %18, %13 ]
  %15 = phi float [ %10, %2 ], [ %17, %13 ]
  %16 = tail call float @llvm.nvvm.shfl.sync.bfly.f32(i32 -1, float %15, i32 %14, i32 31)
  %17 = fadd float %15, %16
  %18 = lshr i32 %14, 1
  %19 = icmp ult i32 %14, 2
  br i1 %19, label %11, label %13, !llvm.loop !21
}

; Function Attrs: convergent nocallback nounwind memory(inaccessiblemem: readwrite)
declare float @llvm.nvvm.shfl.sync.bfly.f32(i32, float, i32, i32) #4

; Function Attrs: norecurse nounwind
define dso_local void @group_sums(ptr addrspace(1) nocapture noundef readonly %0, ptr addrspace(1) nocapture noundef writeonly %1) local_unnamed_addr #5 {
  %3 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = tail call range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = mul nuw nsw i32 %4, %5
  %7 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %9
  %11 = load float, ptr addrspace(1) %10, align 4, !tbaa !13
  %12 = zext nneg i32 %3 to i64
  %13 = getelementptr inbounds [256 x float], ptr addrspace(3) @tree, i64 0, i64 %12
  store float %11, ptr addrspace(3) %13, align 4, !tbaa !13
  tail call void @llvm.nvvm.barrier0()
  br label %16

14:                                               ; preds = %26
  %15 = icmp eq i32 %3, 0
  br i1 %15, label %29, label %33

16:                                               ; preds = %2, %26
  %17 = phi i32 [ 128, %2 ], [ %27, %26 ]
  %18 = icmp ult i32 %3, %17
  br i1 %18, label %19, label %26

19:                                               ; preds = %16
  %20 = add nuw nsw i32 %17, %3
  %21 = zext nneg i32 %20 to i64
  %22 = getelementptr inbounds [256 x float], ptr addrspace(3) @tree, i64 0, i64 %21
  %23 = load float, ptr addrspace(3) %22, align 4, !tbaa !13
  %24 = load float, ptr addrspace(3) %13, align 4, !tbaa !13
  %25 = fadd float %23, %24
  store float %25, ptr addrspace(3) %13, align 4, !tbaa !13
  br label %26

26:                                               ; preds = %19, %16
  tail call void @llvm.nvvm.barrier0()
  %27 = lshr i32 %17, 1
  %28 = icmp ult i32 %17, 2
  br i1 %28, label %14, label %16, !llvm.loop !24

29:                                               ; preds = %14
  %30 = load float, ptr addrspace(3) @tree, align 4, !tbaa !13
  %31 = zext nneg i32 %4 to i64
  %32 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %31
  store float %30, ptr addrspace(1) %32, align 4, !tbaa !13
  br label %33

33:                                               ; preds = %29, %14
  ret void
}

; Function Attrs: convergent nocallback nounwind
declare void @llvm.nvvm.barrier0() #6

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.x() #2

; Function Attrs: norecurse nounwind
define dso_local void @softmax(ptr addrspace(1) nocapture noundef readonly %0, ptr addrspace(1) nocapture noundef writeonly %1) local_unnamed_addr #5 {
  %3 = tail call noundef range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %4 = tail call range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %5 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %6 = mul nuw nsw i32 %4, %5
  %7 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %8 = add nuw nsw i32 %6, %7
  %9 = zext nneg i32 %8 to i64
  %10 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %9
  %11 = load float, ptr addrspace(1) %10, align 4, !tbaa !13
  %12 = zext nneg i32 %3 to i64
  %13 = getelementptr inbounds [256 x float], ptr addrspace(3) @row, i64 0, i64 %12
  store float %11, ptr addrspace(3) %13, align 4, !tbaa !13
  tail call void @llvm.nvvm.barrier0()
  %14 = load float, ptr addrspace(3) @row, align 4, !tbaa !13
  br label %19

15:                                               ; preds = %19
  tail call void @llvm.nvvm.barrier0()
  %16 = load float, ptr addrspace(1) %10, align 4, !tbaa !13
  %17 = fsub float %16, %26
  %18 = tail call float @llvm.exp.f32(float %17)
  store float %18, ptr addrspace(3) %13, align 4, !tbaa !13
  tail call void @llvm.nvvm.barrier0()
  br label %33

19:                                               ; preds = %2, %19
  %20 = phi i32 [ 1, %2 ], [ %27, %19 ]
  %21 = phi float [ %14, %2 ], [ %26, %19 ]
  %22 = zext nneg i32 %20 to i64
  %23 = getelementptr inbounds [256 x float], ptr addrspace(3) @row, i64 0, i64 %22
  %24 = load float, ptr addrspace(3) %23, align 4, !tbaa !13
  %25 = fcmp ogt float %24, %21
  %26 = select i1 %25, float %24, float %21
  %27 = add nuw nsw i32 %20, 1
  %28 = icmp eq i32 %27, 256
  br i1 %28, label %15, label %19, !llvm.loop !25

29:                                               ; preds = %33
  %30 = load float, ptr addrspace(3) %13, align 4, !tbaa !13
  %31 = fdiv float %30, %39
  %32 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %9
  store float %31, ptr addrspace(1) %32, align 4, !tbaa !13
  ret void

33:                                               ; preds = %15, %33
  %34 = phi i32 [ 0, %15 ], [ %40, %33 ]
  %35 = phi float [ 0.000000e+00, %15 ], [ %39, %33 ]
  %36 = zext nneg i32 %34 to i64
  %37 = getelementptr inbounds [256 x float], ptr addrspace(3) @row, i64 0, i64 %36
  %38 = load float, ptr addrspace(3) %37, align 4, !tbaa !13
  %39 = fadd float %35, %38
  %40 = add nuw nsw i32 %34, 1
  %41 = icmp eq i32 %40, 256
  br i1 %41, label %29, label %33, !llvm.loop !26
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.exp.f32(float) #2

; Function Attrs: norecurse nounwind
define dso_local void @matmul(ptr addrspace(1) nocapture noundef readonly %0, ptr addrspace(1) nocapture noundef readonly %1, ptr addrspace(1) nocapture noundef writeonly %2, i32 noundef %3) local_unnamed_addr #5 {
  %5 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %6 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.y()
  %7 = tail call range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %8 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %9 = mul nuw nsw i32 %7, %8
  %10 = add nuw nsw i32 %9, %5
  %11 = tail call range(i32 0, 65535) i32 @llvm.nvvm.read.ptx.sreg.ctaid.y()
  %12 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.y()
  %13 = mul nuw nsw i32 %11, %12
  %14 = add nuw nsw i32 %13, %6
  %15 = icmp eq i32 %3, 0
  br i1 %15, label %24, label %16

16:                                               ; preds = %4
  %17 = mul i32 %14, %3
  %18 = add i32 %17, %5
  %19 = shl nuw nsw i32 %6, 4
  %20 = add nuw nsw i32 %19, %5
  %21 = zext nneg i32 %20 to i64
  %22 = getelementptr inbounds [256 x float], ptr addrspace(3) @tile_a, i64 0, i64 %21
  %23 = getelementptr inbounds [256 x float], ptr addrspace(3) @tile_b, i64 0, i64 %21
  br label %30

24:                                               ; preds = %43, %4
  %25 = phi float [ 0.000000e+00, %4 ], [ %59, %43 ]
  %26 = mul i32 %14, %3
  %27 = add i32 %26, %10
  %28 = zext i32 %27 to i64
  %29 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %28
  store float %25, ptr addrspace(1) %29, align 4, !tbaa !13
  ret void

30:                                               ; preds = %16, %43
  %31 = phi i32 [ 0, %16 ], [ %44, %43 ]
  %32 = phi float [ 0.000000e+00, %16 ], [ %59, %43 ]
  %33 = add i32 %18, %31
  %34 = zext i32 %33 to i64
  %35 = getelementptr inbounds float, ptr addrspace(1) %0, i64 %34
  %36 = load float, ptr addrspace(1) %35, align 4, !tbaa !13
  store float %36, ptr addrspace(3) %22, align 4, !tbaa !13
  %37 = add i32 %31, %6
  %38 = mul i32 %37, %3
  %39 = add i32 %38, %10
  %40 = zext i32 %39 to i64
  %41 = getelementptr inbounds float, ptr addrspace(1) %1, i64 %40
  %42 = load float, ptr addrspace(1) %41, align 4, !tbaa !13
  store float %42, ptr addrspace(3) %23, align 4, !tbaa !13
  tail call void @llvm.nvvm.barrier0()
  br label %46

43:                                               ; preds = %46
  tail call void @llvm.nvvm.barrier0()
  %44 = add i32 %31, 16
  %45 = icmp ult i32 %44, %3
  br i1 %45, label %30, label %24, !llvm.loop !27

46:                                               ; preds = %30, %46
  %47 = phi i32 [ 0, %30 ], [ %60, %46 ]
  %48 = phi float [ %32, %30 ], [ %59, %46 ]
  %49 = or disjoint i32 %47, %19
  %50 = zext nneg i32 %49 to i64
  %51 = getelementptr inbounds [256 x float], ptr addrspace(3) @tile_a, i64 0, i64 %50
  %52 = load float, ptr addrspace(3) %51, align 4, !tbaa !13
  %53 = shl nuw nsw i32 %47, 4
  %54 = add nuw nsw i32 %53, %5
  %55 = zext nneg i32 %54 to i64
  %56 = getelementptr inbounds [256 x float], ptr addrspace(3) @tile_b, i64 0, i64 %55
  %57 = load float, ptr addrspace(3) %56, align 4, !tbaa !13
  %58 = fmul float %52, %57
  %59 = fadd float %48, %58
  %60 = add nuw nsw i32 %47, 1
  %61 = icmp eq i32 %60, 16
  br i1 %61, label %43, label %46, !llvm.loop !28
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.nvvm.read.ptx.sreg.tid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.nvvm.read.ptx.sreg.tid.y() #2

; Function Attrs: mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local void @histogram(ptr addrspace(1) nocapture noundef readonly %0, ptr addrspace(1) nocapture noundef %1) local_unnamed_addr #7 {
  %3 = tail call range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = mul nuw nsw i32 %3, %4
  %6 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = add nuw nsw i32 %5, %6
  %8 = zext nneg i32 %7 to i64
  %9 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %8
  %10 = load i32, ptr addrspace(1) %9, align 4, !tbaa !19
  %11 = and i32 %10, 63
  %12 = zext nneg i32 %11 to i64
  %13 = getelementptr inbounds i32, ptr addrspace(1) %1, i64 %12
  %14 = atomicrmw add ptr addrspace(1) %13, i32 1 monotonic, align 4
  ret void
}

; Function Attrs: nofree norecurse nosync nounwind memory(argmem: readwrite)
define dso_local void @collatz(ptr addrspace(1) nocapture noundef readonly %0, ptr addrspace(1) nocapture noundef writeonly %1) local_unnamed_addr #8 {
  %3 = tail call range(i32 0, 2147483647) i32 @llvm.nvvm.read.ptx.sreg.ctaid.x()
  %4 = tail call range(i32 1, 1025) i32 @llvm.nvvm.read.ptx.sreg.ntid.x()
  %5 = mul nuw nsw i32 %3, %4
  %6 = tail call range(i32 0, 1024) i32 @llvm.nvvm.read.ptx.sreg.tid.x()
  %7 = add nuw nsw i32 %5, %6
  %8 = zext nneg i32 %7 to i64
  %9 = getelementptr inbounds i32, ptr addrspace(1) %0, i64 %8
  %10 = load i32, ptr addrspace(1) %9, align 4, !tbaa !19
  %11 = icmp eq i32 %10, 1
  br i1 %11, label %25, label %12

12:                                               ; preds = %2, %12
  %13 = phi i32 [ %21, %12 ], [ 0, %2 ]
  %14 = phi i32 [ %20, %12 ], [ %10, %2 ]
  %15 = and i32 %14, 1
  %16 = icmp eq i32 %15, 0
  %17 = lshr exact i32 %14, 1
  %18 = mul i32 %14, 3
  %19 = add i32 %18, 1
  %20 = select i1 %16, i32 %17, i32 %19
  %21 = add nuw nsw i32 %13, 1
  %22 = icmp ne i32 %20, 1
  %23 = icmp ult i32 %13, 999
  %24 = select i1 %22, i1 %23, i1 false
  br i1 %24, label %12, label %25, !llvm.loop !29

25:                                               ; preds = %12, %2
  %26 = phi i32 [ 0, %2 ], [ %21, %12 ]
  %27 = getelementptr inbounds i32, ptr addrspace(1) %1, i64 %8
  store i32 %26, ptr addrspace(1) %27, align 4, !tbaa !19
  ret void
}

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.nvvm.read.ptx.sreg.ntid.x() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.y() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.nvvm.read.ptx.sreg.ntid.y() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.nvvm.read.ptx.sreg.ctaid.z() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.nvvm.read.ptx.sreg.ntid.z() #2

; Function Attrs: mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none)
declare noundef i32 @llvm.nvvm.read.ptx.sreg.tid.z() #2

attributes #0 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+ptx85" }
attributes #1 = { mustprogress nofree norecurse nosync nounwind willreturn memory(argmem: write) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+ptx85" }
attributes #2 = { mustprogress nocallback nofree nosync nounwind speculatable willreturn memory(none) }
attributes #3 = { norecurse nounwind memory(argmem: readwrite, inaccessiblemem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+ptx85" }
attributes #4 = { convergent nocallback nounwind memory(inaccessiblemem: readwrite) }
attributes #5 = { norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+ptx85" }
attributes #6 = { convergent nocallback nounwind }
attributes #7 = { mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+ptx85" }
attributes #8 = { nofree norecurse nosync nounwind memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "target-features"="+ptx85" }

!nvvm.annotations = !{!0, !1, !2, !3, !4, !5, !6, !7, !8, !9}
!llvm.module.flags = !{!10, !11}
!llvm.ident = !{!12}

!0 = !{ptr @saxpy, !"kernel", i32 1}
!1 = !{ptr @saxpy_half, !"kernel", i32 1}
!2 = !{ptr @positions, !"kernel", i32 1}
!3 = !{ptr @integers, !"kernel", i32 1}
!4 = !{ptr @simd_sums, !"kernel", i32 1}
!5 = !{ptr @group_sums, !"kernel", i32 1}
!6 = !{ptr @softmax, !"kernel", i32 1}
!7 = !{ptr @matmul, !"kernel", i32 1}
!8 = !{ptr @histogram, !"kernel", i32 1}
!9 = !{ptr @collatz, !"kernel", i32 1}
!10 = !{i32 1, !"wchar_size", i32 4}
!11 = !{i32 7, !"frame-pointer", i32 2}
!12 = !{!"clang"}
!13 = !{!14, !14, i64 0}
!14 = !{!"float", !15, i64 0}
!15 = !{!"omnipotent char", !16, i64 0}
!16 = !{!"Simple C/C++ TBAA"}
!17 = !{!18, !18, i64 0}
!18 = !{!"_Float16", !15, i64 0}
!19 = !{!20, !20, i64 0}
!20 = !{!"int", !15, i64 0}
!21 = distinct !{!21, !22, !23}
!22 = !{!"llvm.loop.mustprogress"}
!23 = !{!"llvm.loop.unroll.disable"}
!24 = distinct !{!24, !22, !23}
!25 = distinct !{!25, !22, !23}
!26 = distinct !{!26, !22, !23}
!27 = distinct !{!27, !22, !23}
!28 = distinct !{!28, !22, !23}
!29 = distinct !{!29, !22, !23}
)IR";
// clang-format on

}  // namespace smelt::cli
