;;; a trap ends the thread
; never: llvm.trap
; never: unreachable
; expect: br i1
; expect: ret void
define void @k(ptr %p, i32 %n) "smelt.kernel" {
  %c = icmp sgt i32 %n, 4
  br i1 %c, label %bad, label %good
bad:
  store volatile i32 1, ptr %p
  call void @llvm.trap()
  unreachable
good:
  store volatile i32 0, ptr %p
  ret void
}
declare void @llvm.trap()
