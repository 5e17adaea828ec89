Integers of other widths become the next wider one.
;;; 48 bits
; never: i48
; expect: load volatile i32
; expect: load volatile i16
; expect: lshr i64
; target: macos12 macos14 macos26
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile i48, ptr %p, align 8
  %w = add i48 %v, 77
  %s = lshr i48 %w, 3
  store volatile i48 %s, ptr %q, align 8
  ret void
}
;;; three bits in a switch
; never: switch i3
; expect: and i8
; expect: switch i8
define void @k(ptr %p, ptr %q) "smelt.kernel" {
  %v = load volatile i8, ptr %p
  %t = trunc i8 %v to i3
  switch i3 %t, label %a [ i3 1, label %b
                           i3 -1, label %b ]
a:
  store volatile i8 0, ptr %q
  ret void
b:
  store volatile i8 1, ptr %q
  ret void
}
;;; code that nobody reaches, which may use itself
; never: i24
; expect: ret void
define void @k(ptr %p) "smelt.kernel" {
  store i32 1, ptr %p
  ret void
dead:
  %a = add i24 %a, 1
  store i24 %a, ptr %p
  br label %dead
}
