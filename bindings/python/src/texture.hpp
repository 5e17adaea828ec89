// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures and samplers as Python sees them, and as a call binds them. docs/reference/textures.md.
#pragma once

#include "smelt/loader/encoder.hpp"

#include "grid_size.hpp"
#include "tensor.hpp"

#include <optional>
#include <vector>

namespace smelt::python {

/// smelt.Texture.
struct PythonTexture {
  loader::TextureRef texture;
  bool writable = true;
};

/// smelt.Sampler.
struct PythonSampler {
  loader::SamplerRef sampler;
  std::string words;
};

/// Textures and samplers of one call. Arrays are borrowed until release(). One thread at a time.
class TextureArguments {
 public:
  /// Binds a smelt.Texture, an array or a smelt.Sampler, or a list of as many as the argument has slots. `position` is
  /// for messages.
  void bind(loader::Encoder& encoder, const loader::ArgInfo& argument, py::handle value, size_t position);
  /// The size of the first texture that the kernel writes to: a thread for each texel.
  const std::optional<GridSize>& written() const { return written_; }
  void release();

 private:
  void bind_slot(loader::Encoder& encoder, const loader::ArgInfo& argument, uint32_t slot, py::handle value,
                 size_t position);
  loader::TextureRef texture_of(const loader::ArgInfo& argument, py::handle value, size_t position);

  std::vector<Tensor> tensors_;
  std::optional<GridSize> written_;
};

void bind_texture(py::module_& module);

}  // namespace smelt::python
