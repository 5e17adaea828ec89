// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "canonical.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Intrinsics.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::test {
namespace {

// Local names are not written, and no-op pointer bitcasts have no meaning without pointees.
void drop_names_and_no_ops(llvm::Function& function) {
  for (llvm::Argument& argument : function.args()) argument.setName("");
  for (llvm::BasicBlock& block : function) {
    block.setName("");
    for (llvm::Instruction& instruction : llvm::make_early_inc_range(block)) {
      instruction.setName("");
      if (llvm::isa<llvm::BitCastInst>(instruction) && instruction.getType()->isPtrOrPtrVectorTy()) {
        instruction.replaceAllUsesWith(instruction.getOperand(0));
        instruction.eraseFromParent();
      }
    }
  }
}

void turn_blocks(llvm::Function& function) {
  std::vector<llvm::BasicBlock*> blocks;
  for (llvm::BasicBlock& block : function) blocks.push_back(&block);
  for (size_t i = 1; i < blocks.size(); ++i) blocks[i]->moveAfter(blocks[0]);
}

// Debug info goes with the two module flags that speak of it.
void strip_debug(llvm::Module& module) {
  llvm::StripDebugInfo(module);
  llvm::NamedMDNode* flags = module.getModuleFlagsMetadata();
  if (!flags) return;
  std::vector<llvm::MDNode*> kept;
  for (llvm::MDNode* flag : flags->operands()) {
    const auto* key = llvm::dyn_cast<llvm::MDString>(flag->getOperand(1));
    if (!key || (key->getString() != "Debug Info Version" && key->getString() != "Dwarf Version")) kept.push_back(flag);
  }
  flags->clearOperands();
  for (llvm::MDNode* flag : kept) flags->addOperand(flag);
}

// Reading typed bitcode renames intrinsics, which moves them to the end: order all declarations by name.
void sort_declarations(llvm::Module& module) {
  std::vector<llvm::Function*> declarations;
  for (llvm::Function& function : module)
    if (function.isDeclaration()) declarations.push_back(&function);
  std::sort(declarations.begin(), declarations.end(),
            [](const llvm::Function* a, const llvm::Function* b) { return a->getName() < b->getName(); });
  for (llvm::Function* function : declarations) {
    function->removeFromParent();
    module.getFunctionList().push_back(function);
  }
}

bool newer_than_14(llvm::Attribute attribute) {
  if (attribute.isStringAttribute()) return false;
  switch (attribute.getKindAsEnum()) {
    case llvm::Attribute::Memory:  // most have an image, which the exact comparisons prove
    case llvm::Attribute::NoFPClass:
    case llvm::Attribute::Range:
    case llvm::Attribute::Writable:
    case llvm::Attribute::DeadOnUnwind:
    case llvm::Attribute::Initializes:
    case llvm::Attribute::AllocKind:
    case llvm::Attribute::AllocatedPointer:
    case llvm::Attribute::AllocAlign:
    case llvm::Attribute::UWTable:
    case llvm::Attribute::AllocSize:
      return true;
    default:
      return false;
  }
}

llvm::AttributeList older(llvm::AttributeList list, llvm::LLVMContext& context) {
  for (const unsigned place : list.indexes())
    for (const llvm::Attribute attribute : list.getAttributes(place))
      if (newer_than_14(attribute)) list = list.removeAttributeAtIndex(context, place, attribute.getKindAsEnum());
  return list;
}

void drop_newer(llvm::Module& module) {
  for (llvm::Function& function : module) {
    // Reading a typed name declares the intrinsic afresh, with what LLVM 19 knows about it.
    function.setAttributes(function.isIntrinsic()
                               ? llvm::Intrinsic::getAttributes(module.getContext(), function.getIntrinsicID())
                               : older(function.getAttributes(), module.getContext()));
    function.setDSOLocal(false);
    std::vector<llvm::CallInst*> assumptions;
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      auto* call = llvm::dyn_cast<llvm::AssumeInst>(&instruction);
      if (call && call->hasOperandBundles()) assumptions.push_back(call);
    }
    for (llvm::CallInst* call : assumptions) {  // hints as well
      call->replaceAllUsesWith(llvm::CallInst::Create(call, {}, call->getIterator()));
      call->eraseFromParent();
    }
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      if (auto* extension = llvm::dyn_cast<llvm::PossiblyNonNegInst>(&instruction)) extension->setNonNeg(false);
      if (auto* either = llvm::dyn_cast<llvm::PossiblyDisjointInst>(&instruction)) either->setIsDisjoint(false);
      if (auto* truncation = llvm::dyn_cast<llvm::TruncInst>(&instruction)) {
        truncation->setHasNoSignedWrap(false);
        truncation->setHasNoUnsignedWrap(false);
      }
      if (auto* gep = llvm::dyn_cast<llvm::GetElementPtrInst>(&instruction))
        gep->setNoWrapFlags(gep->isInBounds() ? llvm::GEPNoWrapFlags::inBounds() : llvm::GEPNoWrapFlags::none());
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(&instruction))
        call->setAttributes(older(call->getAttributes(), module.getContext()));
    }
  }
  for (llvm::GlobalVariable& variable : module.globals()) variable.setDSOLocal(false);
}

// The order of predecessors is the use-list's, which says nothing.
std::string without_predecessors(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line(text.data() + at, end - at);
    if (const size_t comment = line.find("; preds ="); comment != std::string_view::npos)
      line = line.substr(0, comment);
    out.append(line).push_back('\n');
    at = end + 1;
  }
  return out;
}

}  // namespace

std::string canonical_text(llvm::Module& module, const Canonical& options) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::verifyModule(module, &out)) {
    llvm::errs() << "not a valid module: " << out.str() << '\n';
    return {};
  }
  if (!options.keep_debug) strip_debug(module);
  for (llvm::Function& function : module) {
    if (options.turn_blocks && !function.isDeclaration()) turn_blocks(function);
    drop_names_and_no_ops(function);
  }
  sort_declarations(module);
  if (options.older_flags) drop_newer(module);
  // LLVM 19 fills in the input's path where a module has no source name.
  if (module.getSourceFileName() == module.getModuleIdentifier()) module.setSourceFileName("");
  module.setModuleIdentifier("module");
  module.print(out, nullptr);
  return without_predecessors(out.str());
}

std::unique_ptr<llvm::Module> read_19(ByteView bitcode, llvm::LLVMContext& context) {
  const std::string_view bytes = as_text(bitcode);
  auto module = llvm::parseBitcodeFile({llvm::StringRef(bytes.data(), bytes.size()), "in memory"}, context);
  if (module) return std::move(*module);
  llvm::errs() << "LLVM 19 cannot read it: " << llvm::toString(module.takeError()) << '\n';
  return nullptr;
}

std::unique_ptr<llvm::Module> parse_19(std::string_view text, llvm::LLVMContext& context) {
  llvm::SMDiagnostic diagnostic;
  auto module = llvm::parseAssemblyString(llvm::StringRef(text.data(), text.size()), diagnostic, context);
  if (!module) diagnostic.print("test", llvm::errs());
  return module;
}

std::string first_difference(const std::string& wanted, const std::string& found) {
  if (wanted == found) return {};
  size_t a = 0, b = 0;
  for (;;) {
    const std::string x = wanted.substr(a, wanted.find('\n', a) - a), y = found.substr(b, found.find('\n', b) - b);
    if (x != y) return "\n  wanted: " + x + "\n  found:  " + y;
    a += x.size() + 1;
    b += y.size() + 1;
    if (a >= wanted.size() || b >= found.size()) return "\n  one of the two ends early";
  }
}

}  // namespace smelt::test
