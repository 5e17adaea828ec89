// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entries on their way to and from remotes.
#pragma once

#include "smelt/base/bytes.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/remote/budget.hpp"
#include "smelt/schema/entry_record.hpp"

#include <chrono>
#include <string>
#include <vector>

namespace smelt::remote {

struct Part {
  std::string name;
  Bytes bytes;
};

/// What is to be kept. Owns its bytes: it may be sent later, by another thread.
struct Outgoing {
  Digest key;
  std::string made_from;
  std::chrono::microseconds cost{};
  std::vector<Part> parts;
  std::vector<std::string> signatures;  ///< over schema::statement() of all this
};

/// What a remote had under a key: every part is what the record says, and the record is of this key. Who signed it has
/// not been looked at.
struct Arrived {
  schema::EntryRecord record;
  std::vector<Part> parts;
  std::string from;                    ///< the remote, for messages
  std::shared_ptr<const Claim> claim;  ///< of the memory of the parts
};

}  // namespace smelt::remote
