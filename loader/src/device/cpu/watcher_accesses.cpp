// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Accesses: which of them nothing orders.
#include "watcher.hpp"

#include <algorithm>
#include <cstring>

namespace smelt::loader {
namespace {

constexpr size_t kMostPending = 256, kMostParts = 65536;

}  // namespace

inline bool Watcher::is_ordered(Touch before, Touch now, bool is_threadgroup) const {
  if (is_of_group(before)) {
    if (before.thread() == now.thread()) return true;
    const Era& then = era(before);
    const Era& here = era(now);
    if (then.epoch != here.epoch) return true;
    return before.thread() / kSimdThreads == now.thread() / kSimdThreads && then.simd_epoch != here.simd_epoch;
  }
  if (is_threadgroup) return true;  // another group's memory, which lay at the same place
  if (known_.empty()) return false;
  const auto mine = known_.find(group_);
  if (mine == known_.end()) return false;
  const Span& its = span(before);
  const auto fences = mine->second.find(its.group);
  return fences != mine->second.end() && fences->second > its.fences;
}

/// The reads of which most kernels are made. What code does itself (aot/cpu/work_item/watch.cpp) is among them: one
/// access may be of many cells.
inline bool Watcher::read_at_once(const Cell& cell, Touch now, bool is_threadgroup) {
  const Touch last{*cell.last};
  const bool is_alone = (last.bits & (Touch::kMarks | SMELT_CPU_CELL_WRITES | SMELT_CPU_CELL_ATOMIC)) == 0;
  if (now.is_atomic()) return false;
  if (last.bits < (is_threadgroup ? stamp_of(local_).threadgroup_since : calls_.since)) {
    *cell.last = now.bits;
    return true;
  }
  if (last.era() == now.era()) {
    if ((last.bits & SMELT_CPU_CELL_MANY) != 0) return true;
    if (!is_alone) return false;
    if (last.thread() == now.thread()) return true;
    *cell.second = now.bits;
    *cell.last = last.bits | SMELT_CPU_CELL_MANY;
    return true;
  }
  if (is_threadgroup) return false;
  if (last.era() == since_) return true;
  if (!is_alone || is_of_group(last) || !fences_.empty()) return false;
  // Whoever writes it is of another group than one of the two.
  *cell.write = last.bits;
  *cell.second = now.bits;
  *cell.last = calls_.since | SMELT_CPU_CELL_MANY;
  return true;
}

/// What the words of a cell say; what was before `since` is nobody's.
Watcher::Held Watcher::held(const std::array<uint64_t, 3>& words, uint64_t since, bool is_threadgroup) const {
  const auto known = [&](uint64_t word) {
    const Touch one{word};
    return one.bits >= since ? one.unmarked() : Touch();
  };
  const auto [last_word, second, before] = words;
  const Touch last{last_word};
  Held found;
  if (!is_threadgroup && last.era() == since_) {
    found.reads = {known(before), known(second)};
  } else if (last.is_write()) {
    found.write = known(last.bits);
  } else if (!known(last.bits).is_empty()) {
    found.reads[0] = known(last.bits);
    if ((last.bits & Touch::kMarks) != 0) found.reads[1] = known(second);
    if ((last.bits & SMELT_CPU_CELL_WROTE) != 0) found.write = known(before);
  }
  return found;
}

void Watcher::touch(const Cell& cell, Touch now, bool is_threadgroup, uint64_t address, uint64_t bytes) {
  const uint64_t since = is_threadgroup ? stamp_of(local_).threadgroup_since : calls_.since;
  auto [write, reads] = held({*cell.last, *cell.second, *cell.write}, since, is_threadgroup);
  const auto races_with = [&](Touch before) {
    return !before.is_empty() && !(before.is_atomic() && now.is_atomic()) && !is_ordered(before, now, is_threadgroup);
  };
  bool is_pending = false;
  if (races_with(write)) {
    // Whether the second write changes anything is seen when it is done.
    const bool is_part = (sites_[now.site()].flags & SMELT_CPU_ACCESS_PART) != 0;
    std::vector<Pending>& waiting = is_part ? parts_ : pending_;
    if (now.is_write() && !now.is_atomic() && !write.is_atomic() &&
        waiting.size() < (is_part ? kMostParts : kMostPending)) {
      is_pending = !is_part;
      Pending& one = waiting.emplace_back();
      one.before = write;
      one.now = now;
      one.cell = cell;
      one.address = address;
      one.bytes = bytes;
      one.is_threadgroup = is_threadgroup;
      std::memcpy(one.held.data(), reinterpret_cast<const void*>(address), bytes);
    } else {
      found_race(write, now, address, is_threadgroup);
    }
  }
  if (now.is_write()) {
    for (const Touch read : reads)
      if (races_with(read)) found_race(read, now, address, is_threadgroup);
    // Every access that races with an atomic also races with a write, but not the other way round: the write stays.
    const bool says_more = now.is_atomic() && !write.is_empty() && !write.is_atomic() &&
                           write.thread() == now.thread() && write.era() == now.era();
    // Code asks about it until it is settled.
    *cell.last = is_pending ? ~uint64_t{0} : says_more ? write.bits : now.bits;
    return;
  }
  // Two readers are enough to find one for every writer; those that are behind a barrier make room.
  for (Touch& read : reads)
    if (is_of_group(read) && read.thread() == now.thread() && read.is_atomic() == now.is_atomic()) {
      read = now;
      return put(cell, write, reads, is_threadgroup);
    }
  for (Touch& read : reads)
    if (read.is_empty() || is_ordered(read, now, is_threadgroup)) {
      read = now;
      return put(cell, write, reads, is_threadgroup);
    }
  for (Touch& read : reads)
    if (read.is_atomic() && !now.is_atomic()) {
      read = now;
      return put(cell, write, reads, is_threadgroup);
    }
}

/// With a mark that lets code go on where another such read changes nothing.
void Watcher::put(const Cell& cell, Touch write, std::array<Touch, 2> reads, bool is_threadgroup) {
  if (reads[0].is_empty()) std::swap(reads[0], reads[1]);
  const auto& [first, second] = reads;
  const bool are_plain = !first.is_atomic() && !second.is_atomic();
  if (!is_threadgroup && write.is_empty() && !second.is_empty() && are_plain && fences_.empty() &&
      is_of_group(first) != is_of_group(second)) {
    *cell.write = first.bits;
    *cell.second = second.bits;
    *cell.last = calls_.since | SMELT_CPU_CELL_MANY;
    return;
  }
  if (write.is_empty() && second.is_empty()) {
    *cell.last = first.bits;
    return;
  }
  *cell.write = write.bits;
  *cell.second = second.bits;
  uint64_t marks = write.is_empty() ? 0 : SMELT_CPU_CELL_WROTE;
  const bool is_behind =
      write.is_empty() || (is_of_group(write) && is_of_group(first) && era(write).epoch != era(first).epoch);
  if (!is_behind || (!second.is_empty() && second.era() != first.era()) || !are_plain)
    marks |= SMELT_CPU_CELL_ASK;
  else if (!second.is_empty())
    marks |= SMELT_CPU_CELL_MANY;
  *cell.last = first.bits | marks;
}

void Watcher::access(const void* address, uint64_t bytes, uint32_t flags, uint32_t site) {
  const auto at = reinterpret_cast<uintptr_t>(address);
  const bool is_write = (flags & SMELT_CPU_ACCESS_WRITES) != 0;
  // A SIMD group acts as one: its first thread tells of it.
  if ((flags & SMELT_CPU_ACCESS_SIMDGROUP) != 0 && local_ % kSimdThreads != 0) return;
  if ((flags & SMELT_CPU_ACCESS_PART) != 0 && bytes == 0) return settle_parts(local_);
  if ((flags & SMELT_CPU_ACCESS_MAY_FENCE) != 0) {
    observed_[thread_].insert(at);
    if (is_write && fenced_.contains(thread_)) {
      Known& released = released_[at];
      for (const auto& [group, fences] : known_[group_]) released[group] = std::max(released[group], fences);
      released[group_] = std::max(released[group_], fences_[group_]);
    }
  }
  const RaceShadow::Range* const range = shadow_.range_of(at);
  if (range == nullptr) return;
  const smelt_cpu_stamp& stamp = stamp_of(local_);
  Touch now;
  now.bits =
      (range->is_threadgroup ? stamp.threadgroup : stamp.device) | uint64_t{local_} << SMELT_CPU_CELL_THREAD_BIT | site;
  if (is_write) now.bits |= SMELT_CPU_CELL_WRITES;
  if ((flags & SMELT_CPU_ACCESS_ATOMIC) != 0) now.bits |= SMELT_CPU_CELL_ATOMIC;
  const unsigned shift = flags >> SMELT_CPU_ACCESS_SHIFT & 3;
  const uint64_t cell_bytes = uint64_t{1} << shift;
  const uint64_t from = at - range->low;
  const uint64_t to = std::min(from + bytes, range->high - range->low);
  const bool is_whole = ((from | to) & (cell_bytes - 1)) == 0;
  for (uint64_t number = from >> shift; number << shift < to; ++number) {
    const Cell cell = shadow_.cell(*range, number);
    const uint64_t begin = number << shift;
    if (is_whole && !RaceShadow::is_apart(cell)) {
      if (is_write || !read_at_once(cell, now, range->is_threadgroup))
        touch(cell, now, range->is_threadgroup, range->low + begin, cell_bytes);
      continue;
    }
    for (uint64_t byte = std::max(begin, from); byte < std::min(begin + cell_bytes, to); ++byte)
      touch(shadow_.byte_of(cell, static_cast<unsigned>(byte - begin)), now, range->is_threadgroup, range->low + byte,
            1);
  }
}

/// Of an operation that a thread of the group, or the SIMD group that it begins, has done; null: of all.
void Watcher::settle_parts(std::optional<uint32_t> local) {
  if (parts_.empty()) return;
  std::vector<Pending> later;
  for (const Pending& one : parts_) {
    if (!local || one.now.thread() == *local)
      compare(one);
    else
      later.push_back(one);
  }
  parts_ = std::move(later);
}

void Watcher::settle() {
  for (const Pending& one : pending_) {
    *one.cell.last = one.now.bits;
    compare(one);
  }
  pending_.clear();
}

/// Writes of the same value are told apart from those that change it.
void Watcher::compare(const Pending& one) {
  const bool is_same = std::memcmp(one.held.data(), reinterpret_cast<const void*>(one.address), one.bytes) == 0;
  if (!is_same) {
    found_race(one.before, one.now, one.address, one.is_threadgroup);
    return;
  }
  const char* const first = text(one.before);
  const char* const second = text(one.now);
  if (Finding* const finding = new_finding(Finding::Kind::same_value, first, second)) {
    finding->first = side(thread_of(one.before), first, "writes");
    finding->second = side(thread_of(one.now), second, "writes the same");
    name_memory(*finding, one.address, element_bytes(one.now));
  }
}

}  // namespace smelt::loader
