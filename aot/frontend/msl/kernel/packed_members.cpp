// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/kernel/packed_members.hpp"

#include "msl/facts/tree_walk.hpp"

#include "clang/AST/ASTContext.h"
#include "clang/AST/RecordLayout.h"
#include "clang/CodeGen/CodeGenABITypes.h"
#include "clang/CodeGen/ModuleBuilder.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/GetElementPtrTypeIterator.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <map>

namespace smelt::aot::msl {
namespace {

class PackedVisitor final : public TreeWalk {
 public:
  explicit PackedVisitor(clang::ASTContext& context) : context_(context) {}
  std::vector<clang::CXXRecordDecl*> found;

 private:
  using TreeWalk::visit;
  bool visit(clang::Decl* decl) override {
    auto* record = llvm::dyn_cast<clang::CXXRecordDecl>(decl);
    if (record != nullptr && record->isThisDeclarationADefinition() && record->isCompleteDefinition() &&
        !record->isDependentContext() && !record->isInvalidDecl() && is_packed(*record))
      found.push_back(record);
    return true;
  }
  bool is_packed(const clang::CXXRecordDecl& record) const {
    const clang::ASTRecordLayout& layout = context_.getASTRecordLayout(&record);
    const llvm::Align whole = layout.getAlignment().getAsAlign();
    return llvm::any_of(record.fields(), [&](const clang::FieldDecl* field) {
      const uint64_t offset = layout.getFieldOffset(field->getFieldIndex()) / context_.getCharWidth();
      return !field->isBitField() &&
             llvm::commonAlignment(whole, offset) < context_.getTypeAlignInChars(field->getType()).getAsAlign();
    });
  }
  clang::ASTContext& context_;
};

class AlignmentLimiter {
 public:
  AlignmentLimiter(llvm::Module& module, const PackedTypes& types)
      : module_(module), layout_(module.getDataLayout()), types_(types) {}

  void run() {
    std::vector<std::pair<llvm::Value*, llvm::Align>> starts;
    llvm::SmallPtrSet<const llvm::Value*, 16> seen;
    const auto look = [&](llvm::Value* value) {
      auto* address = llvm::dyn_cast<llvm::GEPOperator>(value);
      if (address == nullptr || !seen.insert(address).second) return;
      if (const auto align = start_of(*address)) starts.emplace_back(address, *align);
    };
    for (llvm::Function& function : module_)
      for (llvm::Instruction& instruction : llvm::instructions(function)) {
        look(&instruction);
        for (llvm::Value* operand : instruction.operands()) look(operand);
      }
    for (const auto& [address, align] : starts) limit(*address, align);
  }

 private:
  /// How the address of something inside of a packed structure is aligned.
  std::optional<llvm::Align> start_of(const llvm::GEPOperator& address) const {
    std::optional<llvm::Align> align;
    const auto step = [&](const llvm::Type* type) {
      if (const auto found = types_.find(type); found != types_.end())
        align = std::min(align.value_or(found->second), found->second);
    };
    step(address.getSourceElementType());
    for (auto at = llvm::gep_type_begin(address), end = llvm::gep_type_end(address); at != end; ++at) {
      if (llvm::StructType* type = at.getStructTypeOrNull(); type != nullptr && align)
        align = llvm::commonAlignment(*align, layout_.getStructLayout(type)->getElementOffset(static_cast<unsigned>(
                                                  llvm::cast<llvm::ConstantInt>(at.getOperand())->getZExtValue())));
      else if (align)
        align = llvm::commonAlignment(*align, layout_.getTypeAllocSize(at.getIndexedType()).getFixedValue());
      step(at.getIndexedType());
    }
    return align;
  }

  llvm::Align behind(llvm::GEPOperator& address, llvm::Align align) const {
    const unsigned bits = layout_.getIndexTypeSizeInBits(address.getType());
    llvm::MapVector<llvm::Value*, llvm::APInt> strides;
    llvm::APInt offset(bits, 0);
    if (!address.collectOffset(layout_, bits, strides, offset)) return llvm::Align(1);
    align = llvm::commonAlignment(align, offset.getZExtValue());
    for (const auto& [index, stride] : strides) align = llvm::commonAlignment(align, stride.getZExtValue());
    return align;
  }

  /// `pointer` is aligned to no more than that, nor is what is made of it.
  void limit(llvm::Value& pointer, llvm::Align align) {
    const auto [known, is_new] = known_.try_emplace(&pointer, align);
    if (!is_new && known->second <= align) return;
    known->second = align;
    std::vector<llvm::Use*> uses;
    for (llvm::Use& use : pointer.uses()) uses.push_back(&use);
    for (llvm::Use* use : uses) limit_use(*use, align);
  }

  void limit_use(llvm::Use& use, llvm::Align align) {
    llvm::User* const user = use.getUser();
    if (auto* load = llvm::dyn_cast<llvm::LoadInst>(user)) {
      load->setAlignment(std::min(load->getAlign(), align));
    } else if (auto* store = llvm::dyn_cast<llvm::StoreInst>(user)) {
      if (use.getOperandNo() == llvm::StoreInst::getPointerOperandIndex())
        store->setAlignment(std::min(store->getAlign(), align));
      else  // kept in a variable, as Clang keeps parameters and references
        for (llvm::User* reader : store->getPointerOperand()->users())
          if (llvm::isa<llvm::LoadInst>(reader) && reader->getType()->isPointerTy()) limit(*reader, align);
    } else if (auto* move = llvm::dyn_cast<llvm::MemIntrinsic>(user)) {
      if (use.getOperandNo() == 0) move->setDestAlignment(std::min(move->getDestAlign().valueOrOne(), align));
      if (auto* copy = llvm::dyn_cast<llvm::MemTransferInst>(user); copy != nullptr && use.getOperandNo() == 1)
        copy->setSourceAlignment(std::min(copy->getSourceAlign().valueOrOne(), align));
    } else if (auto* address = llvm::dyn_cast<llvm::GEPOperator>(user)) {
      if (use.getOperandNo() == 0) limit(*address, behind(*address, align));
    } else if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) {
      if (call->isArgOperand(&use)) limit_argument(*call, call->getArgOperandNo(&use), align);
    } else if (const auto* result = llvm::dyn_cast<llvm::ReturnInst>(user)) {
      const auto [at, is_new] = results_.try_emplace(result->getFunction(), align);
      at->second = std::min(at->second, align);
    } else if (user->getType()->isPointerTy()) {  // a cast, a choice
      limit(*user, align);
    }
  }

  void limit_argument(llvm::CallBase& call, unsigned index, llvm::Align align) {
    llvm::Function* const callee = call.getCalledFunction();
    if (callee == nullptr || callee->isDeclaration() || call.getFunctionType() != callee->getFunctionType() ||
        call.isByValArgument(index) || callee->getParamAlign(index).valueOrOne() <= align)
      return;
    llvm::Function* const copy = copy_for(*callee, index, align);
    call.setCalledFunction(copy);
    call.removeParamAttr(index, llvm::Attribute::Alignment);
    if (const auto result = results_.find(copy); result != results_.end()) limit(call, result->second);
  }

  llvm::Function* copy_for(llvm::Function& function, unsigned index, llvm::Align align) {
    llvm::Function*& copy = copies_[{&function, index, align.value()}];
    if (copy != nullptr) return copy;
    llvm::ValueToValueMapTy map;
    llvm::Function* const made = copy = llvm::CloneFunction(&function, map);
    made->setName(function.getName() + ".packed");
    made->setLinkage(llvm::GlobalValue::InternalLinkage);
    made->setComdat(nullptr);
    made->removeParamAttr(index, llvm::Attribute::Alignment);
    if (const auto result = results_.find(&function); result != results_.end()) results_[made] = result->second;
    limit(*made->getArg(index), align);
    return made;
  }

  llvm::Module& module_;
  const llvm::DataLayout& layout_;
  const PackedTypes& types_;
  std::map<const llvm::Value*, llvm::Align> known_;                                          // never walked
  std::map<const llvm::Function*, llvm::Align> results_;                                     // never walked
  std::map<std::tuple<const llvm::Function*, unsigned, uint64_t>, llvm::Function*> copies_;  // never walked
};

}  // namespace

PackedTypes packed_types(clang::ASTContext& context, clang::CodeGenerator& generator) {
  PackedVisitor visitor(context);
  visitor.walk(context);
  PackedTypes types;
  for (const clang::CXXRecordDecl* record : visitor.found)
    types.try_emplace(clang::CodeGen::convertTypeForMemory(generator.CGM(), context.getRecordType(record)),
                      context.getASTRecordLayout(record).getAlignment().getAsAlign());
  return types;
}

void limit_alignment(llvm::Module& module, const PackedTypes& types) {
  if (!types.empty()) AlignmentLimiter(module, types).run();
}

}  // namespace smelt::aot::msl
