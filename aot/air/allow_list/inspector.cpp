// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "allow_list/inspector.hpp"

#include "allow_list/lists.hpp"
#include "kernel_ir/cpu_only.hpp"
#include "kernel_ir/handles.hpp"
#include "kernel_ir/tensor_names.hpp"

#include "llvm/IR/Constants.h"
#include "llvm/IR/DataLayout.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot::allow_list {
namespace {

constexpr size_t kShownBytes = 160;

template <class T>
std::string printed(const T& value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream);
  llvm::StringRef shown = llvm::StringRef(text).trim();
  if (shown.size() <= kShownBytes) return shown.str();
  return shown.take_front(kShownBytes).str() + "...";
}

bool is_list_of_the_compiler(const llvm::GlobalVariable& global) {
  const llvm::StringRef name = global.getName();
  return name == "llvm.used" || name == "llvm.compiler.used" || name == "llvm.global_ctors";
}

/// Sections that Apple's compiler names, for what runs when function constants are set.
bool is_section_of_air(llvm::StringRef section) {
  return section.empty() || section.starts_with("air.") || section.starts_with("__TEXT,");
}

}  // namespace

Inspector::Inspector(const llvm::Module& module, size_t most, Spaces spaces)
    : module_(module), most_(most), spaces_(spaces), is_cpu_only_(kernel_ir::is_cpu_only(module)) {}

std::vector<Breach> Inspector::inspect() {
  inspect_module();
  for (const llvm::GlobalVariable& global : module_.globals()) {
    if (full()) break;
    place_ = "global '" + global.getName().str() + "'";
    inspect_global(global);
  }
  for (const llvm::Function& function : module_) {
    if (full()) break;
    place_ = "function '" + function.getName().str() + "'";
    inspect_function(function);
  }
  return std::move(breaches_);
}

void Inspector::breach(const llvm::Twine& message, bool verify_knows) {
  if (!full()) breaches_.push_back({place_, message.str(), verify_knows});
}

void Inspector::breach_at(const llvm::Instruction& instruction, const llvm::Twine& message, bool verify_knows) {
  if (!full()) breach(message + ", in: " + printed(instruction), verify_knows);
}

void Inspector::inspect_module() {
  if (!module_.getModuleInlineAsm().empty()) breach("inline assembly");
  for (const llvm::GlobalAlias& alias : module_.aliases()) breach("alias '" + alias.getName() + "'");
  for (const llvm::GlobalIFunc& chosen : module_.ifuncs()) breach("ifunc '" + chosen.getName() + "'");
}

void Inspector::inspect_object(const llvm::GlobalObject& object) {
  switch (object.getLinkage()) {
    case llvm::GlobalValue::ExternalLinkage:
    case llvm::GlobalValue::InternalLinkage:
    case llvm::GlobalValue::PrivateLinkage:
    case llvm::GlobalValue::WeakODRLinkage:
    case llvm::GlobalValue::LinkOnceODRLinkage:
    case llvm::GlobalValue::AppendingLinkage:  // LLVM's verifier: only lists of the compiler
      break;
    default:
      breach("linkage other than external, internal, private, weak_odr and linkonce_odr");
  }
  if (object.isThreadLocal()) breach("thread-local memory");
  if (object.hasComdat()) breach("a comdat");
  if (object.hasPartition()) breach("a partition");
  if (object.hasDLLImportStorageClass() || object.hasDLLExportStorageClass()) breach("a DLL storage class");
  const auto* global = llvm::dyn_cast<llvm::GlobalVariable>(&object);
  const bool is_list = global != nullptr && is_list_of_the_compiler(*global) && object.getSection() == "llvm.metadata";
  if (!is_list && !is_section_of_air(object.getSection())) breach("section '" + object.getSection() + "'");
}

void Inspector::inspect_global(const llvm::GlobalVariable& global) {
  inspect_object(global);
  if (is_list_of_the_compiler(global)) return;  // of functions; never memory of a kernel
  if (const auto& what = foreign(global.getValueType())) breach("of " + *what);
  const unsigned space = global.getAddressSpace();
  if (space != 2 && space != 3 && !(space == 0 && kernel_ir::is_matmul_descriptor(global)))
    breach("in address space " + llvm::Twine(space) + "; constant is 2, threadgroup is 3", true);
  if (global.hasInitializer()) inspect_constant(*global.getInitializer());
}

void Inspector::inspect_function(const llvm::Function& function) {
  inspect_object(function);
  if (function.getAddressSpace() != 0) breach("code in address space " + llvm::Twine(function.getAddressSpace()));
  const unsigned convention = function.getCallingConv();
  if (convention != llvm::CallingConv::C && convention != llvm::CallingConv::Fast)
    breach("calling convention " + llvm::Twine(convention));
  if (function.hasGC()) breach("a garbage collector");
  if (function.hasPersonalityFn() || function.hasPrefixData() || function.hasPrologueData())
    breach("a personality, prefix or prologue");
  if (function.isVarArg()) breach("variable arguments");
  if (function.isIntrinsic()) {
    if (!has_intrinsic(function.getIntrinsicID())) breach("an intrinsic that is not AIR's");
    return;  // its declaration is LLVM's own
  }
  const bool may_be_elsewhere = function.getName().starts_with("air.") || function.getName().starts_with("___metal_") ||
                                kernel_ir::is_tensor_operation(function.getName()) ||
                                (is_cpu_only_ && kernel_ir::is_cpu_only_operation(function));
  if (function.isDeclaration() && !may_be_elsewhere) breach("neither an air.* operation nor defined here", true);
  if (const auto& what = foreign(function.getReturnType())) breach("returns " + *what);
  for (const llvm::Argument& argument : function.args())
    if (const auto& what = foreign(argument.getType()))
      breach("parameter " + llvm::Twine(argument.getArgNo()) + " is " + *what);
  inspect_attributes(function.getAttributes(), "");
  for (const llvm::Instruction& instruction : llvm::instructions(function)) {
    if (full()) return;
    inspect_instruction(instruction);
  }
}

void Inspector::inspect_attributes(const llvm::AttributeList& attributes, const llvm::Twine& of) {
  for (const llvm::AttributeSet& set : attributes)
    for (const llvm::Attribute attribute : set)
      if (!attribute.isStringAttribute() && !has_attribute(attribute.getKindAsEnum()))
        breach("attribute " + attribute.getAsString() + of);
}

void Inspector::inspect_instruction(const llvm::Instruction& instruction) {
  if (!has_opcode(instruction.getOpcode())) {
    breach_at(instruction, "instruction " + llvm::Twine(instruction.getOpcodeName()), instruction.isAtomic());
    return;
  }
  if (const auto& what = foreign(instruction.getType())) breach_at(instruction, *what);
  inspect_memory(instruction);
  const auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction);
  if (call != nullptr) inspect_call(*call);
  for (const llvm::Use& use : instruction.operands()) {
    if (call != nullptr && call->isCallee(&use)) continue;
    const auto* constant = llvm::dyn_cast<llvm::Constant>(use.get());
    if (constant == nullptr) continue;
    const size_t before = breaches_.size();
    inspect_constant(*constant);
    if (breaches_.size() > before) breaches_.back().message += ", in: " + printed(instruction);
  }
}

void Inspector::inspect_memory(const llvm::Instruction& instruction) {
  if (instruction.isAtomic()) breach_at(instruction, "an atomic access; AIR's are air.atomic.* operations", true);
  if (const auto* access = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction)) {
    if (const auto& what = foreign(access->getSourceElementType())) breach_at(instruction, *what);
  } else if (const auto* memory = llvm::dyn_cast<llvm::AllocaInst>(&instruction)) {
    if (const auto& what = foreign(memory->getAllocatedType())) breach_at(instruction, *what);
    if (!llvm::isa<llvm::ConstantInt>(memory->getArraySize()) && !kernel_ir::has_deferred_size(*memory))
      breach_at(instruction, "memory of a size that varies");
    const auto bytes = memory->getAllocationSize(module_.getDataLayout());
    if (bytes && bytes->getKnownMinValue() > kLargestType) breach_at(instruction, "an array of more than 64 MiB");
    if (memory->isUsedWithInAlloca() || memory->isSwiftError()) breach_at(instruction, "memory for foreign calls");
  }
}

void Inspector::inspect_call(const llvm::CallBase& call) {
  if (call.isInlineAsm()) {
    breach_at(call, "inline assembly");
    return;
  }
  const llvm::Function* callee = call.getCalledFunction();
  if (callee == nullptr) {
    if (kernel_ir::is_call_of_table(call)) return;
    breach_at(call, "a call through a pointer, or with other types than the callee's");
    return;
  }
  if (call.getNumOperandBundles() != 0 && callee->getIntrinsicID() != llvm::Intrinsic::assume)
    breach_at(call, "an operand bundle");
  if (const auto* direct = llvm::dyn_cast<llvm::CallInst>(&call); direct != nullptr && direct->isMustTailCall())
    breach_at(call, "musttail");
  if (call.getCallingConv() != callee->getCallingConv())
    breach_at(call, "another calling convention than the callee's");
  inspect_attributes(call.getAttributes(), " at a call of '" + callee->getName() + "'");
}

void Inspector::inspect_constant(const llvm::Constant& first) {
  llvm::SmallVector<const llvm::Constant*> work{&first};
  while (!work.empty() && !full()) {
    const llvm::Constant* constant = work.pop_back_val();
    if (!constants_.insert(constant).second) continue;
    if (const auto& what = foreign(constant->getType())) {
      breach("a constant of " + *what);
      continue;
    }
    if (llvm::isa<llvm::GlobalVariable>(constant)) continue;  // judged by itself
    if (const auto* expression = llvm::dyn_cast<llvm::ConstantExpr>(constant)) {
      if (!has_constant_expression(expression->getOpcode())) {
        breach("constant expression " + llvm::Twine(expression->getOpcodeName()));
        continue;
      }
    } else if (!llvm::isa<llvm::ConstantData, llvm::ConstantAggregate>(constant)) {
      breach(llvm::isa<llvm::Function>(constant) ? "the address of a function"
                                                 : "a constant that only code generators know");
      continue;
    }
    for (const llvm::Use& operand : constant->operands()) work.push_back(llvm::cast<llvm::Constant>(operand.get()));
  }
}

const std::optional<std::string>& Inspector::foreign(llvm::Type* type) {
  const auto found = types_.find(type);
  if (found != types_.end()) return found->second;
  std::optional<std::string> judged = judge(type);
  return types_.try_emplace(type, std::move(judged)).first->second;
}

std::optional<std::string> Inspector::judge(llvm::Type* type) {
  if (type->isVoidTy() || type->isLabelTy() || type->isMetadataTy()) return std::nullopt;
  if (type->isHalfTy() || type->isBFloatTy() || type->isFloatTy()) return std::nullopt;
  if (type->isIntegerTy() && has_integer_of(type->getIntegerBitWidth())) return std::nullopt;
  if (const auto* pointer = llvm::dyn_cast<llvm::PointerType>(type)) {
    if (pointer->getAddressSpace() < kAddressSpaces) return std::nullopt;
    if (spaces_ == Spaces::with_tile && pointer->getAddressSpace() == kernel_ir::kImageblockSpace) return std::nullopt;
    if (spaces_ == Spaces::with_mesh &&
        (pointer->getAddressSpace() == kMeshSpace || pointer->getAddressSpace() == kObjectSpace))
      return std::nullopt;
    return "a pointer in address space " + std::to_string(pointer->getAddressSpace());
  }
  if (const auto* vector = llvm::dyn_cast<llvm::FixedVectorType>(type)) {
    if (vector->getNumElements() > kLongestVector) return "a vector of " + std::to_string(vector->getNumElements());
    return foreign(vector->getElementType());
  }
  if (type->isArrayTy() || type->isStructTy()) {
    // Structures nest as deep as somebody wrote them; LLVM's own reader bounds that.
    for (llvm::Type* part : type->subtypes())
      if (const auto& what = foreign(part)) return what;
    if (!type->isSized()) return "a structure without a body";
    if (module_.getDataLayout().getTypeAllocSize(type).getFixedValue() > kLargestType)
      return "a type of more than 64 MiB";
    return std::nullopt;
  }
  return "type " + printed(*type);
}

}  // namespace smelt::aot::allow_list
