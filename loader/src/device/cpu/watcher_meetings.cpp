// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Barriers, fences and operations of a SIMD group: who has come how far, and who does not come.
#include "watcher.hpp"

#include <algorithm>
#include <bit>

namespace smelt::loader {

/// From now on each of its threads has its own books.
void Watcher::spread(uint32_t simd) {
  if (goes_as_one_[simd] == 0) return;
  goes_as_one_[simd] = 0;
  const uint32_t first = simd * kSimdThreads;
  std::fill(progress_.begin() + first, progress_.begin() + std::min(threads_, first + kSimdThreads),
            simd_progress_[simd]);
}

void Watcher::end_group() {
  if (group_ == ~0u || diverged_) return;
  const auto is_empty = [](const std::vector<Meeting>& meetings) { return meetings.empty(); };
  if (meetings_.empty() && std::all_of(simd_meetings_.begin(), simd_meetings_.end(), is_empty)) return;
  for (uint32_t simd = 0; simd < simd_meetings_.size(); ++simd) spread(simd);
  expect_all(meetings_, 0, threads_, &Progress::meetings, false);
  for (uint32_t simd = 0; simd < simd_meetings_.size() && !diverged_; ++simd)
    expect_all(simd_meetings_[simd], simd * kSimdThreads, std::min(threads_, (simd + 1) * kSimdThreads),
               &Progress::simd_meetings, true);
}

/// Every thread must have come to every one of them.
void Watcher::expect_all(const std::vector<Meeting>& meetings, uint32_t first, uint32_t end,
                         uint32_t Progress::* passed, bool is_simdgroup) {
  uint32_t least = first;
  for (uint32_t local = first; local < end; ++local)
    if (progress_[local].*passed < progress_[least].*passed) least = local;
  if (meetings.empty() || progress_[least].*passed >= meetings.size()) return;
  diverged_ = true;
  const Meeting& missed = meetings[progress_[least].*passed];
  if (Finding* const finding = new_finding(Finding::Kind::barrier, missed.place, nullptr)) {
    finding->first = side(missed.thread, missed.place, "waits");
    finding->second = side(group_ * group_threads_ + least, missed.place, "does not reach it");
    finding->second->place = finding->first.place;
    finding->advice = is_simdgroup ? "all threads of a SIMD group must reach it"
                                   : "all threads of a threadgroup must reach a barrier: let those without work skip "
                                     "the work and not the barrier";
  }
}

void Watcher::meet(uint32_t first, uint32_t threads, uint32_t flags, const char* place) {
  if (!pending_.empty()) settle();
  if ((flags & SMELT_CPU_FENCE) != 0) {
    become(first);
    return fence();
  }
  if (first == SMELT_CPU_MEET_ALL) return meet_all(flags, place);
  const uint32_t simd = first / kSimdThreads;
  const uint32_t count = std::min(kSimdThreads, threads_ - simd * kSimdThreads);
  if (goes_as_one_[simd] != 0 && first % kSimdThreads == 0 && static_cast<uint32_t>(std::popcount(threads)) == count) {
    become(first);
    pass(simd_progress_[simd], flags, place, simd);
    stamp(simd_progress_[simd], first, count);
    return;
  }
  spread(simd);
  for (uint32_t i = 0; i < kSimdThreads && first + i < threads_; ++i) {
    if ((threads >> i & 1) == 0) continue;
    become(first + i);
    pass(progress_[first + i], flags, place, simd);
    stamp(progress_[first + i], first + i, 1);
  }
  const auto begin = progress_.begin() + simd * kSimdThreads;
  if (!std::all_of(begin, begin + count, [&](const Progress& one) { return one == *begin; })) return;
  simd_progress_[simd] = *begin;
  goes_as_one_[simd] = 1;
}

/// Code that tells of all has never told of one alone.
void Watcher::meet_all(uint32_t flags, const char* place) {
  for (uint32_t simd = 0; simd < simd_progress_.size(); ++simd) {
    become(simd * kSimdThreads);
    pass(simd_progress_[simd], flags, place, simd);
  }
  stamp(simd_progress_[0], 0, threads_);
}

/// Of one thread, or of a SIMD group whose threads have all come equally far.
void Watcher::pass(Progress& mine, uint32_t flags, const char* place, uint32_t simd) {
  const bool is_lanes = (flags & SMELT_CPU_BARRIER_ALL_LANES) != 0;
  const bool is_simdgroup = is_lanes || (flags & SMELT_CPU_BARRIER_SIMDGROUP) != 0;
  auto& epochs = is_simdgroup ? mine.simd_epochs : mine.epochs;
  if (!is_lanes) {
    if ((flags & SMELT_CPU_BARRIER_DEVICE) != 0) ++epochs[0];
    if ((flags & SMELT_CPU_BARRIER_THREADGROUP) != 0) ++epochs[1];
  }
  if ((flags & SMELT_CPU_MEET_IS_CHECKED) == 0) return;
  std::vector<Meeting>& meetings = is_simdgroup ? simd_meetings_[simd] : meetings_;
  uint32_t& passed = is_simdgroup ? mine.simd_meetings : mine.meetings;
  if (passed == meetings.size()) meetings.push_back({place, thread_});
  const Meeting& here = meetings[passed++];
  if (here.place == place || diverged_) return;
  diverged_ = true;
  if (Finding* const finding = new_finding(Finding::Kind::barrier, here.place, place)) {
    finding->first = side(here.thread, here.place, "waits");
    finding->second = side(thread_, place, "waits");
    finding->advice = is_simdgroup ? "all threads of a SIMD group must reach the same one"
                                   : "all threads of a threadgroup must reach the same barrier";
  }
}

/// A fence of the whole device. Together with atomics it orders groups: what is before the fence and a later change of
/// an atomic comes before what follows a fence behind a look at that atomic.
void Watcher::fence() {
  if (fences_[group_] < 0x7fff) ++fences_[group_];
  fenced_.insert(thread_);
  std::set<uint64_t>& atomics = observed_[thread_];
  for (const uint64_t address : atomics) {
    const auto released = released_.find(address);
    if (released == released_.end()) continue;
    Known& mine = known_[group_];
    for (const auto& [group, fences] : released->second) mine[group] = std::max(mine[group], fences);
  }
  atomics.clear();
  // What follows is of other eras than what was before it.
  open_span();
  close_eras();
  for (uint32_t local = 0; local < threads_; ++local) {
    const uint32_t simd = local / kSimdThreads;
    stamp(goes_as_one_[simd] != 0 ? simd_progress_[simd] : progress_[local], local, 1);
  }
}

void Watcher::stray_lanes(uint32_t first_thread, uint32_t readers, const char* place) {
  const uint32_t lane = first_thread + static_cast<uint32_t>(std::countr_zero(readers));
  if (lane >= threads_) return;
  if (Finding* const finding = new_finding(Finding::Kind::lanes, place, nullptr)) {
    finding->first = side(group_ * group_threads_ + lane, place, "reads a lane that does not take part");
    finding->advice = "Metal leaves its value undefined";
  }
}

}  // namespace smelt::loader
