// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps the books of one launch of code that watches its threads (smelt_cpu_watch): which accesses nothing orders, who
// did not come to a barrier, which values nobody has written.
#pragma once

#include "smelt/base/checks.hpp"
#include "smelt/schema/cpu_abi.h"

#include "findings.hpp"
#include "launch_order.hpp"
#include "race_shadow.hpp"
#include "value_shadow.hpp"

#include <map>
#include <optional>
#include <set>
#include <tuple>

namespace smelt::loader {

class CpuPipeline;

/// One thread's. Group by group: all of one group's calls come before any of the next one's.
class Watcher {
 public:
  /// `scratch` begins with the kernel's threadgroup memory. All outlive the watcher.
  Watcher(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch, std::span<std::byte> scratch,
          uint32_t static_threadgroup_bytes, const LaunchOrder& order);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  const smelt_cpu_watch& calls() const { return calls_; }

  /// Call before code that runs one group, whose position this is: nobody has written its threadgroup memory.
  void begin_group_code(const std::array<uint32_t, 3>& group);

  /// After the last group. Empty: nothing was found.
  std::vector<Finding> finish();

 private:
  /// How far apart the threads of a race were, at most: what orders the nearest does not order all.
  enum class Scope : uint8_t { simdgroup, group, device };
  struct Told {
    Finding finding;
    Scope scope = Scope::simdgroup;
  };
  /// A barrier, or an operation of a SIMD group, as the first that came to it found it.
  struct Meeting {
    const char* place = nullptr;
    uint32_t thread = 0;
  };
  /// How far a thread of the group is.
  struct Progress {
    std::array<uint16_t, 2> epochs{};       ///< barriers of the group that order device and threadgroup memory
    std::array<uint16_t, 2> simd_epochs{};  ///< of the SIMD group
    uint32_t meetings = 0;
    uint32_t simd_meetings = 0;
  };
  /// What a group knows of other groups, by fences of the device around atomics: how many of their fences are behind
  /// it.
  using Known = std::map<uint32_t, uint16_t>;

  void become(uint64_t linear) {
    if (linear != linear_ + 1 || row_left_ == 0) return look_up(linear);
    if (!pending_.empty()) settle();
    linear_ = linear;
    --row_left_;
    ++thread_;
    ++local_;
  }
  void look_up(uint64_t linear);
  bool has_argument(size_t i) const;
  void begin_group(const std::array<uint32_t, 3>& group);
  void end_group();
  void expect_all(const std::vector<Meeting>& meetings, uint32_t first, uint32_t end, uint32_t Progress::* passed,
                  bool is_simdgroup);

  void access(const void* address, uint64_t bytes, uint32_t flags, const char* place);
  void meet(uint32_t flags, const char* place);
  void fence();
  void stray_lanes(uint32_t first_thread, uint32_t readers, const char* place);
  void unwritten(const char* place);
  void touch(RaceShadow::Page& page, Cell& cell, const Touch& now, bool is_write, uint64_t address, uint64_t bytes);
  bool is_ordered(const RaceShadow::Page& page, const Touch& before, const Touch& now) const;
  void settle();
  void settle_parts(std::optional<uint32_t> thread);

  void found_race(const Touch& before, bool before_writes, const Touch& now, bool now_writes, uint64_t address,
                  uint64_t bytes, bool is_threadgroup);
  Finding* new_finding(Finding::Kind kind, const char* first, const char* second);
  Told* add(Finding::Kind kind, const char* first, const char* second);
  Scope scope_of(uint32_t other) const;
  FindingSide side(uint32_t thread, const char* place, std::string does) const;
  /// With padded rows the element counts them, too.
  void name_texture(Finding& finding, uint64_t address) const;
  void name_buffer(Finding& finding, uint64_t address, uint64_t bytes) const;
  void name_memory(Finding& finding, uint64_t address, uint64_t bytes, const char* place) const;

  const CpuPipeline& pipeline_;
  const smelt_cpu_dispatch& dispatch_;
  const std::span<std::byte> scratch_;
  const uint32_t static_bytes_;
  const LaunchOrder& order_;
  const uint32_t group_threads_;
  smelt_cpu_watch calls_{};
  std::vector<std::byte> call_shadows_;
  std::vector<std::byte> threadgroup_shadow_;

  RaceShadow shadow_;
  ValueShadow values_;

  uint64_t linear_ = ~uint64_t{0};        // of the current thread
  std::array<uint32_t, 3> code_group_{};  // that the code runs now
  uint32_t group_ = ~0u;                  // number of the group that the books are of
  std::array<uint32_t, 3> group_at_{};
  std::array<uint32_t, 3> group_size_{};  // trimmed at the edge
  uint32_t threads_ = 0;                  // of the group
  uint32_t local_ = 0;                    // index in the group
  uint32_t thread_ = 0;
  uint32_t group_begin_ = 0;  // number of the group's first thread
  uint32_t row_left_ = 0;     // threads that follow in this row of the group
  uint64_t round_ = 0;

  std::vector<Progress> progress_;
  std::vector<Meeting> meetings_;
  std::vector<std::vector<Meeting>> simd_meetings_;
  bool diverged_ = false;

  std::map<uint32_t, Known> known_;                  // by group
  std::map<uint32_t, uint16_t> fences_;              // by group
  std::map<uint64_t, Known> released_;               // by address of an atomic
  std::map<uint32_t, std::set<uint64_t>> observed_;  // by thread: atomics since its last fence
  std::set<uint32_t> fenced_;                        // threads that have passed a fence

  /// A write upon a write whose values are compared when it is done.
  struct Pending {
    Touch before, now;
    uint64_t address = 0;
    uint64_t bytes = 0;
    bool is_threadgroup = false;
    std::array<std::byte, 64> held{};
  };
  std::vector<Pending> pending_;
  std::vector<Pending> parts_;  ///< of operations that are not done
  bool is_part_ = false;        ///< what is told now
  std::map<std::tuple<Finding::Kind, const char*, const char*>, Told> findings_;
};

}  // namespace smelt::loader
