;;; a helper with AIR's types stays a function
; expect: call fastcc float @twice
; expect: define internal fastcc
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %x = load volatile float, ptr addrspace(1) %p
  %y = call float @twice(float %x)
  store float %y, ptr addrspace(1) %p
  ret void
}
define float @twice(float %x) noinline {
  %y = fadd float %x, %x
  ret float %y
}
;;; one that takes generic pointers is inlined
; never: @sum
; expect: load float, ptr addrspace(1)
define void @k(ptr %p) "smelt.kernel" {
  %y = call float @sum(ptr %p)
  store float %y, ptr %p
  ret void
}
define float @sum(ptr %p) noinline {
  %x = load float, ptr %p
  %q = getelementptr float, ptr %p, i64 1
  %z = load float, ptr %q
  %y = fadd float %x, %z
  ret float %y
}
;;; so is one that reads hardware values
; expect: %thread_index_in_simdgroup)
define void @k(ptr %p) "smelt.kernel" {
  %y = call i32 @lane()
  store i32 %y, ptr %p
  ret void
}
define i32 @lane() {
  %x = call i32 @smelt.builtin.thread_index_in_simdgroup()
  ret i32 %x
}
declare i32 @smelt.builtin.thread_index_in_simdgroup()
;;; which recursion forbids
; error: calls itself
define void @k(ptr %p) "smelt.kernel" {
  call void @down(ptr %p, i32 3)
  ret void
}
define void @down(ptr %p, i32 %n) {
  %c = icmp eq i32 %n, 0
  br i1 %c, label %done, label %more
more:
  %m = sub i32 %n, 1
  call void @down(ptr %p, i32 %m)
  br label %done
done:
  store volatile i32 %n, ptr %p
  ret void
}
;;; recursion on AIR's types is fine
; expect: define internal fastcc i32 @fib
define void @k(ptr %p) "smelt.kernel" {
  %x = load volatile i32, ptr %p
  %y = call i32 @fib(i32 %x)
  store i32 %y, ptr %p
  ret void
}
define i32 @fib(i32 %n) {
  %c = icmp slt i32 %n, 2
  br i1 %c, label %one, label %more
more:
  %m = sub i32 %n, 1
  %a = call i32 @fib(i32 %m)
  %o = sub i32 %n, 2
  %b = call i32 @fib(i32 %o)
  %s = add i32 %a, %b
  ret i32 %s
one:
  ret i32 1
}
