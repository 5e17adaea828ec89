# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# A script (-P): which functions of aot a program calls, as two sources (aot/opened). NM, AOT (the archive), USERS (a file
# that lists the objects which call it), KEYS (one that lists objects which are in the program) give TABLE, for the
# library, and JUMPS, for the program.

cmake_minimum_required(VERSION 3.24)

# symbols(OUT LETTERS WORDS...): names of smelt::aot's symbols of those kinds, by nm.
function(symbols out letters)
  execute_process(COMMAND ${NM} -P ${ARGN} OUTPUT_VARIABLE text ERROR_VARIABLE said RESULT_VARIABLE failed)
  if(failed)
    message(FATAL_ERROR "${NM}: ${said}")
  endif()
  string(REGEX MATCHALL "(^|\n)_ZNK?5smelt3aot[A-Za-z0-9_]* [${letters}]" lines "${text}")
  set(names)
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^\n?([A-Za-z0-9_]*) .$" "\\1" name "${line}")
    list(APPEND names ${name})
  endforeach()
  list(REMOVE_DUPLICATES names)
  list(SORT names COMPARE STRING)
  set(${out} ${names} PARENT_SCOPE)
endfunction()

file(STRINGS ${USERS} users)
file(STRINGS ${KEYS} keys)
foreach(list IN ITEMS users keys)  # CMake lists a precompiled header among the objects
  list(FILTER ${list} INCLUDE REGEX "\\.(o|obj)$")
endforeach()
symbols(wanted "U" -u ${users})
symbols(functions "T" ${AOT})
symbols(data "BDR" ${AOT})
symbols(present "A-Z" --defined-only ${keys})
list(REMOVE_ITEM wanted ${present})
set(opened)
foreach(name IN LISTS wanted)
  if(name IN_LIST data)
    message(FATAL_ERROR "${name} is data of aot: what a program opens later can be called only")
  elseif(name IN_LIST functions)
    list(APPEND opened ${name})
  endif()
endforeach()
list(LENGTH opened count)
if(count EQUAL 0)
  message(FATAL_ERROR "no function of aot is called by what ${USERS} lists")
endif()
string(SHA256 digest "${opened}")

set(head "// Made by cmake/opened_functions.cmake.\n#include \"build_identity.hpp\"\n#include \"opened.hpp\"\n\n#define NAMES \"${digest}\"\n\n")
set(declared "")
set(listed "")
set(jumps "")
set(index 0)
foreach(name IN LISTS opened)
  string(APPEND declared "void ${name}();\n")
  string(APPEND listed "    ${name},\n")
  string(APPEND jumps "JUMP(${name}, ${index})\n")
  math(EXPR index "${index} + 1")
endforeach()
file(WRITE ${TABLE}.new "${head}extern \"C\" {
${declared}}
namespace {
void (*const kFunctions[])() = {
${listed}};
}  // namespace
const smelt_opened_table_t smelt_opened_table = {SMELT_SOURCE_IDENTITY NAMES, ${count}, kFunctions};
")
# Until the function is known, its jump goes on to one place with the function's number on the stack; that place keeps all
# registers which may hold an argument while the compiler is opened.
file(WRITE ${JUMPS}.new "${head}extern \"C\" {
void (*smelt_opened_functions[${count}])();
const uint64_t smelt_opened_count = ${count};
const char* const smelt_opened_identity = SMELT_SOURCE_IDENTITY NAMES;
}

#define JUMP(name, number)                                          \\
  asm(\".text\\n.globl \" #name \"\\n.hidden \" #name                     \\
      \"\\n.type \" #name \",@function\\n\" #name \":\\n\"                    \\
      \".cfi_startproc\\n\"                                           \\
      \"  movq smelt_opened_functions+8*\" #number \"(%rip), %r11\\n\"  \\
      \"  testq %r11, %r11\\n\"                                       \\
      \"  je 1f\\n\"                                                  \\
      \"  jmp *%r11\\n\"                                              \\
      \"1: pushq $\" #number \"\\n\"                                    \\
      \".cfi_adjust_cfa_offset 8\\n\"                                 \\
      \"  jmp smelt_first_call\\n\"                                   \\
      \".cfi_endproc\\n.size \" #name \",.-\" #name \"\\n\");
asm(R\"(
.text
.type smelt_first_call,@function
smelt_first_call:
.cfi_startproc
.cfi_def_cfa_offset 16
  pushq %rbp
.cfi_def_cfa_offset 24
.cfi_offset %rbp, -24
  movq %rsp, %rbp
.cfi_def_cfa_register %rbp
  andq $-16, %rsp
  subq $192, %rsp
  movq %rdi, 0(%rsp)
  movq %rsi, 8(%rsp)
  movq %rdx, 16(%rsp)
  movq %rcx, 24(%rsp)
  movq %r8, 32(%rsp)
  movq %r9, 40(%rsp)
  movq %rax, 48(%rsp)
  movaps %xmm0, 64(%rsp)
  movaps %xmm1, 80(%rsp)
  movaps %xmm2, 96(%rsp)
  movaps %xmm3, 112(%rsp)
  movaps %xmm4, 128(%rsp)
  movaps %xmm5, 144(%rsp)
  movaps %xmm6, 160(%rsp)
  movaps %xmm7, 176(%rsp)
  callq smelt_open_compiler
  movaps 64(%rsp), %xmm0
  movaps 80(%rsp), %xmm1
  movaps 96(%rsp), %xmm2
  movaps 112(%rsp), %xmm3
  movaps 128(%rsp), %xmm4
  movaps 144(%rsp), %xmm5
  movaps 160(%rsp), %xmm6
  movaps 176(%rsp), %xmm7
  movq 0(%rsp), %rdi
  movq 8(%rsp), %rsi
  movq 16(%rsp), %rdx
  movq 24(%rsp), %rcx
  movq 32(%rsp), %r8
  movq 40(%rsp), %r9
  movq 48(%rsp), %rax
  movq %rbp, %rsp
  popq %rbp
.cfi_def_cfa %rsp, 16
  popq %r11
.cfi_def_cfa_offset 8
  leaq smelt_opened_functions(%rip), %r10
  jmpq *(%r10,%r11,8)
.cfi_endproc
.size smelt_first_call,.-smelt_first_call
)\");
${jumps}")
foreach(file IN ITEMS ${TABLE} ${JUMPS})
  file(COPY_FILE ${file}.new ${file} ONLY_IF_DIFFERENT)
  file(REMOVE ${file}.new)
endforeach()
