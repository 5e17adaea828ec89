;;; double precision
; error: uses double; no Apple GPU computes in it, use float
; error: function 'k'
define void @k(ptr %p) "smelt.kernel" {
  %x = load double, ptr %p
  %y = fmul double %x, %x
  store double %y, ptr %p
  ret void
}
;;; a detour that the optimiser removes
; expect: fmul float
; never: double
define void @k(ptr %p) "smelt.kernel" {
  %x = load float, ptr %p
  %w = fpext float %x to double
  %y = fmul double %w, 2.0
  %z = fptrunc double %y to float
  store float %z, ptr %p
  ret void
}
