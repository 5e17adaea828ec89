// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/runtime.hpp"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Analysis/ValueTracking.h"
#include "llvm/Bitcode/BitcodeReader.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/Instructions.h"
#include "llvm/IR/IntrinsicsX86.h"
#include "llvm/Linker/Linker.h"
#include "llvm/Support/MemoryBuffer.h"

extern "C" {
extern const unsigned char smelt_cpu_runtime_bitcode[];
extern const unsigned long smelt_cpu_runtime_bitcode_size;
}

namespace smelt::aot::cpu {
namespace {

llvm::StringRef prefix() {
  return {kRuntimePrefix.data(), kRuntimePrefix.size()};
}

/// The runtime in this context, bodies unread until they are linked. Never fails for bytes that we made ourselves.
std::unique_ptr<llvm::Module> open_runtime(llvm::LLVMContext& context) {
  const llvm::StringRef bytes(reinterpret_cast<const char*>(smelt_cpu_runtime_bitcode), smelt_cpu_runtime_bitcode_size);
  auto module = llvm::getOwningLazyBitcodeModule(llvm::MemoryBuffer::getMemBuffer(bytes, "runtime.c", false), context);
  if (!module) {
    llvm::consumeError(module.takeError());
    return nullptr;
  }
  return std::move(*module);
}

constexpr llvm::StringLiteral kRuntimeCall = "smelt.runtime-call";

/// A look into a texture's description.
bool is_query(llvm::StringRef name) {
  return name.consume_front("smelt_rt_texture_") &&
         llvm::is_contained({"width", "height", "depth", "layers", "levels", "samples", "is_null"}, name);
}

/// Long, and with branches: what is inlined everywhere takes long to compile and is not faster.
bool is_called(llvm::StringRef name) {
  return (name.starts_with("smelt_rt_texture_") && !is_query(name)) || name.starts_with("smelt_rt_tensor_");
}

/// Attributes that tie a function to the processor it was compiled for, or that keep it from being inlined.
void forget_processor(llvm::Function& function) {
  for (const char* attribute : {"target-cpu", "target-features", "tune-cpu", "min-legal-vector-width",
                                "no-trapping-math", "stack-protector-buffer-size"})
    function.removeFnAttr(attribute);
}

/// What an inlined function reads of a texture's description, its first argument, stays the same during a launch.
void trust_description(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function)) {
    auto* const load = llvm::dyn_cast<llvm::LoadInst>(&instruction);
    if (load == nullptr) continue;
    if (llvm::getUnderlyingObject(load->getPointerOperand()) == function.getArg(0))
      load->setMetadata(llvm::LLVMContext::MD_invariant_load, llvm::MDNode::get(function.getContext(), {}));
  }
}

/// Their answers may be given for all lanes at once (codegen/texel_rows.cpp), as those of a kernel's own may not.
void mark_row_tests(llvm::Function& function) {
  for (llvm::Instruction& instruction : llvm::instructions(function))
    if (llvm::isa<llvm::ICmpInst>(instruction) && instruction.getType()->isVectorTy())
      instruction.setMetadata(kRowTest, llvm::MDNode::get(function.getContext(), {}));
}

void make_inlinable(llvm::Function& function) {
  function.setLinkage(llvm::GlobalValue::InternalLinkage);
  function.setDSOLocal(true);
  forget_processor(function);
  if (is_called(function.getName())) {
    function.addFnAttr(llvm::Attribute::NoInline);
    function.addFnAttr(kRuntimeCall);
    return;
  }
  function.removeFnAttr(llvm::Attribute::NoInline);
  function.addFnAttr(llvm::Attribute::AlwaysInline);
  const bool is_inline = function.getName().starts_with(kInlineTexels);
  if (is_inline || is_query(function.getName())) trust_description(function);
  if (is_inline) mark_row_tests(function);
}

}  // namespace

bool stays_called(const llvm::Function& function) {
  return function.hasFnAttribute(kRuntimeCall);
}

bool has_inline_texels(const llvm::Module& module) {
  return llvm::any_of(module,
                      [](const llvm::Function& function) { return function.getName().starts_with(kInlineTexels); });
}

llvm::Function* declare_runtime(llvm::Module& module, std::string_view name) {
  const std::string full = std::string(kRuntimePrefix) + std::string(name);
  if (llvm::Function* known = module.getFunction(full)) return known;
  const auto runtime = open_runtime(module.getContext());
  if (!runtime) return nullptr;
  const llvm::Function* original = runtime->getFunction(full);
  if (!original) return nullptr;
  return llvm::Function::Create(original->getFunctionType(), llvm::GlobalValue::ExternalLinkage, full, module);
}

Result<void> link_runtime(llvm::Module& module) {
  std::vector<std::string> wanted;
  for (const llvm::Function& function : module)
    if (function.isDeclaration() && function.getName().starts_with(prefix()))
      wanted.push_back(function.getName().str());
  if (wanted.empty()) return {};

  auto runtime = open_runtime(module.getContext());
  if (!runtime) return fail(Errc::compile_failed, "the CPU runtime inside this build of smelt cannot be read");
  for (const std::string& name : wanted) {
    if (!runtime->getFunction(name))
      return fail(Errc::compile_failed, "the CPU runtime inside this build of smelt has no function '{}'", name);
  }
  llvm::SmallPtrSet<const llvm::Function*, 32> known;
  for (const llvm::Function& function : module) known.insert(&function);
  // Scalars only: the runtime's own layout and triple decide nothing.
  runtime->setDataLayout(module.getDataLayout());
  runtime->setTargetTriple(module.getTargetTriple());
  if (auto* flags = runtime->getModuleFlagsMetadata()) runtime->eraseNamedMetadata(flags);
  if (llvm::Linker::linkModules(module, std::move(runtime), llvm::Linker::LinkOnlyNeeded))
    return fail(Errc::compile_failed, "the CPU runtime does not link into module '{}'", module.getModuleIdentifier());
  for (llvm::Function& function : module)
    if (!function.isDeclaration() && function.getName().starts_with(prefix()))
      make_inlinable(function);
    else if (known.count(&function) == 0)
      forget_processor(function);
  return {};
}

void use_wide_instructions(llvm::Module& module) {
  llvm::Function* const pick = module.getFunction("smelt_rt_pick_texels");
  if (pick == nullptr || pick->isDeclaration()) return;
  pick->deleteBody();
  pick->setLinkage(llvm::GlobalValue::InternalLinkage);
  llvm::IRBuilder<> builder(llvm::BasicBlock::Create(module.getContext(), "", pick));
  llvm::Type* const words = llvm::FixedVectorType::get(builder.getInt32Ty(), 16);
  const auto row = [&](unsigned from) {
    llvm::Value* const at = builder.CreateConstInBoundsGEP1_64(builder.getInt8Ty(), pick->getArg(0), from);
    return builder.CreateAlignedLoad(words, at, llvm::Align(1));
  };
  llvm::Value* const places = builder.CreateAlignedLoad(words, pick->getArg(1), llvm::Align(64));
  builder.CreateAlignedStore(
      builder.CreateIntrinsic(llvm::Intrinsic::x86_avx512_vpermi2var_d_512, {}, {row(0), places, row(64)}),
      pick->getArg(2), llvm::Align(64));
  builder.CreateRetVoid();
}

}  // namespace smelt::aot::cpu
