// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Misuse of the interface: what Metal's debug layer stops a program for. The default is the same here: one line to
// stderr that names call and argument, then abort(). With SMELT_METAL_VALIDATION=error the line is kept instead: a
// command buffer that was misused does not run and ends with that line as its error; any other call gives null or does
// nothing.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace smelt::metal {

/// SMELT_METAL_VALIDATION=off, a Mac without the debug layer: what a GPU takes without harm is taken (a length of
/// threadgroup memory is rounded up to 16, no-copy memory begins and ends anywhere); the rest is as with `error`.
bool validation_is_off();

/// `call`: as Apple writes it, "-[MTLDevice newBufferWithLength:options:]". Returns only when errors are kept; then the
/// whole line.
std::string misuse_line(std::string_view call, std::string_view what);

template <class... Args>
std::string misuse(std::string_view call, fmt::format_string<Args...> format, Args&&... args) {
  return misuse_line(call, fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace smelt::metal
