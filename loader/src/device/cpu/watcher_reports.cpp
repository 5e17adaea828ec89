// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is told: findings, with the names of memory and threads.
#include "smelt/base/sort.hpp"

#include "cpu_device.hpp"
#include "fault_texts.hpp"
#include "library_data.hpp"
#include "watcher.hpp"

#include <algorithm>

namespace smelt::loader {
namespace {

constexpr size_t kMostFindings = 200;  // of one launch

std::array<uint32_t, 3> position_in(uint32_t index, const std::array<uint32_t, 3>& size) {
  return {index % size[0], index / size[0] % size[1], index / size[0] / size[1]};
}

}  // namespace

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
    name_memory(finding, address, element_bytes(now));
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

void Watcher::unwritten(const char* place) {
  if (Finding* const finding = new_finding(Finding::Kind::unwritten, place, nullptr)) {
    finding->first = side(thread_, place, "uses a value that was never written");
    finding->advice = "threadgroup memory and a thread's own arrays hold arbitrary values until they are written";
  }
}

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
  made.place = place;
  made.does = std::move(does);
  made.group = position_in(thread / group_threads_, {dispatch_.groups[0], dispatch_.groups[1], dispatch_.groups[2]});
  std::array<uint32_t, 3> size{};
  for (size_t axis = 0; axis < 3; ++axis)
    size[axis] = std::min(dispatch_.group[axis], dispatch_.grid[axis] - made.group[axis] * dispatch_.group[axis]);
  const std::array<uint32_t, 3> local = position_in(thread % group_threads_, size);
  for (size_t axis = 0; axis < 3; ++axis) made.thread[axis] = made.group[axis] * dispatch_.group[axis] + local[axis];
  return made;
}

void Watcher::name_memory(Finding& finding, uint64_t address, uint64_t bytes) const {
  const auto low = reinterpret_cast<uintptr_t>(scratch_.data());
  for (const ThreadgroupVariable& variable : threadgroup_variables(text(uint32_t{0})))  // site 0 is no access
    if (address >= low + variable.offset && address < low + variable.offset + variable.bytes) {
      finding.memory = variable.title();
      finding.element = (address - low - variable.offset) / bytes;
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

void Watcher::compare(ConcurrentPass& pass, uint32_t barriers, std::vector<Finding>& findings) {
  if (!has_cells_ || sites_ == nullptr) return;
  using Does = ConcurrentPass::Does;
  struct Open {
    ConcurrentPass::Access access;
    uint32_t site = ~0u;
  };
  const auto does_of = [](Touch touch) {
    return touch.is_atomic() ? Does::changes : touch.is_write() ? Does::writes : Does::reads;
  };
  std::array<Open, ConcurrentPass::kKinds> open;
  std::vector<ConcurrentPass::Access> accesses;
  std::vector<std::string> places;
  std::map<uint32_t, uint32_t> place_of_site;
  const auto close = [&](Open& one) {
    if (one.access.low < one.access.high) accesses.push_back(one.access);
    one = {};
  };
  const auto add = [&](uint64_t address, uint64_t bytes, Touch touch) {
    if (touch.is_empty()) return;
    const Does does = does_of(touch);
    Open& one = open[static_cast<size_t>(does)];
    if (one.site != touch.site() || one.access.high != address) {
      if (one.access.high > address) return;  // of its two readers one is enough
      close(one);
      const auto [at, is_new] = place_of_site.try_emplace(touch.site(), static_cast<uint32_t>(places.size()));
      if (is_new) places.push_back(text(touch));
      one = {{address, address, does, at->second}, touch.site()};
    }
    one.access.high = address + bytes;
  };
  const unsigned shift = sites_[0].flags >> SMELT_CPU_ACCESS_SHIFT & 3;
  shadow_.each(shift, [&](uint64_t address, uint64_t bytes, const std::array<uint64_t, 3>& words) {
    const Held here = held(words, calls_.since, false);
    add(address, bytes, here.write);
    for (const Touch read : here.reads) add(address, bytes, read);
  });
  for (Open& one : open) close(one);
  const auto in_words = [](Does does) {
    return std::string(does == Does::reads ? "reads" : does == Does::writes ? "writes" : "changes atomically");
  };
  for (const ConcurrentPass::Conflict& one : pass.add(barriers, pipeline_.name(), places, accesses)) {
    if (findings.size() >= kMostFindings) return;
    Finding& finding = findings.emplace_back();
    finding.kind = Finding::Kind::race;
    finding.kernel = pipeline_.name();
    finding.first.kernel = one.kernel;
    finding.first.place = one.place;
    finding.first.does = in_words(one.does);
    const Held here = held(shadow_.words_at(one.address, shift), calls_.since, false);
    Touch now;
    for (const Touch touch : {here.write, here.reads[0], here.reads[1]})
      if (!touch.is_empty() && does_of(touch) == one.now.does) now = touch;
    finding.second = side(thread_of(now), places[one.now.place].c_str(), in_words(one.now.does));
    name_buffer(finding, one.address, element_bytes(now));
    finding.advice = "a barrier of the encoder between the two dispatches would order them";
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
