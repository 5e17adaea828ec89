// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What says for whom a module is: triple, data layout, module flags, !air.version, !air.language_version, compile
// options (docs/formats/air.md 1.1 to 1.4), in Apple's order. Finished AIR for this very target keeps what it has; for
// another target its versions are replaced and the rest stays.
#include "interface/module_metadata.hpp"

#include "interface/limits.hpp"
#include "legalise/support.hpp"

#include "llvm/IR/Module.h"

#include <algorithm>

namespace smelt::aot::air {
namespace {

constexpr const char* kIdent = "smelt";

void set_list(llvm::Module& module, llvm::StringRef name, llvm::ArrayRef<llvm::Metadata*> nodes) {
  if (llvm::NamedMDNode* old = module.getNamedMetadata(name)) old->eraseFromParent();
  llvm::NamedMDNode* list = module.getOrInsertNamedMetadata(name);
  for (llvm::Metadata* node : nodes) list->addOperand(llvm::cast<llvm::MDNode>(node));
}

llvm::Metadata* number(llvm::LLVMContext& context, unsigned value) {
  return llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(llvm::Type::getInt32Ty(context), value));
}

llvm::MDNode* version_node(llvm::LLVMContext& context, Version version) {
  return llvm::MDNode::get(
      context, {number(context, version.major), number(context, version.minor), number(context, version.patch)});
}

llvm::MDNode* text_node(llvm::LLVMContext& context, llvm::StringRef text) {
  return llvm::MDNode::get(context, {llvm::MDString::get(context, text)});
}

void set_versions(llvm::Module& module, const Target& target, Version language) {
  llvm::LLVMContext& context = module.getContext();
  set_list(module, "air.version", {version_node(context, target.air)});
  set_list(module, "air.language_version",
           {llvm::MDNode::get(context, {llvm::MDString::get(context, "Metal"), number(context, language.major),
                                        number(context, language.minor), number(context, language.patch)})});
}

void set_flags(llvm::Module& module, const Target& target, bool keep_debug) {
  llvm::LLVMContext& context = module.getContext();
  const llvm::Metadata* debug_version = module.getModuleFlag("Debug Info Version");
  if (llvm::NamedMDNode* flags = module.getModuleFlagsMetadata()) flags->eraseFromParent();
  using Behaviour = llvm::Module::ModFlagBehavior;
  module.addModuleFlag(
      Behaviour::Warning, "SDK Version",
      llvm::ConstantDataArray::get(context, llvm::ArrayRef<uint32_t>{target.os.major, target.os.minor}));
  module.addModuleFlag(Behaviour::Error, "wchar_size", 4);
  if (target.air >= Version{2, 6}) module.addModuleFlag(Behaviour::Max, "frame-pointer", 2);
  if (target.air >= kFirstLimitFlags) {
    module.addModuleFlag(Behaviour::Max, "air.max_device_buffers", kMostBuffers);
    module.addModuleFlag(Behaviour::Max, "air.max_constant_buffers", kMostBuffers);
    module.addModuleFlag(Behaviour::Max, "air.max_threadgroup_buffers", kMostBuffers);
    module.addModuleFlag(Behaviour::Max, "air.max_textures", kMostTextures);
    module.addModuleFlag(Behaviour::Max, "air.max_read_write_textures", kMostReadWriteTextures);
    module.addModuleFlag(Behaviour::Max, "air.max_samplers", kMostSamplers);
  }
  if (keep_debug && debug_version) module.addModuleFlag(Behaviour::Warning, "Debug Info Version", 3);
}

/// Of two versions that a finished module and its target may say, the one that both know.
Version language_for(const PassContext& context) {
  if (context.options.language) return *context.options.language;
  const std::optional<Version> own = language_version(context.module);
  return context.finished && own ? std::min(*own, context.target.language) : context.target.language;
}

}  // namespace

void write_module_metadata(llvm::Module& module, const Target& target, const ModuleVersions& versions) {
  llvm::LLVMContext& context = module.getContext();
  module.setTargetTriple(target.triple);
  module.setDataLayout(air_data_layout());
  set_flags(module, target, versions.keep_debug);
  set_list(module, "air.compile_options",
           {text_node(context, "air.compile.denorms_disable"),
            text_node(context, versions.fast_math ? "air.compile.fast_math_enable" : "air.compile.fast_math_disable"),
            text_node(context, "air.compile.framebuffer_fetch_enable")});
  set_list(module, "llvm.ident", {text_node(context, kIdent)});
  set_versions(module, target, versions.language);
}

Result<void> module_metadata(PassContext& context) {
  llvm::Module& module = context.module;
  const Version language = language_for(context);
  if (context.finished) {
    const bool same = air_version(module) == context.target.air && language_version(module) == language &&
                      serves(module.getTargetTriple(), context.target);
    if (same) return {};
    module.setTargetTriple(context.target.triple);
    set_versions(module, context.target, language);
    set_flags(module, context.target, context.options.debug_lines);
    return {};
  }
  module.setSourceFileName(module.getName());
  write_module_metadata(module, context.target,
                        {language, context.options.math.mode == MathMode::fast, context.options.debug_lines});
  return {};
}

}  // namespace smelt::aot::air
