// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Several texts as one: each with its length in front, "4:fill5:twice". Texts of any bytes.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace smelt {

std::string pack_texts(const std::vector<std::string>& texts);

/// Nothing for what is no such list. Takes no more memory than the list has bytes, but for what a string costs.
std::optional<std::vector<std::string>> unpack_texts(std::string_view list);

}  // namespace smelt
