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

constexpr uint32_t kSimdThreads = 32;
constexpr size_t kCallBytes = 16 << 10;
constexpr size_t kMostFindings = 200;  // of one launch
constexpr size_t kMostPending = 256, kMostParts = 65536;

uint32_t threads_of(const std::array<uint32_t, 3>& size) {
  return size[0] * size[1] * size[2];
}

std::array<uint32_t, 3> position_in(uint32_t index, const std::array<uint32_t, 3>& size) {
  return {index % size[0], index / size[0] % size[1], index / size[0] / size[1]};
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
  calls_.access = [](void* context, uint64_t thread, const void* address, uint64_t bytes, uint32_t flags,
                     const char* place) {
    auto& self = *static_cast<Watcher*>(context);
    if (thread != self.linear_) self.become(thread);
    self.access(address, bytes, flags, place);
  };
  calls_.meet = [](void* context, uint64_t thread, uint32_t flags, const char* place) {
    auto& self = *static_cast<Watcher*>(context);
    if (thread != self.linear_) self.become(thread);
    self.meet(flags, place);
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
  calls_.unwritten = [](void* context, uint64_t thread, const char* place) {
    auto& self = *static_cast<Watcher*>(context);
    if (thread != self.linear_) self.become(thread);
    self.unwritten(place);
  };
  calls_.calls = call_shadows_.data();
  calls_.threadgroup_shadow = threadgroup_shadow_.data();
  const auto low = reinterpret_cast<uintptr_t>(scratch.data());
  shadow_.add_range({low, low + static_bytes_, true});
  for (size_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i) {
    if (has_argument(i))
      shadow_.add_range({low + dispatch.threadgroup_offsets[i],
                         low + dispatch.threadgroup_offsets[i] + dispatch.threadgroup_bytes[i], true});
    const auto buffer = reinterpret_cast<uintptr_t>(dispatch.buffers[i]);
    if (buffer != 0 && dispatch.buffer_bytes[i] != 0)
      shadow_.add_range({buffer, buffer + dispatch.buffer_bytes[i], false});
  }
  for (const ArgInfo& argument : pipeline.args())
    if (const auto tensor = tensor_memory(argument, dispatch)) {
      const auto start = reinterpret_cast<uintptr_t>(tensor->data());
      shadow_.add_range({start, start + tensor->size(), false});
    }
  for (size_t i = 0; dispatch.textures != nullptr && i < SMELT_CPU_MAX_TEXTURES; ++i) {
    const smelt_cpu_texture* const texture = dispatch.textures[i];
    if (texture == nullptr) continue;
    const auto texels = reinterpret_cast<uintptr_t>(texture->data);
    shadow_.add_range({texels, texels + texture->layer_bytes * texture->layers, false});
  }
}

/// Whether [[threadgroup(i)]] has its place in scratch: lengths of arguments that this kernel lacks may be left over.
bool Watcher::has_argument(size_t i) const {
  const uint64_t bytes = dispatch_.threadgroup_bytes[i];
  return bytes != 0 && dispatch_.threadgroup_offsets[i] + bytes <= scratch_.size();
}

void Watcher::begin_group_code(const std::array<uint32_t, 3>& group) {
  settle();
  code_group_ = group;
  row_left_ = 0;
  std::memset(threadgroup_shadow_.data(), 0xff, static_bytes_);
  for (size_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i)
    if (has_argument(i))
      std::memset(threadgroup_shadow_.data() + dispatch_.threadgroup_offsets[i], 0xff, dispatch_.threadgroup_bytes[i]);
}

// ---- who it is ----

void Watcher::look_up(uint64_t linear) {
  settle();
  linear_ = linear;
  const std::array<uint32_t, 3> at{static_cast<uint32_t>(linear % dispatch_.grid[0]),
                                   static_cast<uint32_t>(linear / dispatch_.grid[0] % dispatch_.grid[1]),
                                   static_cast<uint32_t>(linear / dispatch_.grid[0] / dispatch_.grid[1])};
  std::array<uint32_t, 3> group{};
  for (size_t axis = 0; axis < 3; ++axis) group[axis] = at[axis] / dispatch_.group[axis];
  if (group_ == ~0u || group != group_at_) begin_group(group);
  std::array<uint32_t, 3> place{};
  for (size_t axis = 0; axis < 3; ++axis) place[axis] = at[axis] - group[axis] * dispatch_.group[axis];
  local_ = place[0] + group_size_[0] * (place[1] + group_size_[1] * place[2]);
  thread_ = group_begin_ + local_;
  row_left_ = group_size_[0] - 1 - place[0];
}

void Watcher::begin_group(const std::array<uint32_t, 3>& group) {
  settle_parts(std::nullopt);
  end_group();
  group_at_ = group;
  group_ = group[0] + dispatch_.groups[0] * (group[1] + dispatch_.groups[1] * group[2]);
  for (size_t axis = 0; axis < 3; ++axis)
    group_size_[axis] = std::min(dispatch_.group[axis], dispatch_.grid[axis] - group[axis] * dispatch_.group[axis]);
  threads_ = threads_of(group_size_);
  group_begin_ = group_ * group_threads_;
  progress_.assign(threads_, Progress());
  meetings_.clear();
  simd_meetings_.assign((threads_ + kSimdThreads - 1) / kSimdThreads, {});
  diverged_ = false;
}

void Watcher::end_group() {
  if (group_ == ~0u || diverged_) return;
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

inline bool Watcher::is_ordered(const RaceShadow::Page& page, const Touch& before, const Touch& now) const {
  if (before.thread_after == now.thread_after) return true;
  const uint32_t local = before.thread() - group_begin_;
  if (local < group_threads_) {
    if (before.epoch != now.epoch) return true;
    return local / kSimdThreads == local_ / kSimdThreads && before.simd_epoch != now.simd_epoch;
  }
  if (page.is_threadgroup) return true;  // another group's memory, which lay at the same place
  if (known_.empty()) return false;
  const auto mine = known_.find(group_);
  if (mine == known_.end()) return false;
  const auto its = mine->second.find(before.thread() / group_threads_);
  return its != mine->second.end() && its->second > before.fences;
}

inline void Watcher::touch(RaceShadow::Page& page, Cell& cell, const Touch& now, bool is_write, uint64_t address,
                           uint64_t bytes) {
  const auto races_with = [&](const Touch& before) {
    return !before.is_empty() && !(before.is_atomic && now.is_atomic) && !is_ordered(page, before, now);
  };
  if (races_with(cell.write)) {
    // Whether the second write changes anything is seen when it is done.
    std::vector<Pending>& waiting = is_part_ ? parts_ : pending_;
    if (is_write && !now.is_atomic && !cell.write.is_atomic &&
        waiting.size() < (is_part_ ? kMostParts : kMostPending)) {
      Pending& one = waiting.emplace_back();
      one.before = cell.write;
      one.now = now;
      one.address = address;
      one.bytes = bytes;
      one.is_threadgroup = page.is_threadgroup;
      std::memcpy(one.held.data(), reinterpret_cast<const void*>(address), bytes);
    } else {
      found_race(cell.write, true, now, is_write, address, bytes, page.is_threadgroup);
    }
  }
  if (is_write) {
    for (Touch& read : cell.reads) {
      if (races_with(read)) found_race(read, false, now, true, address, bytes, page.is_threadgroup);
      read = Touch();
    }
    cell.write = now;
    return;
  }
  // Two readers are enough to find one for every writer; those that are behind a barrier make room.
  for (Touch& read : cell.reads)
    if (read.thread_after == now.thread_after && read.is_atomic == now.is_atomic) {
      read = now;
      return;
    }
  for (Touch& read : cell.reads)
    if (read.is_empty() || is_ordered(page, read, now)) {
      read = now;
      return;
    }
  for (Touch& read : cell.reads)
    if (read.is_atomic && !now.is_atomic) {
      read = now;
      return;
    }
}

void Watcher::access(const void* address, uint64_t bytes, uint32_t flags, const char* place) {
  if (!pending_.empty()) settle();
  auto at = reinterpret_cast<uintptr_t>(address);
  const bool is_write = (flags & SMELT_CPU_ACCESS_WRITES) != 0;
  const bool is_simdgroup = (flags & SMELT_CPU_ACCESS_SIMDGROUP) != 0;
  // A SIMD group acts as one: its first thread tells of it.
  if (is_simdgroup && local_ % kSimdThreads != 0) return;
  is_part_ = (flags & SMELT_CPU_ACCESS_PART) != 0;
  if (is_part_ && bytes == 0) return settle_parts(thread_);
  Touch now;
  now.thread_after = thread_ + 1;
  now.place = reinterpret_cast<uintptr_t>(place);
  now.is_atomic = (flags & SMELT_CPU_ACCESS_ATOMIC) != 0;
  if ((flags & SMELT_CPU_ACCESS_MAY_FENCE) != 0) {
    observed_[thread_].insert(at);
    if (is_write && fenced_.contains(thread_)) {
      Known& released = released_[at];
      for (const auto& [group, fences] : known_[group_]) released[group] = std::max(released[group], fences);
      released[group_] = std::max(released[group_], fences_[group_]);
    }
  }
  if (!fences_.empty()) {
    const auto mine = fences_.find(group_);
    now.fences = mine != fences_.end() ? std::min<uint16_t>(mine->second, 0x7fff) : 0;
  }
  while (bytes > 0) {
    const uint64_t offset = at % RaceShadow::kPageBytes;
    const uint64_t here = std::min(bytes, RaceShadow::kPageBytes - offset);
    if (RaceShadow::Page* const page = shadow_.page(at >> RaceShadow::kPageBits)) {
      const unsigned memory = page->is_threadgroup ? 1 : 0;
      now.epoch = progress_[local_].epochs[memory];
      now.simd_epoch = progress_[local_].simd_epochs[memory];
      const auto fine = static_cast<unsigned>(std::min(2, std::countr_zero(offset | here)));
      if (fine < page->shift) page->refine(fine);
      const uint64_t end = (offset + here) >> page->shift;
      for (uint64_t cell = offset >> page->shift; cell < end; ++cell)
        touch(*page, page->cells[cell], now, is_write, at - offset + (cell << page->shift), uint64_t{1} << page->shift);
    }
    at += here;
    bytes -= here;
  }
}

/// Of an operation that a thread, or the SIMD group that it begins, has done; null: of all.
void Watcher::settle_parts(std::optional<uint32_t> thread) {
  if (parts_.empty()) return;
  std::vector<Pending> later;
  for (const Pending& one : parts_) {
    if (!thread || one.now.thread() == *thread)
      pending_.push_back(one);
    else
      later.push_back(one);
  }
  parts_ = std::move(later);
  settle();
}

/// Writes of the same value are told apart from those that change it.
void Watcher::settle() {
  for (const Pending& one : pending_) {
    const bool is_same = std::memcmp(one.held.data(), reinterpret_cast<const void*>(one.address), one.bytes) == 0;
    if (!is_same) {
      found_race(one.before, true, one.now, true, one.address, one.bytes, one.is_threadgroup);
      continue;
    }
    const char* const first = one.before.text();
    const char* const second = one.now.text();
    if (Finding* const finding = new_finding(Finding::Kind::same_value, first, second)) {
      finding->first = side(one.before.thread(), first, "writes");
      finding->second = side(one.now.thread(), second, "writes the same");
      name_memory(*finding, one.address, one.bytes, second);
    }
  }
  pending_.clear();
}

void Watcher::found_race(const Touch& before, bool before_writes, const Touch& now, bool now_writes, uint64_t address,
                         uint64_t bytes, bool is_threadgroup) {
  const char* const first = before.text();
  const char* const second = now.text();
  Told* const told = add(Finding::Kind::race, first, second);
  if (told == nullptr) return;
  Finding& finding = told->finding;
  const Scope scope = scope_of(before.thread());
  const bool is_new = finding.times == 1;
  if (!is_new && scope <= told->scope) return;
  told->scope = scope;
  if (is_new) {
    const auto does = [](const Touch& one, bool writes) {
      return std::string(one.is_atomic ? writes ? "changes atomically" : "reads atomically"
                         : writes      ? "writes"
                                       : "reads");
    };
    finding.first = side(before.thread(), first, does(before, before_writes));
    finding.second = side(now.thread(), second, does(now, now_writes));
    name_memory(finding, address, bytes, second);
  }
  const std::string_view flags = is_threadgroup                          ? "mem_flags::mem_threadgroup"
                                 : finding.memory.starts_with("texture") ? "mem_flags::mem_texture"
                                                                         : "mem_flags::mem_device";
  if (before.is_atomic || now.is_atomic)
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

void Watcher::meet(uint32_t flags, const char* place) {
  if ((flags & SMELT_CPU_FENCE) != 0) return fence();
  Progress& mine = progress_[local_];
  const bool is_lanes = (flags & SMELT_CPU_BARRIER_ALL_LANES) != 0;
  const bool is_simdgroup = is_lanes || (flags & SMELT_CPU_BARRIER_SIMDGROUP) != 0;
  auto& epochs = is_simdgroup ? mine.simd_epochs : mine.epochs;
  if (!is_lanes) {
    if ((flags & SMELT_CPU_BARRIER_DEVICE) != 0) ++epochs[0];
    if ((flags & SMELT_CPU_BARRIER_THREADGROUP) != 0) ++epochs[1];
  }
  if ((flags & SMELT_CPU_MEET_IS_CHECKED) == 0) return;
  std::vector<Meeting>& meetings = is_simdgroup ? simd_meetings_[local_ / kSimdThreads] : meetings_;
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
  ++fences_[group_];
  fenced_.insert(thread_);
  std::set<uint64_t>& atomics = observed_[thread_];
  for (const uint64_t address : atomics) {
    const auto released = released_.find(address);
    if (released == released_.end()) continue;
    Known& mine = known_[group_];
    for (const auto& [group, fences] : released->second) mine[group] = std::max(mine[group], fences);
  }
  atomics.clear();
}

void Watcher::stray_lanes(uint32_t first_thread, uint32_t readers, const char* place) {
  const uint32_t lane = first_thread + static_cast<uint32_t>(std::countr_zero(readers));
  if (group_ == ~0u || group_at_ != code_group_) begin_group(code_group_);
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
    if (!finding.element) finding.element = (address - start) / bytes;
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
