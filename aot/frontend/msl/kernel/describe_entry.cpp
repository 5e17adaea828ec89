// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/describe_entry.hpp"

#include "interface/entry.hpp"
#include "kernel_ir/attributes.hpp"
#include "kernel_ir/predicates.hpp"
#include "kernel_ir/stage_values.hpp"
#include "msl/facts/imageblock_reader.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"

#include <algorithm>
#include <set>

namespace smelt::aot::msl {
namespace {

/// The storage of a constant that no code reads, only the condition of an argument.
llvm::GlobalVariable* make_storage(llvm::Module& module, const ConstantFact& constant) {
  llvm::LLVMContext& context = module.getContext();
  const llvm::StringRef name(constant.type_name);
  llvm::Type* type = name.ends_with("char") || name == "bool" ? llvm::Type::getInt8Ty(context)
                     : name.ends_with("short")                ? llvm::Type::getInt16Ty(context)
                     : name.ends_with("long")                 ? llvm::Type::getInt64Ty(context)
                                                              : llvm::Type::getInt32Ty(context);
  auto* storage =
      new llvm::GlobalVariable(module, type, true, llvm::GlobalValue::InternalLinkage, llvm::UndefValue::get(type),
                               constant_storage_name(constant), nullptr, llvm::GlobalValue::NotThreadLocal, 2, true);
  storage->setSection("air.fc_initializer");
  storage->setUnnamedAddr(llvm::GlobalValue::UnnamedAddr::Global);
  storage->setAlignment(llvm::Align(type->getIntegerBitWidth() / 8));
  return storage;
}

/// Of a parameter or a result.
template <class Fact>
const ConstantFact* constant_of(const Fact& fact, const std::vector<ConstantFact>& constants) {
  if (fact.condition.empty()) return nullptr;
  const auto found = std::find_if(constants.begin(), constants.end(),
                                  [&](const ConstantFact& constant) { return constant.symbol == fact.condition; });
  return found == constants.end() ? nullptr : &*found;
}

/// Its index, or a predicate's name; empty where nothing decides.
template <class Fact>
std::string condition_of(const Fact& fact, const std::vector<ConstantFact>& constants) {
  if (llvm::StringRef(fact.condition).starts_with(kernel_ir::kPredicate)) return fact.condition;
  const ConstantFact* constant = constant_of(fact, constants);
  return constant != nullptr ? std::to_string(constant->index) : std::string();
}

void describe_buffer(llvm::Function& entry, unsigned index, const ParameterFact& fact,
                     const std::vector<ConstantFact>& constants) {
  const auto set = [&](const char* key, const std::string& value) {
    kernel_ir::set_parameter(entry, index, key, value);
  };
  if (const std::string condition = condition_of(fact, constants); !condition.empty())
    set(kernel_ir::kFunctionConstant, condition);
  set(kernel_ir::kLocationIndex, std::to_string(fact.slot.value_or(0)));
  // Apple's compiler says read_write of `device const void*` too (seen in its ggml library).
  const bool is_void = fact.size == 0;
  set(kernel_ir::kAccess, (fact.is_const && !is_void) || fact.space == 2 ? "read" : "read_write");
  set(kernel_ir::kArgTypeSize, std::to_string(fact.size));
  set(kernel_ir::kArgTypeAlign, std::to_string(is_void ? 0 : fact.align));
  if (!fact.fields.empty()) set(kernel_ir::kArgStructType, kernel_ir::to_text({fact.fields, fact.is_argument_buffer}));
}

void describe_handle(llvm::Function& entry, unsigned index, const ParameterFact& fact,
                     const std::vector<ConstantFact>& constants) {
  const auto set = [&](const char* key, std::string_view value) {
    kernel_ir::set_parameter(entry, index, key, llvm::StringRef(value.data(), value.size()));
  };
  if (const std::string condition = condition_of(fact, constants); !condition.empty())
    set(kernel_ir::kFunctionConstant, condition);
  set(kernel_ir::kHandle, to_string(*fact.binding));
  set(kernel_ir::kLocationIndex, std::to_string(fact.slot.value_or(0)));
  if (fact.count != 0) set(kernel_ir::kLocationCount, std::to_string(fact.count));
  if (fact.access != Access::none) set(kernel_ir::kAccess, to_string(fact.access));
}

/// Of control points: each member's node, marked when no code reads it; without the function when none is read.
std::vector<std::string> control_point_words(const llvm::Argument& argument, const ParameterFact& fact) {
  std::vector<std::string> words = fact.words;
  const std::string symbol = words[3].substr(1);
  std::set<unsigned> read;
  if (const llvm::Function* function = argument.getParent()->getParent()->getFunction(symbol))
    for (const llvm::User* call : function->users())
      for (const llvm::User* user : call->users())
        if (const auto* member = llvm::dyn_cast<llvm::ExtractValueInst>(user)) read.insert(member->getIndices()[0]);
  if (read.empty()) words[3] = "@";
  for (unsigned i = 0; i < fact.members.size(); ++i) {
    const ResultFact& member = fact.members[i];
    words.emplace_back("(");
    words.insert(words.end(), member.words.begin(), member.words.end());
    words.insert(words.end(), {"air.arg_type_name", member.type_name, "air.arg_name", member.name});
    if (read.count(i) == 0) words.emplace_back("air.arg_unused");
    words.emplace_back(")");
  }
  return words;
}

void describe_stage_input(llvm::Function& entry, unsigned index, const ParameterFact& fact,
                          const std::vector<ConstantFact>& constants) {
  if (const std::string condition = condition_of(fact, constants); !condition.empty())
    kernel_ir::set_parameter(entry, index, kernel_ir::kFunctionConstant, condition);
  kernel_ir::set_parameter(
      entry, index, kernel_ir::kStageInput,
      kernel_ir::words_to_text(fact.members.empty() ? fact.words : control_point_words(*entry.getArg(index), fact)));
}

void describe_stage(llvm::Function& entry, const KernelFact& kernel, const std::vector<ConstantFact>& constants) {
  if (kernel.stage == Stage::kernel) return;
  entry.removeRetAttr(llvm::Attribute::NoUndef);  // LLVM's guess, which Apple's compiler does not write
  entry.addFnAttr(kernel_ir::kStage, llvm::StringRef(stage_word(kernel.stage).data(), stage_word(kernel.stage).size()));
  if (kernel.early_fragment_tests) entry.addFnAttr(kernel_ir::kEarlyTests);
  std::vector<kernel_ir::StageValue> values;
  for (const ResultFact& result : kernel.results) {
    values.push_back({result.words, result.type_name, result.name, condition_of(result, constants)});
  }
  if (!values.empty()) entry.addFnAttr(kernel_ir::kResults, kernel_ir::to_text(values));
  if (!kernel.extra.empty()) entry.addFnAttr(kernel_ir::kEntryExtra, kernel_ir::words_to_text(kernel.extra));
  if (!kernel.stitching.empty()) entry.addFnAttr(kernel_ir::kStitching, kernel_ir::to_text(kernel.stitching));
}

}  // namespace

void describe_entry(llvm::Function& entry, const KernelFact& kernel, const std::vector<ConstantFact>& constants) {
  describe_stage(entry, kernel, constants);
  for (llvm::Argument& argument : entry.args()) {
    const unsigned index = argument.getArgNo();
    const ParameterFact& fact = kernel.parameters[index];
    if (!fact.words.empty())
      describe_stage_input(entry, index, fact, constants);
    else if (!fact.binding)
      kernel_ir::set_parameter(entry, index, kernel_ir::kBuiltin, fact.builtin);
    else if (is_handle(fact))
      describe_handle(entry, index, fact, constants);
    else
      describe_buffer(entry, index, fact, constants);
    if (fact.raster_order_group)
      kernel_ir::set_parameter(entry, index, kernel_ir::kRasterOrder, std::to_string(*fact.raster_order_group));
    kernel_ir::set_parameter(entry, index, kernel_ir::kArgTypeName, fact.type_name);
    // AIR says no more of control points than of each member.
    kernel_ir::set_parameter(entry, index, kernel_ir::kArgName, fact.members.empty() ? fact.name : std::string());
    // No code names an imageblock, and Apple's compiler never calls it unused.
    const bool is_unused = argument.use_empty() && !is_imageblock(fact);
    kernel_ir::set_parameter(entry, index, kernel_ir::kArgUnused, is_unused ? "true" : "false");
  }
}

void describe_constants(llvm::Module& module, const KernelFact& kernel, const std::vector<ConstantFact>& constants) {
  const auto keep_condition = [&](const auto& fact) {
    if (const ConstantFact* condition = constant_of(fact, constants))
      if (!module.getGlobalVariable(constant_storage_name(*condition), true)) make_storage(module, *condition);
  };
  for (const ParameterFact& parameter : kernel.parameters) keep_condition(parameter);
  for (const ResultFact& result : kernel.results) keep_condition(result);
  for (const ConstantFact& constant : constants) {
    llvm::GlobalVariable* storage = module.getGlobalVariable(constant_storage_name(constant), true);
    if (!storage) continue;
    module.getOrInsertNamedMetadata(air::kConstantList)
        ->addOperand(
            air::write_constant(module.getContext(), {storage, constant.type_name, constant.name, constant.index}));
  }
}

}  // namespace smelt::aot::msl
