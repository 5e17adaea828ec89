// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "typed.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/DiagnosticInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"

#include <vector>

namespace smelt::test {
namespace {

class Changer {
 public:
  Changer(llvm::Module& module, std::mt19937_64& random) : module_(module), random_(random) {}

  std::string run() {
    for (uint64_t left = 1 + random_() % 4; left != 0; --left) one();
    return "module: " + story_;
  }

 private:
  uint64_t below(uint64_t end) { return random_() % end; }
  void say(const llvm::Twine& what) { story_ += (story_.empty() ? "" : ", ") + what.str(); }

  llvm::Instruction* any_instruction() {
    std::vector<llvm::Instruction*> all;
    for (llvm::Function& function : module_)
      for (llvm::Instruction& instruction : llvm::instructions(function)) all.push_back(&instruction);
    return all.empty() ? nullptr : all[below(all.size())];
  }

  llvm::Constant* hostile_constant(llvm::Type* type) {
    static constexpr uint64_t kNumbers[] = {0, 1, 2, 31, 32, 64, 255, 4096, 0x7fffffff, 0x80000000, ~uint64_t{0}};
    if (llvm::Type* scalar = type->getScalarType(); scalar->isIntegerTy()) {
      llvm::APInt value(64, kNumbers[below(std::size(kNumbers))]);
      return llvm::ConstantInt::get(type, value.sextOrTrunc(scalar->getIntegerBitWidth()));
    }
    if (type->isFPOrFPVectorTy()) {
      static constexpr double kValues[] = {0, -0.0, 1, 1e30, -1e30, 1e-40};
      return llvm::ConstantFP::get(type, kValues[below(std::size(kValues))]);
    }
    switch (below(3)) {
      case 0:
        return llvm::PoisonValue::get(type);
      case 1:
        return llvm::UndefValue::get(type);
      default:
        return llvm::Constant::getNullValue(type);
    }
  }

  /// A value of that type from before `place`, or a constant.
  llvm::Value* other_value(llvm::Instruction& place, llvm::Type* type) {
    std::vector<llvm::Value*> values;
    for (llvm::Argument& argument : place.getFunction()->args())
      if (argument.getType() == type) values.push_back(&argument);
    for (llvm::Instruction& earlier : *place.getParent()) {
      if (&earlier == &place) break;
      if (earlier.getType() == type) values.push_back(&earlier);
    }
    if (values.empty() || below(4) == 0) return hostile_constant(type);
    return values[below(values.size())];
  }

  void change_operand(llvm::Instruction& place) {
    if (place.getNumOperands() == 0) return;
    llvm::Use& use = place.getOperandUse(static_cast<unsigned>(below(place.getNumOperands())));
    llvm::Type* type = use->getType();
    if (type->isLabelTy()) {
      auto at = place.getFunction()->begin();
      std::advance(at, static_cast<ptrdiff_t>(below(place.getFunction()->size())));
      use.set(&*at);
      return say("a jump");
    }
    if (type->isMetadataTy() || type->isTokenTy() || llvm::isa<llvm::Function>(use)) return;
    use.set(other_value(place, type));
    say(llvm::Twine("operand of ") + place.getOpcodeName());
  }

  void change_operation(llvm::Instruction& place) {
    llvm::Instruction* fresh = nullptr;
    if (auto* compare = llvm::dyn_cast<llvm::CmpInst>(&place)) {
      const bool whole = compare->isIntPredicate();
      compare->setPredicate(static_cast<llvm::CmpInst::Predicate>(
          whole ? llvm::CmpInst::FIRST_ICMP_PREDICATE + below(10) : llvm::CmpInst::FIRST_FCMP_PREDICATE + below(16)));
    } else if (llvm::isa<llvm::BinaryOperator>(place)) {
      using Op = llvm::Instruction::BinaryOps;
      static constexpr Op kWhole[] = {llvm::Instruction::Add,  llvm::Instruction::Sub,  llvm::Instruction::Mul,
                                      llvm::Instruction::UDiv, llvm::Instruction::SDiv, llvm::Instruction::URem,
                                      llvm::Instruction::SRem, llvm::Instruction::Shl,  llvm::Instruction::LShr,
                                      llvm::Instruction::AShr, llvm::Instruction::Xor};
      static constexpr Op kReal[] = {llvm::Instruction::FAdd, llvm::Instruction::FSub, llvm::Instruction::FMul,
                                     llvm::Instruction::FDiv, llvm::Instruction::FRem};
      const Op op =
          place.getType()->isIntOrIntVectorTy() ? kWhole[below(std::size(kWhole))] : kReal[below(std::size(kReal))];
      fresh = llvm::BinaryOperator::Create(op, place.getOperand(0), place.getOperand(1), "", &place);
    } else if (auto* own = llvm::dyn_cast<llvm::AllocaInst>(&place)) {
      auto* array = llvm::ArrayType::get(own->getAllocatedType(), uint64_t{1} << below(24));
      fresh = new llvm::AllocaInst(array, own->getAddressSpace(), "", &place);
    } else if (auto* load = llvm::dyn_cast<llvm::LoadInst>(&place)) {
      load->setAlignment(llvm::Align(uint64_t{1} << below(12)));
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(&place)) {
      store->setAlignment(llvm::Align(uint64_t{1} << below(12)));
    } else if (auto* call = llvm::dyn_cast<llvm::CallInst>(&place)) {
      std::vector<llvm::Function*> alike;
      for (llvm::Function& function : module_)
        if (function.getFunctionType() == call->getFunctionType()) alike.push_back(&function);
      if (!alike.empty()) call->setCalledFunction(alike[below(alike.size())]);
    }
    if (fresh != nullptr) {
      place.replaceAllUsesWith(fresh);
      place.eraseFromParent();
    }
    say("another operation");
  }

  void leave_out(llvm::Instruction& place) {
    if (place.isTerminator()) return;
    if (!place.getType()->isVoidTy()) place.replaceAllUsesWith(hostile_constant(place.getType()));
    say(llvm::Twine("no ") + place.getOpcodeName());
    place.eraseFromParent();
  }

  void change_metadata() {
    std::vector<llvm::MDNode*> nodes;
    for (llvm::NamedMDNode& named : module_.named_metadata())
      for (llvm::MDNode* node : named.operands()) gather(node, nodes);
    if (nodes.empty()) return;
    llvm::MDNode* node = nodes[below(nodes.size())];
    if (node->getNumOperands() == 0) return;
    const auto at = static_cast<unsigned>(below(node->getNumOperands()));
    llvm::LLVMContext& context = module_.getContext();
    llvm::Metadata* value = nullptr;
    switch (below(5)) {
      case 0:
        value = nodes[below(nodes.size())];
        break;
      case 1:
        value = node->getOperand(static_cast<unsigned>(below(node->getNumOperands())));
        break;
      case 2:
        value = llvm::MDString::get(context, below(2) == 0 ? "air.buffer" : "air.\x1b[31m\xff");
        break;
      case 3:
        break;
      default:
        value = llvm::ConstantAsMetadata::get(hostile_constant(llvm::Type::getInt32Ty(context)));
    }
    node->replaceOperandWith(at, value);
    say("metadata");
  }

  static void gather(llvm::MDNode* node, std::vector<llvm::MDNode*>& nodes) {
    if (node == nullptr || nodes.size() > 2000 || std::find(nodes.begin(), nodes.end(), node) != nodes.end()) return;
    nodes.push_back(node);
    for (const llvm::MDOperand& operand : node->operands())
      gather(llvm::dyn_cast_or_null<llvm::MDNode>(operand), nodes);
  }

  void one() {
    if (below(5) == 0) return change_metadata();
    llvm::Instruction* place = any_instruction();
    if (place == nullptr) return;
    switch (below(6)) {
      case 0:
        return leave_out(*place);
      case 1:
      case 2:
        return change_operation(*place);
      default:
        return change_operand(*place);
    }
  }

  llvm::Module& module_;
  std::mt19937_64& random_;
  std::string story_;
};

}  // namespace

std::optional<Bytes> change_module(ByteView bitcode, std::mt19937_64& random, std::string& story) {
  llvm::LLVMContext context;
  context.setDiagnosticHandlerCallBack([](const llvm::DiagnosticInfo*, void*) {});
  auto module = llvm::parseBitcodeFile({as_text(bitcode), ""}, context);
  if (!module) {
    llvm::consumeError(module.takeError());
    return std::nullopt;
  }
  story = Changer(**module, random).run();
  if (llvm::verifyModule(**module)) return std::nullopt;
  llvm::SmallVector<char, 0> text;
  llvm::BitcodeWriter writer(text);  // not WriteBitcodeToFile, which adds a wrapper for Apple's targets
  writer.writeModule(**module);
  writer.writeStrtab();
  return to_bytes(as_bytes(std::string_view(text.data(), text.size())));
}

}  // namespace smelt::test
