// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/fault.hpp"

#include "abi/dispatch_block.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::cpu {
namespace {

constexpr char kFaultHelper[] = "smelt.fault";
constexpr char kFaultHelperWithPlace[] = "smelt.fault.at";
constexpr char kVariables[] = "smelt.variables";

/// void fault(dispatch, object, offset, bytes, x, y, z, is_write), and `place` behind that: the record of older loaders
/// has no room for it and for the variables, so code that is not checked does not write them.
llvm::Function* fault_function(llvm::Module& module, bool has_place) {
  const char* const name = has_place ? kFaultHelperWithPlace : kFaultHelper;
  if (llvm::Function* known = module.getFunction(name)) return known;
  llvm::LLVMContext& context = module.getContext();
  auto* pointer = llvm::PointerType::get(context, 0);
  auto* i32 = llvm::Type::getInt32Ty(context);
  auto* i64 = llvm::Type::getInt64Ty(context);
  llvm::SmallVector<llvm::Type*> parameters{pointer, i32, i64, i64, i32, i32, i32, i32};
  if (has_place) parameters.push_back(pointer);
  auto* function = make_cold_helper(module, name, parameters);
  auto* look = llvm::BasicBlock::Create(context, "look", function);
  auto* claim = llvm::BasicBlock::Create(context, "claim", function);
  auto* write = llvm::BasicBlock::Create(context, "write", function);
  auto* done = llvm::BasicBlock::Create(context, "done", function);
  llvm::IRBuilder<> builder(look);
  llvm::Value* record = SMELT_DISPATCH_FIELD(builder, pointer, function->getArg(0), fault);
  builder.CreateCondBr(builder.CreateIsNull(record), done, claim);
  builder.SetInsertPoint(claim);
  llvm::Value* exchange =
      builder.CreateAtomicCmpXchg(record, builder.getInt32(0), builder.getInt32(1), llvm::Align(4),
                                  llvm::AtomicOrdering::AcquireRelease, llvm::AtomicOrdering::Monotonic);
  builder.CreateCondBr(builder.CreateExtractValue(exchange, 1), write, done);
  builder.SetInsertPoint(write);
  const auto put = [&](llvm::Value* value, uint64_t offset) {
    builder.CreateStore(value, builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), record, offset));
  };
  put(function->getArg(1), offsetof(smelt_cpu_fault, buffer));
  put(function->getArg(2), offsetof(smelt_cpu_fault, offset));
  put(function->getArg(3), offsetof(smelt_cpu_fault, bytes));
  for (unsigned i = 0; i < 3; ++i) put(function->getArg(4 + i), offsetof(smelt_cpu_fault, position) + 4 * i);
  put(function->getArg(7), offsetof(smelt_cpu_fault, is_write));
  if (has_place) put(function->getArg(8), offsetof(smelt_cpu_fault, place));
  if (llvm::Value* const variables = module.getNamedGlobal(kVariables); has_place && variables != nullptr)
    put(variables, offsetof(smelt_cpu_fault, variables));
  builder.CreateBr(done);
  builder.SetInsertPoint(done);
  builder.CreateRetVoid();
  return function;
}

}  // namespace

bool is_fault_helper(llvm::StringRef name) {
  return name == kFaultHelper || name == kFaultHelperWithPlace;
}

void tell_variables(llvm::Module& module, const std::string& text) {
  llvm::Constant* const bytes = llvm::ConstantDataArray::getString(module.getContext(), text);
  new llvm::GlobalVariable(module, bytes->getType(), true, llvm::GlobalValue::InternalLinkage, bytes, kVariables);
}

llvm::Function* make_cold_helper(llvm::Module& module, llvm::StringRef name, llvm::ArrayRef<llvm::Type*> parameters) {
  auto* type = llvm::FunctionType::get(llvm::Type::getVoidTy(module.getContext()), parameters, false);
  auto* function = llvm::Function::Create(type, llvm::GlobalValue::InternalLinkage, name, module);
  for (const auto attribute : {llvm::Attribute::NoInline, llvm::Attribute::Cold, llvm::Attribute::NoUnwind})
    function->addFnAttr(attribute);
  return function;
}

void report_fault(llvm::IRBuilder<>& builder, llvm::Value* dispatch, const Fault& fault) {
  llvm::Function* function = fault_function(*builder.GetInsertBlock()->getModule(), fault.place != nullptr);
  llvm::SmallVector<llvm::Value*> operands{dispatch, fault.object, fault.offset, fault.bytes};
  operands.append(fault.position.begin(), fault.position.end());
  operands.push_back(builder.getInt32(fault.is_write ? 1 : 0));
  if (fault.place != nullptr) operands.push_back(fault.place);
  for (size_t i = 0; i < operands.size(); ++i)
    if (operands[i] == nullptr) operands[i] = llvm::Constant::getNullValue(function->getArg(i)->getType());
  builder.CreateCall(function, operands);
}

}  // namespace smelt::aot::cpu
