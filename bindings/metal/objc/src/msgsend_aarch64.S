// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// objc_msgSend for AAPCS64: finds the receiver's method in its class's cache and jumps there with all arguments in place.
// x9 to x17 belong to nobody at a call. A class is at (receiver), its cache at 64(class): mask, then at 16 pairs of name
// and method (dispatch.cpp). Results through memory are told by x8, so one entry does for all.
  .hidden smelt_objc_small_classes
  .hidden smelt_objc_lookup
  .text
  .globl objc_msgSend
  .globl objc_msgSend_stret
  .globl objc_msgSend_fpret
  .type objc_msgSend, %function
  .type objc_msgSend_stret, %function
  .type objc_msgSend_fpret, %function
  .p2align 4
objc_msgSend:
objc_msgSend_stret:
objc_msgSend_fpret:
  .cfi_startproc
  cbz x0, 6f
  ands x10, x0, #7
  b.ne 5f
  ldr x10, [x0]
1:
  add x10, x10, #64
  ldar x10, [x10]
  ldr x11, [x1]
  ldr x12, [x10]
  lsr x13, x11, #4
2:
  and x13, x13, x12
  add x14, x10, x13, lsl #4
  add x14, x14, #16
  ldar x15, [x14]
  cmp x15, x11
  b.ne 3f
  ldr x16, [x14, #8]
  br x16
3:
  cbz x15, 4f
  add x13, x13, #1
  b 2b
4:  // not in the cache: every argument is saved, and the receiver may come back another
  stp x29, x30, [sp, #-224]!
  .cfi_def_cfa_offset 224
  .cfi_offset x29, -224
  .cfi_offset x30, -216
  mov x29, sp
  stp x0, x1, [sp, #16]
  stp x2, x3, [sp, #32]
  stp x4, x5, [sp, #48]
  stp x6, x7, [sp, #64]
  str x8, [sp, #80]
  stp q0, q1, [sp, #96]
  stp q2, q3, [sp, #128]
  stp q4, q5, [sp, #160]
  stp q6, q7, [sp, #192]
  add x0, sp, #16
  bl smelt_objc_lookup
  mov x16, x0
  ldp x0, x1, [sp, #16]
  ldp x2, x3, [sp, #32]
  ldp x4, x5, [sp, #48]
  ldp x6, x7, [sp, #64]
  ldr x8, [sp, #80]
  ldp q0, q1, [sp, #96]
  ldp q2, q3, [sp, #128]
  ldp q4, q5, [sp, #160]
  ldp q6, q7, [sp, #192]
  ldp x29, x30, [sp], #224
  .cfi_def_cfa_offset 0
  .cfi_restore x29
  .cfi_restore x30
  br x16
5:  // the object is in the pointer
  adrp x11, smelt_objc_small_classes
  add x11, x11, :lo12:smelt_objc_small_classes
  ldr x10, [x11, x10, lsl #3]
  b 1b
6:
  mov x0, #0
  mov x1, #0
  movi v0.2d, #0
  movi v1.2d, #0
  movi v2.2d, #0
  movi v3.2d, #0
  ret
  .cfi_endproc
  .size objc_msgSend, . - objc_msgSend
  .section .note.GNU-stack,"",%progbits
