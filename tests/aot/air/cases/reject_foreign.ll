;;; another target's intrinsic
; error: 'llvm.amdgcn.workgroup.id.x' is an intrinsic of amdgcn
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %x = call i32 @llvm.amdgcn.workgroup.id.x()
  store i32 %x, ptr addrspace(1) %p
  ret void
}
declare i32 @llvm.amdgcn.workgroup.id.x()
;;; inline assembly
; error: inline assembly
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %x = call i32 asm "mov $0, 1", "=r"()
  store i32 %x, ptr addrspace(1) %p
  ret void
}
;;; a call to nowhere
; error: calls 'helper', which is neither defined
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %x = call i32 @helper()
  store i32 %x, ptr addrspace(1) %p
  ret void
}
declare i32 @helper()
;;; a call through a pointer
; error: calls through a pointer
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %f = load ptr, ptr addrspace(1) %p
  call void %f()
  ret void
}
;;; a kernel with a result
; error: returns i32
define i32 @k(ptr addrspace(1) %p) "smelt.kernel" {
  ret i32 0
}
