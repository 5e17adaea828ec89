bitcast <N x i1> <-> iN, lane by lane.
;;; four compares in one integer
; never: bitcast <4 x i1>
; never: i4
; expect: extractelement <4 x i1>
; expect: shl
; target: macos12 macos14 macos26
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile <4 x i32>, ptr %p
  %c = icmp sgt <4 x i32> %v, zeroinitializer
  %b = bitcast <4 x i1> %c to i4
  %z = zext i4 %b to i32
  store volatile i32 %z, ptr %q
  ret void
}
;;; and back, with 32 lanes
; never: <32 x i1>
; never: bitcast i32
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %m = load volatile i32, ptr %p
  %v = bitcast i32 %m to <32 x i1>
  %e = extractelement <32 x i1> %v, i64 17
  %z = zext i1 %e to i32
  store volatile i32 %z, ptr %q
  ret void
}
;;; the bools of a bool2, as LLVM reads them from its bytes
; never: <16 x i1>
; never: lshr
; never: insertelement <16
; expect: extractelement <2 x i1>
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile <2 x i32>, ptr %p
  %c = icmp sgt <2 x i32> %v, zeroinitializer
  %w = zext <2 x i1> %c to <2 x i8>
  %b = bitcast <2 x i8> %w to <16 x i1>
  %x = extractelement <16 x i1> %b, i64 0
  %y = extractelement <16 x i1> %b, i64 8
  %e = or i1 %x, %y
  %z = zext i1 %e to i32
  store volatile i32 %z, ptr %q
  ret void
}
;;; a bit in a lane of a vector
; never: i1>
; expect: extractelement <2 x i8>
; expect: lshr i8
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile <2 x i8>, ptr %p
  %b = bitcast <2 x i8> %v to <16 x i1>
  %x = extractelement <16 x i1> %b, i64 11
  %z = zext i1 %x to i32
  store volatile i32 %z, ptr %q
  ret void
}
