// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What checked code has found: out-of-bounds accesses, races, unwritten values, divergence. docs/guide/races.md.
#pragma once

#include "smelt/base/result.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace smelt::loader {

/// One access: a thread at a place of the program.
struct FindingSide {
  std::string place;                 ///< "FILE:LINE:COLUMN", or "AIR line N" for a library without debug lines
  std::string does;                  ///< "reads", "writes", "adds to atomically", "waits"
  std::array<uint32_t, 3> thread{};  ///< thread_position_in_grid
  std::array<uint32_t, 3> group{};   ///< threadgroup_position_in_grid
  std::string kernel;                ///< set only for an earlier dispatch of a concurrent pass, whose thread is unknown
};

/// A fault that checked code found.
struct Finding {
  /// The kinds of faults.
  enum class Kind : uint8_t {
    race,        ///< two threads, or two dispatches, touch the same bytes, one writes, and nothing orders them
    same_value,  ///< the same, but both write the value that is already there: a note
    unwritten,   ///< an unwritten value decides something
    barrier,     ///< not all threads reach a barrier or an operation of their SIMD group
    lanes,       ///< a lane reads an inactive lane
    bounds,      ///< a thread accesses memory outside its buffer; only the first of a launch
  };
  Kind kind = Kind::race;             ///< the kind of fault
  std::string kernel;                 ///< the kernel's name
  std::string memory;                 ///< "buffer 0 'out'", "threadgroup variable 'sums'"; may be empty
  std::optional<uint64_t> element;    ///< index in this memory, in units of the access
  FindingSide first;                  ///< one access
  std::optional<FindingSide> second;  ///< the other access, if there are two
  std::string advice;                 ///< what would fix it
  uint64_t times = 1;                 ///< how often it happened in this launch, at this pair of places
};

/// "race", "same-value", "unwritten", "barrier", "lanes" or "bounds".
std::string_view to_string(Finding::Kind kind);

/// The findings, including notes, of the last launch of checked code that this thread made and waited for.
const std::vector<Finding>& last_findings();

/// Makes smelt also print each later finding to stderr, once for each pair of places, for programs that ignore the
/// errors of their launches.
void say_findings();

/// A text of a few lines for people. The first line is complete by itself.
std::string text_of(const Finding& finding);
/// A JSON object on one line, as in the file of SMELT_CHECK_REPORT.
std::string json_of(const Finding& finding);

}  // namespace smelt::loader
