// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "work_item/texel_access.hpp"

#include "lower/lower.hpp"

namespace smelt::aot::cpu {
namespace {

llvm::StringRef texture_function(const llvm::CallInst& call) {
  const llvm::Function* const callee = call.getCalledFunction();
  llvm::StringRef name = callee != nullptr ? callee->getName() : llvm::StringRef();
  return name.consume_front("smelt_rt_texture_") ? name : llvm::StringRef();
}

}  // namespace

std::optional<TexelAccess> texel_access(const llvm::CallInst& call) {
  const llvm::StringRef name = texture_function(call);
  if (name != "read_texel" && name != "write_texel") return std::nullopt;
  TexelAccess access{.texture = call.getArgOperand(0), .texel = call.getArgOperand(1)};
  access.is_write = name == "write_texel";
  const auto* const address = llvm::dyn_cast<llvm::CallInst>(access.texel);
  if (address != nullptr && texture_function(*address) == "texel") {
    access.x = address->getArgOperand(1);
    access.y = address->getArgOperand(2);
  }
  return access;
}

bool is_handle(const llvm::Value* value) {
  const auto* const call = llvm::dyn_cast<llvm::CallInst>(value);
  const llvm::Function* const callee = call != nullptr ? call->getCalledFunction() : nullptr;
  return callee != nullptr && (callee->getName() == kTextureHandle || callee->getName() == kSamplerHandle);
}

bool stays_in_textures(const llvm::CallInst& call) {
  return !texture_function(call).empty() && !texel_access(call);
}

}  // namespace smelt::aot::cpu
