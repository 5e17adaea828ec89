;;; a read, up to AIR 2.7
; target: macos13 macos15
; expect: call { <4 x float>, i8 } @air.read_texture_2d.v4f32(ptr addrspace(1) %t, <2 x i32> zeroinitializer, i32 0, i32 1)
; expect: declare { <4 x float>, i8 } @air.read_texture_2d.v4f32(ptr addrspace(1) nocapture readonly, <2 x i32>, i32, i32)
define void @k(ptr addrspace(1) "smelt.handle"="texture" "smelt.access"="read" "smelt.arg_type_name"="texture2d<float, read>" %t, ptr addrspace(1) %p) "smelt.kernel" {
  %c = call <4 x float> @smelt.air.read_texture_2d.v4f32(ptr addrspace(1) %t, <2 x i32> zeroinitializer, i32 0, i32 1)
  store <4 x float> %c, ptr addrspace(1) %p
  ret void
}
declare <4 x float> @smelt.air.read_texture_2d.v4f32(ptr addrspace(1), <2 x i32>, i32, i32)
;;; a read from AIR 2.8 on: a sampler and an offset
; target: macos26
; expect: call ptr addrspace(2) @air.get_read_sampler()
; expect: <2 x i32> zeroinitializer, <2 x i32> zeroinitializer, i32 0, i32 1)
define void @k(ptr addrspace(1) "smelt.handle"="texture" "smelt.access"="read" "smelt.arg_type_name"="texture2d<float, read>" %t, ptr addrspace(1) %p) "smelt.kernel" {
  %c = call <4 x float> @smelt.air.read_texture_2d.v4f32(ptr addrspace(1) %t, <2 x i32> zeroinitializer, i32 0, i32 1)
  store <4 x float> %c, ptr addrspace(1) %p
  ret void
}
declare <4 x float> @smelt.air.read_texture_2d.v4f32(ptr addrspace(1), <2 x i32>, i32, i32)
;;; a constant sampler in one word
; target: macos14
; expect: @__air_sampler_state = internal addrspace(2) constant i64 -9188470239253757879, align 8
; expect: !air.sampler_states
define void @k(ptr addrspace(1) "smelt.handle"="texture" "smelt.access"="sample" "smelt.arg_type_name"="texture2d<float, sample>" %t, ptr addrspace(1) %p) "smelt.kernel" {
  %s = call ptr addrspace(2) @smelt.air.sampler(i64 -9188470239253757879)
  %c = call <4 x float> @smelt.air.sample_texture_2d.v4f32(ptr addrspace(1) %t, ptr addrspace(2) %s, <2 x float> zeroinitializer, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  store <4 x float> %c, ptr addrspace(1) %p
  ret void
}
declare ptr addrspace(2) @smelt.air.sampler(i64)
declare <4 x float> @smelt.air.sample_texture_2d.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>, i1, <2 x i32>, i1, float, float, i32)
;;; a constant sampler in two words
; target: macos15 macos26
; expect: @__air_sampler_state = internal addrspace(2) constant [2 x i64] [i64 34901797601017929, i64 0], align 8
; expect: call { <4 x float>, i8 } @air.sample_texture_2d.v4f32
define void @k(ptr addrspace(1) "smelt.handle"="texture" "smelt.access"="sample" "smelt.arg_type_name"="texture2d<float, sample>" %t, ptr addrspace(1) %p) "smelt.kernel" {
  %s = call ptr addrspace(2) @smelt.air.sampler(i64 -9188470239253757879)
  %c = call <4 x float> @smelt.air.sample_texture_2d.v4f32(ptr addrspace(1) %t, ptr addrspace(2) %s, <2 x float> zeroinitializer, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  store <4 x float> %c, ptr addrspace(1) %p
  ret void
}
declare ptr addrspace(2) @smelt.air.sampler(i64)
declare <4 x float> @smelt.air.sample_texture_2d.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>, i1, <2 x i32>, i1, float, float, i32)
;;; a sampler made of numbers
; target: macos14
; error: made of numbers
define void @k(ptr addrspace(1) %p, i64 "smelt.arg_type_name"="long" %n) "smelt.kernel" {
  %m = add i64 %n, 1
  %s = call ptr addrspace(2) @smelt.air.sampler(i64 %m)
  %i = ptrtoint ptr addrspace(2) %s to i64
  store i64 %i, ptr addrspace(1) %p
  ret void
}
declare ptr addrspace(2) @smelt.air.sampler(i64)
;;; a constant sampler or an argument, chosen when the kernel runs
; target: macos14
; expect: select i1 %b, ptr addrspace(2) @__air_sampler_state, ptr addrspace(2) %a
; never: ptrtoint
define void @k(ptr addrspace(1) "smelt.handle"="texture" "smelt.access"="sample" "smelt.arg_type_name"="texture2d<float, sample>" %t, ptr addrspace(2) "smelt.handle"="sampler" "smelt.arg_type_name"="sampler" %a, ptr addrspace(1) %p) "smelt.kernel" {
  %l = load i32, ptr addrspace(1) %p
  %b = icmp eq i32 %l, 0
  %n = ptrtoint ptr addrspace(2) %a to i64
  %x = select i1 %b, i64 -9188470239253757879, i64 %n
  %s = call ptr addrspace(2) @smelt.air.sampler(i64 %x)
  %c = call <4 x float> @smelt.air.sample_texture_2d.v4f32(ptr addrspace(1) %t, ptr addrspace(2) %s, <2 x float> zeroinitializer, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  store <4 x float> %c, ptr addrspace(1) %p
  ret void
}
declare ptr addrspace(2) @smelt.air.sampler(i64)
declare <4 x float> @smelt.air.sample_texture_2d.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>, i1, <2 x i32>, i1, float, float, i32)
;;; a table of constant samplers
; target: macos14
; expect: icmp eq i64
; expect: select i1
define void @k(ptr addrspace(1) "smelt.handle"="texture" "smelt.access"="sample" "smelt.arg_type_name"="texture2d<float, sample>" %t, ptr addrspace(1) %p) "smelt.kernel" {
  %l = load i32, ptr addrspace(1) %p
  %at = getelementptr inbounds [2 x i64], ptr addrspace(2) @table, i64 0, i32 %l
  %x = load i64, ptr addrspace(2) %at
  %s = call ptr addrspace(2) @smelt.air.sampler(i64 %x)
  %c = call <4 x float> @smelt.air.sample_texture_2d.v4f32(ptr addrspace(1) %t, ptr addrspace(2) %s, <2 x float> zeroinitializer, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  store <4 x float> %c, ptr addrspace(1) %p
  ret void
}
declare ptr addrspace(2) @smelt.air.sampler(i64)
declare <4 x float> @smelt.air.sample_texture_2d.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>, i1, <2 x i32>, i1, float, float, i32)
@table = internal addrspace(2) constant [2 x i64] [i64 -9188470239253757879, i64 -9188470239253757878]
;;; a sampler in device memory
; target: macos14
; expect: load ptr addrspace(2), ptr addrspace(1) %p
; never: load i64
define void @k(ptr addrspace(1) "smelt.handle"="texture" "smelt.access"="sample" "smelt.arg_type_name"="texture2d<float, sample>" %t, ptr addrspace(1) %p) "smelt.kernel" {
  %x = load i64, ptr addrspace(1) %p
  %s = call ptr addrspace(2) @smelt.air.sampler(i64 %x)
  %c = call <4 x float> @smelt.air.sample_texture_2d.v4f32(ptr addrspace(1) %t, ptr addrspace(2) %s, <2 x float> zeroinitializer, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, float 0.0, i32 0)
  store <4 x float> %c, ptr addrspace(1) %p
  ret void
}
declare ptr addrspace(2) @smelt.air.sampler(i64)
declare <4 x float> @smelt.air.sample_texture_2d.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>, i1, <2 x i32>, i1, float, float, i32)
;;; a library of AIR 2.1 for a newer target
; target: macos14
; expect: call { <4 x float>, i8 } @air.sample_texture_2d.v4f32(ptr addrspace(1) %t, ptr addrspace(2) %s, <2 x float> zeroinitializer, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.000000e+00, float 0.000000e+00, i32 0)
; expect: extractvalue { <4 x float>, i8 }
define void @k(ptr addrspace(1) %t, ptr addrspace(2) %s, ptr addrspace(1) %p) {
  %c = call <4 x float> @air.sample_texture_2d.v4f32(ptr addrspace(1) %t, ptr addrspace(2) %s, <2 x float> zeroinitializer, i1 true, <2 x i32> zeroinitializer, i1 false, float 0.0, i32 0)
  store <4 x float> %c, ptr addrspace(1) %p
  ret void
}
declare <4 x float> @air.sample_texture_2d.v4f32(ptr addrspace(1), ptr addrspace(2), <2 x float>, i1, <2 x i32>, i1, float, i32)
!air.kernel = !{!0}
!air.version = !{!6}
!air.language_version = !{!7}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5}
!3 = !{i32 0, !"air.texture", !"air.location_index", i32 0, i32 1, !"air.sample", !"air.arg_type_name", !"texture2d<float, sample>", !"air.arg_name", !"t"}
!4 = !{i32 1, !"air.sampler", !"air.location_index", i32 0, i32 1, !"air.arg_type_name", !"sampler", !"air.arg_name", !"s"}
!5 = !{i32 2, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1, !"air.arg_type_size", i32 16, !"air.arg_type_align_size", i32 16, !"air.arg_type_name", !"float4", !"air.arg_name", !"p"}
!6 = !{i32 2, i32 1, i32 0}
!7 = !{!"Metal", i32 2, i32 1, i32 0}
