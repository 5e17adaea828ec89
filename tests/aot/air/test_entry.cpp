// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entry metadata: what is written is what is read, and what is malformed is nothing.
#include "smelt/aot/simulators.hpp"

#include "interface/argument_members.hpp"
#include "interface/entry.hpp"
#include "interface/reflect.hpp"
#include "interface/stage_arrays.hpp"
#include "kernel_ir/struct_fields.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/IR/Constants.h"
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
  air::EntryArgumentNode argument;
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
  llvm::MDNode* entry = air::write_entry(*module->getFunction("k"), {}, {}, std::nullopt);
  CHECK_FALSE(air::max_threads_of(*entry));
  CHECK(air::max_threads_of(*air::with_max_threads(*entry, 256)) == 256);
  const llvm::MDNode* twice = air::with_max_threads(*air::with_max_threads(*entry, 256), 64);
  CHECK(air::max_threads_of(*twice) == 64);
  CHECK(twice->getNumOperands() == 4);
  CHECK(air::function_of(*twice) == module->getFunction("k"));
}

namespace {

/// The members of the structure that is node 0 of the module's list "test".
std::vector<MemberInfo> members_in(const std::string& nodes) {
  llvm::LLVMContext context;
  const auto module = parse(("!test = !{!0}\n" + nodes).c_str(), context);
  return air::read_members(*module->getNamedMetadata("test")->getOperand(0));
}

const char* const kPointer =
    "!8 = !{i32 0, !\"air.buffer\", !\"air.location_index\", i32 2, i32 1, !\"air.read\", !\"air.address_space\", i32 "
    "1,"
    " !\"air.arg_type_size\", i32 4, !\"air.arg_type_align_size\", i32 4, !\"air.arg_type_name\", !\"uint\","
    " !\"air.arg_name\", !\"next\"}\n"
    "!9 = !{i32 1, !\"air.indirect_constant\", !\"air.location_index\", i32 40, i32 1, !\"air.arg_type_name\", "
    "!\"uint\","
    " !\"air.arg_name\", !\"value\"}\n";

}  // namespace

// As Apple's compiler spells them: a structure inside stands before its numbers, and ids add up.
TEST_CASE("members of an argument buffer, of structures inside structures") {
  using smelt::Access;
  using smelt::MemberKind;
  const auto members =
      members_in(std::string("!0 = !{!\"air.struct_type_info\", !1, i32 64, i32 16, i32 2, !\"deep\", !\"d\","
                             " !\"air.indirect_argument\", i32 30,"
                             " i32 96, i32 4, i32 3, !\"uint\", !\"value\", !\"air.indirect_argument\", !9}\n"
                             "!1 = !{!\"air.struct_type_info\", !2, i32 0, i32 16, i32 0, !\"inner\", !\"mid\","
                             " !\"air.indirect_argument\", i32 0}\n"
                             "!2 = !{i32 8, i32 8, i32 0, !\"uint\", !\"next\", !\"air.indirect_argument\", !8}\n") +
                 kPointer);
  const std::vector<MemberInfo> expected = {{"d[0].mid.next", "uint", 32, 0, 72, 8, MemberKind::pointer, Access::read},
                                            {"d[1].mid.next", "uint", 35, 0, 88, 8, MemberKind::pointer, Access::read},
                                            {"value", "uint", 40, 3, 96, 4, MemberKind::constant, Access::none}};
  CHECK(members == expected);
}

TEST_CASE("members of a structure without ids, up to what packages list") {
  llvm::LLVMContext context;
  const auto of = [&](const std::string& nodes) {
    const auto module = parse(("!test = !{!0}\n" + nodes).c_str(), context);
    return air::read_structure(*module->getNamedMetadata("test")->getOperand(0));
  };
  const auto members = of(
      "!0 = !{i32 0, i32 4, i32 3, !\"int\", !\"list\", !\"air.struct_type_info\", !1, i32 16, i32 8, i32 2, !\"S\", "
      "!\"s\"}\n!1 = !{i32 0, i32 8, i32 0, !\"float2\", !\"v\"}\n");
  REQUIRE(members.size() == 3);
  CHECK(members[0].name == "list");
  CHECK(members[0].count == 3);
  CHECK(members[2].name == "s[1].v");
  CHECK(members[2].offset == 24);
  CHECK(members[2].type_name == "float2");
  const auto many = [&](unsigned count) {
    return of("!0 = !{!\"air.struct_type_info\", !1, i32 0, i32 4, i32 " + std::to_string(count) +
              ", !\"S\", !\"s\"}\n!1 = !{i32 0, i32 4, i32 0, !\"float\", !\"v\"}\n");
  };
  CHECK(many(air::kMostStructureMembers).size() == air::kMostStructureMembers);
  CHECK(many(air::kMostStructureMembers + 1).empty());
  CHECK(of("!0 = !{i32 0, i32 8, i32 0, !\"uint\"}\n").empty());
}

TEST_CASE("members that are malformed, too many, or inside themselves are none") {
  const std::string field = "i32 0, i32 8, i32 0, !\"uint\", !\"x\", !\"air.indirect_argument\", !8";
  CHECK(members_in("!0 = !{" + field + "}\n" + kPointer).size() == 1);
  CHECK(members_in(std::string("!0 = !{i32 0, i32 8, i32 0, !\"uint\"}\n") + kPointer).empty());
  CHECK(members_in(std::string("!0 = !{!\"air.indirect_argument\", !8}\n") + kPointer).empty());
  CHECK(members_in("!0 = !{!\"air.struct_type_info\", i32 1, " + field + "}\n" + kPointer).empty());
  CHECK(members_in(std::string("!0 = !{i32 -1, i32 8, i32 0, !\"uint\", !\"x\", !\"air.indirect_argument\", !8}\n") +
                   kPointer)
            .empty());
  const std::string inside = "!\"air.struct_type_info\", !1, i32 0, i32 8, i32 ";
  CHECK(members_in("!0 = !{" + inside + "4000000, !\"S\", !\"s\"}\n!1 = !{" + field + "}\n" + kPointer).empty());
  CHECK(members_in("!0 = !{" + inside + "4000000, !\"S\", !\"s\"}\n!1 = !{}\n").empty());
  CHECK(members_in("!0 = !{" + inside + "0, !\"S\", !\"s\"}\n!1 = distinct !{" + inside + "0, !\"S\", !\"s\"}\n")
            .empty());
  std::string doubling = "!0 = !{!1}\n";
  for (int i = 0; i < 30; ++i) {
    const std::string next =
        "!\"air.struct_type_info\", !" + std::to_string(i + 1) + ", i32 0, i32 8, i32 0, !\"S\", !\"s\"";
    doubling = (i == 0 ? "" : doubling) + "!" + std::to_string(i) + " = !{" + next + ", " + next + "}\n";
  }
  CHECK(members_in(doubling + "!30 = !{}\n").empty());
}

TEST_CASE("a function constant's row has four words at least") {
  llvm::LLVMContext context;
  auto module = parse(
      "@a = internal addrspace(2) global float undef\n@b = internal addrspace(2) global float undef\n"
      "define void @k() { ret void }\n"
      "!air.kernel = !{!0}\n!0 = !{ptr @k, !{}, !{}}\n!air.function_constants = !{!1, !2}\n"
      "!1 = !{ptr addrspace(2) @a, !\"float\", !\"a\", i32 7}\n!2 = !{ptr addrspace(2) @b, !\"float\", !\"b\"}\n",
      context);
  const auto kernel = air::reflect(*module, "k");
  REQUIRE(kernel.has_value());
  REQUIRE(kernel->constants.size() == 1);
  CHECK(kernel->constants[0].name == "a");
  CHECK(kernel->constants[0].index == 7);
}

TEST_CASE("a stage function without results has none") {
  llvm::LLVMContext context;
  auto module = parse(
      "define void @v() { ret void }\ndefine float @w() { ret float 1.0 }\n!air.vertex = !{!0, !1}\n"
      "!0 = !{ptr @v, null, !{}}\n!1 = !{ptr @w, !{}, !{}}\n",
      context);
  const llvm::NamedMDNode* const list = air::entry_list(*module, "vertex");
  const auto arrays = air::stage_arrays(*module, *list->getOperand(0), "vertex");
  REQUIRE(arrays.has_value());
  CHECK(arrays->empty());
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
  const StructFields plain{{{.offset = 4, .size = 8, .count = 3, .type_name = "float2", .name = "v"},
                            {.size = 8, .type_name = "float2", .name = "w", .depth = 2}},
                           false};
  const StructFields back = kernel_ir::parse_struct_fields(kernel_ir::to_text(plain));
  REQUIRE(back.fields.size() == 2);
  CHECK(back.fields[0].depth == 0);
  CHECK(back.fields[1].depth == 2);
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

TEST_CASE("an argument's class is read from its word and its address space") {
  using smelt::Binding;
  using smelt::BindingClass;
  using smelt::Input;
  using smelt::InputKind;
  llvm::LLVMContext context;
  const llvm::Type& device = *llvm::PointerType::get(context, 1);
  const llvm::Type& threadgroup = *llvm::PointerType::get(context, 3);
  const llvm::Type& number = *llvm::Type::getInt32Ty(context);
  const auto of = [](const char* kind, const llvm::Type& type) {
    air::EntryArgumentNode argument;
    argument.kind = kind;
    argument.name = "name";
    argument.slots = {7, 2};
    argument.access = ArgumentAccess::read;
    return air::parameter_of(argument, type);
  };
  const auto binding = [](BindingClass kind) {
    return smelt::EntryParameter(Binding{kind, 7, 2, ArgumentAccess::read});
  };
  CHECK(of("air.buffer", device) == binding(BindingClass::buffer));
  CHECK(of("air.indirect_buffer", device) == binding(BindingClass::buffer));
  CHECK(of("air.buffer", threadgroup) == binding(BindingClass::threadgroup));
  CHECK(of("air.texture", device) == binding(BindingClass::texture));
  CHECK(of("air.sampler", device) == binding(BindingClass::sampler));
  CHECK(of("air.visible_function_table", device) == binding(BindingClass::table));
  CHECK(of("air.instance_acceleration_structure", device) == binding(BindingClass::acceleration_structure));
  CHECK(of("air.tensor", device) == binding(BindingClass::tensor));
  CHECK(of("air.thread_position_in_grid", number) ==
        smelt::EntryParameter(Input{InputKind::builtin, "thread_position_in_grid"}));
  CHECK(of("air.vertex_input", number) == smelt::EntryParameter(Input{InputKind::attribute, "name"}));
  CHECK_FALSE(of("air.imageblock", device));
  CHECK_FALSE(of("", number));
}

TEST_CASE("words behind an entry are texts, numbers, nodes and functions") {
  llvm::LLVMContext context;
  const auto module = parse("define void @f() { ret void }", context);
  const llvm::MDNode* const entry =
      air::with_extra(*module, *llvm::MDNode::get(context, {}), {"patch", "#64", "(", "#2", "inner", ")", "@f", "#x"});
  REQUIRE(entry->getNumOperands() == 1);
  const auto text = [](const llvm::MDOperand& operand) {
    const auto* string = llvm::dyn_cast_or_null<llvm::MDString>(operand.get());
    return string != nullptr ? string->getString().str() : "";
  };
  const auto number = [](const llvm::MDOperand& operand) {
    const auto* value = llvm::mdconst::dyn_extract_or_null<llvm::ConstantInt>(operand.get());
    return value != nullptr ? value->getZExtValue() : uint64_t{0};
  };
  const auto& words = *llvm::cast<llvm::MDNode>(entry->getOperand(0));
  REQUIRE(words.getNumOperands() == 5);
  CHECK(text(words.getOperand(0)) == "patch");
  CHECK(number(words.getOperand(1)) == 64);
  const auto& inside = *llvm::cast<llvm::MDNode>(words.getOperand(2));
  REQUIRE(inside.getNumOperands() == 2);
  CHECK(number(inside.getOperand(0)) == 2);
  CHECK(text(inside.getOperand(1)) == "inner");
  CHECK(llvm::mdconst::dyn_extract_or_null<llvm::Function>(words.getOperand(3)) == module->getFunction("f"));
  CHECK(text(words.getOperand(4)) == "#x");
}

TEST_CASE("a simulator's target is its device's but for the end of its name and triple") {
  const Target device = parse_target("ios17").value();
  const Target simulator = simulator_of(device);
  CHECK(simulator.name == "ios17-simulator");
  CHECK(simulator.triple == device.triple + "-simulator");
  CHECK(is_simulator(simulator));
  CHECK_FALSE(is_simulator(device));
  CHECK(simulator.air == device.air);
}
