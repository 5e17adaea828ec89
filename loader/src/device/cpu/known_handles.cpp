// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "known_handles.hpp"

#include <algorithm>

namespace smelt::loader {
namespace {

std::vector<uint64_t> sorted_addresses(const auto& bound, const auto& used) {
  std::vector<uint64_t> all;
  for (const auto* one : bound)
    if (one != nullptr) all.push_back(reinterpret_cast<uintptr_t>(one));
  for (const auto& one : used) all.push_back(reinterpret_cast<uintptr_t>(&one->cpu()));
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace

std::shared_ptr<const KnownHandles> known_handles(std::span<const smelt_cpu_texture* const> textures,
                                                  std::span<const smelt_cpu_sampler* const> samplers,
                                                  std::span<const TextureRef> used_textures,
                                                  std::span<const SamplerRef> used_samplers) {
  return std::make_shared<const KnownHandles>(
      KnownHandles{sorted_addresses(textures, used_textures), sorted_addresses(samplers, used_samplers)});
}

}  // namespace smelt::loader
