// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Visible functions that become part of a kernel that calls them through a table; tests/python/test_function_tables.py
// runs such kernels.
#include "abi/function_tables.hpp"
#include "ir_reader/parse.hpp"

#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <string>
#include <vector>

namespace smelt::aot::cpu {
namespace {

/// A kernel with a table in %t. `body` may use %out.
std::string kernel_of(std::string_view body) {
  return fmt::format(R"(
    declare ptr @air.get_function_pointer_visible_function_table(ptr addrspace(1), i32)
    define internal float @helper(float %x) {{ ret float %x }}
    define void @k(ptr addrspace(1) %out, ptr addrspace(1) %t) {{
      %f = call ptr @air.get_function_pointer_visible_function_table(ptr addrspace(1) %t, i32 1)
      {}
      ret void
    }}
    !air.kernel = !{{!0}}
    !0 = !{{ptr @k, !1, !1}}
    !1 = !{{}})",
                     body);
}
const std::string kCall = "%r = call float %f(float 2.0)\n store float %r, ptr addrspace(1) %out";

struct Visible {
  std::string name, text;
};
/// `body` is that of @NAME; `more` stands beside it.
Visible visible_of(const std::string& name, std::string_view body, std::string_view more = "") {
  return {name, fmt::format("{}\n define {}\n !air.visible = !{{!0}}\n !0 = !{{ptr @{}, !1, !1}}\n !1 = !{{}}", more,
                            body, name)};
}

struct Bound {
  KernelModule kernel;
  Result<void> done;
};
Bound bind(const std::string& kernel, const std::vector<Visible>& visible) {
  Bound bound{input::parse_module(as_bytes(kernel), "kernel").value(), {}};
  std::vector<AirModuleView> views;
  for (const Visible& one : visible) views.push_back({one.name, as_bytes(one.text)});
  bound.done = bind_function_tables(*bound.kernel.module, views);
  return bound;
}
std::string error_of(const std::string& kernel, const std::vector<Visible>& visible) {
  const Bound bound = bind(kernel, visible);
  return bound.done ? "" : bound.done.error().message;
}

const Visible kSquare = visible_of("square", "float @square(float %x) { %y = fmul float %x, %x\n ret float %y }");
const Visible kHelped =
    visible_of("helped", "float @helped(float %x) { %y = call float @helper(float %x)\n ret float %y }",
               "define float @helper(float %x) { ret float 3.0 }");
const Visible kWhole = visible_of("whole", "i32 @whole(i32 %x) { ret i32 %x }");

}  // namespace

TEST_CASE("tables_a_call_chooses_among_the_functions_of_its_type") {
  const Bound bound = bind(kernel_of(kCall), {kSquare, kWhole, kHelped});
  REQUIRE_MESSAGE(bound.done, bound.done.error().message);
  const llvm::Module& module = *bound.kernel.module;
  CHECK_FALSE(llvm::verifyModule(module, &llvm::errs()));
  std::vector<std::string> called;
  unsigned cases = 0;
  for (const llvm::Instruction& instruction : llvm::instructions(*module.getFunction("k"))) {
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction)) {
      REQUIRE(call->getCalledFunction() != nullptr);
      called.push_back(call->getCalledFunction()->getName().str());
    }
    if (const auto* choice = llvm::dyn_cast<llvm::SwitchInst>(&instruction)) cases = choice->getNumCases();
  }
  CHECK(called == std::vector<std::string>{kTableNone, "smelt.visible.square", "smelt.visible.helped"});
  CHECK(cases == 2);
  // Each has its own helper, and the kernel its own.
  CHECK(module.getFunction("smelt.visible.whole") == nullptr);
  const auto* helped = module.getFunction("smelt.visible.helped");
  REQUIRE(helped != nullptr);
  for (const llvm::Instruction& instruction : llvm::instructions(*helped))
    if (const auto* call = llvm::dyn_cast<llvm::CallInst>(&instruction))
      CHECK(call->getCalledFunction() != module.getFunction("helper"));
}

TEST_CASE("tables_what_cannot_be_called_is_an_error_that_says_why") {
  const std::string none =
      "calls a function of a table as float (float); the library has no visible function of that type";
  CHECK(error_of(kernel_of(kCall), {}) == none);
  CHECK(error_of(kernel_of(kCall), {kWhole}) == none);
  CHECK(error_of(kernel_of("store ptr %f, ptr addrspace(1) %out"), {kSquare}) ==
        "a function of a table is stored or passed on; CPU code can only call it");
  const Visible constant = visible_of(
      "scaled", "float @scaled(float %x) { ret float %x }",
      "@c = internal addrspace(2) global float undef\n !air.function_constants = !{!2}\n !2 = !{ptr addrspace(2) @c, "
      "!\"float\", !\"c\", i32 0, i1 true}");
  CHECK(error_of(kernel_of(kCall), {constant}) ==
        "visible function 'scaled' reads function constants, so it cannot be called through a table on the CPU");
  CHECK(error_of(kernel_of(kCall), {constant, kSquare}) == "");  // an entry with it means none
  // Of no type that is called, so nobody looks further.
  CHECK(error_of(kernel_of(kCall), {kSquare, visible_of("other",
                                                        "i32 @other(i32 %x) { call void asm \"\", \"\"()\n ret "
                                                        "i32 %x }")}) == "");
}

TEST_CASE("tables_a_hostile_function_of_the_library_is_refused_by_name") {
  const std::string assembly = error_of(
      kernel_of(kCall), {visible_of("bad", "float @bad(float %x) { call void asm \"\", \"\"()\n ret float %x }")});
  CHECK_MESSAGE(assembly.starts_with("bad: function 'bad': inline assembly"), assembly);
  const std::string elsewhere = error_of(
      kernel_of(kCall), {visible_of("bad", "float @bad(float %x) { %y = call float @system(float %x)\n ret float %y }",
                                    "declare float @system(float)")});
  CHECK_MESSAGE(elsewhere.starts_with("bad: function 'system': neither an air.* operation nor defined here"),
                elsewhere);
  // What is read before it stays whole.
  const std::string cut = error_of(kernel_of(kCall), {kSquare, {"cut", "define float @cut("}});
  CHECK_MESSAGE(cut.starts_with("cut: line 1: "), cut);
  // Two modules that do not agree about an operation.
  const auto asks = [](const std::string& name, const std::string& type) {
    return visible_of(
        name, fmt::format("float @{0}(float %x) {{ %y = call {1} @air.odd({1} 1)\n ret float %x }}", name, type),
        fmt::format("declare {0} @air.odd({0})", type));
  };
  const std::string odd = error_of(kernel_of(kCall), {asks("one", "i32"), asks("two", "i16")});
  CHECK_MESSAGE(odd.find("other types than the callee's") != std::string::npos, odd);
}

}  // namespace smelt::aot::cpu
