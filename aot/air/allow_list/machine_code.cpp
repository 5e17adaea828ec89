// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "allow_list/machine_code.hpp"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Support/raw_ostream.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

namespace smelt::aot::allow_list {
namespace {

/// Instructions that LLVM marks as having effects it does not model, and that touch nothing outside: fences, a hint,
/// the end of wide registers. Traps are not among them: they end the process.
constexpr llvm::StringLiteral kHarmless[] = {
    "CLREX",  "DATA16_PREFIX", "DMB",    "DSB",      "HINT",     "ISB",      "LFENCE",     "LOCK_PREFIX",
    "MFENCE", "PAUSE",         "SFENCE", "VLDMXCSR", "VSTMXCSR", "VZEROALL", "VZEROUPPER",
};
/// AArch64's atomics of memory ("CASALX"), of which LLVM's tables do not say that memory is all they touch.
constexpr llvm::StringLiteral kAtomics[] = {"CAS",    "LDADD",  "LDAR",   "LDCLR",  "LDEOR", "LDSET",
                                            "LDSMAX", "LDSMIN", "LDUMAX", "LDUMIN", "STLR",  "SWP"};
constexpr llvm::StringLiteral kTraps[] = {"BRK", "HLT", "INT3", "TRAP", "UD2", "UDF"};
constexpr llvm::StringLiteral kSegments[] = {"CS", "DS", "ES", "FS", "GS", "SS"};

class Reader {
 public:
  Reader(const llvm::TargetMachine& target, const MachineCodeRules& rules)
      : rules_(rules),
        triple_(target.getTargetTriple()),
        registers_(target.getMCRegisterInfo()),
        instructions_(target.getMCInstrInfo()),
        subtarget_(target.getMCSubtargetInfo()),
        context_(triple_, target.getMCAsmInfo(), registers_, subtarget_),
        disassembler_(target.getTarget().createMCDisassembler(*subtarget_, context_)),
        analysis_(target.getTarget().createMCInstrAnalysis(instructions_)),
        printer_(
            target.getTarget().createMCInstPrinter(triple_, 0, *target.getMCAsmInfo(), *instructions_, *registers_)) {
    if (!triple_.isX86()) return;
    for (unsigned i = 1; i < registers_->getNumRegs(); ++i)
      if (llvm::is_contained(kSegments, llvm::StringRef(registers_->getName(i)))) segments_.insert(i);
  }

  /// `relocated`: offsets of bytes that are not final yet.
  Result<void> check(llvm::StringRef code, const llvm::DenseSet<uint64_t>& relocated) {
    const auto* begin = reinterpret_cast<const uint8_t*>(code.data());
    const llvm::ArrayRef<uint8_t> bytes(begin, code.size());
    for (uint64_t at = 0; at < bytes.size();) {
      llvm::MCInst instruction;
      uint64_t size = 0;
      const auto status = disassembler_->getInstruction(instruction, size, bytes.drop_front(at), at, llvm::nulls());
      if (status != llvm::MCDisassembler::Success || size == 0)
        return fail(Errc::compile_failed, "machine code at {:#x}: no instruction", at);
      bool is_relocated = false;
      for (uint64_t i = 0; i < size; ++i) is_relocated |= relocated.contains(at + i);
      if (const char* what = fault_of(instruction, at, size, is_relocated, bytes.size()))
        return fail(Errc::compile_failed, "machine code at {:#x}: {}: {}", at, what, text_of(instruction, at));
      at += size;
    }
    return {};
  }

 private:
  /// Nothing, or what is wrong.
  const char* fault_of(const llvm::MCInst& instruction, uint64_t at, uint64_t size, bool is_relocated,
                       uint64_t end) const {
    const llvm::MCInstrDesc& description = instructions_->get(instruction.getOpcode());
    const llvm::StringRef name = instructions_->getName(instruction.getOpcode());
    if (name.starts_with("NOOP")) return nullptr;  // long ones name a segment
    if (description.isReturn()) return name == "RET64" || name == "RET" ? nullptr : "a return into other code";
    if (llvm::is_contained(kTraps, name)) return "a trap, which would end the process";
    const bool is_division = name.starts_with("DIV") || name.starts_with("IDIV");
    const bool is_atomic =
        triple_.isAArch64() && llvm::any_of(kAtomics, [&](llvm::StringRef one) { return name.starts_with(one); });
    const bool is_harmless = is_division || is_atomic || llvm::is_contained(kHarmless, name);
    if ((description.hasUnmodeledSideEffects() && !is_harmless) || name.starts_with("POPF") ||
        name.starts_with("PUSHF"))
      return "an instruction that reaches outside";
    for (const llvm::MCOperand& operand : instruction)
      if (operand.isReg() && segments_.contains(operand.getReg())) return "a segment register";
    if (description.isIndirectBranch()) return "a jump that cannot be followed";
    const bool branches = description.isCall() || (description.isBranch() && !description.isReturn());
    if (!branches || is_relocated) return nullptr;
    uint64_t target = 0;
    if (!analysis_->evaluateBranch(instruction, at, size, target))
      return description.isCall() && rules_.calls_services ? nullptr : "a call or jump through a register or memory";
    return target < end ? nullptr : "a branch out of the code";
  }

  std::string text_of(const llvm::MCInst& instruction, uint64_t at) const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    printer_->printInst(&instruction, at, "", *subtarget_, stream);
    return llvm::StringRef(text).trim().str() + " (" + instructions_->getName(instruction.getOpcode()).str() + ")";
  }

  const MachineCodeRules rules_;
  const llvm::Triple& triple_;
  const llvm::MCRegisterInfo* registers_;
  const llvm::MCInstrInfo* instructions_;
  const llvm::MCSubtargetInfo* subtarget_;
  llvm::MCContext context_;
  std::unique_ptr<llvm::MCDisassembler> disassembler_;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis_;
  std::unique_ptr<llvm::MCInstPrinter> printer_;
  llvm::DenseSet<unsigned> segments_;
};

}  // namespace

Result<void> check_machine_code(ByteView object, const llvm::TargetMachine& target, const MachineCodeRules& rules) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86Disassembler();
    LLVMInitializeAArch64Disassembler();
  });
  auto file = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(as_text(object), ""));
  if (!file) return fail(Errc::compile_failed, "machine code: {}", llvm::toString(file.takeError()));
  Reader reader(target, rules);
  for (const llvm::object::SectionRef& section : (*file)->sections()) {
    if (!section.isText()) continue;
    auto code = section.getContents();
    if (!code) return fail(Errc::compile_failed, "machine code: {}", llvm::toString(code.takeError()));
    llvm::DenseSet<uint64_t> relocated;
    for (const llvm::object::SectionRef& other : (*file)->sections()) {  // in ELF they have sections of their own
      auto patched = other.getRelocatedSection();
      if (!patched) return fail(Errc::compile_failed, "machine code: {}", llvm::toString(patched.takeError()));
      if (*patched != section) continue;
      for (const llvm::object::RelocationRef& one : other.relocations()) relocated.insert(one.getOffset());
    }
    SMELT_TRY_VOID(reader.check(*code, relocated));
  }
  return {};
}

}  // namespace smelt::aot::allow_list
