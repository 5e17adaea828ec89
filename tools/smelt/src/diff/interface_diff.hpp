// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What two functions of one name want from their callers, and what they were built for, compared.
#pragma once

#include "smelt/aot/kernel_info.hpp"

#include <string>
#include <vector>

namespace smelt::cli {

/// One thing in which A and B differ; empty text: that side does not have it.
struct Difference {
  std::string kind;  ///< "arguments", "constants", "versions", "limits", "code", "numbers", "kind", "unreadable"
  std::string what;  ///< "argument 2 'x': type"
  std::string a, b;
  auto operator<=>(const Difference&) const = default;
};

/// Arguments by position: kind, type, access, name, place, sizes, members. Constants by index. Limits. Versions of AIR
/// and Metal.
std::vector<Difference> compare_interfaces(const aot::KernelInfo& a, const aot::KernelInfo& b);

/// One difference where the two are not the same.
void add_difference(std::vector<Difference>& differences, std::string_view kind, std::string what, std::string a,
                    std::string b);

}  // namespace smelt::cli
