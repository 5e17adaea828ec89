// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kind of bytes an input is, told from the bytes alone.
#pragma once

#include "smelt/base/bytes.hpp"

#include <string_view>

namespace smelt::aot::input {

enum class Kind {
  bitcode,          ///< 'BC' 0xC0DE
  wrapped_bitcode,  ///< 0x0B17C0DE
  text_ir,
  metallib,   ///< MTLB
  universal,  ///< a fat container that may hold metallibs
  msl,        ///< source text that is not IR
  unknown,
};

Kind detect_kind(ByteView bytes);

/// The same, but for a file of nothing whose name says Metal: a library of nothing, as a file of comments is.
Kind detect_kind(ByteView bytes, std::string_view name);

/// For messages about Kind::unknown, from metallib::looks_like: "an ELF file", "a Git LFS pointer". Empty for what may
/// be Metal source.
std::string looks_like(ByteView bytes);

}  // namespace smelt::aot::input
