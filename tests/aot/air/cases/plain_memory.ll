No i1, no odd and no wide types as the shape of memory.
;;; i1 in memory is a byte
; never: load volatile i1,
; never: store volatile i1
; expect: load volatile i8
; expect: trunc i8
; expect: zext i1
; expect: store volatile i8
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile i1, ptr %p
  %n = xor i1 %v, true
  store volatile i1 %n, ptr %q
  ret void
}
;;; allocas and constants of such types are bytes
; never: alloca [4 x <8 x half>]
; never: [2 x i1]
; expect: addrspace(2) constant [2 x i8] c"\01\00"
; expect: alloca [64 x i8]
@table = internal constant [2 x i1] [i1 true, i1 false]
define void @k(ptr %p, ptr %q, i32 %i) "smelt.kernel" {
  %a = alloca [4 x <8 x half>], align 16
  %w = sext i32 %i to i64
  %g = getelementptr [4 x <8 x half>], ptr %a, i64 0, i64 %w
  %v = load volatile <8 x half>, ptr %p, align 16
  store volatile <8 x half> %v, ptr %g, align 16
  %x = load volatile <8 x half>, ptr %g, align 16
  store volatile <8 x half> %x, ptr %q, align 16
  %t = getelementptr [2 x i1], ptr @table, i64 0, i64 %w
  %b = load i1, ptr %t
  store volatile i1 %b, ptr %q
  ret void
}

;;; constants of such types keep their bytes
; expect: constant [32 x i8] c"\01\00\02\00\03\00\04\00\05\00\06\00\07\00\FF\80
; expect: constant [32 x i8] c"\00<\00\C0\00\00\00\00\00\00\00\00\00\00\008
@numbers = internal constant [2 x <8 x i16>] [<8 x i16> <i16 1, i16 2, i16 3, i16 4, i16 5, i16 6, i16 7, i16 -32513>, <8 x i16> zeroinitializer]
@halves = internal constant [2 x <8 x half>] [<8 x half> <half 1.0, half -2.0, half 0.0, half 0.0, half 0.0, half 0.0, half 0.0, half 0.5>, <8 x half> zeroinitializer]
define void @k(ptr %p, ptr %q, i32 %i) "smelt.kernel" {
  %w = sext i32 %i to i64
  %a = getelementptr [2 x <8 x i16>], ptr @numbers, i64 0, i64 %w
  %x = load <8 x i16>, ptr %a
  store volatile <8 x i16> %x, ptr %p
  %b = getelementptr [2 x <8 x half>], ptr @halves, i64 0, i64 %w
  %y = load <8 x half>, ptr %b
  store volatile <8 x half> %y, ptr %q
  ret void
}
