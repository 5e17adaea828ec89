// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures for the tests: made by the loader, filled with bytes.
#pragma once

#include "smelt/loader/texture.hpp"
#include "smelt/schema/cpu_abi.h"

#include "msl.hpp"

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

namespace smelt::test {

using loader::PixelFormat;
using loader::SamplerDescriptor;
using loader::TextureDescriptor;
using loader::TextureRef;
using loader::TextureType;

template <class T>
T must_be(Result<T> result) {
  if (!result) throw std::runtime_error(result.error().message);
  return std::move(*result);
}

inline TextureRef make_texture(const TextureDescriptor& descriptor) {
  return must_be(loader::Texture::create(descriptor));
}

/// One whose memory begins with these values.
template <class T>
TextureRef texture_of(const TextureDescriptor& descriptor, const std::vector<T>& values) {
  TextureRef texture = make_texture(descriptor);
  if (texture->contents().size() < values.size() * sizeof(T)) throw std::runtime_error("more values than texels");
  std::memcpy(texture->contents().data(), values.data(), values.size() * sizeof(T));
  return texture;
}

template <class T>
std::vector<T> values_of(const loader::Texture& texture) {
  std::vector<T> values(texture.contents().size() / sizeof(T));
  std::memcpy(values.data(), texture.contents().data(), values.size() * sizeof(T));
  return values;
}

inline std::string metal(const std::string& body) {
  return "#include <metal_stdlib>\nusing namespace metal;\n" + body;
}

}  // namespace smelt::test
