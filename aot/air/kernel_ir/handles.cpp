// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "kernel_ir/handles.hpp"

#include "llvm/IR/DerivedTypes.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Instructions.h"

namespace smelt::aot::kernel_ir {
namespace {

constexpr llvm::StringLiteral kPrefix = "smelt.handle.";

}  // namespace

std::string handle_structure(llvm::StringRef type_name) {
  type_name.consume_front("array<");
  const llvm::StringRef head = type_name.take_until([](char c) { return c == '<' || c == ' ' || c == ','; });
  if (head == "sampler") return "struct._sampler_t";
  for (const llvm::StringRef family : {"texture", "depth"}) {
    llvm::StringRef rest = head;
    if (!rest.consume_front(family) || rest.empty()) continue;
    if (rest == "_buffer") rest = "buffer_1d";
    return ("struct._" + family + "_" + rest + "_t").str();
  }
  return {};
}

llvm::StructType* handle_type(llvm::LLVMContext& context, llvm::StringRef type_name, unsigned space) {
  const std::string name = kPrefix.str() + handle_structure(type_name);
  if (llvm::StructType* known = llvm::StructType::getTypeByName(context, name)) return known;
  return llvm::StructType::create(context, {llvm::PointerType::get(context, space)}, name);
}

llvm::StructType* imageblock_type(llvm::LLVMContext& context) {
  if (llvm::StructType* known = llvm::StructType::getTypeByName(context, kImageblockType)) return known;
  return llvm::StructType::create(context, {llvm::PointerType::get(context, kImageblockSpace)}, kImageblockType);
}

bool is_call_of_table(const llvm::CallBase& call) {
  const auto* asked = llvm::dyn_cast<llvm::CallInst>(call.getCalledOperand()->stripPointerCasts());
  const llvm::Function* operation = asked != nullptr ? asked->getCalledFunction() : nullptr;
  return operation != nullptr && operation->getName() == "air.get_function_pointer_visible_function_table";
}

llvm::StringRef structure_of_handle(const llvm::StructType& type) {
  if (!type.hasName() || type.getNumElements() != 1) return {};
  llvm::StringRef name = type.getName();
  return name.consume_front(kPrefix) ? name : llvm::StringRef();
}

}  // namespace smelt::aot::kernel_ir
