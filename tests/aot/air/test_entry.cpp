// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry metadata: what is written is what is read, and what is malformed is nothing.
#include "air/entry.hpp"
#include "kernel_ir/struct_fields.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"

#include <doctest/doctest.h>

using namespace smelt::aot;

namespace {

std::unique_ptr<llvm::Module> parse(const char* text, llvm::LLVMContext& context) {
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(text, diagnostic, context);
  REQUIRE_MESSAGE(module, diagnostic.getMessage().str());
  return module;
}

}  // namespace

TEST_CASE("an argument comes back as it was written") {
  llvm::LLVMContext context;
  air::EntryArgument argument;
  argument.index = 3;
  argument.condition = air::NodeBuilder(context).number(1).finish();
  argument.kind = "air.indirect_buffer";
  argument.buffer_size = 48;
  argument.slots = {7, 2};
  argument.access = ArgumentAccess::read_write;
  argument.address_space = 2;
  argument.fields = air::NodeBuilder(context).number(0).text("float").finish();
  argument.type_size = {48, 16};
  argument.type_name = "Params";
  argument.name = "params";
  argument.is_unused = true;
  const auto read = air::read_argument(*air::write_argument(context, argument));
  REQUIRE(read);
  CHECK(read->index == 3);
  CHECK(read->condition == argument.condition);
  CHECK(read->is_conditional);
  CHECK(read->kind == "air.indirect_buffer");
  CHECK(read->buffer_size == 48);
  CHECK(read->slots->first == 7);
  CHECK(read->slots->count == 2);
  CHECK(read->access == ArgumentAccess::read_write);
  CHECK(read->address_space == 2);
  CHECK(read->fields == argument.fields);
  CHECK(read->type_size->size == 48);
  CHECK(read->type_size->align == 16);
  CHECK(read->type_name == "Params");
  CHECK(read->name == "params");
  CHECK(read->is_unused);
}

TEST_CASE("a key without its value is malformed, wherever the node ends") {
  llvm::LLVMContext context;
  using air::NodeBuilder;
  CHECK_FALSE(air::read_argument(*NodeBuilder(context).finish()));
  CHECK_FALSE(air::read_argument(*NodeBuilder(context).text("air.buffer").finish()));
  for (const char* key : {"air.location_index", "air.address_space", "air.buffer_size", "air.arg_type_size",
                          "air.arg_type_align_size", "air.arg_type_name", "air.arg_name"}) {
    CAPTURE(key);
    CHECK_FALSE(air::read_argument(*NodeBuilder(context).number(0).text("air.buffer").text(key).finish()));
  }
  CHECK_FALSE(air::read_argument(*NodeBuilder(context).number(0).text("air.location_index").number(1).finish()));
  CHECK(air::read_argument(*NodeBuilder(context).number(0).text("air.buffer").text("air.function_constant").finish()));
}

TEST_CASE("the most threads are said once") {
  llvm::LLVMContext context;
  auto module = parse("define void @k() { ret void }", context);
  llvm::MDNode* entry = air::write_kernel(*module->getFunction("k"), {}, std::nullopt);
  CHECK_FALSE(air::max_threads_of(*entry));
  CHECK(air::max_threads_of(*air::with_max_threads(*entry, 256)) == 256);
  const llvm::MDNode* twice = air::with_max_threads(*air::with_max_threads(*entry, 256), 64);
  CHECK(air::max_threads_of(*twice) == 64);
  CHECK(twice->getNumOperands() == 4);
  CHECK(air::function_of(*twice) == module->getFunction("k"));
}

TEST_CASE("entry points are found in lists and by attribute, and taken out") {
  llvm::LLVMContext context;
  auto module = parse(
      "define void @a() { call void @helper()\n ret void }\n"
      "define void @b() \"smelt.kernel\" { ret void }\n"
      "define void @helper() \"smelt.kernel\" { ret void }\n"
      "define void @v() { ret void }\n"
      "!air.kernel = !{!0}\n!air.vertex = !{!1}\n"
      "!0 = !{ptr @a, !{}, !{}}\n!1 = !{ptr @v, !{}, !{}}\n",
      context);
  const auto all = air::entry_points(*module);
  CHECK(all == std::vector<air::EntryPoint>{{"a", "kernel"}, {"v", "vertex"}, {"b", "kernel"}, {"helper", "kernel"}});
  air::keep_entries(*module, all, [](std::string_view name, std::string_view) { return name == "a"; });
  CHECK(air::entry_points(*module) == std::vector<air::EntryPoint>{{"a", "kernel"}});
  CHECK(air::entry_list(*module, "vertex") == nullptr);
  CHECK(module->getFunction("v") == nullptr);
  CHECK(module->getFunction("b") == nullptr);
  REQUIRE(module->getFunction("helper"));  // `a` calls it
  CHECK(module->getFunction("helper")->hasInternalLinkage());
}

TEST_CASE("a struct's members survive as text") {
  using kernel_ir::StructFields;
  const StructFields plain{{{.offset = 4, .size = 8, .count = 3, .type_name = "float2", .name = "v"}}, false};
  const StructFields back = kernel_ir::parse_struct_fields(kernel_ir::to_text(plain));
  REQUIRE(back.fields.size() == 1);
  CHECK_FALSE(back.is_argument_buffer);
  CHECK(back.fields[0].offset == 4);
  CHECK(back.fields[0].count == 3);
  CHECK(back.fields[0].type_name == "float2");
  CHECK(back.fields[0].name == "v");
  const StructFields buffers{
      {{.size = 8, .type_name = "float", .name = "p", .id = 9, .space = 1, .is_const = true, .target_size = 4}}, true};
  const StructFields again = kernel_ir::parse_struct_fields(kernel_ir::to_text(buffers));
  REQUIRE(again.fields.size() == 1);
  CHECK(again.is_argument_buffer);
  CHECK(again.fields[0].id == 9);
  CHECK(again.fields[0].space == 1);
  CHECK(again.fields[0].is_const);
  CHECK(again.fields[0].target_size == 4);
  CHECK(kernel_ir::parse_struct_fields("no;members\n").fields.empty());
}
