// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The Metal standard library's headers, which the build embeds (cmake/embed_headers.cmake) and the front end serves
// from memory. What they hold: msl/include/README.md.
#pragma once

namespace smelt::aot::msl {

struct EmbeddedHeader {
  const char* name;  ///< "metal_stdlib", "simd/simd.h"
  const char* text;
  unsigned long size;
};

extern const EmbeddedHeader smelt_embedded_headers[];
extern const unsigned long smelt_embedded_header_count;
extern const char smelt_embedded_headers_sha256[];  ///< over names and contents, hex

/// Where the headers seem to lie, for #include and for messages.
inline constexpr const char* kHeaderFolder = "/smelt/include";

}  // namespace smelt::aot::msl
