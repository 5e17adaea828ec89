// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Everything that the legaliser makes goes through our writer, smelt verify and stock LLVM 14: each case of each pass,
// each operation of the table, each hardware value, for each target.
#include "smelt/aot/verify.hpp"

#include "air_tools.hpp"
#include "bitcode/writer.hpp"
#include "case_file.hpp"
#include "harvest.hpp"
#include "kernel_ir/builtins.hpp"
#include "kernel_ir/cpu_only.hpp"
#include "ops/intrinsics.hpp"
#include "oracle.hpp"
#include "skips.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <map>
#include <set>
#include <sstream>

using namespace smelt;
using namespace smelt::aot;
using namespace smelt::test;

namespace {

struct Output {
  std::string name;
  Bytes bitcode;
};

/// Written, and verified as a library for that target would be.
void add_outputs(std::vector<Output>& outputs, const std::string& name, const std::vector<air::AirModule>& modules,
                 const Target& target) {
  for (const air::AirModule& unit : modules) {
    const auto written = bitcode::write_bitcode(*unit.module, {.air = target.air, .wrap = false});
    if (!written) {
      FAIL_CHECK(name, ": ", written.error().message);
      continue;
    }
    const ModuleContext context{.function = unit.function,
                                .stage = unit.stage,
                                .air = target.air,
                                .language = {},
                                .platform = target.platform,
                                .os = target.os};
    // What is for the CPU alone is nothing else that verify objects to; and it does object.
    const bool is_cpu_only = kernel_ir::is_cpu_only(*unit.module);
    size_t objections = 0;
    for (const Finding& finding : verify_module(*written, context))
      if (is_cpu_only && finding.message.find("for the CPU alone") != std::string::npos)
        ++objections;
      else
        FAIL_CHECK(name, ": ", finding.to_line(), "\n", to_text(*unit.module));
    CHECK((objections > 0) == is_cpu_only);
    outputs.push_back({name, *written});
  }
}

/// "declare float @air.sqrt.f32(float) #1" -> name and type; empty for other lines.
std::pair<std::string, std::string> read_declaration(const std::string& line) {
  if (!line.starts_with("declare ")) return {};
  const size_t at = line.find(" @");
  const size_t open = line.find('(', at);
  const size_t close = line.rfind(')', line.find(" #") == std::string::npos ? line.size() : line.find(" #"));
  if (at == std::string::npos || open == std::string::npos || close == std::string::npos) return {};
  const std::string result = line.substr(8, at - 8);
  return {line.substr(at + 2, open - at - 2), without_attributes(result + " " + line.substr(open, close - open + 1))};
}

/// LLVM 14 takes them, and declares Apple's operations with Apple's types.
void judge(const std::vector<Output>& outputs, size_t& harvested) {
  static const std::multimap<std::string, std::string> known = [] {
    std::multimap<std::string, std::string> rows;
    for (const HarvestRow& row : harvest()) rows.emplace(row.name, row.type);
    return rows;
  }();
  if (!have_llvm_14()) {
    smelt::test::skipped("llvm-dis-14 and opt-14 are not installed");
    return;
  }
  std::vector<ByteView> views;
  for (const Output& output : outputs) views.push_back(output.bitcode);
  const std::vector<Verdict> verdicts = judge_14(views);
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (!verdicts[i].accepted) {
      FAIL_CHECK(outputs[i].name, ": LLVM 14: ", verdicts[i].error);
      continue;
    }
    std::istringstream lines(verdicts[i].text);
    for (std::string line; std::getline(lines, line);) {
      const auto [name, type] = read_declaration(line);
      const auto [first, last] = known.equal_range(name);
      if (first == last) continue;
      bool found = false;
      for (auto row = first; row != last; ++row) found = found || row->second == type;
      // The matrix forms of AIR 2.8 are younger than the harvest, and so are the atomics and barriers of AIR 2.9.
      const bool of_29 =
          outputs[i].name.ends_with("27") && (name.starts_with("air.atomic.") || name.ends_with(".barrier"));
      const bool changed = of_29 || name.starts_with("air.simdgroup_matrix_8x8_load") ||
                           name.starts_with("air.simdgroup_matrix_8x8_store");
      if (!found && !changed) FAIL_CHECK(outputs[i].name, ": ", line, "\nApple has ", first->second);
      ++harvested;
    }
  }
}

/// One kernel that calls operations of the table, with operands from memory and results back to it.
class Caller {
 public:
  Caller() {
    unit_.context = std::make_unique<llvm::LLVMContext>();
    unit_.module = std::make_unique<llvm::Module>("calls", *unit_.context);
    auto* pointer = llvm::PointerType::get(*unit_.context, 1);
    auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(*unit_.context), {pointer}, false);
    kernel_ = llvm::Function::Create(type, llvm::GlobalValue::ExternalLinkage, "k", *unit_.module);
    kernel_->addFnAttr("smelt.kernel");
    builder_ = std::make_unique<llvm::IRBuilder<>>(llvm::BasicBlock::Create(*unit_.context, "entry", kernel_));
    auto* bytes = llvm::ArrayType::get(builder_->getInt8Ty(), 1024);
    group_ =
        new llvm::GlobalVariable(*unit_.module, bytes, false, llvm::GlobalValue::InternalLinkage,
                                 llvm::UndefValue::get(bytes), "group", nullptr, llvm::GlobalValue::NotThreadLocal, 3);
    group_->setAlignment(llvm::Align(16));
    constant_ = new llvm::GlobalVariable(*unit_.module, bytes, true, llvm::GlobalValue::InternalLinkage,
                                         llvm::ConstantAggregateZero::get(bytes), "constant", nullptr,
                                         llvm::GlobalValue::NotThreadLocal, 2);
    thread_ = builder_->CreateAlloca(builder_->getInt64Ty());
    thread_->setAlignment(llvm::Align(16));
  }

  void call(const air::Signature& signature) {
    auto* callee = llvm::cast<llvm::Function>(
        unit_.module->getOrInsertFunction(signature.name, air::function_type(signature, *unit_.context)).getCallee());
    std::vector<llvm::Value*> operands;
    for (const air::Parameter& parameter : signature.parameters) operands.push_back(operand(parameter.type));
    llvm::Value* result = builder_->CreateCall(callee, operands);
    if (result->getType()->isVoidTy()) return;
    if (result->getType()->isPointerTy())
      builder_->CreateStore(result, thread_, true);
    else
      builder_->CreateAlignedStore(result, kernel_->getArg(0), llvm::Align(16), true);
  }

  KernelModule finish() {
    builder_->CreateRetVoid();
    return std::move(unit_);
  }

 private:
  llvm::Value* operand(const air::AirType& type) {
    llvm::Type* llvm_type = air::llvm_type(type, *unit_.context);
    if (type.is_pointer()) {
      switch (type.space) {
        case 1:
          return kernel_->getArg(0);
        case 2:
          return constant_;
        case 3:
          return group_;
        case 4:
          return llvm::ConstantPointerNull::get(llvm::PointerType::get(*unit_.context, 4));
        default:
          return thread_;
      }
    }
    if (llvm_type->isIntegerTy()) return llvm::ConstantInt::get(llvm_type, 1);
    return builder_->CreateAlignedLoad(llvm_type, kernel_->getArg(0), llvm::Align(16), true);
  }

  KernelModule unit_;
  llvm::Function* kernel_ = nullptr;
  llvm::GlobalVariable *group_ = nullptr, *constant_ = nullptr;
  llvm::AllocaInst* thread_ = nullptr;
  std::unique_ptr<llvm::IRBuilder<>> builder_;
};

bool takes_handles(const air::Signature& signature) {
  for (const air::Parameter& parameter : signature.parameters)
    if (parameter.type.kind == air::AirType::Kind::handle && parameter.type.handle_name != "simdgroup_event")
      return true;
  return false;
}

/// A kernel of finished AIR around one texture operation: handles are arguments with metadata of their own.
std::string texture_kernel(const air::Signature& signature, const Target& target) {
  std::string handle(signature.parameters[0].type.handle_name);
  handle.erase(handle.find('_'), 1);  // texture_2d_array -> texture2d_array
  std::string operands, types;
  for (size_t i = 0; i < signature.parameters.size(); ++i) {
    const air::AirType& type = signature.parameters[i].type;
    std::string spelt = air::typed_text(type);
    if (type.is_pointer()) spelt = fmt::format("ptr addrspace({})", type.space);
    std::string value = "zeroinitializer";
    if (type.is_pointer()) value = i == 0 ? "%t" : "%s";
    if (type == air::parse_air_type("i1")) value = "true";
    if (type.is_integer() && type.lanes == 1 && type.bits > 1) value = "1";
    if (type.is_float() && type.lanes == 1) value = "0.0";
    types += (i ? ", " : "") + spelt;
    operands += fmt::format("{}{} {}", i ? ", " : "", spelt, value);
  }
  std::string result = air::typed_text(signature.result);
  const Version language = target.language;
  return fmt::format(
      R"(target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "{}"
define void @k(ptr addrspace(1) %t, ptr addrspace(2) %s) {{
  %x = call {} @{}({})
  ret void
}}
declare {} @{}({})
!air.kernel = !{{!0}}
!air.version = !{{!6}}
!air.language_version = !{{!7}}
!air.compile_options = !{{!8}}
!llvm.ident = !{{!9}}
!0 = !{{ptr @k, !1, !2}}
!1 = !{{}}
!2 = !{{!3, !4}}
!3 = !{{i32 0, !"air.texture", !"air.location_index", i32 0, i32 1, !"air.sample", !"air.arg_type_name", !"{}<float, sample>", !"air.arg_name", !"t"}}
!4 = !{{i32 1, !"air.sampler", !"air.location_index", i32 0, i32 1, !"air.arg_type_name", !"sampler", !"air.arg_name", !"s"}}
!6 = !{{i32 {}, i32 {}, i32 0}}
!7 = !{{!"Metal", i32 {}, i32 {}, i32 0}}
!8 = !{{!"air.compile.denorms_disable"}}
!9 = !{{!"test"}}
)",
      target.triple, result, signature.name, operands, result, signature.name, types, handle, target.air.major,
      target.air.minor, language.major, language.minor);
}

}  // namespace

TEST_CASE("what the cases make is accepted by the writer, smelt verify and LLVM 14") {
  std::vector<Output> outputs;
  for (const Case& one : read_cases()) {
    if (!one.errors.empty() || !one.stop.empty()) continue;
    // Finished AIR passes through as it is; cases that leave out what Apple always writes stay incomplete.
    if (one.ir.find("!air.version") != std::string::npos && one.ir.find("target datalayout") == std::string::npos)
      continue;
    for (const std::string& name : one.targets) {
      const Target target = parse_target(name).value();
      const auto modules = air::legalise(parse_ir(one.ir), target, one.options);
      if (modules) add_outputs(outputs, fmt::format("{}, {}, {}", one.file, one.name, name), *modules, target);
    }
  }
  CHECK(outputs.size() > 150);
  size_t harvested = 0;
  judge(outputs, harvested);
  MESSAGE(outputs.size(), " modules, ", harvested, " declarations as in Apple's bitcode");
}

TEST_CASE("every operation of the table, for every target that has it") {
  std::vector<Output> outputs;
  std::set<std::string> called;
  for (const Target& target : known_targets()) {
    Caller caller;
    for (const air::OperationRow& row : air::operation_rows())
      for (const std::string& name : row.examples) {
        const auto signature = air::lookup(name, target.air);
        if (!signature || takes_handles(*signature)) continue;
        caller.call(*signature);
        called.insert(name);
      }
    auto modules = air::legalise(caller.finish(), target, {.verify_each = true});
    if (!modules) {
      FAIL_CHECK(target.name, ": ", modules.error().message);
      continue;
    }
    add_outputs(outputs, target.name, *modules, target);
  }
  CHECK(called.size() > 400);
  size_t harvested = 0;
  judge(outputs, harvested);
  CHECK((harvested > 500 || !have_llvm_14()));  // which reads what is written
  MESSAGE(called.size(), " operations, ", harvested, " declarations as in Apple's bitcode");
}

TEST_CASE("texture operations, for every target") {
  std::vector<Output> outputs;
  for (const Target& target : known_targets())
    for (const air::OperationRow& row : air::operation_rows())
      for (const std::string& name : row.examples) {
        const auto signature = air::lookup(name, target.air);
        if (!signature || !takes_handles(*signature) || !row.name.starts_with("sample_")) continue;
        const auto modules = air::legalise(parse_ir(texture_kernel(*signature, target)), target, {.verify_each = true});
        if (!modules)
          FAIL_CHECK(name, ", ", target.name, ": ", modules.error().message);
        else
          add_outputs(outputs, fmt::format("{}, {}", name, target.name), *modules, target);
      }
  CHECK(outputs.size() > 100);
  size_t harvested = 0;
  judge(outputs, harvested);
}

TEST_CASE("every hardware value, in every shape that it may have") {
  struct Shape {
    std::string_view type, name;
    bool vector;
  };
  constexpr Shape kShapes[] = {{"i32", "uint", false},         {"i16", "ushort", false},
                               {"<2 x i32>", "uint2", true},   {"<3 x i32>", "uint3", true},
                               {"<2 x i16>", "ushort2", true}, {"<3 x i16>", "ushort3", true}};
  std::vector<Output> outputs;
  for (const Target& target : known_targets())
    for (const Shape& shape : kShapes) {
      std::string parameters = "ptr addrspace(1) %p", expected;
      for (const kernel_ir::BuiltinRow& row : kernel_ir::builtin_rows()) {
        if (shape.vector && !row.is_vector) continue;
        parameters += fmt::format(", {} \"smelt.builtin\"=\"{}\" %{}", shape.type, row.attribute, row.attribute);
      }
      const std::string ir = kernel(parameters, "");
      const auto modules = air::legalise(parse_ir(ir), target, {.verify_each = true});
      if (!modules) {
        FAIL_CHECK(target.name, ": ", modules.error().message);
        continue;
      }
      const std::string text = to_text(*modules->at(0).module);
      for (const kernel_ir::BuiltinRow& row : kernel_ir::builtin_rows()) {
        if (shape.vector && !row.is_vector) continue;
        const std::string node =
            fmt::format(R"(!"air.{}", !"air.arg_type_name", !"{}", !"air.arg_name", !"{}", !"air.arg_unused"}})",
                        row.attribute, shape.name, row.attribute);
        if (!contains(text, node)) FAIL_CHECK("lacks ", node, "\n", text);
      }
      add_outputs(outputs, fmt::format("{} {}", target.name, shape.type), *modules, target);
    }
  size_t harvested = 0;
  judge(outputs, harvested);
}

TEST_CASE("the same input gives the same module text, twice and in any company") {
  for (const Case& one : read_cases()) {
    if (!one.errors.empty()) continue;
    const Target target = parse_target(one.targets.front()).value();
    const auto first = air::legalise(parse_ir(one.ir), target, one.options);
    const auto second = air::legalise(parse_ir(one.ir), target, one.options);
    REQUIRE(first.has_value() == second.has_value());
    if (!first) continue;
    for (size_t i = 0; i < first->size(); ++i) CHECK(to_text(*(*first)[i].module) == to_text(*(*second)[i].module));
  }
}
