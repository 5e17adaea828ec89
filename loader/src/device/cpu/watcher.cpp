// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The launch: where its cells lie, its groups, and the eras that its threads are in.
#include "watcher.hpp"

#include "smelt/base/sort.hpp"

#include "cpu_device.hpp"
#include "library_data.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

namespace smelt::loader {
namespace {

constexpr uint32_t kGroupShift = 31;  // one stamp for all, as smelt_cpu_watch::stamp_shift says
constexpr size_t kCallBytes = 16 << 10;
constexpr unsigned kMostShift = std::bit_width(RaceShadow::kMostCellBytes) - 1;
constexpr uint64_t kMostAtOnce = 64;  // bytes that code looks up at once

uint32_t threads_of(const std::array<uint32_t, 3>& size) {
  return size[0] * size[1] * size[2];
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

}  // namespace

Watcher::Watcher(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch, Checks checks,
                 std::span<std::byte> scratch, uint32_t static_threadgroup_bytes, const LaunchOrder& order)
    : pipeline_(pipeline),
      dispatch_(dispatch),
      scratch_(scratch),
      static_bytes_(static_threadgroup_bytes),
      order_(order),
      group_threads_(dispatch.group[0] * dispatch.group[1] * dispatch.group[2]),
      call_shadows_(kCallBytes),
      threadgroup_shadow_(scratch.size()),
      keeps_books_(checks.has(Check::races) || checks.has(Check::sync)) {
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

bool Watcher::lay_out_cells(bool is_alone) {
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
  // Of a buffer that is alone code may tell nothing.
  calls_.alone = is_alone ? buffers_alone(ranges) : 0;
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
  std::fill_n(threadgroup_shadow_.begin(), static_bytes_, std::byte{0xff});
  for (size_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i)
    if (has_argument(i))
      std::memset(threadgroup_shadow_.data() + dispatch_.threadgroup_offsets[i], 0xff, dispatch_.threadgroup_bytes[i]);
  begin_group(group);
}

void Watcher::begin_group(const std::array<uint32_t, 3>& group) {
  if (keeps_books_) {
    settle_parts(std::nullopt);
    end_group();
  }
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
  if (keeps_books_) begin_books();
}

/// Of the group whose position and size are known: no thread of it has come to anything.
void Watcher::begin_books() {
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
    refine_stamps(std::countr_zero(kSimdThreads));
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

}  // namespace smelt::loader
