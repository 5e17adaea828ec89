; Everything that a module may hold and that real kernels rarely do, for the typed writer. LLVM 19 text.
; test_torture.cpp writes it in every mode; LLVM 14 must read and verify it, LLVM 19 must find the same module.
source_filename = "torture"
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64-apple-macosx14.0.0"

%struct.packed = type <{ i8, i64, [3 x half] }>
%struct.plain = type { i32, ptr, <4 x float>, { i8, %struct.packed } }
%struct._texture_2d_t = type opaque

@table = internal unnamed_addr addrspace(2) constant [4 x i32] [i32 0, i32 -1, i32 2147483647, i32 -2147483648], align 4
@text = private unnamed_addr addrspace(2) constant [6 x i8] c"hello\00"
@no_nul = private addrspace(2) constant [3 x i8] c"a\00\FF"
@halves = internal addrspace(2) constant [3 x half] [half 0xH3C00, half 0xH7C00, half 0xH8000]
@bfloats = internal addrspace(2) constant [2 x bfloat] [bfloat 0xR3F80, bfloat 0xR8000]
@doubles = internal addrspace(2) constant [2 x double] [double 0.1, double -0.0]
@vectors = internal addrspace(2) constant <4 x i64> <i64 1, i64 -9223372036854775808, i64 9223372036854775807, i64 0>
@wide = internal addrspace(2) constant i128 -170141183460469231731687303715884105728
@record = internal constant %struct.plain { i32 7, ptr getelementptr inbounds (%struct.plain, ptr @record, i64 0, i32 3, i32 1, i32 2, i64 1), <4 x float> <float 1.0, float undef, float poison, float 0x7FF8000000000000>, { i8, %struct.packed } { i8 1, %struct.packed <{ i8 2, i64 3, [3 x half] zeroinitializer }> } }
@pointers = internal global [4 x ptr] [ptr @record, ptr @callee, ptr null, ptr getelementptr ([4 x ptr], ptr @pointers, i64 0, i64 2)]
@cast_pointers = internal addrspace(1) global [2 x ptr addrspace(2)] [ptr addrspace(2) @table, ptr addrspace(2) addrspacecast (ptr @record to ptr addrspace(2))]
@number_of_address = internal global i64 add (i64 ptrtoint (ptr @record to i64), i64 16)
@group = internal unnamed_addr addrspace(3) global [64 x float] undef, align 512
@weak_one = weak_odr addrspace(1) global i32 5
@sectioned = external addrspace(1) global float, section "air,elsewhere", align 64
@other_section = internal addrspace(1) global float 0.0, section "air,other"
@llvm.global_ctors = appending global [2 x { i32, ptr, ptr }] [{ i32, ptr, ptr } { i32 65535, ptr @constructor, ptr null }, { i32, ptr, ptr } { i32 1, ptr @constructor, ptr @pointers }]
@llvm.used = appending global [2 x ptr] [ptr @record, ptr @entry], section "llvm.metadata"
@alias_of_record = internal alias %struct.plain, ptr @record
@alias_inside = alias i64, getelementptr inbounds (%struct.plain, ptr @record, i64 0, i32 3, i32 1, i32 1)
@alias_of_function = alias float (ptr, i32), ptr @callee

declare float @air.fast_sin.f32(float)
declare i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1) nocapture, ptr nocapture, i32, i32, i32, i32, i1)
declare <64 x half> @air.simdgroup_matrix_8x8_load.v64f16.p3f16(ptr addrspace(3) nocapture readonly, i64, <2 x i64>, i1)
declare { <4 x float>, i8 } @air.sample_texture_2d.v4f32(ptr addrspace(1) nocapture readonly, ptr addrspace(2) nocapture readonly, <2 x float>, i1, <2 x i32>, i1, float, float, i32)
declare i32 @printf(ptr addrspace(2), ...)
declare void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) noalias nocapture writeonly, ptr addrspace(1) noalias nocapture readonly, i64, i1 immarg)
declare void @llvm.memset.p0.i64(ptr nocapture writeonly, i8, i64, i1 immarg)
declare ptr @llvm.invariant.start.p0(i64 immarg, ptr nocapture)
declare void @llvm.invariant.end.p0(ptr, i64 immarg, ptr nocapture)
declare <4 x float> @llvm.masked.load.v4f32.p1(ptr addrspace(1), i32 immarg, <4 x i1>, <4 x float>)
declare void @llvm.masked.store.v4f32.p1(<4 x float>, ptr addrspace(1), i32 immarg, <4 x i1>)
declare void @llvm.lifetime.start.p0(i64 immarg, ptr nocapture)
declare i32 @llvm.read_register.i32(metadata)
declare void @llvm.assume(i1)
declare { i32, i1 } @llvm.uadd.with.overflow.i32(i32, i32)

define internal void @constructor() section "air.static_init" {
  ret void
}

define internal fastcc float @callee(ptr readonly %p, i32 %i) #0 {
  %at = getelementptr inbounds float, ptr %p, i32 %i
  %v = load float, ptr %at, align 4
  ret float %v
}

define internal ptr addrspace(1) @give_pointer(ptr addrspace(1) %a, ptr addrspace(1) %b, i1 %c) {
  %s = select i1 %c, ptr addrspace(1) %a, ptr addrspace(1) %b
  %f = freeze ptr addrspace(1) %s
  ret ptr addrspace(1) %f
}

define internal void @by_type(ptr sret(%struct.plain) align 8 %out, ptr byval(%struct.packed) align 1 %in, ptr byref(i64) %ref) {
  %field = getelementptr %struct.packed, ptr %in, i64 0, i32 1
  %n = load i64, ptr %field, align 1
  %m = load volatile i64, ptr %ref, align 8
  %sum = add nuw nsw i64 %n, %m
  %t = trunc i64 %sum to i32
  store i32 %t, ptr %out, align 8
  ret void
}

; A use before its definition in block order, for a view as well: blocks stand in a strange order.
define internal i64 @upside_down(ptr addrspace(1) %p, i1 %c) {
entry:
  br label %first
last:
  %loaded = load i64, ptr addrspace(1) %moved, align 8
  %more = load double, ptr addrspace(1) %moved, align 8
  %bits = bitcast double %more to i64
  %both = xor i64 %loaded, %bits
  ret i64 %both
middle:
  %moved = getelementptr <2 x i64>, ptr addrspace(1) %base, i64 %k, i32 1
  br i1 %c, label %last, label %first
first:
  %base = phi ptr addrspace(1) [ %p, %entry ], [ %moved, %middle ]
  %k = phi i64 [ 0, %entry ], [ %next, %middle ]
  %next = add i64 %k, 1
  br label %middle
}

; Two entries of a phi from one predecessor must be the same value.
define internal ptr addrspace(3) @switching(i64 %n, i8 %small) {
entry:
  %local = alloca [3 x i16], align 2
  switch i64 %n, label %done [
    i64 -9223372036854775808, label %done
    i64 9223372036854775807, label %done
    i64 0, label %other
    i64 -1, label %other
  ]
other:
  switch i8 %small, label %done [
    i8 -128, label %never
    i8 127, label %never
  ]
never:
  unreachable
done:
  %p = phi ptr addrspace(3) [ @group, %entry ], [ @group, %entry ], [ @group, %entry ], [ getelementptr inbounds ([64 x float], ptr addrspace(3) @group, i64 0, i64 5), %other ]
  ret ptr addrspace(3) %p
}

define internal void @atomics(ptr addrspace(1) %p, ptr addrspace(3) %q, i32 %v, float %f, ptr %any) {
  %a = atomicrmw xchg ptr addrspace(1) %p, i32 %v monotonic, align 4
  %b = atomicrmw add ptr addrspace(1) %p, i32 %v acquire, align 4
  %c = atomicrmw sub ptr addrspace(1) %p, i32 %v release, align 4
  %d = atomicrmw and ptr addrspace(1) %p, i32 %v acq_rel, align 4
  %e = atomicrmw nand ptr addrspace(1) %p, i32 %v seq_cst, align 4
  %g = atomicrmw or ptr addrspace(3) %q, i32 %v syncscope("singlethread") monotonic, align 4
  %h = atomicrmw xor ptr addrspace(3) %q, i32 %v monotonic, align 4
  %i = atomicrmw max ptr addrspace(1) %p, i32 %v monotonic, align 4
  %j = atomicrmw min ptr addrspace(1) %p, i32 %v monotonic, align 4
  %k = atomicrmw umax ptr addrspace(1) %p, i32 %v monotonic, align 4
  %l = atomicrmw volatile umin ptr addrspace(1) %p, i32 %v syncscope("workgroup") monotonic, align 4
  %m = atomicrmw fadd ptr addrspace(1) %p, float %f monotonic, align 4
  %n = atomicrmw fsub ptr addrspace(1) %p, float %f monotonic, align 4
  %o = cmpxchg ptr addrspace(1) %p, i32 %a, i32 %b acq_rel monotonic, align 4
  %r = cmpxchg weak volatile ptr addrspace(3) %q, i64 0, i64 1 seq_cst acquire, align 8
  %s = extractvalue { i32, i1 } %o, 0
  %t = load atomic i32, ptr addrspace(1) %p acquire, align 4
  %u = load atomic volatile float, ptr addrspace(3) %q syncscope("singlethread") monotonic, align 4
  store atomic i32 %t, ptr addrspace(1) %p release, align 4
  store atomic float %u, ptr addrspace(3) %q monotonic, align 4
  fence syncscope("workgroup") acq_rel
  fence seq_cst
  %w = call i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1) %p, ptr %any, i32 %s, i32 0, i32 0, i32 2, i1 true)
  ret void
}

define internal <2 x ptr addrspace(1)> @vectors_of_pointers(ptr addrspace(1) %p, <2 x i64> %n, <2 x ptr addrspace(1)> %v, i1 %c) {
entry:
  %a = getelementptr i32, ptr addrspace(1) %p, <2 x i64> %n
  %b = getelementptr { i8, i32 }, <2 x ptr addrspace(1)> %v, <2 x i64> %n, i32 1
  %cmp = icmp eq <2 x ptr addrspace(1)> %a, %b
  %s = select <2 x i1> %cmp, <2 x ptr addrspace(1)> %a, <2 x ptr addrspace(1)> %b
  %e = extractelement <2 x ptr addrspace(1)> %s, i32 0
  %w = load i32, ptr addrspace(1) %e, align 4
  %i = insertelement <2 x ptr addrspace(1)> poison, ptr addrspace(1) %e, i32 1
  %sh = shufflevector <2 x ptr addrspace(1)> %i, <2 x ptr addrspace(1)> %b, <2 x i32> <i32 1, i32 poison>
  %ints = ptrtoint <2 x ptr addrspace(1)> %sh to <2 x i64>
  %back = inttoptr <2 x i64> %ints to <2 x ptr addrspace(1)>
  br i1 %c, label %yes, label %no
yes:
  br label %no
no:
  %phi = phi <2 x ptr addrspace(1)> [ %a, %entry ], [ %back, %yes ]
  ret <2 x ptr addrspace(1)> %phi
}

define internal { ptr, [2 x ptr] } @aggregates(ptr %p, float %x) {
  %slot = alloca ptr, align 8
  %array = alloca [2 x %struct.plain], align 128
  %count = fptoui float %x to i32
  %dynamic = alloca i64, i32 %count, align 8
  store ptr %slot, ptr %slot, align 8
  store ptr %array, ptr %slot, align 8
  store i64 1, ptr %dynamic, align 8
  %again = load ptr, ptr %slot, align 8
  %inner = getelementptr inbounds [2 x %struct.plain], ptr %array, i64 0, i64 1, i32 3, i32 1, i32 2, i64 1
  %a = insertvalue { ptr, [2 x ptr] } undef, ptr %inner, 0
  %b = insertvalue { ptr, [2 x ptr] } %a, ptr %again, 1, 1
  %c = extractvalue { ptr, [2 x ptr] } %b, 1
  %d = extractvalue [2 x ptr] %c, 1
  %same = icmp ult ptr %d, %p
  call void @llvm.assume(i1 %same) [ "align"(ptr %p, i64 8) ]
  %out = alloca %struct.plain, align 8
  call void @by_type(ptr sret(%struct.plain) align 8 %out, ptr byval(%struct.packed) align 1 %p, ptr byref(i64) %again)
  ret { ptr, [2 x ptr] } %b

unreached:
  %forever = add i64 %forever, 1
  br label %unreached
}

define internal void @calls(ptr %f, ptr addrspace(2) %fmt, i32 %i, float %x, ptr %p) {
  %a = call float %f(ptr %p, i32 %i)
  %b = call fast fastcc float @callee(ptr %p, i32 %i) #1
  %c = tail call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) %fmt, i32 %i, ptr %p, double 1.0, i64 -1)
  %d = notail call i32 (ptr addrspace(2), ...) @printf(ptr addrspace(2) @text)
  %e = call nnan ninf float @air.fast_sin.f32(float %a)
  %pair = call { i32, i1 } @llvm.uadd.with.overflow.i32(i32 %i, i32 %c)
  %g = call i32 @llvm.read_register.i32(metadata !{!"x0"})
  %h = call float @callee_of_other_type(i32 %i)
  call void %p(ptr sret(%struct.plain) %f)
  %loaded = load ptr, ptr %p, align 8
  call void %loaded()
  ret void
}

declare float @callee_of_other_type(i32)

define internal void @memory(ptr addrspace(1) %p, ptr addrspace(3) %q, ptr %r, <4 x i1> %mask) {
  %size = alloca [16 x i8], align 16
  call void @llvm.lifetime.start.p0(i64 16, ptr %size)
  call void @llvm.memcpy.p3.p1.i64(ptr addrspace(3) align 4 %q, ptr addrspace(1) align 4 %p, i64 64, i1 false)
  call void @llvm.memset.p0.i64(ptr align 16 %size, i8 0, i64 16, i1 true)
  %token = call ptr @llvm.invariant.start.p0(i64 4, ptr %r)
  call void @llvm.invariant.end.p0(ptr %token, i64 4, ptr %r)
  %v = call <4 x float> @llvm.masked.load.v4f32.p1(ptr addrspace(1) %p, i32 4, <4 x i1> %mask, <4 x float> zeroinitializer)
  call void @llvm.masked.store.v4f32.p1(<4 x float> %v, ptr addrspace(1) %p, i32 4, <4 x i1> %mask)
  %m = call <64 x half> @air.simdgroup_matrix_8x8_load.v64f16.p3f16(ptr addrspace(3) %q, i64 8, <2 x i64> zeroinitializer, i1 false)
  %as = addrspacecast ptr addrspace(1) %p to ptr
  %n = ptrtoint ptr %as to i64
  %back = inttoptr i64 %n to ptr addrspace(2)
  %c = load <3 x half>, ptr addrspace(2) %back, align 8, !invariant.load !5, !tbaa !8
  store <3 x half> %c, ptr addrspace(2) %back, align 8, !nontemporal !9
  ret void
}

define internal <4 x float> @arithmetic(<4 x float> %x, i32 %i, i1 %c, float %s, half %h, bfloat %b) {
entry:
  %neg = fneg fast <4 x float> %x
  %neg1 = fneg float %s
  %add = fadd reassoc nsz arcp contract afn <4 x float> %x, %neg
  %rem = frem <4 x float> %add, <float 1.0, float 2.0, float -0.0, float 0x36A0000000000000>
  %m = mul nuw i32 %i, 3
  %d = sdiv exact i32 %m, 4
  %u = urem i32 %d, 5
  %sh = shl nsw i32 %u, 6
  %ls = lshr exact i32 %sh, 1
  %as = ashr i32 %ls, 2
  %ft = fptrunc float %s to half
  %fb = fptrunc float %s to bfloat
  %fe = fpext half %ft to float
  %fs = fptosi float %fe to i16
  %us = uitofp i16 %fs to half
  %ss = sitofp i1 %c to bfloat
  %ze = zext i32 %as to i64
  %se = sext i16 %fs to i128
  %wide = add i128 %se, 340282366920938463463374607431768211455
  %big = icmp ugt i128 %wide, 18446744073709551616
  %fr = freeze i32 %as
  %fu = freeze <2 x i32> undef
  %fp = freeze float poison
  %cmp = fcmp nnan ord float %s, %fp
  %sel = select fast i1 %cmp, <4 x float> %rem, <4 x float> %x
  %shuffle = shufflevector <4 x float> %sel, <4 x float> %neg, <6 x i32> <i32 0, i32 7, i32 poison, i32 3, i32 4, i32 1>
  %zeros = shufflevector <4 x float> %sel, <4 x float> poison, <2 x i32> zeroinitializer
  %nothing = shufflevector <4 x float> %sel, <4 x float> poison, <3 x i32> poison
  %el = extractelement <6 x float> %shuffle, i64 4
  %in = insertelement <4 x float> %sel, float %el, i32 %fr
  br i1 %big, label %loop, label %end
loop:
  %acc = phi fast <4 x float> [ %in, %entry ], [ %sum, %loop ]
  %sum = fadd fast <4 x float> %acc, splat (float 1.0)
  br i1 %c, label %loop, label %end, !prof !10, !llvm.loop !11
end:
  %result = phi <4 x float> [ %in, %entry ], [ %sum, %loop ]
  ret <4 x float> %result
}

define void @entry(ptr addrspace(1) %data, ptr addrspace(1) readonly %texture, ptr addrspace(2) %sampler, <3 x i32> %at) local_unnamed_addr #2 !custom !12 {
  %s = call { <4 x float>, i8 } @air.sample_texture_2d.v4f32(ptr addrspace(1) %texture, ptr addrspace(2) %sampler, <2 x float> zeroinitializer, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0), !alias.scope !13, !noalias !13
  %t = call { <4 x float>, i8 } @air.sample_texture_2d.v4f32(ptr addrspace(1) %texture, ptr addrspace(2) inttoptr (i64 34630305 to ptr addrspace(2)), <2 x float> zeroinitializer, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  %v = extractvalue { <4 x float>, i8 } %s, 0
  store <4 x float> %v, ptr addrspace(1) %data, align 16
  %a = load i32, ptr addrspace(2) getelementptr inbounds ([4 x i32], ptr addrspace(2) @table, i64 0, i64 2), align 4
  %b = load i64, ptr addrspace(2) @table, align 8
  %c = load i8, ptr addrspace(2) getelementptr (i8, ptr addrspace(2) @text, i64 ptrtoint (ptr addrspace(2) @no_nul to i64)), align 1
  %d = load i16, ptr getelementptr inbounds (%struct.plain, ptr @record, i64 0, i32 3, i32 1, i32 2, i64 1), align 2
  store ptr @callee, ptr @pointers, align 8
  store ptr addrspace(3) @group, ptr addrspace(1) %data, align 8
  store <2 x ptr> <ptr @record, ptr @pointers>, ptr addrspace(1) %data, align 16
  store { ptr, i64 } { ptr @entry, i64 xor (i64 ptrtoint (ptr @record to i64), i64 255) }, ptr addrspace(1) %data, align 8
  %f = call float @alias_of_function(ptr @record, i32 1)
  ret void
}

attributes #0 = { convergent mustprogress nofree nosync nounwind willreturn memory(argmem: read) "a"="b" "flag" }
attributes #1 = { convergent memory(none) "quote"="\22" }
attributes #2 = { norecurse nounwind memory(readwrite, inaccessiblemem: none) uwtable(sync) alignstack=16 "frame-pointer"="all" "max-work-group-size"="256" }

!llvm.module.flags = !{!0, !1}
!llvm.ident = !{!2}
!air.kernel = !{!3}
!air.version = !{!4}
!empty.list = !{}

!0 = !{i32 8, !"PIC Level", i32 2}
!1 = !{i32 1, !"wchar_size", i32 4}
!2 = !{!"torture"}
!3 = !{ptr @entry, !5, !15}
!4 = !{i32 2, i32 6, i32 0}
!5 = !{}
!6 = !{!"root"}
!7 = !{!"float", !6, i64 0}
!8 = !{!7, !7, i64 0, i64 1}
!9 = !{i32 1}
!10 = !{!"branch_weights", i32 -1, i32 1}
!11 = distinct !{!11, !16}
!12 = distinct !{!12, null, !"text \00 and more", ptr @record, i64 9223372036854775807, float 0x7FF0000000000000, ptr addrspace(2) getelementptr ([4 x i32], ptr addrspace(2) @table, i64 0, i64 1)}
!13 = !{!14}
!14 = distinct !{!14, !21, !"scope"}
!15 = !{!17, !18, !19, !20}
!16 = !{!"llvm.loop.mustprogress"}
!17 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 1, !"air.arg_type_align_size", i32 1, !"air.arg_type_name", !"char", !"air.arg_name", !"data"}
!18 = !{i32 1, !"air.texture", !"air.location_index", i32 0, i32 1, !"air.sample", !"air.arg_type_name", !"texture2d<float, sample>", !"air.arg_name", !"texture"}
!19 = !{i32 2, !"air.sampler", !"air.location_index", i32 0, i32 1, !"air.arg_type_name", !"sampler", !"air.arg_name", !"sampler"}
!20 = !{i32 3, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint3", !"air.arg_name", !"at"}
!21 = distinct !{!21, !"domain"}
