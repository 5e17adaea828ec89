;;; an intrinsic of the machine, in AIR that is finished
; error: an intrinsic that is not AIR's: AIR does not allow this
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64_v26-apple-macosx14.0.0"
declare void @llvm.trap()
define void @k(ptr addrspace(1) %p) {
  store i32 1, ptr addrspace(1) %p, align 4
  call void @llvm.trap()
  ret void
}
!air.kernel = !{!0}
!air.version = !{!5}
!0 = !{ptr @k, !1, !2}
!1 = !{}
!2 = !{!3}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1}
!5 = !{i32 2, i32 6, i32 0}
