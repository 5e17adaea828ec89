;;; tables are constant memory
; expect: @table = internal unnamed_addr addrspace(2) constant [3 x float]
; expect: load float, ptr addrspace(2)
; never: addrspacecast
@table = private unnamed_addr constant [3 x float] [float 1.0, float 2.0, float 4.0]
define void @k(ptr %p, i64 %i) "smelt.kernel" {
  %g = getelementptr [3 x float], ptr @table, i64 0, i64 %i
  %x = load float, ptr %g
  store float %x, ptr %p
  ret void
}
;;; program-scope variables
; error: global 'counter' is written
@counter = internal global i32 0
define void @k(ptr %p) "smelt.kernel" {
  %x = load i32, ptr @counter
  %y = add i32 %x, 1
  store i32 %y, ptr @counter
  ret void
}
