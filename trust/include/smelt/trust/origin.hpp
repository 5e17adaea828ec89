// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What an entry of a store that came from a remote says of where it came from: its part kOriginPart, which holds
//
//   from <remote>
//   by NAME:BASE64        the trusted key that signed it when it came; "by" alone: none
//   made-from <text>
//   signed NAME:BASE64    any number, as they were in the record
//
// It is ours: the store's folder belongs to the user alone, and the part is never sent.
#pragma once

#include "smelt/trust/policy.hpp"

#include <string>
#include <vector>

namespace smelt::trust {

/// The part's name, which is reserved.
inline constexpr std::string_view kOriginPart = ".origin";

struct Provenance {
  std::string from, by, made_from;
  std::vector<std::string> signatures;
};

std::string to_text(const Provenance& origin);
/// Lines that are none of these are passed over: an origin that cannot be read is one that nobody signed.
Provenance parse_provenance(std::string_view text);

/// Whether an entry that says this may be used now, by SMELT_TRUST and the keys that are trusted: it may have been
/// taken when other keys were. `untrusted` says from where and whose it is.
Result<void> check_provenance(ByteView part, const Policy& policy);

}  // namespace smelt::trust
