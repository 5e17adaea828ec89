// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Entries on their way, whose bytes follow from a number (numbered.hpp).
#pragma once

#include "smelt/remote/entry.hpp"

#include "numbered.hpp"

#include <algorithm>

namespace smelt::test {

inline remote::Outgoing entry_of(uint64_t id) {
  remote::Outgoing entry;
  entry.key = key_of(id);
  entry.made_from = "test";
  entry.parts = {{"kernel.smelt", payload(id, 500 + (id * 7919) % 40000, 5)}, {"note", payload(id + 1, 40, 5)}};
  return entry;
}

inline bool same(const remote::Arrived& arrived, const remote::Outgoing& sent) {
  if (arrived.parts.size() != sent.parts.size() || arrived.record.key != sent.key) return false;
  return std::all_of(sent.parts.begin(), sent.parts.end(), [&](const remote::Part& part) {
    return std::any_of(arrived.parts.begin(), arrived.parts.end(),
                       [&](const remote::Part& one) { return one.name == part.name && one.bytes == part.bytes; });
  });
}

}  // namespace smelt::test
