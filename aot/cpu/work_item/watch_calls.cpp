// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/watch_calls.hpp"

#include "abi/dispatch_block.hpp"

#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Module.h"

#include <array>

namespace smelt::aot::cpu {
namespace {

constexpr unsigned kMostBlocksBack = 16;

/// Null where it has no line: LLVM gives line 0 to what it has merged or moved. A place in one of Metal's own headers
/// is where the program calls it.
const llvm::DILocation* line_of(const llvm::Instruction& instruction) {
  const llvm::DILocation* location = instruction.getDebugLoc();
  while (location != nullptr && (location->getLine() == 0 || location->getFilename().starts_with("/smelt/")))
    location = location->getInlinedAt();
  return location;
}

llvm::Value* load_watch(llvm::IRBuilderBase& builder, llvm::Value* dispatch) {
  auto* pointer = llvm::PointerType::get(builder.getContext(), 0);
  llvm::Value* services = SMELT_DISPATCH_FIELD(builder, pointer, dispatch, services);
  return load_constant(builder, pointer, services, offsetof(smelt_cpu_services, watch));
}

}  // namespace

llvm::Value* load_watch_field(llvm::IRBuilderBase& builder, llvm::Value* dispatch, uint64_t offset, llvm::Type* type) {
  auto* pointer = llvm::PointerType::get(builder.getContext(), 0);
  return load_constant(builder, type != nullptr ? type : pointer, load_watch(builder, dispatch), offset);
}

llvm::Value* watch_field_address(llvm::IRBuilderBase& builder, llvm::Value* dispatch, uint64_t offset) {
  return builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), load_watch(builder, dispatch), offset);
}

llvm::CallInst* call_watch(llvm::IRBuilderBase& builder, llvm::Value* dispatch, uint64_t field, llvm::Type* result,
                           llvm::ArrayRef<llvm::Value*> operands) {
  llvm::SmallVector<llvm::Type*> types{llvm::PointerType::get(builder.getContext(), 0)};
  for (llvm::Value* operand : operands) types.push_back(operand->getType());
  llvm::Value* callee = load_watch_field(builder, dispatch, field);
  llvm::SmallVector<llvm::Value*> all{load_watch_field(builder, dispatch, offsetof(smelt_cpu_watch, context))};
  all.append(operands.begin(), operands.end());
  return builder.CreateCall(llvm::FunctionType::get(result, types, false), callee, all);
}

llvm::Function* watch_function(llvm::Module& module, llvm::StringRef name, uint64_t field, llvm::Type* result,
                               llvm::ArrayRef<llvm::Type*> parameters) {
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::LLVMContext& context = module.getContext();
  llvm::SmallVector<llvm::Type*> all{llvm::PointerType::get(context, 0)};
  all.append(parameters.begin(), parameters.end());
  auto* function = llvm::Function::Create(llvm::FunctionType::get(result, all, false),
                                          llvm::GlobalValue::InternalLinkage, name, module);
  function->addFnAttr(llvm::Attribute::AlwaysInline);
  function->addFnAttr(llvm::Attribute::NoUnwind);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(context, "entry", function));
  llvm::SmallVector<llvm::Value*> operands;
  for (unsigned i = 1; i < function->arg_size(); ++i) operands.push_back(function->getArg(i));
  llvm::CallInst* call = call_watch(builder, function->getArg(0), field, result, operands);
  if (result->isVoidTy())
    builder.CreateRetVoid();
  else
    builder.CreateRet(call);
  return function;
}

llvm::Value* place_text(llvm::Module& module, const std::string& text) {
  const std::string name = "smelt.place." + text;
  if (llvm::GlobalVariable* known = module.getNamedGlobal(name)) return known;
  llvm::Constant* bytes = llvm::ConstantDataArray::getString(module.getContext(), text);
  auto* global =
      new llvm::GlobalVariable(module, bytes->getType(), true, llvm::GlobalValue::InternalLinkage, bytes, name);
  // Its address is what the loader tells places apart by.
  global->setAlignment(llvm::Align(1));
  return global;
}

std::string place_of(const llvm::Instruction& instruction) {
  // Code without a line is of the statement around it.
  const llvm::DILocation* found = line_of(instruction);
  for (const auto* next = &instruction; found == nullptr && next != nullptr; next = next->getNextNode())
    found = line_of(*next);
  const llvm::Instruction* before = &instruction;
  for (unsigned blocks = 0; found == nullptr && before != nullptr && blocks < kMostBlocksBack; ++blocks) {
    const llvm::BasicBlock* const block = before->getParent();
    for (; found == nullptr && before != nullptr; before = before->getPrevNode()) found = line_of(*before);
    const llvm::BasicBlock* const only = block->getSinglePredecessor();
    before = only != nullptr ? only->getTerminator() : nullptr;
  }
  if (found == nullptr) return "line unknown";
  if (found->getFilename() == "air") return "AIR line " + std::to_string(found->getLine());
  return found->getFilename().str() + ":" + std::to_string(found->getLine()) + ":" + std::to_string(found->getColumn());
}

llvm::Value* thread_index(const WorkItem& item) {
  llvm::Function& function = *item.function;
  llvm::Value* dispatch = nullptr;
  std::array<llvm::Value*, 3> position{};
  for (size_t i = 0; i < item.parameters.size(); ++i) {
    const WorkParameter& parameter = item.parameters[i];
    llvm::Argument* argument = function.getArg(static_cast<unsigned>(i));
    if (parameter.kind == WorkParameter::Kind::dispatch) dispatch = argument;
    if (parameter.kind == WorkParameter::Kind::builtin && parameter.builtin == Builtin::thread_position_in_grid)
      position[parameter.component] = argument;
  }
  llvm::IRBuilder<> builder(&*function.getEntryBlock().getFirstNonPHIOrDbgOrAlloca());
  llvm::Type* i32 = builder.getInt32Ty();
  const auto in_group = [&](unsigned axis) {
    const uint64_t origin = offsetof(smelt_cpu_watch, origin) + 4 * axis;
    return builder.CreateSub(position[axis], load_watch_field(builder, dispatch, origin, i32));
  };
  const auto size = [&](unsigned axis) {
    return load_watch_field(builder, dispatch, offsetof(smelt_cpu_watch, size) + 4 * axis, i32);
  };
  llvm::Value* rows = builder.CreateAdd(builder.CreateMul(in_group(2), size(1)), in_group(1));
  return builder.CreateAdd(builder.CreateMul(rows, size(0)), in_group(0));
}

}  // namespace smelt::aot::cpu
