// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "jit.hpp"

#include "llvm_support/analyses.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Verifier.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <sstream>
#include <stdexcept>

namespace smelt::test {
namespace {

void initialise_targets() {
  static const bool once = [] {
    llvm::InitializeAllTargetInfos();
    llvm::InitializeAllTargets();
    llvm::InitializeAllTargetMCs();
    llvm::InitializeAllAsmPrinters();
    return true;
  }();
  (void)once;
}

std::unique_ptr<llvm::TargetMachine> target_machine(const std::string& processor) {
  initialise_targets();
  const bool arm = processor.rfind("x86-64", 0) != 0;
  const char* triple = arm ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu";
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (!target) return nullptr;
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, processor, "", options, llvm::Reloc::PIC_, llvm::CodeModel::Small, llvm::CodeGenOptLevel::Default));
}

struct Lowered {
  std::unique_ptr<llvm::LLVMContext> context = std::make_unique<llvm::LLVMContext>();
  std::unique_ptr<llvm::Module> module;
  std::string error;
};

Lowered lower(const std::string& air, llvm::TargetMachine* machine, const aot::cpu::LowerOptions& options) {
  Lowered result;
  llvm::SMDiagnostic diagnostic;
  result.module = llvm::parseAssemblyString(air, diagnostic, *result.context);
  if (!result.module) {
    llvm::raw_string_ostream stream(result.error);
    diagnostic.print("air", stream);
    return result;
  }
  if (machine) {
    result.module->setTargetTriple(machine->getTargetTriple().str());
    result.module->setDataLayout(machine->createDataLayout());
  }
  if (auto lowered = aot::cpu::lower_air_operations(*result.module, options); !lowered) {
    result.error = lowered.error().message;
    return result;
  }
  llvm::raw_string_ostream stream(result.error);
  if (llvm::verifyModule(*result.module, &stream)) result.error = "verifier: " + result.error;
  return result;
}

void optimise(llvm::Module& module, llvm::TargetMachine& machine) {
  llvm::PassBuilder builder(&machine);
  llvm::TargetLibraryInfoImpl library(machine.getTargetTriple());
  library.disableAllFunctions();
  aot::Analyses analyses(builder, &library);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(module, analyses.module);
  for (llvm::Function& function : module) {
    aot::cpu::plain_single_thread_atomics(function);
    aot::cpu::move_bfloats_as_integers(function);
  }
}

}  // namespace

namespace {
void demand(bool condition, const std::string& what) {
  if (!condition) throw std::runtime_error(what);
}
}  // namespace

struct Jit::State {
  std::unique_ptr<llvm::orc::LLJIT> jit;
};

Jit::Jit(const std::string& air, const aot::cpu::LowerOptions& options) : state_(std::make_unique<State>()) {
  const auto machine = target_machine("x86-64-v3");
  demand(machine != nullptr, "no x86-64-v3 target");
  Lowered lowered = lower(air, machine.get(), options);
  demand(lowered.error.empty(), lowered.error);
  optimise(*lowered.module, *machine);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  demand(!machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile), "no object file");
  passes.run(*lowered.module);
  auto jit = llvm::orc::LLJITBuilder().create();
  demand(!!jit, "no JIT");
  state_->jit = std::move(*jit);
  // Nothing of this process is offered: a symbol that is missing here would be missing in a slice.
  llvm::Error error =
      state_->jit->addObjectFile(std::make_unique<llvm::SmallVectorMemoryBuffer>(std::move(bytes), false));
  if (error) throw std::runtime_error(llvm::toString(std::move(error)));
}
Jit::~Jit() = default;

void* Jit::address(const std::string& name) const {
  auto symbol = state_->jit->lookup(name);
  if (!symbol) throw std::runtime_error("no code for " + name + ": " + llvm::toString(symbol.takeError()));
  return symbol->toPtr<void*>();
}

std::string lowering_error(const std::string& air) {
  return lower(air, nullptr, {}).error;
}

Compiled compile(const std::string& air, const std::string& processor, const aot::cpu::LowerOptions& options) {
  Compiled result;
  const auto machine = target_machine(processor);
  if (!machine) {
    result.error = "no target " + processor;
    return result;
  }
  Lowered lowered = lower(air, machine.get(), options);
  result.error = lowered.error;
  if (!result.error.empty()) return result;
  optimise(*lowered.module, *machine);
  llvm::raw_string_ostream text(result.ir);
  lowered.module->print(text, nullptr);
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine->addPassesToEmitFile(passes, stream, nullptr, llvm::CodeGenFileType::ObjectFile)) {
    result.error = "no object file for " + processor;
    return result;
  }
  passes.run(*lowered.module);
  const llvm::StringRef view(bytes.data(), bytes.size());
  auto object = llvm::object::ObjectFile::createObjectFile(llvm::MemoryBufferRef(view, "object"));
  if (!object) {
    result.error = llvm::toString(object.takeError());
    return result;
  }
  for (const llvm::object::SymbolRef& symbol : (*object)->symbols()) {
    const uint32_t flags = llvm::cantFail(symbol.getFlags());
    const std::string name = llvm::cantFail(symbol.getName()).str();
    if (flags & llvm::object::SymbolRef::SF_Undefined && !name.empty()) result.undefined.push_back(name);
  }
  return result;
}

std::string loop_over(const std::string& name, const std::string& operation, const std::string& result,
                      const std::vector<std::string>& operands, const std::string& flags) {
  std::ostringstream out;
  out << "declare " << result << " @" << operation << "(";
  for (size_t i = 0; i < operands.size(); ++i) {
    const std::string& operand = operands[i];
    out << (i ? ", " : "") << (operand[0] == '=' ? operand.substr(1, operand.find(' ') - 1) : operand);
  }
  out << ")\ndefine void @" << name
      << "(i64 %n, ptr noalias %out, ptr noalias %p0, ptr noalias %p1, ptr noalias %p2) {\nentry:\n  br label %loop\n"
         "loop:\n  %i = phi i64 [0, %entry], [%next, %loop]\n";
  std::string arguments;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (operands[i][0] == '=') {
      arguments += (i ? ", " : "") + operands[i].substr(1);
      continue;
    }
    out << "  %a" << i << " = getelementptr " << operands[i] << ", ptr %p" << i << ", i64 %i\n  %v" << i << " = load "
        << operands[i] << ", ptr %a" << i << "\n";
    arguments += (i ? ", " : "") + operands[i] + " %v" + std::to_string(i);
  }
  out << "  %r = call " << flags << " " << result << " @" << operation << "(" << arguments << ")\n"
      << "  %o = getelementptr " << result << ", ptr %out, i64 %i\n  store " << result << " %r, ptr %o\n"
      << "  %next = add nuw nsw i64 %i, 1\n  %more = icmp ult i64 %next, %n\n"
         "  br i1 %more, label %loop, label %done\ndone:\n  ret void\n}\n";
  return out.str();
}

}  // namespace smelt::test
