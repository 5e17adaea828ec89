; Rotary embedding by halves: pair i of a row is turned by row * 2^(-0.02595 i), as base 10000 and 1024 columns have it
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64_v27-apple-macosx15.0.0"
declare float @air.fast_exp2.f32(float) #0
declare float @air.fast_cos.f32(float) #0
declare float @air.fast_sin.f32(float) #0
define void @rope(ptr addrspace(1) "air-buffer-no-alias" %a, ptr addrspace(1) "air-buffer-no-alias" %c, ptr addrspace(2) "air-buffer-no-alias" %np, <2 x i32> %at) {
  %px = extractelement <2 x i32> %at, i64 0
  %row = extractelement <2 x i32> %at, i64 1
  %n = load i32, ptr addrspace(2) %np, align 4
  %fx = uitofp i32 %px to float
  %fr = uitofp i32 %row to float
  %step = fmul float %fx, 0xBF9A934F00000000
  %frequency = tail call float @air.fast_exp2.f32(float %step) #0
  %angle = fmul float %fr, %frequency
  %cos = tail call float @air.fast_cos.f32(float %angle) #0
  %sin = tail call float @air.fast_sin.f32(float %angle) #0
  %half = lshr i32 %n, 1
  %first = mul i32 %row, %n
  %i0 = add i32 %first, %px
  %i1 = add i32 %i0, %half
  %j0 = zext i32 %i0 to i64
  %j1 = zext i32 %i1 to i64
  %p0 = getelementptr inbounds float, ptr addrspace(1) %a, i64 %j0
  %p1 = getelementptr inbounds float, ptr addrspace(1) %a, i64 %j1
  %x0 = load float, ptr addrspace(1) %p0, align 4
  %x1 = load float, ptr addrspace(1) %p1, align 4
  %m0 = fmul fast float %x0, %cos
  %m1 = fmul fast float %x1, %sin
  %y0 = fsub fast float %m0, %m1
  %m2 = fmul fast float %x0, %sin
  %m3 = fmul fast float %x1, %cos
  %y1 = fadd fast float %m2, %m3
  %q0 = getelementptr inbounds float, ptr addrspace(1) %c, i64 %j0
  %q1 = getelementptr inbounds float, ptr addrspace(1) %c, i64 %j1
  store float %y0, ptr addrspace(1) %q0, align 4
  store float %y1, ptr addrspace(1) %q1, align 4
  ret void
}
attributes #0 = { nounwind willreturn memory(none) }
!air.kernel = !{!0}
!0 = !{ptr @rope, !1, !2}
!1 = !{}
!2 = !{!3, !4, !5, !6}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read", !"air.address_space", i32 1}
!4 = !{i32 1, !"air.buffer", !"air.location_index", i32 1, i32 1, !"air.read_write", !"air.address_space", i32 1}
!5 = !{i32 2, !"air.buffer", !"air.buffer_size", i32 4, !"air.location_index", i32 2, i32 1, !"air.read", !"air.address_space", i32 2}
!6 = !{i32 3, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint2", !"air.arg_name", !"p3"}
