// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which loops wait for what other threads write.
#include "work_item/waiting.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace smelt::test {
namespace {

/// Whether a loop waits whose body is `body`, which gives `%go`: one round more.
bool waits(std::string_view body) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic error;
  const std::string text = fmt::format(
      "define void @k(ptr %p, i32 %n) {{\n"
      "entry:\n  %before = load atomic i32, ptr %p monotonic, align 4\n  br label %loop\n"
      "loop:\n  %i = phi i32 [ 0, %entry ], [ %next, %loop ]\n  %next = add i32 %i, 1\n{}"
      "  br i1 %go, label %loop, label %done\n"
      "done:\n  ret void\n}}\n",
      body);
  const auto module = llvm::parseAssemblyString(text, error, context);
  REQUIRE_MESSAGE(module, error.getMessage().str());
  return aot::cpu::may_wait(*module);
}

}  // namespace

TEST_CASE("loops that go on until memory says so wait") {
  CHECK(waits("  %v = load atomic i32, ptr %p monotonic, align 4\n  %go = icmp ult i32 %v, %n\n"));
  CHECK(waits("  %v = load volatile i32, ptr %p\n  %w = and i32 %v, 255\n  %go = icmp ne i32 %w, 7\n"));
  CHECK(waits("  %v = atomicrmw or ptr %p, i32 0 monotonic\n  %go = icmp ne i32 %v, %n\n"));
  CHECK(waits("  %v = atomicrmw and ptr %p, i32 -1 monotonic\n  %go = icmp ne i32 %v, %n\n"));
  // By a value that goes round.
  CHECK(
      waits("  %sum = phi i32 [ 0, %entry ], [ %more, %loop ]\n  %v = load atomic i32, ptr %p monotonic, align 4\n"
            "  %more = add i32 %sum, %v\n  %go = icmp ult i32 %sum, %n\n"));
}

TEST_CASE("loops that another thread's progress sends round do not") {
  CHECK_FALSE(waits("  %go = icmp ult i32 %next, %n\n"));
  CHECK_FALSE(waits("  %go = icmp ult i32 %next, %before\n"));  // read once
  CHECK_FALSE(waits("  %v = load i32, ptr %p\n  %go = icmp ult i32 %v, %n\n"));
  CHECK_FALSE(waits("  %v = atomicrmw add ptr %p, i32 1 monotonic\n  %go = icmp ult i32 %v, %n\n"));
  CHECK_FALSE(
      waits("  %v = load atomic i32, ptr %p monotonic, align 4\n  %w = add i32 %v, 1\n"
            "  %pair = cmpxchg ptr %p, i32 %v, i32 %w monotonic monotonic\n"
            "  %did = extractvalue { i32, i1 } %pair, 1\n  %go = xor i1 %did, true\n"));
  CHECK_FALSE(waits("  %v = load atomic i32, ptr %p monotonic, align 4\n  %go = icmp ult i32 %next, %n\n"));
}

}  // namespace smelt::test
