;;; one module each, with what it uses
; expect: define void @first
; expect: define void @second
; expect: define internal fastcc float @shared
define void @first(ptr addrspace(1) %p) "smelt.kernel" {
  store float 1.0, ptr addrspace(1) %p
  ret void
}
define void @second(ptr addrspace(1) %p) "smelt.kernel" {
  %x = load float, ptr addrspace(1) %p
  %y = call float @shared(float %x)
  store float %y, ptr addrspace(1) %p
  ret void
}
define float @shared(float %x) noinline {
  %y = fmul float %x, 3.0
  ret float %y
}
;;; none
; error: no entry point
define void @k(ptr addrspace(1) %p) {
  ret void
}
