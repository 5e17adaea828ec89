// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What cannot be written is one clear error that names the function and the instruction; nothing aborts.
#include "bitcode/writer.hpp"
#include "canonical.hpp"
#include "oracle.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::test;
using aot::bitcode::write_bitcode;

namespace {

struct Refusal {
  const char* source;
  std::vector<const char*> message;  // parts of it
};

std::string refusal(const char* source, const aot::bitcode::WriteOptions& options = {}) {
  llvm::LLVMContext context;
  const auto module = parse_19(source, context);
  REQUIRE(module);
  const auto bytes = write_bitcode(*module, options);
  REQUIRE_FALSE(bytes.has_value());
  CHECK(bytes.error().code == Errc::unsupported);
  return bytes.error().message;
}

}  // namespace

TEST_CASE("unsupported instructions and values are named") {
  const Refusal cases[] = {
      {R"(declare i32 @__gxx_personality_v0(...)
          declare void @g()
          define void @thrower() personality ptr @__gxx_personality_v0 {
            invoke void @g() to label %a unwind label %b
          a: ret void
          b: %l = landingpad { ptr, i32 } cleanup
             ret void })",
       {"function 'thrower'", "invoke void @g()", "'invoke' cannot be written"}},
      {R"(define void @assembler() { call void asm sideeffect "nop", ""() ret void })",
       {"function 'assembler'", "asm sideeffect", "inline assembly"}},
      {R"(define void @jumper(ptr %p) { indirectbr ptr %p, [label %a]
          a: ret void })",
       {"function 'jumper'", "indirectbr"}},
      {R"(define ptr @addresses() { br label %a
          a: ret ptr blockaddress(@addresses, %a) })",
       {"function 'addresses'", "ret ptr blockaddress", "pointer constant"}},
      {R"(declare <4 x float> @llvm.masked.gather.v4f32.v4p1(<4 x ptr addrspace(1)>, i32, <4 x i1>, <4 x float>)
          define void @f() { ret void })",
       {"llvm.masked.gather.v4f32.v4p1", "gather and scatter"}},
      {"@t = thread_local global i32 0", {"thread-local variable 't'"}},
      {R"(module asm "nop")", {"module-level inline assembly"}},
      {R"(define ptr @resolver() { ret ptr null }
          @i = ifunc void (), ptr @resolver)",
       {"ifunc 'i'"}},
      {"define void @scalable(<vscale x 4 x float> %v) { ret void }", {"function 'scalable'", "<vscale x 4 x float>"}},
      {"define x86_fp80 @wide() { ret x86_fp80 0xK3FFF8000000000000000 }", {"function 'wide'", "x86_fp80"}},
      {"define void @quad(fp128 %x) { ret void }", {"function 'quad'", "fp128"}},
      {"define void @target(target(\"spirv.Image\") %x) { ret void }", {"function 'target'", "spirv.Image"}},
      {R"(define void @newer(ptr %p, i32 %v) { %a = atomicrmw uinc_wrap ptr %p, i32 %v monotonic
          ret void })",
       {"function 'newer'", "atomicrmw uinc_wrap", "LLVM 14 does not have"}},
      {R"(define void @newest(ptr %p, float %v) { %a = atomicrmw fmax ptr %p, float %v monotonic
          ret void })",
       {"function 'newest'", "fmax"}},
      {R"(declare void @g()
          define void @bundles(i32 %x) { call void @g() [ "deopt"(i32 %x) ]
          ret void })",
       {"function 'bundles'", "operand bundles"}},
      {R"(define i32 @variadic(ptr %list) { %x = va_arg ptr %list, i32
          ret i32 %x })",
       {"function 'variadic'", "va_arg"}},
      {"define void @prefixed() prefix i32 1 { ret void }", {"function 'prefixed'", "prefix"}},
      {"define void @collected() gc \"shadow-stack\" { ret void }", {"function 'collected'", "garbage"}},
      {R"(define void @never(ptr %p) { ret void
          dead: %a = bitcast ptr %b to ptr
                %b = bitcast ptr %a to ptr
                store i32 0, ptr %a
                br label %dead })",
       {"function 'never'", "cycle of pointer casts"}},
      {R"(define void @elsewhere() { %a = alloca i32, addrspace(3)
          ret void })",
       {"function 'elsewhere'", "alloca i32", "address space"}},
  };
  for (const Refusal& one : cases) {
    const std::string message = refusal(one.source);
    for (const char* part : one.message) {
      CAPTURE(message);
      CHECK(message.find(part) != std::string::npos);
    }
  }
}

TEST_CASE("deep nesting is an error, not the end of the stack") {
  std::string type = "i8";
  for (int i = 0; i < 2000; ++i) type = "{ " + type + " }";
  CHECK(refusal(("define void @f(ptr %p) { %x = getelementptr " + type + ", ptr %p, i64 1\n ret void }").c_str())
            .find("nested more than") != std::string::npos);
  std::string metadata = "!named = !{!0}\n";  // deep, and fine: no recursion
  for (int i = 0; i < 20000; ++i) metadata += fmt::format("!{} = !{{!{}}}\n", i, i + 1);
  metadata += "!20000 = !{}\n";
  llvm::LLVMContext context;
  const auto module = parse_19(metadata, context);
  REQUIRE(module);
  const auto bytes = write_bitcode(*module, {});
  CHECK(bytes.has_value());
}

TEST_CASE("hints that LLVM 14 has no place for go, and the rest stays") {
  llvm::LLVMContext context;
  const auto module = parse_19(R"(
    define i32 @f(ptr writable dead_on_unwind initializes((0, 4)) %p, i32 range(i32 0, 9) %n) memory(argmem: write, inaccessiblemem: readwrite) uwtable {
      %z = zext nneg i32 %n to i64
      %o = or disjoint i32 %n, 256
      %t = trunc nuw nsw i64 %z to i32
      %g = getelementptr nusw nuw i32, ptr %p, i64 %z
      %h = getelementptr inbounds nuw i32, ptr %p, i64 %z
      call void @llvm.assume(i1 true) [ "align"(ptr %p, i64 8) ]
      store i32 %o, ptr %g
      store i32 %t, ptr %h
      ret i32 %o
    }
    define i32 @g(i32 range(i32 0, 9) %n) { ret i32 %n }
    declare void @llvm.assume(i1))",
                               context);
  REQUIRE(module);
  const auto bytes = write_bitcode(*module, {});
  REQUIRE(bytes.has_value());
  if (!have_llvm_14()) return;
  const Verdict verdict = judge_14(*bytes);
  CHECK_MESSAGE(verdict.accepted, verdict.error);
  CHECK(verdict.text.find("define i32 @f(i8* %0, i32 %1) #0") != std::string::npos);
  CHECK(verdict.text.find("define i32 @g(i32 %0) {") != std::string::npos);
  CHECK(verdict.text.find("inaccessiblemem_or_argmemonly") != std::string::npos);
}
