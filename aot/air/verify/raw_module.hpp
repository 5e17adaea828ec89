// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What only the bits of a module show: LLVM 19 forgets pointee types when it reads, upgrades old attributes and accepts
// records that Apple's readers do not. One walk over the bitstream collects the typed declarations and counts the
// records.
#pragma once

#include "smelt/base/bytes.hpp"

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace smelt::aot::verify {

struct RawFunction {
  std::string name;
  std::string typed_signature;  ///< "half (half addrspace(1)*, i64)", opaque struct suffixes (.0) left out
  bool is_declaration = false;
};

struct RawModule {
  uint64_t version = 0;  ///< MODULE VERSION: 1 up to AIR 2.0, 2 after
  uint64_t epoch = 0;    ///< IDENTIFICATION
  bool has_identification = false;
  bool has_string_table = false;
  std::vector<RawFunction> functions;
  /// How often each record code occurs, by block id.
  std::map<std::pair<unsigned, unsigned>, uint64_t> records;
  /// Attribute kinds by number, and forms of attributes beyond LLVM 14's.
  std::set<uint64_t> attribute_kinds;
  std::set<uint64_t> attribute_forms;
  /// GEP records whose flags say more than inbounds.
  uint64_t flagged_geps = 0;

  uint64_t count(unsigned block, unsigned code) const {
    const auto found = records.find({block, code});
    return found == records.end() ? 0 : found->second;
  }
};

/// `bitcode` has passed check_bitstream and is without wrapper.
Result<RawModule> read_raw_module(ByteView bitcode);

}  // namespace smelt::aot::verify
