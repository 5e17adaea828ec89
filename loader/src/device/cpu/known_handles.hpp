// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The textures and samplers that a launch may use, so that checked code refuses every other handle.
#pragma once

#include "smelt/loader/texture.hpp"

#include <memory>
#include <span>
#include <vector>

namespace smelt::loader {

/// Handles, which are addresses, in ascending order without duplicates, as checked code searches them.
struct KnownHandles {
  std::vector<uint64_t> textures, samplers;
};

/// Collects the handles of bound textures and samplers (null: an empty slot) and of those of Encoder::use.
std::shared_ptr<const KnownHandles> known_handles(std::span<const smelt_cpu_texture* const> textures,
                                                  std::span<const smelt_cpu_sampler* const> samplers,
                                                  std::span<const TextureRef> used_textures,
                                                  std::span<const SamplerRef> used_samplers);

}  // namespace smelt::loader
