// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PNG files as arrays of u8: height x width of grey, or with 2 channels (grey and alpha) or 4 (red, green, blue,
// alpha). libpng is opened when a picture is read or written, so that no other command waits for it.
#pragma once

#include "npy.hpp"

namespace smelt::cli {

/// Pictures without alpha get 255. Errors: toolchain_missing (no libpng), corrupt, unsupported (16 bits a channel).
Result<NpyArray> read_png(ByteView file);
/// Errors: argument_type for what is no such array.
Result<Bytes> write_png(const NpyArray& array);

/// A .png or .npy file, by its name.
Result<NpyArray> read_array(const std::string& path);
Result<void> write_array(const std::string& path, const NpyArray& array);

}  // namespace smelt::cli
