// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The textures and samplers that argument encoders have written to a buffer, so that checked code takes their handles.
#pragma once

#include "smelt/loader/encoder.hpp"
#include "smelt/loader/texture.hpp"

#include <cstddef>
#include <map>
#include <memory>
#include <mutex>
#include <utility>

namespace smelt::metal {

/// Holds weak references by their place in the buffer. Thread-safe.
class EncodedHandles {
 public:
  /// Replaces the texture at `place`; null removes it.
  void put(const std::byte* place, const loader::TextureRef& texture) { put_at(textures_, place, texture); }
  /// Replaces the sampler at `place`; null removes it.
  void put(const std::byte* place, const loader::SamplerRef& sampler) { put_at(samplers_, place, sampler); }
  /// Declares those that still exist to an encoder.
  void use(loader::Encoder& encoder) const {
    const std::lock_guard lock(mutex_);
    for (const auto& [place, texture] : textures_)
      if (loader::TextureRef living = texture.lock()) encoder.use(std::move(living));
    for (const auto& [place, sampler] : samplers_)
      if (loader::SamplerRef living = sampler.lock()) encoder.use(std::move(living));
  }

 private:
  template <class T>
  using ByPlace = std::map<const std::byte*, std::weak_ptr<T>>;
  template <class T>
  void put_at(ByPlace<T>& all, const std::byte* place, const std::shared_ptr<T>& one) {
    const std::lock_guard lock(mutex_);
    if (one)
      all[place] = one;
    else
      all.erase(place);
  }

  mutable std::mutex mutex_;
  ByPlace<loader::TextureRef::element_type> textures_;
  ByPlace<loader::SamplerRef::element_type> samplers_;
};

}  // namespace smelt::metal
