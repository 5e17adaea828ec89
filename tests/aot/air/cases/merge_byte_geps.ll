;;; one byte GEP in place of a chain
; expect: %offset = add i64
; expect: getelementptr i8, ptr addrspace(1) %p, i64 %offset
define void @k(ptr addrspace(1) %p, i64 %a, i64 %b) "smelt.kernel" {
  %g = getelementptr i8, ptr addrspace(1) %p, i64 %a
  store volatile i8 0, ptr addrspace(1) %g
  %h = getelementptr i8, ptr addrspace(1) %g, i64 %b
  store volatile i8 1, ptr addrspace(1) %h
  ret void
}
