// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's strings in our messages.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

template <>
struct fmt::formatter<llvm::StringRef> : fmt::formatter<std::string_view> {
  auto format(llvm::StringRef text, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(text, context);
  }
};
