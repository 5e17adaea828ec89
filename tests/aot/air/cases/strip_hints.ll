;;; other targets' attributes, lists and hints
; never: target-cpu
; never: opencl
; never: llvm.assume
; never: comdat
; never: PIC Level
; never: module asm
; never: gc "
; never: prefix
; never: prologue
$k = comdat any
module asm "# says nothing"
define weak_odr dso_local void @k(ptr addrspace(1) %p) #0 comdat gc "statepoint-example" prefix i32 1 prologue i8 144 {
  %x = load volatile i32, ptr addrspace(1) %p
  %c = icmp sgt i32 %x, 0
  call void @llvm.assume(i1 %c)
  %e = call i32 @llvm.expect.i32(i32 %x, i32 4)
  store i32 %e, ptr addrspace(1) %p
  ret void
}
declare void @llvm.assume(i1)
declare i32 @llvm.expect.i32(i32, i32)
attributes #0 = { "smelt.kernel" "target-cpu"="gfx1100" "uniform-work-group-size"="true" }
!opencl.ocl.version = !{!0}
!llvm.module.flags = !{!1}
!0 = !{i32 2, i32 0}
!1 = !{i32 8, !"PIC Level", i32 2}
