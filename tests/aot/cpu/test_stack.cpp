// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a kernel's code may need of the stack: its longest chain of calls, and not all its functions together.
#include "codegen/private_memory.hpp"
#include "codegen/target.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Target/TargetMachine.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace smelt::test {
namespace {

using aot::CpuLevel;

/// A function with an array of `kilobytes` that nobody can do without, which calls `callees`.
std::string function(const std::string& name, int kilobytes, const std::vector<std::string>& callees) {
  std::string text = fmt::format(
      "define {} void @\"{}\"(ptr %p) noinline {{\n"
      "  %own = alloca [{} x i8], align 16\n"
      "  store volatile ptr %own, ptr %p\n",
      name == "entry" ? "" : "internal", name, kilobytes * 1024);
  for (const std::string& callee : callees)
    text += fmt::format("  call void {}(ptr %p)\n", callee == "%f" ? callee : "@\"" + callee + "\"");
  return text + "  store volatile ptr %own, ptr %p\n  ret void\n}\n";
}

Result<void> stack_of(const std::string& text, CpuLevel level) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const auto module = llvm::parseAssemblyString(text, diagnostic, context);
  REQUIRE_MESSAGE(module, diagnostic.getMessage().str());
  auto target = aot::cpu::make_target_machine(level).value();
  module->setDataLayout(target->createDataLayout());
  module->setTargetTriple(target->getTargetTriple().str());
  for (llvm::Function& one : *module) aot::cpu::set_function_attributes(one, *target, level);
  const Bytes object = aot::cpu::emit_object(*module, *target).value();
  return aot::cpu::check_stack(*module->getFunction("entry"), object);
}

}  // namespace

TEST_CASE("stack: the longest chain of calls counts, on every processor") {
  for (const CpuLevel level : {CpuLevel::x86_64_v3, CpuLevel::x86_64_v4, CpuLevel::aarch64}) {
    CAPTURE(aot::to_string(level));
    // One after the other they may each take what there is.
    CHECK(stack_of(function("a", 700, {}) + function("b", 700, {}) + function("entry", 200, {"a", "b"}), level));
    CHECK(
        stack_of(function("a", 700, {}) + function("b", 200, {"a"}) + function("entry", 100, {"a", "b", "a"}), level));
    const auto below =
        stack_of(function("a", 700, {}) + function("b", 200, {"a"}) + function("entry", 200, {"b"}), level);
    REQUIRE_FALSE(below);
    CHECK(below.error().code == Errc::unsupported);
    CHECK(below.error().message.find("bytes of stack; at most 1048576") != std::string::npos);
    CHECK_FALSE(stack_of(function("entry", 1025, {}), level));
  }
}

TEST_CASE("stack: a call by a pointer may reach every function whose address is taken") {
  const std::string large = function("large", 900, {});
  const std::string calls =
      "define internal void @by_pointer(ptr %p) noinline {\n"
      "  %own = alloca [204800 x i8], align 16\n"
      "  store volatile ptr %own, ptr %p\n"
      "  %f = load volatile ptr, ptr %p\n"
      "  call void %f(ptr %p)\n"
      "  store volatile ptr %own, ptr %p\n"
      "  ret void\n}\n";
  CHECK(stack_of(large + calls + function("entry", 1, {"by_pointer", "large"}), CpuLevel::x86_64_v3));
  const std::string takes =
      "define void @entry(ptr %p) {\n  store volatile ptr @large, ptr %p\n"
      "  call void @by_pointer(ptr %p)\n  ret void\n}\n";
  CHECK_FALSE(stack_of(large + calls + takes, CpuLevel::x86_64_v3));
}

TEST_CASE("stack: what recurs counts as often as it may, and whoever calls itself without a bound is refused") {
  // The name of a function that recursion.cpp bounds.
  const auto recursive = [](const std::string& name) { return "smelt.recursive." + name; };
  const std::string once = function("entry", 1, {recursive("f")});
  CHECK(stack_of(function(recursive("f"), 1, {recursive("f")}) + once, CpuLevel::x86_64_v3));
  CHECK_FALSE(stack_of(function(recursive("f"), 2, {recursive("f")}) + once, CpuLevel::x86_64_v3));
  // Two that call each other share the depth; what one of them calls is below the other too.
  const std::string both =
      function(recursive("f"), 1, {recursive("g")}) + function(recursive("g"), 1, {recursive("f"), "h"});
  CHECK(stack_of(both + function("h", 400, {}) + once, CpuLevel::x86_64_v3));
  CHECK_FALSE(stack_of(both + function("h", 600, {}) + once, CpuLevel::x86_64_v3));
  const auto unbounded = stack_of(function("f", 1, {"f"}) + function("entry", 1, {"f"}), CpuLevel::x86_64_v3);
  REQUIRE_FALSE(unbounded);
  CHECK(unbounded.error().message.find("f calls itself") != std::string::npos);
}

}  // namespace smelt::test
