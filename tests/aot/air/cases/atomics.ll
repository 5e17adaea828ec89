LLVM's atomics as air.atomic.*.
;;; i32 of device and threadgroup memory
; target: macos12 macos13 macos14 macos15 macos26 ios15 ios16 ios17 ios18 ios26
; expect: call i32 @air.atomic.global.add.u.i32(ptr addrspace(1) %p, i32 1, i32 0, i32 2, i1 true)
; expect: call i32 @air.atomic.global.max.s.i32(ptr addrspace(1) %p, i32 1, i32 0, i32 2, i1 true)
; expect: call i32 @air.atomic.local.min.u.i32(ptr addrspace(3) @s, i32 1, i32 0, i32 1, i1 true)
; expect: call i32 @air.atomic.global.xchg.i32(
; expect: call i32 @air.atomic.global.load.i32(ptr addrspace(1) %p, i32 0, i32 2, i1 true)
; expect: call void @air.atomic.global.store.i32(ptr addrspace(1) %p, i32 7, i32 0, i32 2, i1 true)
; never: atomicrmw
@s = internal addrspace(3) global i32 undef
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw add ptr %p, i32 1 monotonic
  store volatile i32 %a, ptr %q
  %b = atomicrmw max ptr %p, i32 1 monotonic
  %c = atomicrmw umin ptr addrspace(3) @s, i32 1 monotonic
  %x = load volatile i32, ptr %q
  %d = atomicrmw xchg ptr %p, i32 %x monotonic
  %e = load atomic i32, ptr %p monotonic, align 4
  store atomic i32 7, ptr %p monotonic, align 4
  ret void
}
;;; float addition of device memory from AIR 2.5
; target: macos13 macos14 macos26 ios16
; expect: call float @air.atomic.global.add.f32(ptr addrspace(1) %p, float 1.000000e+00, i32 0, i32 2, i1 true)
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw fadd ptr %p, float 1.0 monotonic
  ret void
}
;;; a loop before, and in threadgroup memory
; target: macos12 ios15
; expect: @air.atomic.global.load.i32
; expect: phi i32
; expect: fadd float
; expect: @air.atomic.global.cmpxchg.weak.i32
; expect: icmp eq i32
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw fadd ptr %p, float 1.0 monotonic
  ret void
}
;;; half in its 32-bit word
; expect: ptrtoint
; expect: @air.atomic.global.load.i32
; expect: fadd half
; expect: @air.atomic.global.cmpxchg.weak.i32
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw fadd ptr %p, half 1.0 monotonic
  ret void
}
;;; half at the beginning of its word
; never: ptrtoint
; expect: @air.atomic.global.load.i32
; expect: fadd half
; expect: @air.atomic.global.cmpxchg.weak.i32
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw fadd ptr %p, half 1.0 monotonic, align 4
  ret void
}
;;; compare and swap
; expect: store i32 %x, ptr %expected
; expect: = call i32 @air.atomic.global.cmpxchg.weak.i32(ptr addrspace(1) %p, ptr %expected, i32 9, i32 0, i32 0, i32 2, i1 true)
; expect: icmp eq i32
; never: cmpxchg ptr
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %x = load volatile i32, ptr %q
  %r = cmpxchg ptr %p, i32 %x, i32 9 monotonic monotonic
  %old = extractvalue { i32, i1 } %r, 0
  %ok = extractvalue { i32, i1 } %r, 1
  store volatile i32 %old, ptr %q
  %z = zext i1 %ok to i32
  store volatile i32 %z, ptr %q
  ret void
}
;;; an order that nobody can see is no order
; expect: call i32 @air.atomic.global.add.u.i32
; never: fence
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw add ptr %p, i32 1 acq_rel
  ret void
}
;;; one that can be seen needs fences
; target: macos15 macos26 ios18
; expect: call void @air.atomic.fence(i32 3, i32 5, i32 2)
; expect: @air.atomic.global.add.u.i32
; expect: call void @air.atomic.fence(i32 3, i32 5, i32 2)
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw add ptr %p, i32 1 syncscope("agent") acq_rel
  store i32 %a, ptr %q
  ret void
}
;;; which older targets lack
; target: macos12 macos14 ios17
; error: macos15
; error: --relaxed-atomics
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw add ptr %p, i32 1 syncscope("agent") acq_rel
  store i32 %a, ptr %q
  ret void
}
;;; unless the order is given up
; target: macos12 macos14 ios17
; option: relaxed_atomics
; expect: @air.atomic.global.add.u.i32
; expect: warning:
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw add ptr %p, i32 1 syncscope("agent") acq_rel
  store i32 %a, ptr %q
  ret void
}
;;; 64 bits
; error: 64-bit atomics are unsigned minimum and maximum
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw add ptr %p, i64 1 monotonic
  ret void
}
;;; 64-bit maximum without a result
; expect: call void @air.atomic.global.max.u.i64(ptr addrspace(1) %p, i64 1, i32 0, i32 2, i1 true)
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %a = atomicrmw umax ptr %p, i64 1 monotonic
  ret void
}
;;; atomic loads of memory that nobody else writes are plain ones
; expect: load i32, ptr addrspace(2) %p
; expect: load i32, ptr %
; never: load atomic
; never: @air.atomic
define void @k(ptr addrspace(2) %p, ptr addrspace(1) %q, i32 %i) "smelt.kernel" {
  %m = alloca [4 x i32]
  %w = getelementptr [4 x i32], ptr %m, i32 0, i32 %i
  store volatile i32 5, ptr %w
  %a = load atomic i32, ptr addrspace(2) %p monotonic, align 4
  %b = load atomic i32, ptr %w monotonic, align 4
  %s = add i32 %a, %b
  store i32 %s, ptr addrspace(1) %q
  ret void
}
