// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Keeps the books of one launch of code that watches its threads (smelt_cpu_watch): which accesses nothing orders, who
// did not come to a barrier, which values nobody has written.
#pragma once

#include "smelt/base/checks.hpp"
#include "smelt/schema/cpu_abi.h"

#include "concurrent_pass.hpp"
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

/// One thread's. Group by group: all of one group's calls come before any of the next one's. What it must know of most
/// accesses, code writes into cells itself (aot/cpu/work_item/watch.cpp); it asks where that is not enough.
class Watcher {
 public:
  /// `checks`: what the code looks for. `scratch` begins with the kernel's threadgroup variables, whose length (with
  /// gaps) is `static_threadgroup_bytes`. All outlive the watcher.
  Watcher(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch, Checks checks, std::span<std::byte> scratch,
          uint32_t static_threadgroup_bytes, const LaunchOrder& order);
  Watcher(const Watcher&) = delete;
  Watcher& operator=(const Watcher&) = delete;

  const smelt_cpu_watch& calls() const { return calls_; }

  /// Call first for code that looks for races. False: there is no memory.
  /// `is_alone`: no other dispatch may run at the same time.
  bool lay_out_cells(bool is_alone);

  /// Call before code that runs one group, whose position this is: nobody has written its threadgroup memory.
  void begin_group_code(const std::array<uint32_t, 3>& group);

  /// After the last group. Empty: nothing was found.
  std::vector<Finding> finish();

  /// After finish(), of a dispatch of a concurrent pass: adds what earlier dispatches of it, behind as many of its
  /// barriers, do with the same memory.
  void compare(ConcurrentPass& pass, uint32_t barriers, std::vector<Finding>& findings);

 private:
  static constexpr uint32_t kSimdThreads = 32;

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
    std::array<uint32_t, 2> epochs{};       ///< barriers of the group that order device and threadgroup memory
    std::array<uint32_t, 2> simd_epochs{};  ///< of the SIMD group
    uint32_t meetings = 0;
    uint32_t simd_meetings = 0;
    bool operator==(const Progress&) const = default;
  };
  /// An era of the group whose books are kept: threads are in one when they have passed as many barriers that order
  /// this memory. Eras are numbered as they come.
  struct Era {
    uint32_t epoch = 0;
    uint32_t simd_epoch = 0;
  };
  /// Of one memory.
  struct Eras {
    std::vector<uint32_t> numbers;  ///< as they came; those before `begin` do not come again
    size_t begin = 0;
    std::vector<uint32_t> since;  ///< by epoch: its first
    uint32_t simd_epochs = 0;     ///< more than any of them has
    uint32_t last = 0;            ///< that was asked for
  };
  /// The eras from `first` on, up to the next of these.
  struct Span {
    uint32_t first = 0;
    uint32_t group = 0;
    uint16_t fences = 0;  ///< of its group that reach the whole device
  };
  /// What a group knows of other groups, by fences of the device around atomics: how many of their fences are behind
  /// it.
  using Known = std::map<uint32_t, uint16_t>;

  void become(uint32_t local) {
    local_ = local;
    thread_ = group_begin_ + local;
  }
  bool has_argument(size_t i) const;
  void begin_group(const std::array<uint32_t, 3>& group);
  void begin_books();
  void end_group();
  uint32_t era_of(uint32_t memory, uint32_t epoch, uint32_t simd_epoch);
  void close_eras();
  void open_span();
  void stamp(const Progress& progress, uint32_t first, uint32_t count);
  void refine_stamps(uint32_t shift);
  const smelt_cpu_stamp& stamp_of(uint32_t local) const { return stamps_[local >> calls_.stamp_shift]; }
  void spread(uint32_t simd);
  void expect_all(const std::vector<Meeting>& meetings, uint32_t first, uint32_t end, uint32_t Progress::* passed,
                  bool is_simdgroup);

  void access(const void* address, uint64_t bytes, uint32_t flags, uint32_t site);
  void meet(uint32_t first, uint32_t threads, uint32_t flags, const char* place);
  void meet_all(uint32_t flags, const char* place);
  void pass(Progress& progress, uint32_t flags, const char* place, uint32_t simd);
  void fence();
  void stray_lanes(uint32_t first_thread, uint32_t readers, const char* place);
  void unwritten(const char* place);
  /// What a cell holds of the launch.
  struct Held {
    Touch write;
    std::array<Touch, 2> reads;
  };
  Held held(const std::array<uint64_t, 3>& words, uint64_t since, bool is_threadgroup) const;
  bool read_at_once(const Cell& cell, Touch now, bool is_threadgroup);
  void touch(const Cell& cell, Touch now, bool is_threadgroup, uint64_t address, uint64_t bytes);
  void put(const Cell& cell, Touch write, std::array<Touch, 2> reads, bool is_threadgroup);
  bool is_ordered(Touch before, Touch now, bool is_threadgroup) const;
  bool is_of_group(Touch touch) const { return touch.era() >= group_since_; }
  const Era& era(Touch touch) const { return eras_[touch.era() - group_since_]; }
  const Span& span(Touch touch) const;
  uint32_t thread_of(Touch touch) const { return span(touch).group * group_threads_ + touch.thread(); }
  const char* text(uint32_t site) const { return reinterpret_cast<const char*>(sites_) + sites_[site].text; }
  const char* text(Touch touch) const { return text(touch.site()); }
  uint64_t element_bytes(Touch touch) const {
    return uint64_t{1} << (sites_[touch.site()].flags >> SMELT_CPU_ACCESS_ELEMENT & 7);
  }
  void settle();
  void settle_parts(std::optional<uint32_t> local);
  struct Pending;
  void compare(const Pending& one);

  void found_race(Touch before, Touch now, uint64_t address, bool is_threadgroup);
  Finding* new_finding(Finding::Kind kind, const char* first, const char* second);
  Told* add(Finding::Kind kind, const char* first, const char* second);
  Scope scope_of(uint32_t other) const;
  FindingSide side(uint32_t thread, const char* place, std::string does) const;
  /// With padded rows the element counts them, too.
  void name_texture(Finding& finding, uint64_t address) const;
  void name_buffer(Finding& finding, uint64_t address, uint64_t bytes) const;
  void name_memory(Finding& finding, uint64_t address, uint64_t bytes) const;

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

  uint32_t group_ = ~0u;  // number of the group that the books are of
  std::array<uint32_t, 3> group_at_{};
  std::array<uint32_t, 3> group_size_{};  // trimmed at the edge
  uint32_t threads_ = 0;                  // of the group
  uint32_t local_ = 0;                    // index in the group
  uint32_t thread_ = 0;
  uint32_t group_begin_ = 0;  // number of the group's first thread
  uint64_t round_ = 0;
  const bool keeps_books_;  // of who has come how far: what is unwritten is found without
  bool has_cells_ = false;
  const smelt_cpu_site* sites_ = nullptr;  // of the kernel

  uint32_t since_ = 0;              // first era of the launch: cells of it have readers of two groups and no writer
  uint32_t group_since_ = 0;        // first era of the group
  std::vector<Era> eras_;           // of the group, from group_since_ on
  std::array<Eras, 2> known_eras_;  // of the group, by memory
  std::vector<Span> spans_;         // of the launch
  std::vector<smelt_cpu_stamp> stamps_;  // by thread of the group, by SIMD group, or one: smelt_cpu_watch::stamp_shift
  std::vector<uint64_t> always_asked_;   // cells of buffers that begin inside of a cell

  std::vector<Progress> progress_;       // by thread of the group; in SIMD groups that go as one, what follows holds
  std::vector<Progress> simd_progress_;  // by SIMD group
  std::vector<char> goes_as_one_;        // likewise
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
    Cell cell;
    uint64_t address = 0;
    uint64_t bytes = 0;
    bool is_threadgroup = false;
    std::array<std::byte, 64> held{};
  };
  std::vector<Pending> pending_;
  std::vector<Pending> parts_;  ///< of operations that are not done
  std::map<std::tuple<Finding::Kind, const char*, const char*>, Told> findings_;
};

}  // namespace smelt::loader
