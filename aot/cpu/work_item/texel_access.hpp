// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes of texels as checked code has them (LowerOptions::name_texels): their address, then the access.
#pragma once

#include "llvm/IR/Instructions.h"

#include <optional>

namespace smelt::aot::cpu {

struct TexelAccess {
  llvm::Value* texture = nullptr;
  llvm::Value* texel = nullptr;            ///< its address, null outside of the texture
  llvm::Value *x = nullptr, *y = nullptr;  ///< i32; null when the address is no call any more
  bool is_write = false;
};
/// Nothing for other calls.
std::optional<TexelAccess> texel_access(const llvm::CallInst& call);

/// Whether a call looks at textures alone, and at nothing outside of them: sizes, samples, addresses of texels.
bool stays_in_textures(const llvm::CallInst& call);

/// True for the call that checks a handle (kTextureHandle, kSamplerHandle). Its result is a texture, null or a sampler.
bool is_handle(const llvm::Value* value);

}  // namespace smelt::aot::cpu
