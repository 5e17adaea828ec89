// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/target.hpp"

#include "codegen/interleave_chains.hpp"
#include "codegen/texel_rows.hpp"
#include "codegen/unorm_arithmetic.hpp"
#include "llvm_support/analyses.hpp"
#include "llvm_support/mem_intrinsics.hpp"
#include "llvm_support/slow_passes.hpp"
#include "lower/lower.hpp"
#include "runtime/runtime.hpp"

#include "llvm/Analysis/TargetTransformInfo.h"
#include "llvm/CodeGen/MachineModuleInfo.h"
#include "llvm/CodeGen/Passes.h"
#include "llvm/CodeGen/StackProtector.h"
#include "llvm/CodeGen/TargetPassConfig.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"

#include <mutex>

namespace smelt::aot::cpu {
namespace {

const char* triple_of(CpuArch arch) {
  return arch == CpuArch::aarch64 ? "aarch64-unknown-linux-gnu" : "x86_64-unknown-linux-gnu";
}

}  // namespace

Result<std::unique_ptr<llvm::TargetMachine>> make_target_machine(CpuLevel level) {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
    LLVMInitializeAArch64TargetInfo();
    LLVMInitializeAArch64Target();
    LLVMInitializeAArch64TargetMC();
    LLVMInitializeAArch64AsmPrinter();
  });
  const CpuLevelRow& row = row_of(level);
  const char* const triple = triple_of(row.arch);
  std::string error;
  const llvm::Target* target = llvm::TargetRegistry::lookupTarget(triple, error);
  if (target == nullptr) return fail(Errc::toolchain_missing, "LLVM has no target {}: {}", triple, error);

  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Standard;  // contraction follows each operation's own flags
  options.EmitAddrsig = false;
  options.EmitStackSizeSection = true;  // for check_stack
  // A line of the cache: otherwise what stands before a loop decides on up to a fifth of its time.
  if (row.arch == CpuArch::x86_64) options.LoopAlignment = 64;
  options.TrapUnreachable =
      true;  // no code runs on into what is behind it; allow_list/machine_code.hpp lets no trap pass
  std::unique_ptr<llvm::TargetMachine> machine(target->createTargetMachine(triple, row.processor, row.features, options,
                                                                           llvm::Reloc::PIC_, llvm::CodeModel::Small,
                                                                           llvm::CodeGenOptLevel::Aggressive));
  if (!machine) return fail(Errc::toolchain_missing, "LLVM cannot make code for {}", to_string(level));
  return machine;
}

void keep_whole_registers(llvm::Module& module, CpuLevel level) {
  if (!row_of(level).is_wide) return;
  for (llvm::Function& function : module) {
    if (function.getCallingConv() != llvm::CallingConv::PreserveAll) continue;
    function.setCallingConv(llvm::CallingConv::PreserveMost);
    for (llvm::User* user : function.users())
      if (auto* call = llvm::dyn_cast<llvm::CallBase>(user)) call->setCallingConv(llvm::CallingConv::PreserveMost);
  }
}

void set_function_attributes(llvm::Function& function, const llvm::TargetMachine& target, CpuLevel level) {
  function.addFnAttr("target-cpu", target.getTargetCPU());
  if (!target.getTargetFeatureString().empty()) function.addFnAttr("target-features", target.getTargetFeatureString());
  if (row_of(level).is_wide) function.addFnAttr("prefer-vector-width", "512");
  function.addFnAttr("no-trapping-math", "true");
  function.addFnAttr("denormal-fp-math-f32", "preserve-sign,preserve-sign");
  function.addFnAttr("reciprocal-estimates", "none");  // a real division is as fast and within Metal's bounds
  function.addFnAttr("no-builtins");                   // no idiom may become a call to memcpy or memset
  // A jump table whose default cannot be reached is read without a bound: undefined behaviour could then leave the
  // code.
  function.addFnAttr("no-jump-tables", "true");
  function.addFnAttr(llvm::Attribute::NoUnwind);
}

namespace {

/// Instructions from which on vector code takes the short way: its loops are long, and their bodies fill the registers
/// several times over.
constexpr unsigned kLargeModule = 6000;

/// The same for code of which LLVM would make vectors: above it its vectorisers alone take more than a minute.
constexpr unsigned kHugeModule = 100000;

/// What of the default O3 changes such code, each kind of work once or twice: half the time, and code of the same size.
/// Of code that is wanted soon it is all: nothing is unrolled, and LLVM makes no vectors.
constexpr const char* kShortPipeline =
    "always-inline,globaldce,function(sroa<modify-cfg>,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
    "jump-threading,correlated-propagation,simplifycfg,reassociate,loop-simplify,lcssa,loop-mssa(loop-rotate,licm),"
    "loop(indvars),gvn,dse,{}instcombine<no-verify-fixpoint>,vector-combine,loop-mssa(licm),"
    "simplifycfg<switch-range-to-icmp;sink-common-insts>,adce),globaldce,constmerge";
/// What texels in the kernel's own code need inside it.
constexpr const char* kTexelPasses = "simplifycfg<sink-common-insts>,texel-rows,unorm-arithmetic,";

void expand_memory_intrinsics(llvm::Function& function, const llvm::TargetTransformInfo& costs) {
  llvm::SmallVector<llvm::MemIntrinsic*> found;
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (auto* memory = llvm::dyn_cast<llvm::MemIntrinsic>(&instruction); memory && becomes_call(*memory))
      found.push_back(memory);
  for (llvm::MemIntrinsic* memory : found) expand_as_loop(*memory, costs);
}

}  // namespace

void optimise(llvm::Module& module, llvm::TargetMachine& target, Vectors vectors, CpuEffort effort) {
  llvm::PipelineTuningOptions tuning;
  tuning.SLPVectorization = vectors == Vectors::wanted;
  llvm::PassBuilder builder(&target, tuning);
  const bool has_texels = has_inline_texels(module);
  if (has_texels) {
    builder.registerPeepholeEPCallback([](llvm::FunctionPassManager& behind, llvm::OptimizationLevel) {
      behind.addPass(TexelRows());
      behind.addPass(UnormArithmetic());
    });
    builder.registerPipelineParsingCallback([](llvm::StringRef name, llvm::FunctionPassManager& wanted, auto) {
      if (name == TexelRows::name())
        wanted.addPass(TexelRows());
      else if (name == UnormArithmetic::name())
        wanted.addPass(UnormArithmetic());
      else
        return false;
      return true;
    });
  }
  Analyses analyses(builder);
  llvm::ModulePassManager passes;
  const bool large = module.getInstructionCount() > (vectors == Vectors::made ? kLargeModule : kHugeModule);
  if (effort == CpuEffort::best || (effort == CpuEffort::balanced && !large))
    passes = builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3);
  else if (auto error = builder.parsePassPipeline(passes, fmt::format(kShortPipeline, has_texels ? kTexelPasses : "")))
    llvm::report_fatal_error(std::move(error), false);  // of a literal
  const WithoutSlowPasses without(module);
  passes.run(module, analyses.module);
  for (llvm::Function& function : module) {
    if (function.isDeclaration()) continue;
    expand_memory_intrinsics(function, target.getTargetTransformInfo(function));
    move_bfloats_as_integers(function);  // a bfloat phi would be a library call on x86
  }
}

namespace {

/// Block length from which on instructions stay in the order of the IR: LLVM's machine scheduler compares memory
/// accesses pairwise, and takes most of the time of such kernels (matrix products by lanes). The processor reorders
/// them anyway. The machine combiner, which makes chains of sums shorter, looks at the whole block again for each sum
/// that it may change: with some ten thousands of integer sums it does not come to an end in minutes.
constexpr size_t kLongBlock = 3000;

bool has_long_block(const llvm::Module& module) {
  for (const llvm::Function& function : module)
    for (const llvm::BasicBlock& block : function)
      if (block.size() > kLongBlock) return true;
  return false;
}

/// Instructions are selected, and put in a first order, block by block in more than linear time: at each load of 128 or
/// 256 bits, LLVM 19 looks for x86 at everything that depends on the store or call before it.
constexpr unsigned kPieceOfBlock = 200;
constexpr unsigned kCutFrom = 1000;

/// Cuts long blocks into pieces that follow each other. Right before selection, since LLVM's own preparation puts such
/// pieces together again, as do the passes after it: the code has no more jumps for it.
class SplitLongBlocks : public llvm::FunctionPass {
 public:
  static char ID;
  SplitLongBlocks() : FunctionPass(ID) {}
  llvm::StringRef getPassName() const override { return "Split long blocks"; }

  /// Selection needs the stack protector's analysis, which cannot be made again.
  void getAnalysisUsage(llvm::AnalysisUsage& usage) const override { usage.addPreserved<llvm::StackProtector>(); }

  bool runOnFunction(llvm::Function& function) override {
    bool changed = false;
    for (llvm::BasicBlock& block : llvm::make_early_inc_range(function)) {
      if (block.size() < kCutFrom) continue;
      changed = true;
      llvm::SmallVector<llvm::Instruction*> products;
      for (llvm::Instruction& instruction : block)
        if (sum_of(instruction)) products.push_back(&instruction);
      for (llvm::Instruction* product : products) product->moveBefore(sum_of(*product));
      interleave_chains(block);
      for (llvm::BasicBlock* rest = &block; llvm::Instruction* at = place_to_cut(*rest);)
        rest = rest->splitBasicBlock(at, "rest");
    }
    return changed;
  }

 private:
  /// What a product is added up in, which selection makes one operation of where it sees both.
  static llvm::Instruction* sum_of(llvm::Instruction& product) {
    if (product.getOpcode() != llvm::Instruction::FMul || !product.hasOneUse()) return nullptr;
    auto* sum = llvm::cast<llvm::Instruction>(product.user_back());
    const bool adds = sum->getOpcode() == llvm::Instruction::FAdd || sum->getOpcode() == llvm::Instruction::FSub;
    return adds && sum->getParent() == product.getParent() ? sum : nullptr;
  }

  /// Behind a piece and all variables, which must stay in the first block; null where no second piece is left.
  static llvm::Instruction* place_to_cut(llvm::BasicBlock& block) {
    llvm::Instruction* at = nullptr;
    unsigned passed = 0;
    for (llvm::Instruction& instruction : block) {
      if (llvm::isa<llvm::PHINode>(instruction)) continue;
      if (llvm::isa<llvm::AllocaInst>(instruction)) {
        at = nullptr;
        passed = 0;
      }
      if (at == nullptr && ++passed >= kPieceOfBlock && sum_of(instruction) == nullptr)
        at = instruction.getNextNode();
      else if (at != nullptr)
        ++passed;
    }
    return passed >= 2 * kPieceOfBlock ? at : nullptr;
  }
};
char SplitLongBlocks::ID = 0;

/// What TargetMachine::addPassesToEmitFile does, with a way to leave passes out: those that take too long for long
/// blocks.
bool add_code_generator(llvm::legacy::PassManager& passes, llvm::LLVMTargetMachine& target,
                        llvm::raw_pwrite_stream& stream, bool long_blocks, llvm::CodeGenFileType type) {
  llvm::TargetPassConfig* config = target.createPassConfig(passes);
  if (long_blocks) {
    config->disablePass(&llvm::MachineSchedulerID);
    config->disablePass(&llvm::MachineCombinerID);
  }
  // The last pass before selection that is always there.
  config->insertPass(&llvm::StackProtector::ID, new SplitLongBlocks());
  // In LLVM 19 it loses copies round calls that keep a part of a register, as all calls on AArch64 do with q8 to q15
  // (mended in LLVM 20: github.com/llvm/llvm-project/pull/122734). Two of three runs are left out so; the third, at the
  // end, is the target's own and obeys only an option of the whole process. On x86 no call of ours keeps a part:
  // keep_whole_registers().
  if (target.getTargetTriple().isAArch64()) config->disablePass(&llvm::MachineCopyPropagationID);
  passes.add(config);
  auto* info = new llvm::MachineModuleInfoWrapperPass(&target);
  passes.add(info);
  if (config->addISelPasses()) return false;
  config->addMachinePasses();
  config->setInitialized();
  if (target.addAsmPrinter(passes, stream, nullptr, type, info->getMMI().getContext())) return false;
  passes.add(llvm::createFreeMachineFunctionPass());
  return true;
}

Result<llvm::SmallVector<char, 0>> emit(llvm::Module& module, llvm::TargetMachine& target, llvm::CodeGenFileType type) {
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::legacy::PassManager passes;
  if (!add_code_generator(passes, static_cast<llvm::LLVMTargetMachine&>(target), stream, has_long_block(module), type))
    return fail(Errc::toolchain_missing, "LLVM cannot emit objects for this target");
  passes.run(module);
  return buffer;
}

}  // namespace

Result<Bytes> emit_object(llvm::Module& module, llvm::TargetMachine& target) {
  SMELT_TRY(const auto buffer, emit(module, target, llvm::CodeGenFileType::ObjectFile));
  const auto* data = reinterpret_cast<const std::byte*>(buffer.data());
  return Bytes(data, data + buffer.size());
}

Result<std::string> emit_assembly(llvm::Module& module, llvm::TargetMachine& target) {
  SMELT_TRY(const auto buffer, emit(module, target, llvm::CodeGenFileType::AssemblyFile));
  return std::string(buffer.data(), buffer.size());
}

}  // namespace smelt::aot::cpu
