// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a caller binds to a kernel, by class: which classes the CPU takes is one word in binding_classes.def.
#include "abi/kernel_entry.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

namespace smelt::aot::cpu {
namespace {

/// The entry of a kernel with a buffer, and in slot 2 what `kind` says.
Result<KernelEntry> entry_with(llvm::LLVMContext& context, std::string_view kind) {
  const std::string text = fmt::format(R"(
    define void @k(ptr addrspace(1) %x, ptr addrspace(1) %y, i32 %i) {{ ret void }}
    !air.kernel = !{{!0}}
    !0 = !{{ptr @k, !1, !2}}
    !1 = !{{}}
    !2 = !{{!3, !4, !5}}
    !3 = !{{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.arg_type_name", !"float"}}
    !4 = !{{i32 1, !"air.{}", !"air.location_index", i32 2, i32 1, !"air.arg_type_name", !"float"}}
    !5 = !{{i32 2, !"air.thread_position_in_grid", !"air.arg_type_name", !"uint"}})",
                                       kind);
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  REQUIRE_MESSAGE(module, diagnostic.getMessage().str());
  return read_kernel_entry(*module);
}

}  // namespace

TEST_CASE("kernel_entry_bindings_and_inputs_in_the_functions_order") {
  llvm::LLVMContext context;
  const auto entry = entry_with(context, "buffer");
  REQUIRE(entry);
  CHECK(entry->interface.stage == Stage::kernel);
  REQUIRE(entry->interface.parameters.size() == 3);
  CHECK(std::get<Binding>(entry->interface.parameters[1]).kind == BindingClass::buffer);
  CHECK(std::get<Binding>(entry->interface.parameters[1]).slot == 2);
  llvm::LLVMContext another;
  const auto with_tensor = entry_with(another, "tensor");
  REQUIRE(with_tensor);
  CHECK(std::get<Binding>(with_tensor->interface.parameters[1]).kind == BindingClass::tensor);
  // A record that code reads like a buffer.
  llvm::LLVMContext third;
  const auto with_table = entry_with(third, "visible_function_table");
  REQUIRE(with_table);
  CHECK(std::get<Binding>(with_table->interface.parameters[1]).kind == BindingClass::buffer);
  CHECK(std::get<Input>(entry->interface.parameters[2]).name == "thread_position_in_grid");
}

TEST_CASE("kernel_entry_classes_that_are_refused_are_named") {
  const std::pair<const char*, const char*> refusals[] = {
      {"intersection_function_table",
       "argument 1 is of kind 'air.intersection_function_table': not supported on the CPU"},
      {"vertex_input", "argument 1 is of kind 'air.vertex_input': not supported on the CPU"},
      {"imageblock", "argument 1 is of kind 'air.imageblock': not supported on the CPU"}};
  for (const auto& [kind, wanted] : refusals) {
    llvm::LLVMContext context;
    const auto entry = entry_with(context, kind);
    REQUIRE_FALSE(entry);
    CHECK(entry.error().code == Errc::unsupported);
    CHECK(entry.error().message == wanted);
  }
}

}  // namespace smelt::aot::cpu
