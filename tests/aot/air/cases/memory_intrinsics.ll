;;; copies between spaces keep their name, lifetimes go
; expect: @llvm.memcpy.p0.p1.i64
; never: lifetime
define void @k(ptr addrspace(1) %p, ptr addrspace(1) %q, i32 %i) "smelt.kernel" {
  %a = alloca [64 x i32]
  call void @llvm.lifetime.start.p0(i64 256, ptr %a)
  call void @llvm.memcpy.p0.p1.i32(ptr align 4 %a, ptr addrspace(1) align 4 %p, i32 256, i1 false)
  %w = sext i32 %i to i64
  %g = getelementptr i32, ptr %a, i64 %w
  %v = load volatile i32, ptr %g
  store i32 %v, ptr addrspace(1) %q
  call void @llvm.lifetime.end.p0(i64 256, ptr %a)
  ret void
}
declare void @llvm.lifetime.start.p0(i64, ptr)
declare void @llvm.lifetime.end.p0(i64, ptr)
declare void @llvm.memcpy.p0.p1.i32(ptr, ptr addrspace(1), i32, i1)
;;; setting device memory is a loop, so is moving
; never: @llvm.mem
; expect: phi i64
define void @k(ptr addrspace(1) %p, i64 %n) "smelt.kernel" {
  call void @llvm.memset.p1.i64(ptr addrspace(1) %p, i8 7, i64 %n, i1 false)
  %q = getelementptr i8, ptr addrspace(1) %p, i64 32
  call void @llvm.memmove.p1.p1.i64(ptr addrspace(1) %p, ptr addrspace(1) %q, i64 %n, i1 false)
  ret void
}
declare void @llvm.memset.p1.i64(ptr addrspace(1), i8, i64, i1)
declare void @llvm.memmove.p1.p1.i64(ptr addrspace(1), ptr addrspace(1), i64, i1)
;;; small copies between spaces where Apple's compiler has no memcpy are values
; never: @llvm.memcpy
; expect: load <4 x i32>, ptr addrspace(3)
; expect: store <4 x i32>
; expect: load i16, ptr addrspace(2)
define void @k(ptr addrspace(1) %p, ptr addrspace(3) %s, ptr addrspace(2) %t) "smelt.kernel" {
  %a = alloca [3 x i16], align 2
  call void @llvm.memcpy.p1.p3.i64(ptr addrspace(1) align 16 %p, ptr addrspace(3) align 16 %s, i64 16, i1 false)
  call void @llvm.memcpy.p0.p2.i64(ptr align 2 %a, ptr addrspace(2) align 2 %t, i64 6, i1 false)
  %v = load volatile i16, ptr %a
  store i16 %v, ptr addrspace(1) %p
  ret void
}
declare void @llvm.memcpy.p1.p3.i64(ptr addrspace(1), ptr addrspace(3), i64, i1)
declare void @llvm.memcpy.p0.p2.i64(ptr, ptr addrspace(2), i64, i1)
;;; and those that are not small stay
; expect: @llvm.memcpy.p0.p2.i64
; expect: @llvm.memcpy.p1.p3.i64
define void @k(ptr addrspace(1) %p, ptr addrspace(3) %s, ptr addrspace(2) %t, i32 %i) "smelt.kernel" {
  %a = alloca [64 x i32], align 4
  call void @llvm.memcpy.p0.p2.i64(ptr align 4 %a, ptr addrspace(2) align 4 %t, i64 256, i1 false)
  call void @llvm.memcpy.p1.p3.i64(ptr addrspace(1) align 1 %p, ptr addrspace(3) align 1 %s, i64 17, i1 false)
  %w = sext i32 %i to i64
  %g = getelementptr i32, ptr %a, i64 %w
  %v = load volatile i32, ptr %g
  store i32 %v, ptr addrspace(1) %p
  ret void
}
declare void @llvm.memcpy.p0.p2.i64(ptr, ptr addrspace(2), i64, i1)
declare void @llvm.memcpy.p1.p3.i64(ptr addrspace(1), ptr addrspace(3), i64, i1)
