Integer <-> float is air.convert; vectors of floats too; bfloat through float.
;;; scalars
; expect: call float @air.convert.f.f32.s.i32(i32
; expect: call float @air.convert.f.f32.u.i32(i32
; expect: call half @air.convert.f.f16.s.i32(i32
; expect: call i32 @air.convert.s.i32.f.f32(float
; expect: call i8 @air.convert.u.i8.f.f32(float
; expect: call float @air.convert.f.f32.u.i1(i1
; expect: call float @air.convert.f.f32.s.i64(i64
; never: sitofp
; never: uitofp
; never: fptosi
; never: fptoui
; target: macos12 macos13 macos14 macos15 macos26 ios15 ios16 ios17 ios18 ios26
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %i = load volatile i32, ptr %p
  %a = sitofp i32 %i to float
  store volatile float %a, ptr %q
  %b = uitofp i32 %i to float
  store volatile float %b, ptr %q
  %c = sitofp i32 %i to half
  store volatile half %c, ptr %q
  %f = load volatile float, ptr %p
  %d = fptosi float %f to i32
  store volatile i32 %d, ptr %q
  %e = fptoui float %f to i8
  store volatile i8 %e, ptr %q
  %odd = trunc i32 %i to i1
  %g = uitofp i1 %odd to float
  store volatile float %g, ptr %q
  %l = load volatile i64, ptr %p
  %h = sitofp i64 %l to float
  store volatile float %h, ptr %q
  ret void
}
;;; unsigned numbers of 8 and 16 bits are extended first, and signed ones that become half
; expect: zext i8
; expect: call float @air.convert.f.f32.s.i32(i32
; expect: zext i16
; expect: call half @air.convert.f.f16.s.i32(i32
; expect: sext i8
; expect: call float @air.convert.f.f32.s.i8(i8
; never: air.convert.f.f32.u.i
; never: air.convert.f.f16.u.i
; never: air.convert.f.f16.s.i8
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %i = load volatile i8, ptr %p
  %a = uitofp i8 %i to float
  store volatile float %a, ptr %q
  %s = load volatile i16, ptr %p
  %b = uitofp i16 %s to half
  store volatile half %b, ptr %q
  %c = sitofp i8 %i to half
  store volatile half %c, ptr %q
  %d = sitofp i8 %i to float
  store volatile float %d, ptr %q
  ret void
}
;;; vectors of floats convert by name, scalars stay
; expect: call <4 x half> @air.convert.f.v4f16.f.v4f32(<4 x float>
; expect: call <4 x float> @air.convert.f.v4f32.f.v4f16(<4 x half>
; expect: fpext half
; expect: fptrunc float
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile <4 x float>, ptr %p
  %n = fptrunc <4 x float> %v to <4 x half>
  store volatile <4 x half> %n, ptr %q
  %m = load volatile <4 x half>, ptr %p
  %w = fpext <4 x half> %m to <4 x float>
  store volatile <4 x float> %w, ptr %q
  %h = load volatile half, ptr %p
  %x = fpext half %h to float
  store volatile float %x, ptr %q
  %f = load volatile float, ptr %p
  %y = fptrunc float %f to half
  store volatile half %y, ptr %q
  ret void
}
;;; eight lanes are two times four
; expect: call <4 x float> @air.convert.f.v4f32.s.v4i32(<4 x i32>
; expect: call <4 x float> @air.convert.f.v4f32.s.v4i32(<4 x i32>
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile <8 x i32>, ptr %p
  %n = sitofp <8 x i32> %v to <8 x float>
  store volatile <8 x float> %n, ptr %q
  ret void
}
;;; bfloat from and to integers goes through float
; target: macos14 macos15 macos26
; expect: call float @air.convert.f.f32.s.i32(i32
; expect: fptrunc float
; expect: fpext bfloat
; expect: call i32 @air.convert.s.i32.f.f32(float
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %i = load volatile i32, ptr %p
  %b = sitofp i32 %i to bfloat
  store volatile bfloat %b, ptr %q
  %c = load volatile bfloat, ptr %p
  %j = fptosi bfloat %c to i32
  store volatile i32 %j, ptr %q
  ret void
}
