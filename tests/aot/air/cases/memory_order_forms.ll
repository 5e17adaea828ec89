Atomics with memory flags and barriers with an order, from AIR 2.9 on.
;;; LLVM's atomics in the new form
; target: macos27 ios27 tvos27
; expect: call i32 @air.atomic.global.add.u.i32(ptr addrspace(1) %p, i32 1, i32 0, i32 2, i32 0, i1 true)
; expect: call i32 @air.atomic.local.min.u.i32(ptr addrspace(3) @s, i32 1, i32 0, i32 1, i32 0, i1 true)
; expect: call i32 @air.atomic.global.load.i32(ptr addrspace(1) %p, i32 0, i32 2, i32 0, i1 true)
; expect: call void @air.atomic.global.store.i32(ptr addrspace(1) %p, i32 7, i32 0, i32 2, i32 0, i1 true)
; never: atomicrmw
@s = internal addrspace(3) global i32 undef
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw add ptr %p, i32 1 monotonic
  store volatile i32 %a, ptr %q
  %c = atomicrmw umin ptr addrspace(3) @s, i32 1 monotonic
  %e = load atomic i32, ptr %p monotonic, align 4
  store atomic i32 7, ptr %p monotonic, align 4
  ret void
}
;;; the old form for a new target
; target: macos27 ios27
; expect: call i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1) %p, ptr %e, i32 1, i32 0, i32 0, i32 2, i32 0, i1 true)
; expect: call void @air.wg.barrier(i32 2, i32 5, i32 1)
; expect: call void @air.simdgroup.barrier(i32 2, i32 5, i32 4)
; never: smelt.replaced
; expect: declare void @air.wg.barrier(i32, i32, i32)
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %e = alloca i32, align 4
  %o = call i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1) %p, ptr %e, i32 1, i32 0, i32 0, i32 2, i1 true)
  call void @air.wg.barrier(i32 2, i32 1)
  call void @air.simdgroup.barrier(i32 2, i32 1)
  ret void
}
declare i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1), ptr, i32, i32, i32, i32, i1)
declare void @air.wg.barrier(i32, i32)
declare void @air.simdgroup.barrier(i32, i32)
;;; the new form stays
; target: macos27
; expect: call i32 @air.atomic.global.add.u.i32(ptr addrspace(1) %p, i32 1, i32 4, i32 2, i32 3, i1 false)
; expect: call void @air.wg.barrier(i32 1, i32 4, i32 2)
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %o = call i32 @air.atomic.global.add.u.i32(ptr addrspace(1) %p, i32 1, i32 4, i32 2, i32 3, i1 false)
  call void @air.wg.barrier(i32 1, i32 4, i32 2)
  ret void
}
declare i32 @air.atomic.global.add.u.i32(ptr addrspace(1), i32, i32, i32, i32, i1)
declare void @air.wg.barrier(i32, i32, i32)
;;; the new form for an old target
; target: macos14 macos26
; expect: call i32 @air.atomic.global.add.u.i32(ptr addrspace(1) %p, i32 1, i32 0, i32 2, i1 true)
; expect: call void @air.wg.barrier(i32 1, i32 1)
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %o = call i32 @air.atomic.global.add.u.i32(ptr addrspace(1) %p, i32 1, i32 0, i32 2, i32 0, i1 false)
  call void @air.wg.barrier(i32 1, i32 4, i32 1)
  ret void
}
declare i32 @air.atomic.global.add.u.i32(ptr addrspace(1), i32, i32, i32, i32, i1)
declare void @air.wg.barrier(i32, i32, i32)
;;; an order that an old target cannot say
; target: macos26
; error: ordered atomics need Metal 4.1
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %o = call i32 @air.atomic.global.add.u.i32(ptr addrspace(1) %p, i32 1, i32 2, i32 2, i32 0, i1 false)
  ret void
}
declare i32 @air.atomic.global.add.u.i32(ptr addrspace(1), i32, i32, i32, i32, i1)
;;; a failure order that an old target cannot say
; target: macos26
; error: ordered atomics need Metal 4.1
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %e = alloca i32, align 4
  %o = call i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1) %p, ptr %e, i32 1, i32 0, i32 2, i32 2, i32 0, i1 false)
  ret void
}
declare i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1), ptr, i32, i32, i32, i32, i32, i1)
;;; a scope that an old target cannot say
; target: macos15
; error: barriers with a scope of their own need Metal 4.1
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  call void @air.wg.barrier(i32 1, i32 4, i32 2)
  ret void
}
declare void @air.wg.barrier(i32, i32, i32)
