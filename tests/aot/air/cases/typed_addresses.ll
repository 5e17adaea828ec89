;;; a field of a struct that the source's parameter points to
; expect: getelementptr inbounds { i32, [3 x i32], i64 }, ptr addrspace(2) %args, i64 0, i32 1, i64 2
; expect: getelementptr inbounds { i32, [3 x i32], i64 }, ptr addrspace(2) %args, i64 0, i32 2
; never: getelementptr inbounds i8
define void @k(ptr addrspace(2) %args, ptr addrspace(1) %out) "smelt.kernel" !smelt.pointees !0 {
  %a = getelementptr inbounds i8, ptr addrspace(2) %args, i64 12
  %x = load i32, ptr addrspace(2) %a
  %b = getelementptr inbounds i8, ptr addrspace(2) %args, i64 16
  %y = load i64, ptr addrspace(2) %b
  %z = trunc i64 %y to i32
  %sum = add i32 %x, %z
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
!0 = !{{ i32, [3 x i32], i64 } poison, null}
;;; without a type, by what is read
; expect: getelementptr inbounds float, ptr addrspace(1) %in, i64 3
; expect: getelementptr inbounds float, ptr addrspace(1) %in, i64 -2
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) "smelt.kernel" {
  %a = getelementptr inbounds i8, ptr addrspace(1) %in, i64 12
  %x = load float, ptr addrspace(1) %a
  %b = getelementptr inbounds i8, ptr addrspace(1) %in, i64 -8
  %y = load float, ptr addrspace(1) %b
  %sum = fadd float %x, %y
  store float %sum, ptr addrspace(1) %out
  ret void
}
;;; between elements, and bytes themselves: as before
; expect: getelementptr inbounds i8, ptr addrspace(1) %in, i64 6
; expect: getelementptr inbounds i8, ptr addrspace(1) %in, i64 4
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) "smelt.kernel" {
  %a = getelementptr inbounds i8, ptr addrspace(1) %in, i64 6
  %x = load i32, ptr addrspace(1) %a, align 2
  %b = getelementptr inbounds i8, ptr addrspace(1) %in, i64 4
  %y = load i8, ptr addrspace(1) %b
  %z = zext i8 %y to i32
  %sum = add i32 %x, %z
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
;;; behind the end of the struct it is the next one, before its beginning the one before
; expect: getelementptr inbounds { i32, i32 }, ptr addrspace(1) %in, i64 1, i32 1
; expect: getelementptr inbounds { i32, i32 }, ptr addrspace(1) %in, i64 -1, i32 1
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) "smelt.kernel" !smelt.pointees !0 {
  %a = getelementptr inbounds i8, ptr addrspace(1) %in, i64 12
  %x = load i32, ptr addrspace(1) %a
  %b = getelementptr inbounds i8, ptr addrspace(1) %in, i64 -4
  %y = load i32, ptr addrspace(1) %b
  %sum = add i32 %x, %y
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
!0 = !{{ i32, i32 } poison, null}
;;; one whole struct before, and one of one byte
; expect: getelementptr inbounds { i32, i32 }, ptr addrspace(1) %in, i64 -1, i32 0
; expect: getelementptr inbounds { i8 }, ptr addrspace(1) %small, i64 3, i32 0
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %small, ptr addrspace(1) %out) "smelt.kernel" !smelt.pointees !0 {
  %a = getelementptr inbounds i8, ptr addrspace(1) %in, i64 -8
  %x = load i32, ptr addrspace(1) %a
  %b = getelementptr inbounds i8, ptr addrspace(1) %small, i64 3
  %y = load i8, ptr addrspace(1) %b
  %z = zext i8 %y to i32
  %sum = add i32 %x, %z
  store i32 %sum, ptr addrspace(1) %out
  ret void
}
!0 = !{{ i32, i32 } poison, { i8 } poison, null}
;;; a vector in a class of its own
; expect: getelementptr inbounds <4 x float>, ptr addrspace(1) %in, i64 %
; never: getelementptr inbounds %vec
%vec = type { { <4 x float> } }
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out, i64 %i) "smelt.kernel" !smelt.pointees !0 {
  %a = getelementptr inbounds %vec, ptr addrspace(1) %in, i64 %i
  %x = load <4 x float>, ptr addrspace(1) %a
  store <4 x float> %x, ptr addrspace(1) %out
  ret void
}
!0 = !{%vec poison, null, null}
;;; bfloat is no type of old AIR
; target: macos12 macos14
; expect: define void @k(
define void @k(ptr addrspace(1) %in, ptr addrspace(1) %out) "smelt.kernel" !smelt.pointees !0 {
  %x = load i16, ptr addrspace(1) %in
  store i16 %x, ptr addrspace(1) %out
  ret void
}
!0 = !{bfloat poison, i1 poison}

;;; the one field of a struct, and bytes in an array
; expect: getelementptr inbounds { float }, ptr addrspace(2) %one, i64 2, i32 0
; expect: getelementptr inbounds { i32, [4 x i8] }, ptr addrspace(2) %bytes, i64 0, i32 1, i64 1
define void @k(ptr addrspace(2) %one, ptr addrspace(2) %bytes, ptr addrspace(1) %out) "smelt.kernel" !smelt.pointees !0 {
  %a = getelementptr inbounds i8, ptr addrspace(2) %one, i64 8
  %x = load float, ptr addrspace(2) %a
  %b = getelementptr inbounds i8, ptr addrspace(2) %bytes, i64 5
  %y = load i8, ptr addrspace(2) %b
  %z = uitofp i8 %y to float
  %sum = fadd float %x, %z
  store float %sum, ptr addrspace(1) %out
  ret void
}
!0 = !{{ float } poison, { i32, [4 x i8] } poison, null}
