// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The part kOriginPart of an entry that came from a remote:
//
//   from <remote>
//   by NAME:BASE64        the trusted key that signed it when it came; "by" alone: none
//   made-from <text>
//   signed NAME:BASE64    any number, as they were in the record
//
// It is ours: the store's folder belongs to the user alone. Private to remote.
#pragma once

#include "smelt/base/bytes.hpp"

#include <string>
#include <vector>

namespace smelt::remote {

struct Origin {
  std::string from, by, made_from;
  std::vector<std::string> signatures;
};

std::string to_text(const Origin& origin);
/// Lines that are none of these are passed over: an origin that cannot be read is one that nobody signed.
Origin parse_origin(std::string_view text);

}  // namespace smelt::remote
