#include "msl/kernel/entry_metadata.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/Metadata.h"
#include "llvm/IR/Module.h"

#include <fmt/format.h>

namespace smelt::aot::msl {
namespace {

/// Builds one node, operand by operand.
class Node {
 public:
  explicit Node(llvm::LLVMContext& context) : context_(context) {}
  Node& number(uint64_t value) {
    operands_.push_back(llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context_), value)));
    return *this;
  }
  Node& text(std::string_view value) {
    operands_.push_back(llvm::MDString::get(context_, llvm::StringRef(value.data(), value.size())));
    return *this;
  }
  Node& metadata(llvm::Metadata* value) {
    operands_.push_back(value);
    return *this;
  }
  llvm::MDNode* finish() const { return llvm::MDNode::get(context_, operands_); }

 private:
  llvm::LLVMContext& context_;
  llvm::SmallVector<llvm::Metadata*, 32> operands_;
};

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

llvm::MDNode* constant_node(llvm::Module& module, const ConstantFact& constant, bool make = false) {
  llvm::GlobalVariable* storage = module.getGlobalVariable(constant_storage_name(constant), true);
  if (storage == nullptr && make) storage = make_storage(module, constant);
  if (storage == nullptr) return nullptr;
  llvm::LLVMContext& context = module.getContext();
  return Node(context)
      .metadata(llvm::ValueAsMetadata::get(storage))
      .text(constant.type_name)
      .text(constant.name)
      .number(constant.index)
      .metadata(llvm::ConstantAsMetadata::get(llvm::ConstantInt::getTrue(context)))
      .finish();
}

std::string_view access_of(bool is_const, unsigned space) {
  return is_const || space == 2 ? "air.read" : "air.read_write";
}

/// A member of an argument buffer, described as an argument of its own. Of an array of pointers the count is inferred.
llvm::MDNode* member_node(llvm::LLVMContext& context, const FieldFact& field) {
  Node node(context);
  node.number(field.id).text(field.space != 0 ? "air.buffer" : "air.indirect_constant");
  node.text("air.location_index").number(field.id).number(std::max<uint64_t>(field.count, 1));
  if (field.space != 0) {
    node.text(access_of(field.is_const, field.space)).text("air.address_space").number(field.space);
    if (field.target_size != 0)
      node.text("air.arg_type_size")
          .number(field.target_size)
          .text("air.arg_type_align_size")
          .number(field.target_align);
  }
  return node.text("air.arg_type_name").text(field.type_name).text("air.arg_name").text(field.name).finish();
}

llvm::MDNode* fields_node(llvm::LLVMContext& context, const ParameterFact& fact) {
  Node fields(context);
  for (const FieldFact& field : fact.fields) {
    fields.number(field.offset).number(field.size).number(field.count).text(field.type_name).text(field.name);
    if (fact.is_argument_buffer) fields.text("air.indirect_argument").metadata(member_node(context, field));
  }
  return fields.finish();
}

llvm::MDNode* buffer_node(const llvm::Argument& argument, const ParameterFact& fact,
                          const std::vector<ConstantFact>& constants, const Target& target) {
  llvm::Module& module = *const_cast<llvm::Module*>(argument.getParent()->getParent());
  Node node(module.getContext());
  node.number(argument.getArgNo());
  for (const ConstantFact& constant : constants)
    if (!fact.condition.empty() && constant.symbol == fact.condition)
      if (llvm::MDNode* condition = constant_node(module, constant, true))
        node.text("air.function_constant").metadata(condition);
  node.text(fact.is_argument_buffer ? "air.indirect_buffer" : "air.buffer");
  if (fact.is_reference && fact.space == 2) node.text("air.buffer_size").number(fact.size);
  node.text("air.location_index").number(fact.slot.value_or(0)).number(1);
  // Apple's compiler says read_write of `device const void*` too (seen in its ggml library).
  const bool is_void = fact.size == 0;
  node.text(access_of(fact.is_const && !is_void, fact.space));
  if (target.air >= Version{2, 5}) node.text("air.address_space").number(fact.space);
  if (!fact.fields.empty()) node.text("air.struct_type_info").metadata(fields_node(module.getContext(), fact));
  if (fact.size != 0)
    node.text("air.arg_type_size").number(fact.size).text("air.arg_type_align_size").number(fact.align);
  node.text("air.arg_type_name").text(fact.type_name).text("air.arg_name").text(fact.name);
  if (argument.use_empty()) node.text("air.arg_unused");
  return node.finish();
}

}  // namespace

void describe_entry(llvm::Function& entry, const KernelFact& kernel, const std::vector<ConstantFact>& constants,
                    const Target& target) {
  llvm::Module& module = *entry.getParent();
  llvm::LLVMContext& context = module.getContext();
  llvm::SmallVector<llvm::Metadata*, 16> inputs;
  for (llvm::Argument& argument : entry.args()) {
    const ParameterFact& fact = kernel.parameters[argument.getArgNo()];
    if (fact.kind != ParameterKind::builtin) {
      inputs.push_back(buffer_node(argument, fact, constants, target));
      continue;
    }
    Node node(context);
    node.number(argument.getArgNo()).text("air." + fact.builtin);
    node.text("air.arg_type_name").text(fact.type_name).text("air.arg_name").text(fact.name);
    if (argument.use_empty()) node.text("air.arg_unused");
    inputs.push_back(node.finish());
  }
  Node node(context);
  node.metadata(llvm::ValueAsMetadata::get(&entry));
  node.metadata(llvm::MDNode::get(context, {})).metadata(llvm::MDNode::get(context, inputs));
  module.getOrInsertNamedMetadata("air.kernel")->addOperand(node.finish());
}

void describe_constants(llvm::Module& module, const std::vector<ConstantFact>& constants) {
  llvm::NamedMDNode* list = nullptr;
  for (const ConstantFact& constant : constants)
    if (llvm::MDNode* node = constant_node(module, constant)) {
      if (list == nullptr) list = module.getOrInsertNamedMetadata("air.function_constants");
      list->addOperand(node);
    }
}

}  // namespace smelt::aot::msl
