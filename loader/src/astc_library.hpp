// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libastcenc, which decodes ASTC. It is opened when the first such texture is made, so that programs without one
// neither need nor load it. Declared here and not by its header: the loader is built without it, and the two ABIs that
// Debian has (4.2 as libastcenc.so.3d, 4.8 as libastcenc.so.5d) differ in one structure alone, which only the library
// reads.
#pragma once

#include "smelt/base/result.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace smelt::loader {

/// astcenc_config: written by config_init, read by context_alloc. It is 108 bytes in 4.2.
struct AstcConfig {
  alignas(16) std::array<std::byte, 4096> bytes;
};
struct AstcContext;

enum AstcProfile : int { ASTC_LDR_SRGB = 0, ASTC_LDR = 1, ASTC_HDR = 3 };
enum AstcType : int { ASTC_U8 = 0, ASTC_F16 = 1 };
constexpr unsigned kAstcDecompressOnly = 1 << 4;

/// astcenc_image: slices of rows without gaps.
struct AstcImage {
  unsigned width, height, depth;
  AstcType type;
  void** slices;
};
/// astcenc_swizzle: red, green, blue, alpha.
struct AstcSwizzle {
  int of[4] = {0, 1, 2, 3};
};

struct AstcLibrary {
  int (*config_init)(AstcProfile profile, unsigned block_x, unsigned block_y, unsigned block_z, float quality,
                     unsigned flags, AstcConfig* config) = nullptr;
  int (*context_alloc)(const AstcConfig* config, unsigned threads, AstcContext** context) = nullptr;
  int (*decompress_image)(AstcContext* context, const uint8_t* data, size_t size, AstcImage* into,
                          const AstcSwizzle* swizzle, unsigned thread) = nullptr;
  int (*decompress_reset)(AstcContext* context) = nullptr;
  void (*context_free)(AstcContext* context) = nullptr;
  const char* (*get_error_string)(int status) = nullptr;
  std::string trouble;
};

/// Errors: toolchain_missing, with Debian's package.
Result<const AstcLibrary*> astc_library();

}  // namespace smelt::loader
