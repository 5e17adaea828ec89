// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks of compressed pixel formats to texels.
#pragma once

#include "smelt/base/result.hpp"
#include "smelt/loader/texture.hpp"

#include <memory>
#include <mutex>

namespace smelt::loader {

/// One slice of a level: rows of blocks, and where the rows of its texels go.
struct BlockSlice {
  const std::byte* blocks = nullptr;
  uint64_t block_row_bytes = 0;
  std::byte* texels = nullptr;
  uint64_t texel_row_bytes = 0;
  uint32_t width = 0, height = 0;  ///< in texels; blocks at the edges reach over
};

class BlockDecoder {
 public:
  virtual ~BlockDecoder() = default;
  virtual Result<void> decode(const BlockSlice& slice) = 0;

  /// Of a compressed format. Errors: toolchain_missing, where a library of the system decodes it and is not there.
  static Result<std::unique_ptr<BlockDecoder>> create(const PixelFormatFacts& format);
};

/// BC1 to BC5.
std::unique_ptr<BlockDecoder> bc_decoder(const PixelFormatFacts& format);

/// Errors: toolchain_missing.
Result<std::unique_ptr<BlockDecoder>> astc_decoder(const PixelFormatFacts& format);

/// Which blocks the texels of a texture were decoded from.
struct Texture::Decoded {
  std::mutex mutex;                     ///< guards what follows, and the texels
  std::unique_ptr<std::byte[]> blocks;  ///< null before the first time
};

}  // namespace smelt::loader
