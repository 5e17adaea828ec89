// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "llvm_support/listed_lines.hpp"

#include "llvm/BinaryFormat/Dwarf.h"
#include "llvm/IR/AssemblyAnnotationWriter.h"
#include "llvm/IR/DebugInfoMetadata.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/FormattedStream.h"

namespace smelt::aot {
namespace {

class LineCounter : public llvm::AssemblyAnnotationWriter {
 public:
  explicit LineCounter(ListedModule& listing) : listing_(listing) {}
  void emitInstructionAnnot(const llvm::Instruction* instruction, llvm::formatted_raw_ostream& out) override {
    listing_.lines[instruction] = out.getLine() + 1;
  }

 private:
  ListedModule& listing_;
};

llvm::DICompileUnit* unit_of(llvm::Module& module, llvm::DIFile* file) {
  if (!module.debug_compile_units().empty()) return *module.debug_compile_units_begin();
  auto* unit =
      llvm::DICompileUnit::getDistinct(module.getContext(), llvm::dwarf::DW_LANG_C, file, "smelt", true, "", 0, "",
                                       llvm::DICompileUnit::LineTablesOnly, nullptr, nullptr, nullptr, nullptr, nullptr,
                                       0, false, false, llvm::DICompileUnit::DebugNameTableKind::None, false, "", "");
  module.getOrInsertNamedMetadata("llvm.dbg.cu")->addOperand(unit);
  module.addModuleFlag(llvm::Module::Warning, "Debug Info Version", llvm::DEBUG_METADATA_VERSION);
  return unit;
}

/// A subprogram for every function that has a body.
void add_subprograms(llvm::Module& module) {
  llvm::LLVMContext& context = module.getContext();
  llvm::DIFile* file = llvm::DIFile::get(context, "air", "");
  llvm::DICompileUnit* unit = unit_of(module, file);
  llvm::DISubroutineType* type = llvm::DISubroutineType::get(context, llvm::DINode::FlagZero, 0, nullptr);
  for (llvm::Function& function : module) {
    function.setSubprogram(nullptr);
    if (function.isDeclaration()) continue;
    function.setSubprogram(llvm::DISubprogram::getDistinct(context, file, function.getName(), function.getName(), file,
                                                           0, type, 0, nullptr, 0, 0, llvm::DINode::FlagZero,
                                                           llvm::DISubprogram::SPFlagDefinition, unit));
  }
}

void set_line(llvm::Instruction& instruction, unsigned line) {
  llvm::DISubprogram* program = instruction.getFunction()->getSubprogram();
  instruction.setDebugLoc(llvm::DILocation::get(instruction.getContext(), line, 0, program));
}

}  // namespace

ListedModule list_module(const llvm::Module& module) {
  ListedModule listing;
  LineCounter counter(listing);
  llvm::raw_string_ostream stream(listing.text);
  module.print(stream, &counter);
  return listing;
}

void locate_in_listing(llvm::Module& module, const ListedModule& listing) {
  add_subprograms(module);
  for (llvm::Function& function : module)
    for (llvm::Instruction& instruction : llvm::instructions(function))
      set_line(instruction, listing.lines.lookup(&instruction));
}

void adopt_locations(llvm::Module& module) {
  add_subprograms(module);
  for (llvm::Function& function : module) {
    for (llvm::Instruction& instruction : llvm::instructions(function)) {
      // LLVM wants a location at every call of a function that has locations of its own.
      const llvm::DebugLoc& location = instruction.getDebugLoc();
      if (location || llvm::isa<llvm::CallBase>(instruction)) set_line(instruction, location ? location.getLine() : 0);
    }
  }
}

}  // namespace smelt::aot
