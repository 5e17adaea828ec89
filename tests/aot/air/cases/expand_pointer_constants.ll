;;; pointer constants in code are instructions
; never: getelementptr inbounds (i8
; never: getelementptr (i8
; expect: getelementptr
; expect: store volatile float
@s = internal addrspace(3) global [64 x float] undef
define void @k(ptr addrspace(1) %p) "smelt.kernel" {
  %x = load volatile float, ptr addrspace(1) %p
  store volatile float %x, ptr addrspace(3) getelementptr inbounds (i8, ptr addrspace(3) @s, i64 16)
  ret void
}
