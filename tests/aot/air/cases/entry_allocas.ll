;;; at the head, one element
; stop: entry_allocas
; expect: entry:
; expect: %a = alloca [8 x float], align 4
define void @k(ptr %p) "smelt.kernel" {
entry:
  br label %next
next:
  %a = alloca float, i64 8, align 4
  store volatile float 0.0, ptr %a
  ret void
}
;;; with its alignment
; stop: entry_allocas
; expect: %a = alloca [8 x float], align 32
define void @k(ptr %p) "smelt.kernel" {
entry:
  br label %next
next:
  %a = alloca float, i64 8, align 32
  store volatile float 0.0, ptr %a
  ret void
}
;;; not of unknown size
; error: only known when the kernel runs
define void @k(ptr %p, i32 %n) "smelt.kernel" {
  %a = alloca float, i32 %n, align 4
  store volatile float 0.0, ptr %a
  ret void
}
