// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a signature is spelled: NAME:BASE64, no spaces. Private to schema_package.
#pragma once

#include <string_view>

namespace smelt::schema {

bool is_signature(std::string_view text);

}  // namespace smelt::schema
