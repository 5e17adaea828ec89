// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What --texture and --sampler of `smelt run` bind.
#pragma once

#include "smelt/loader/encoder.hpp"

#include "run_argument.hpp"

namespace smelt::cli {

struct RunTexture {
  std::string name;                           ///< of the argument, or its index
  std::optional<loader::PixelFormat> format;  ///< else by the array's elements
  RunArgument argument;
};
struct RunSampler {
  std::string name;
  loader::SamplerRef sampler;
};

/// NAME=ARG or NAME:FORMAT=ARG, ARG as for buffers. Reads files.
Result<RunTexture> parse_texture(const std::string& text);
/// NAME=WORDS, in the words of Metal source.
Result<RunSampler> parse_run_sampler(const std::string& text);

/// `texels` is the memory that the texture has; it stays until the dispatch has run.
Result<void> bind_texture(loader::Encoder& encoder, const loader::Function& function, const RunTexture& texture,
                          std::span<std::byte> texels);
Result<void> bind_sampler(loader::Encoder& encoder, const loader::Function& function, const RunSampler& sampler);

}  // namespace smelt::cli
