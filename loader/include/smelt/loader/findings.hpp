// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What checked code has found: accesses outside of memory, and what code that watches its threads (races, init, sync)
// knows. docs/guide/races.md.
#pragma once

#include "smelt/base/result.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smelt::loader {

/// One thread at one place of the program.
struct FindingSide {
  std::string place;                 ///< "FILE:LINE:COLUMN", or "AIR line N" of a library without debug lines
  std::string does;                  ///< "reads", "writes", "adds to atomically", "waits"
  std::array<uint32_t, 3> thread{};  ///< thread_position_in_grid
  std::array<uint32_t, 3> group{};   ///< threadgroup_position_in_grid
  std::string kernel;  ///< of an earlier dispatch of a concurrent pass, whose thread is not known; else empty
};

struct Finding {
  enum class Kind : uint8_t {
    race,        ///< two threads touch the same bytes, one writes, and nothing orders them; or two dispatches do
    same_value,  ///< the same, but both write the value that is there: a note
    unwritten,   ///< an unwritten value decides something
    barrier,     ///< not all threads of its scope reach a barrier or an operation of a SIMD group
    lanes,       ///< a lane reads one that does not take part
    bounds,      ///< a thread reads or writes outside of its memory; the first of a launch
  };
  Kind kind = Kind::race;
  std::string kernel;
  std::string memory;               ///< "buffer 0 'out'", "threadgroup variable 'sums'"; may be empty
  std::optional<uint64_t> element;  ///< index in it, in units of the access
  FindingSide first;
  std::optional<FindingSide> second;
  std::string advice;  ///< what would put it right
  uint64_t times = 1;  ///< how often in this launch, at this pair of places
};

std::string_view to_string(Finding::Kind kind);

/// Of the last launch of checked code that this thread made and waited for; notes included.
const std::vector<Finding>& last_findings();

/// From now on each finding is also a line on stderr, once for each pair of places: for programs that may not look at
/// their launches' errors.
void say_findings();

/// A few lines for people, the first of them whole by itself.
std::string text_of(const Finding& finding);
/// One JSON object on one line, as SMELT_CHECK_REPORT gets them.
std::string json_of(const Finding& finding);

}  // namespace smelt::loader
