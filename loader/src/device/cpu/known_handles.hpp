// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which textures and samplers a launch was handed, so that checked code takes nothing else for one.
#pragma once

#include "smelt/loader/texture.hpp"

#include <memory>
#include <span>
#include <vector>

namespace smelt::loader {

/// The addresses that kernels know them by, each greater than the one before it.
struct KnownHandles {
  std::vector<uint64_t> textures, samplers;
};

/// What is bound, where null is nothing, and what an encoder uses besides.
std::shared_ptr<const KnownHandles> known_handles(std::span<const smelt_cpu_texture* const> textures,
                                                  std::span<const smelt_cpu_sampler* const> samplers,
                                                  std::span<const TextureRef> used_textures,
                                                  std::span<const SamplerRef> used_samplers);

}  // namespace smelt::loader
