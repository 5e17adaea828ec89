// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// SMELT_EXPLAIN_MISS=1: why a request is compiled although something like it was. What its key was made of is kept
// beside the store, and the next miss of the same sources says what became another. Private to service.
#pragma once

#include "smelt/aot/fingerprint.hpp"

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace smelt::service {

/// True when the user asks for it.
bool explains_misses();

/// Tells `warn` what is other than in the last compile of these sources, and notes what it is now.
void explain_miss(const std::filesystem::path& store, std::string_view sources,
                  std::span<const aot::FingerprintField> now, const std::function<void(std::string_view)>& warn);

}  // namespace smelt::service
