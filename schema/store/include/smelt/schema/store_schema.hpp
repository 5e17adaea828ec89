// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The store's database schema: numbered migrations, frozen once released, run in order.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace smelt::schema {

/// SQLite's application_id: "the file is ours".
inline constexpr uint32_t kStoreApplicationId = 0x534d4c54;  // "SMLT"

/// user_version is the number of migrations applied. `oldest` is the lowest reader that may open a store of this
/// version; it is kept in meta('oldest').
inline constexpr int kStoreOldest = 5;

/// Migration i brings user_version from i to i + 1. Each runs in the transaction that sets user_version.
std::span<const std::string_view> store_migrations();

}  // namespace smelt::schema
