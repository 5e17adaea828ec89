// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// LLVM's strings in our messages. fmt 9 takes them as they are, from 10 on it wants to be told.
#pragma once

#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

template <>
struct fmt::formatter<llvm::StringRef> : fmt::formatter<fmt::string_view> {
  auto format(llvm::StringRef text, fmt::format_context& context) const {
    return fmt::formatter<fmt::string_view>::format(fmt::string_view(text.data(), text.size()), context);
  }
};

template <>
struct fmt::formatter<llvm::StringLiteral> : fmt::formatter<llvm::StringRef> {};
