// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// objc_msgSend for the System V ABI: finds the receiver's method in its class's cache and jumps there with all arguments
// in place. r10 and r11 belong to nobody at a call; rax (the count of vector registers) waits below the stack pointer.
// A class is at (receiver), its cache at 64(class): mask, then at 16 pairs of name and method (dispatch.cpp).

.macro SEND symbol, receiver, selector, slot, nil
  .globl \symbol
  .type \symbol, @function
  .p2align 4
\symbol:
  .cfi_startproc
  test \receiver, \receiver
  jz \nil
  mov \receiver, %r10
  and $7, %r10d
  jnz 5f
  mov (\receiver), %r10
1:
  mov 64(%r10), %r10
  mov (\selector), %r11
  mov %rax, -8(%rsp)
  mov %r11, %rax
  shr $4, %rax
2:
  and (%r10), %rax
  shl $4, %rax
  cmp 16(%r10,%rax), %r11
  jne 3f
  mov 24(%r10,%rax), %r11
  mov -8(%rsp), %rax
  jmp *%r11
3:
  cmpq $0, 16(%r10,%rax)
  je 4f
  shr $4, %rax
  inc %rax
  jmp 2b
4:  // not in the cache: every argument is saved, and the receiver may come back another
  mov -8(%rsp), %rax
  push %rbp
  .cfi_def_cfa_offset 16
  .cfi_offset %rbp, -16
  mov %rsp, %rbp
  .cfi_def_cfa_register %rbp
  sub $192, %rsp
  mov %rdi, (%rsp)
  mov %rsi, 8(%rsp)
  mov %rdx, 16(%rsp)
  mov %rcx, 24(%rsp)
  mov %r8, 32(%rsp)
  mov %r9, 40(%rsp)
  mov %rax, 48(%rsp)
  movups %xmm0, 64(%rsp)
  movups %xmm1, 80(%rsp)
  movups %xmm2, 96(%rsp)
  movups %xmm3, 112(%rsp)
  movups %xmm4, 128(%rsp)
  movups %xmm5, 144(%rsp)
  movups %xmm6, 160(%rsp)
  movups %xmm7, 176(%rsp)
  mov \selector, %rsi
  lea \slot(%rsp), %rdi
  call smelt_objc_lookup@PLT
  mov %rax, %r11
  mov (%rsp), %rdi
  mov 8(%rsp), %rsi
  mov 16(%rsp), %rdx
  mov 24(%rsp), %rcx
  mov 32(%rsp), %r8
  mov 40(%rsp), %r9
  mov 48(%rsp), %rax
  movups 64(%rsp), %xmm0
  movups 80(%rsp), %xmm1
  movups 96(%rsp), %xmm2
  movups 112(%rsp), %xmm3
  movups 128(%rsp), %xmm4
  movups 144(%rsp), %xmm5
  movups 160(%rsp), %xmm6
  movups 176(%rsp), %xmm7
  leave
  .cfi_def_cfa %rsp, 8
  jmp *%r11
5:  // the object is in the pointer
  lea smelt_objc_small_classes(%rip), %r11
  mov (%r11,%r10,8), %r10
  jmp 1b
  .cfi_endproc
  .size \symbol, . - \symbol
.endm

  .hidden smelt_objc_small_classes
  .hidden smelt_objc_lookup
  .text
SEND objc_msgSend, %rdi, %rsi, 0, .Lnil
SEND objc_msgSend_fpret, %rdi, %rsi, 0, .Lnil_long_double
SEND objc_msgSend_stret, %rsi, %rdx, 8, .Lnil_memory

.Lnil:
  .cfi_startproc
  xor %eax, %eax
  xor %edx, %edx
  pxor %xmm0, %xmm0
  pxor %xmm1, %xmm1
  ret
.Lnil_long_double:
  xor %eax, %eax
  fldz
  ret
.Lnil_memory:  // its size is not known here; Clang clears it and does not call
  mov %rdi, %rax
  ret
  .cfi_endproc
  .section .note.GNU-stack,"",@progbits
