// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "watcher.hpp"

#include "smelt/base/sort.hpp"

#include "cpu_device.hpp"
#include "library_data.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstring>

namespace smelt::loader {
namespace {

constexpr uint32_t kSimdThreads = 32, kSimdShift = 5;
constexpr uint32_t kGroupShift = 31;
constexpr size_t kCallBytes = 16 << 10;
constexpr unsigned kMostShift = 2;     // of a cell's bytes
constexpr uint64_t kMostAtOnce = 64;   // bytes that code looks up at once
constexpr size_t kMostFindings = 200;  // of one launch
constexpr size_t kMostPending = 256, kMostParts = 65536;

uint32_t threads_of(const std::array<uint32_t, 3>& size) {
  return size[0] * size[1] * size[2];
}

std::array<uint32_t, 3> position_in(uint32_t index, const std::array<uint32_t, 3>& size) {
  return {index % size[0], index / size[0] % size[1], index / size[0] / size[1]};
}

uint64_t era_bits(uint32_t era) {
  return uint64_t{era} << SMELT_CPU_CELL_ERA_BIT;
}

/// Bit i: that buffer overlaps none of the others.
uint32_t buffers_alone(std::vector<RaceShadow::Range> ranges) {
  sort_stably(ranges, [](const RaceShadow::Range& a, const RaceShadow::Range& b) { return a.low < b.low; });
  uint32_t alone = 0;
  const auto bit = [](const RaceShadow::Range& range) {
    return range.buffer == RaceShadow::kNoBuffer ? 0 : uint32_t{1} << range.buffer;
  };
  const RaceShadow::Range* longest = nullptr;
  for (const RaceShadow::Range& range : ranges) {
    if (longest == nullptr || range.low >= longest->high)
      alone |= bit(range);
    else
      alone &= ~bit(*longest);
    if (longest == nullptr || range.high > longest->high) longest = &range;
  }
  return alone;
}

/// "FILE:LINE:COLUMN", without what follows about the memory.
std::string place_alone(std::string_view place) {
  return std::string(place.substr(0, place.find('|')));
}

}  // namespace

Watcher::Watcher(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch, std::span<std::byte> scratch,
                 uint32_t static_threadgroup_bytes, const LaunchOrder& order)
    : pipeline_(pipeline),
      dispatch_(dispatch),
      scratch_(scratch),
      static_bytes_(static_threadgroup_bytes),
      order_(order),
      group_threads_(dispatch.group[0] * dispatch.group[1] * dispatch.group[2]),
      call_shadows_(kCallBytes),
      threadgroup_shadow_(scratch.size()) {
  calls_.context = this;
  calls_.access = [](void* context, uint32_t thread, const void* address, uint64_t bytes, uint32_t site,
                     const smelt_cpu_site* sites) {
    auto& self = *static_cast<Watcher*>(context);
    if (!self.pending_.empty()) self.settle();
    self.sites_ = sites;
    self.become(thread);
    self.access(address, bytes, sites[site].flags, site);
  };
  calls_.meet = [](void* context, uint32_t first, uint32_t threads, uint32_t flags, const char* place) {
    static_cast<Watcher*>(context)->meet(first, threads, flags, place);
  };
  calls_.stray_lanes = [](void* context, uint32_t first, uint32_t readers, const char* place) {
    static_cast<Watcher*>(context)->stray_lanes(first, readers, place);
  };
  calls_.simdgroup = [](void* context, uint32_t index, uint32_t count) {
    auto& self = *static_cast<Watcher*>(context);
    if (index == 0) ++self.round_;
    return static_cast<uint32_t>(self.order_.at(index, count, self.round_));
  };
  calls_.shadow = [](void* context, const void* address, uint64_t bytes, uint32_t is_write) -> void* {
    return static_cast<Watcher*>(context)->values_.at(reinterpret_cast<uintptr_t>(address), bytes, is_write != 0);
  };
  calls_.forget = [](void* context, const void* address, uint64_t bytes) {
    static_cast<Watcher*>(context)->values_.forget(reinterpret_cast<uintptr_t>(address), bytes);
  };
  calls_.unwritten = [](void* context, uint32_t thread, const char* place) {
    auto& self = *static_cast<Watcher*>(context);
    if (!self.pending_.empty()) self.settle();
    self.become(thread);
    self.unwritten(place);
  };
  calls_.calls = call_shadows_.data();
  calls_.threadgroup_shadow = threadgroup_shadow_.data();
}

bool Watcher::lay_out_cells() {
  std::vector<RaceShadow::Range> ranges;
  const auto low = reinterpret_cast<uintptr_t>(scratch_.data());
  uint64_t threadgroup_bytes = static_bytes_;
  for (size_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i) {
    if (has_argument(i))
      threadgroup_bytes = std::max<uint64_t>(
          threadgroup_bytes, uint64_t{dispatch_.threadgroup_offsets[i]} + dispatch_.threadgroup_bytes[i]);
    const auto buffer = reinterpret_cast<uintptr_t>(dispatch_.buffers[i]);
    if (buffer != 0 && dispatch_.buffer_bytes[i] != 0)
      ranges.push_back({buffer, buffer + dispatch_.buffer_bytes[i], false, static_cast<uint32_t>(i), nullptr});
  }
  for (const ArgInfo& argument : pipeline_.args())
    if (const auto tensor = tensor_memory(argument, dispatch_)) {
      const auto start = reinterpret_cast<uintptr_t>(tensor->data());
      ranges.push_back({start, start + tensor->size(), false, RaceShadow::kNoBuffer, nullptr});
    }
  if (threadgroup_bytes != 0) ranges.push_back({low, low + threadgroup_bytes, true, RaceShadow::kNoBuffer, nullptr});
  for (size_t i = 0; dispatch_.textures != nullptr && i < SMELT_CPU_MAX_TEXTURES; ++i) {
    const smelt_cpu_texture* const texture = dispatch_.textures[i];
    if (texture == nullptr) continue;
    const auto texels = reinterpret_cast<uintptr_t>(texture->data);
    ranges.push_back({texels, texels + texture->layer_bytes * texture->layers, false, RaceShadow::kNoBuffer, nullptr});
  }
  calls_.alone = buffers_alone(ranges);
  if (!shadow_.lay_out(std::move(ranges))) return false;
  has_cells_ = true;
  calls_.to_second = shadow_.bytes_to_second();
  // Elements of a buffer that begins inside of a cell lie in two of them: code asks about each.
  const auto is_inside = [](uint64_t address, unsigned shift) { return (address & ((1u << shift) - 1)) != 0; };
  uint64_t asked = 0;
  for (size_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i)
    if (is_inside(reinterpret_cast<uintptr_t>(dispatch_.buffers[i]), kMostShift))
      asked = std::max<uint64_t>(asked, dispatch_.buffer_bytes[i] + kMostAtOnce);
  always_asked_.assign(asked, RaceShadow::kApart);
  const auto cells_of = [&](uint64_t address) {
    const RaceShadow::Range* const range = shadow_.range_of(address);
    smelt_cpu_cells cells{};
    for (unsigned shift = 0; shift <= kMostShift && range != nullptr; ++shift) {
      const bool asks = is_inside(address, shift);
      const auto at = reinterpret_cast<uintptr_t>(asks ? static_cast<void*>(always_asked_.data()) : range->cells);
      cells.from_zero[shift] = at - (asks ? address >> shift << shift : range->low) * (8 >> shift);
    }
    return cells;
  };
  calls_.threadgroup_cells = cells_of(low);
  for (size_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i)
    calls_.buffer_cells[i] = cells_of(reinterpret_cast<uintptr_t>(dispatch_.buffers[i]));
  since_ = shadow_.next_era();
  calls_.since = era_bits(since_);
  return true;
}

/// Whether [[threadgroup(i)]] has its place in scratch: lengths of arguments that this kernel lacks may be left over.
bool Watcher::has_argument(size_t i) const {
  const uint64_t bytes = dispatch_.threadgroup_bytes[i];
  return bytes != 0 && dispatch_.threadgroup_offsets[i] + bytes <= scratch_.size();
}

void Watcher::begin_group_code(const std::array<uint32_t, 3>& group) {
  settle();
  std::memset(threadgroup_shadow_.data(), 0xff, static_bytes_);
  for (size_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i)
    if (has_argument(i))
      std::memset(threadgroup_shadow_.data() + dispatch_.threadgroup_offsets[i], 0xff, dispatch_.threadgroup_bytes[i]);
  begin_group(group);
}

// ---- who it is, and when ----

void Watcher::begin_group(const std::array<uint32_t, 3>& group) {
  settle_parts(std::nullopt);
  end_group();
  group_at_ = group;
  group_ = group[0] + dispatch_.groups[0] * (group[1] + dispatch_.groups[1] * group[2]);
  for (size_t axis = 0; axis < 3; ++axis) {
    group_size_[axis] = std::min(dispatch_.group[axis], dispatch_.grid[axis] - group[axis] * dispatch_.group[axis]);
    calls_.origin[axis] = group[axis] * dispatch_.group[axis];
  }
  calls_.size[0] = group_size_[0];
  calls_.size[1] = group_size_[1];
  threads_ = threads_of(group_size_);
  group_begin_ = group_ * group_threads_;
  eras_.clear();
  for (Eras& known : known_eras_) {
    known.numbers.clear();
    known.since.clear();
    known.begin = 0;
    known.simd_epochs = 0;
  }
  if (!spans_.empty() && RaceShadow::is_late(spans_.back().first)) {
    spans_.clear();
    shadow_.forget();
    since_ = shadow_.next_era();
    calls_.since = era_bits(since_);
  }
  if (has_cells_) {
    open_span();
    group_since_ = spans_.back().first;
  }
  const size_t simds = (threads_ + kSimdThreads - 1) / kSimdThreads;
  stamps_.resize(threads_);
  stamp(Progress(), 0, threads_);
  calls_.stamps = stamps_.data();
  progress_.resize(threads_);
  simd_progress_.assign(simds, Progress());
  goes_as_one_.assign(simds, 1);
  meetings_.clear();
  simd_meetings_.assign(simds, {});
  diverged_ = false;
}

/// Eras that follow are of this group with as many fences.
void Watcher::open_span() {
  const auto fences = fences_.find(group_);
  spans_.push_back({shadow_.next_era(), group_, fences != fences_.end() ? fences->second : uint16_t{0}});
  eras_.emplace_back();
}

const Watcher::Span& Watcher::span(Touch touch) const {
  if (touch.era() >= spans_.back().first) return spans_.back();
  const auto after = std::upper_bound(spans_.begin(), spans_.end(), touch.era(),
                                      [](uint32_t era, const Span& span) { return era < span.first; });
  return *std::prev(after);
}

uint32_t Watcher::era_of(uint32_t memory, uint32_t epoch, uint32_t simd_epoch) {
  Eras& known = known_eras_[memory];
  const auto is_it = [&](const Era& era) { return era.epoch == epoch && era.simd_epoch == simd_epoch; };
  if (!known.since.empty() && is_it(era({era_bits(known.last)}))) return known.last;
  // The newest first: those of threads that go about as fast.
  const bool is_new = epoch >= known.since.size() || simd_epoch >= known.simd_epochs;
  for (size_t i = known.numbers.size(); !is_new && i > known.begin; --i) {
    const uint32_t number = known.numbers[i - 1];
    if (!is_it(era({era_bits(number)}))) continue;
    known.last = number;
    return number;
  }
  known.last = shadow_.next_era();
  eras_.push_back({epoch, simd_epoch});
  known.numbers.push_back(known.last);
  known.simd_epochs = std::max(known.simd_epochs, simd_epoch + 1);
  while (known.since.size() <= epoch) known.since.push_back(known.last);
  return known.last;
}

/// What follows is of eras that have not been yet.
void Watcher::close_eras() {
  for (Eras& known : known_eras_) {
    known.begin = known.numbers.size();
    known.simd_epochs = 0;
    known.last = spans_.back().first;
  }
}

/// Of threads of the group that have come so far.
void Watcher::stamp(const Progress& progress, uint32_t first, uint32_t count) {
  if (!has_cells_) return;
  const uint64_t device = era_bits(era_of(0, progress.epochs[0], progress.simd_epochs[0]));
  const uint64_t threadgroup = era_bits(era_of(1, progress.epochs[1], progress.simd_epochs[1]));
  const uint64_t since = era_bits(known_eras_[1].since[progress.epochs[1]]);
  const uint32_t end = first + count;
  if (count == threads_)
    calls_.stamp_shift = kGroupShift;
  else if (first % kSimdThreads == 0 && (end % kSimdThreads == 0 || end == threads_))
    refine_stamps(kSimdShift);
  else
    refine_stamps(0);
  const uint32_t shift = calls_.stamp_shift;
  std::fill(stamps_.begin() + (first >> shift), stamps_.begin() + ((end - 1) >> shift) + 1,
            smelt_cpu_stamp{device, threadgroup, since, 0});
}

/// A stamp for each 1 << shift threads, or for fewer.
void Watcher::refine_stamps(uint32_t shift) {
  const uint32_t before = calls_.stamp_shift;
  if (before <= shift) return;
  for (uint32_t i = (threads_ - 1) >> shift; i > 0; --i) stamps_[i] = stamps_[(i << shift) >> before];
  calls_.stamp_shift = shift;
}

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
    finding->second = side(group_ * group_threads_ + least, missed.place, "does not come");
    finding->second->place = finding->first.place;
    finding->advice = is_simdgroup ? "all threads of a SIMD group must come to it"
                                   : "all threads of a threadgroup must come to a barrier: let those without work "
                                     "go around the work and not around the barrier";
  }
}

// ---- accesses ----

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

/// The reads of which most kernels are made. What code does itself (aot/src/cpu/work_item/watch.cpp) is among them: one
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

void Watcher::touch(const Cell& cell, Touch now, bool is_threadgroup, uint64_t address, uint64_t bytes) {
  const uint64_t since = is_threadgroup ? stamp_of(local_).threadgroup_since : calls_.since;
  const auto known = [&](uint64_t word) {
    const Touch one{word};
    return one.bits >= since ? one.unmarked() : Touch();
  };
  const Touch last{*cell.last};
  Touch write;
  std::array<Touch, 2> reads;
  if (!is_threadgroup && last.era() == since_) {
    reads = {known(*cell.write), known(*cell.second)};
  } else if (last.is_write()) {
    write = known(last.bits);
  } else if (!known(last.bits).is_empty()) {
    reads[0] = known(last.bits);
    if ((last.bits & Touch::kMarks) != 0) reads[1] = known(*cell.second);
    if ((last.bits & SMELT_CPU_CELL_WROTE) != 0) write = known(*cell.write);
  }
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
    // Code asks about it until it is settled.
    *cell.last = is_pending ? ~uint64_t{0} : now.bits;
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
    name_memory(*finding, one.address, element_bytes(one.now), second);
  }
}

void Watcher::found_race(Touch before, Touch now, uint64_t address, bool is_threadgroup) {
  const char* const first = text(before);
  const char* const second = text(now);
  Told* const told = add(Finding::Kind::race, first, second);
  if (told == nullptr) return;
  Finding& finding = told->finding;
  const uint32_t thread = thread_of(before);
  const Scope scope = scope_of(thread);
  const bool is_new = finding.times == 1;
  if (!is_new && scope <= told->scope) return;
  told->scope = scope;
  if (is_new) {
    const auto does = [](Touch one) {
      return std::string(one.is_atomic()  ? one.is_write() ? "changes atomically" : "reads atomically"
                         : one.is_write() ? "writes"
                                          : "reads");
    };
    finding.first = side(thread, first, does(before));
    finding.second = side(thread_of(now), second, does(now));
    name_memory(finding, address, element_bytes(now), second);
  }
  const std::string_view flags = is_threadgroup                          ? "mem_flags::mem_threadgroup"
                                 : finding.memory.starts_with("texture") ? "mem_flags::mem_texture"
                                                                         : "mem_flags::mem_device";
  if (before.is_atomic() || now.is_atomic())
    finding.advice = "only one of them is an atomic";
  else if (scope == Scope::device)
    finding.advice = "no barrier orders threads of different groups: atomics do, or a launch of its own";
  else
    finding.advice = fmt::format("{}({}) between them would order them",
                                 scope == Scope::simdgroup ? "simdgroup_barrier" : "threadgroup_barrier", flags);
}

Watcher::Scope Watcher::scope_of(uint32_t other) const {
  if (other / group_threads_ != group_) return Scope::device;
  return other % group_threads_ / kSimdThreads == local_ / kSimdThreads ? Scope::simdgroup : Scope::group;
}

// ---- barriers ----

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
    finding->advice = is_simdgroup ? "all threads of a SIMD group must come to the same one"
                                   : "all threads of a threadgroup must come to the same barrier";
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

void Watcher::unwritten(const char* place) {
  if (Finding* const finding = new_finding(Finding::Kind::unwritten, place, nullptr)) {
    finding->first = side(thread_, place, "uses a value that nobody has written");
    finding->advice = "what threadgroup memory and a thread's own arrays hold before they are written is anything";
  }
}

// ---- what is told ----

/// Null when the pair is known, or there are too many.
Finding* Watcher::new_finding(Finding::Kind kind, const char* first, const char* second) {
  Told* const told = add(kind, first, second);
  return told != nullptr && told->finding.times == 1 ? &told->finding : nullptr;
}

Watcher::Told* Watcher::add(Finding::Kind kind, const char* first, const char* second) {
  if (second != nullptr && std::less<>()(second, first)) std::swap(first, second);
  const auto known = findings_.find({kind, first, second});
  if (known != findings_.end()) {
    ++known->second.finding.times;
    return &known->second;
  }
  if (findings_.size() >= kMostFindings) return nullptr;
  Told& made = findings_[{kind, first, second}];
  made.finding.kind = kind;
  made.finding.kernel = pipeline_.name();
  return &made;
}

FindingSide Watcher::side(uint32_t thread, const char* place, std::string does) const {
  FindingSide made;
  made.place = place_alone(place);
  made.does = std::move(does);
  made.group = position_in(thread / group_threads_, {dispatch_.groups[0], dispatch_.groups[1], dispatch_.groups[2]});
  std::array<uint32_t, 3> size{};
  for (size_t axis = 0; axis < 3; ++axis)
    size[axis] = std::min(dispatch_.group[axis], dispatch_.grid[axis] - made.group[axis] * dispatch_.group[axis]);
  const std::array<uint32_t, 3> local = position_in(thread % group_threads_, size);
  for (size_t axis = 0; axis < 3; ++axis) made.thread[axis] = made.group[axis] * dispatch_.group[axis] + local[axis];
  return made;
}

void Watcher::name_memory(Finding& finding, uint64_t address, uint64_t bytes, const char* place) const {
  const auto low = reinterpret_cast<uintptr_t>(scratch_.data());
  if (address >= low && address < low + static_bytes_) {
    uint64_t offset = address - low;
    finding.memory = "threadgroup memory";
    const std::string_view text = place;
    const size_t bar = text.find('|');
    const size_t at = text.rfind('@');
    uint64_t start = 0;
    if (bar != text.npos && at != text.npos &&
        std::from_chars(text.data() + at + 1, text.data() + text.size(), start).ec == std::errc() && start <= offset) {
      finding.memory = fmt::format("threadgroup variable '{}'", text.substr(bar + 1, at - bar - 1));
      offset -= start;
    }
    finding.element = offset / bytes;
    return;
  }
  for (size_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i) {
    const uint64_t start = low + dispatch_.threadgroup_offsets[i];
    if (has_argument(i) && address >= start && address < start + dispatch_.threadgroup_bytes[i]) {
      finding.memory = fmt::format("threadgroup argument {}", i);
      finding.element = (address - start) / bytes;
      return;
    }
  }
  name_buffer(finding, address, bytes);
}

/// Of the buffers that reach there those that begin nearest: a program may have one piece of memory for all its arrays.
void Watcher::name_buffer(Finding& finding, uint64_t address, uint64_t bytes) const {
  const auto start_of = [&](size_t i) { return reinterpret_cast<uintptr_t>(dispatch_.buffers[i]); };
  const auto reaches = [&](size_t i) {
    return start_of(i) != 0 && address >= start_of(i) && address < start_of(i) + dispatch_.buffer_bytes[i];
  };
  uint64_t nearest = 0;
  for (size_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i)
    if (reaches(i)) nearest = std::max<uint64_t>(nearest, start_of(i));
  for (size_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i) {
    if (!reaches(i) || start_of(i) != nearest) continue;
    uint64_t element = bytes;
    std::string name = fmt::format("buffer {}", i);
    for (const ArgInfo& argument : pipeline_.args())
      if (argument.index == i && class_of(argument.kind) == BindingClass::buffer) {
        name += fmt::format(" '{}'", argument.name);
        if (argument.size > 1) element = argument.size;
      }
    finding.memory += (finding.memory.empty() ? "" : ", also ") + name;
    if (!finding.element) finding.element = (address - nearest) / element;
  }
  for (const ArgInfo& argument : pipeline_.args()) {
    const auto tensor = tensor_memory(argument, dispatch_);
    const auto start = tensor ? reinterpret_cast<uintptr_t>(tensor->data()) : 0;
    if (!tensor || address < start || address - start >= tensor->size()) continue;
    finding.memory +=
        fmt::format("{}buffer {} '{}'", finding.memory.empty() ? "" : ", also ", argument.index, argument.name);
    if (!finding.element) finding.element = (address - start) / tensor_element_bytes(argument);
  }
  if (finding.memory.empty()) name_texture(finding, address);
}

void Watcher::name_texture(Finding& finding, uint64_t address) const {
  if (dispatch_.textures == nullptr) return;
  for (const ArgInfo& argument : pipeline_.args()) {
    if (argument.kind != ArgumentKind::texture) continue;
    for (uint32_t i = argument.index; i < argument.index + argument.array_size && i < SMELT_CPU_MAX_TEXTURES; ++i) {
      const smelt_cpu_texture* const texture = dispatch_.textures[i];
      if (texture == nullptr) continue;
      const auto start = reinterpret_cast<uintptr_t>(texture->data);
      if (address < start || address >= start + texture->layer_bytes * texture->layers) continue;
      finding.memory += fmt::format("{}texture {} '{}'", finding.memory.empty() ? "" : ", also ", i, argument.name);
      if (!finding.element) finding.element = (address - start) / texture->texel_bytes;
    }
  }
}

std::vector<Finding> Watcher::finish() {
  settle_parts(std::nullopt);
  settle();
  end_group();
  group_ = ~0u;
  std::vector<Finding> found;
  for (auto& [key, told] : findings_) {
    const auto& [kind, first, second] = key;
    // Writes that race, and now and then write the same, are a race.
    if (kind == Finding::Kind::same_value && findings_.contains({Finding::Kind::race, first, second})) continue;
    found.push_back(std::move(told.finding));
  }
  // By their places, not by where the program's texts happen to lie.
  sort_stably(found, [](const Finding& a, const Finding& b) {
    return std::tie(a.kind, a.first.place) < std::tie(b.kind, b.first.place);
  });
  return found;
}

}  // namespace smelt::loader
