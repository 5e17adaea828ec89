;;; generic pointers are seen through
; never: addrspacecast
; expect: load float, ptr addrspace(1)
; expect: store float
define void @k(ptr %p, ptr %q, i32 %n) "smelt.kernel" {
entry:
  %slot = alloca ptr
  store ptr %p, ptr %slot
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %at = load ptr, ptr %slot
  %x = load float, ptr %at
  store float %x, ptr %q
  %after = getelementptr float, ptr %at, i64 1
  store ptr %after, ptr %slot
  %next = add i32 %i, 1
  %more = icmp slt i32 %next, %n
  br i1 %more, label %loop, label %done
done:
  ret void
}
;;; a pointer of either space
; error: used as a generic pointer
@s = internal addrspace(3) global [4 x float] undef
define void @k(ptr %p, i32 %n) "smelt.kernel" {
  %c = icmp eq i32 %n, 0
  %g = addrspacecast ptr addrspace(3) @s to ptr
  %e = select i1 %c, ptr %p, ptr %g
  %f = load volatile float, ptr %e
  store float %f, ptr %p
  ret void
}
