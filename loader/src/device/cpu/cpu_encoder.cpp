// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch. Small grids run on the calling thread at once: no lock, no allocation, no clock. Larger ones are cut into
// boxes by what a thread of this kernel has cost before.
#include "smelt/base/trace.hpp"

#include "batch.hpp"
#include "cpu_device.hpp"
#include "findings.hpp"
#include "float_mode.hpp"
#include "launch_parts.hpp"
#include "private_buffers.hpp"
#include "running_launch.hpp"
#include "tiling.hpp"
#include "waiting_groups.hpp"
#include "watcher.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <optional>

namespace smelt::loader {
namespace {

constexpr uint64_t kMostScratch = uint64_t{1} << 30;
// Waking a worker costs microseconds: a launch shorter than this stays on one thread.
constexpr float kWorthWaking = 30e3f;  // ns
constexpr float kChunkTime = 25e3f;    // ns that one chunk should take
constexpr float kGuessedCost = 4.0f;   // ns per thread, before anything is known
constexpr uint64_t kChunksPerThread = 8;
constexpr float kLongestChunk = 20e6f;     // ns: so often a launch can be ended
constexpr uint64_t kProbeChunks = 1024;    // of a kernel's first launch, whose cost nobody knows
constexpr uint64_t kInlineAlignment = 16;  // of set_bytes, as a vector's memory has it
// A word of a copy is made, read and joined: what as many locked additions take.
constexpr double kLocksPerCopiedWord = 8;
constexpr uint64_t kMostPrivateBytes = 256 << 10;  // of one buffer and worker

double volume(const smelt_cpu_range& box) {
  double product = 1;
  for (size_t axis = 0; axis < 3; ++axis) product *= box.high[axis] - box.low[axis];
  return product;
}

float nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<float, std::nano>(std::chrono::steady_clock::now() - start).count();
}

/// Whether a launch is to end before its time. Worker 0, which dispatched it, finds out; the others are told.
class Ending {
 public:
  explicit Ending(const CpuDevice& device) : device_(device) {}

  bool requested() const { return requested_.load(std::memory_order_relaxed); }

  /// Called by worker 0 between chunks.
  void look() {
    const auto now = std::chrono::steady_clock::now();
    if (now - looked_ < kPatience) return;
    looked_ = now;
    const bool over_limit = device_.launch_limit().count() != 0 && now - began_ > device_.launch_limit();
    if (over_limit || device_.interrupted()) requested_.store(true, std::memory_order_relaxed);
  }

 private:
  static constexpr std::chrono::milliseconds kPatience{10};
  const CpuDevice& device_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point looked_ = began_;
  std::atomic<bool> requested_{false};
};

/// Memory of one worker for the buffers that it has to itself during one launch.
struct PrivateCopy {
  std::array<void*, SMELT_CPU_MAX_BUFFERS> addresses;
  std::vector<Bytes> copies;  // one per private buffer; empty for a worker that took no chunk
};

class Launch final : public Pool::Job {
 public:
  Launch(const CpuPipeline& pipeline, const CpuCode& code, const smelt_cpu_dispatch& dispatch, const Tiling& tiling,
         uint64_t scratch_bytes, double threads_per_item, unsigned threads, bool privatise, Ending& ending)
      : Job(tiling.count()),
        pipeline_(pipeline),
        code_(code),
        dispatch_(dispatch),
        tiling_(tiling),
        scratch_bytes_(scratch_bytes),
        threads_per_item_(threads_per_item),
        ending_(ending) {
    if (privatise) private_.resize(threads);
  }

  /// The first chunk, on the calling thread, when nobody knows what the kernel costs.
  void probe() { run(0, Until::one_chunk); }
  void work(unsigned worker) override {
    if (worker == 0) return run(worker, Until::none_left);
    const RunningLaunchOfThread::Help help(pipeline_, dispatch_);
    run(worker, Until::none_left);
  }

  void merge() {
    for (const PrivateCopy& worker : private_)
      for (size_t i = 0; i < worker.copies.size(); ++i) {
        const schema::CpuPrivateBuffer& buffer = code_.private_buffers[i];
        merge_private(buffer.operation,
                      {static_cast<std::byte*>(dispatch_.buffers[buffer.buffer]), worker.copies[i].size()},
                      worker.copies[i]);
      }
  }

  bool out_of_memory() const { return out_of_memory_.load(std::memory_order_relaxed); }
  bool broken_off() const { return broken_off_.load(std::memory_order_relaxed); }

 private:
  enum class Until : uint8_t { one_chunk, none_left };

  void run(unsigned worker, Until until) {
    uint64_t chunk = 0;
    if (!take(chunk)) return;
    void* const scratch = scratch_of_thread.at_least(scratch_bytes_);
    if (scratch == nullptr) {
      out_of_memory_.store(true, std::memory_order_relaxed);
      return;
    }
    smelt_cpu_dispatch dispatch = dispatch_;
    if (!private_.empty()) make_private(worker, dispatch);
    const auto start = std::chrono::steady_clock::now();
    double items = 0;
    for (;;) {
      const smelt_cpu_range box = tiling_.box(chunk);
      code_.entry(&dispatch, &box, scratch);
      items += volume(box);
      if (until == Until::one_chunk) break;
      if (worker == 0) ending_.look();
      if (!take(chunk)) break;
      if (!ending_.requested()) continue;
      broken_off_.store(true, std::memory_order_relaxed);
      break;
    }
    if (worker == 0) learn(pipeline_, nanoseconds_since(start), items * threads_per_item_);
  }

  void make_private(unsigned worker, smelt_cpu_dispatch& dispatch) {
    PrivateCopy& copy = private_[worker];
    std::copy_n(dispatch.buffers, copy.addresses.size(), copy.addresses.begin());
    copy.copies.resize(code_.private_buffers.size());
    for (size_t i = 0; i < copy.copies.size(); ++i) {
      const schema::CpuPrivateBuffer& buffer = code_.private_buffers[i];
      copy.copies[i].resize(dispatch.buffer_bytes[buffer.buffer]);
      fill_neutral(buffer.operation, copy.copies[i]);
      copy.addresses[buffer.buffer] = copy.copies[i].data();
      dispatch.private_buffers |= uint32_t{1} << buffer.buffer;
    }
    dispatch.buffers = copy.addresses.data();
  }

  const CpuPipeline& pipeline_;
  const CpuCode& code_;
  const smelt_cpu_dispatch& dispatch_;
  const Tiling& tiling_;
  const uint64_t scratch_bytes_;
  const double threads_per_item_;
  Ending& ending_;
  std::vector<PrivateCopy> private_;
  std::atomic<bool> out_of_memory_{false};
  std::atomic<bool> broken_off_{false};  // a chunk was left undone
};

/// Whether each worker may have its own copy: small beside the threads, bound, and no other argument looks at the same
/// memory.
bool can_privatise(const CpuCode& code, const smelt_cpu_dispatch& dispatch, double most_words) {
  if (code.private_buffers.empty()) return false;
  for (const schema::CpuPrivateBuffer& buffer : code.private_buffers) {
    const auto low = reinterpret_cast<uintptr_t>(dispatch.buffers[buffer.buffer]);
    const uint64_t bytes = dispatch.buffer_bytes[buffer.buffer];
    if (low == 0 || low % sizeof(uint32_t) != 0 || bytes > kMostPrivateBytes) return false;
    const uint64_t words = bytes / sizeof(uint32_t);
    if (static_cast<double>(words) > most_words) return false;
    for (uint32_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i) {
      const auto other = reinterpret_cast<uintptr_t>(dispatch.buffers[i]);
      if (i != buffer.buffer && other < low + bytes && low < other + dispatch.buffer_bytes[i]) return false;
    }
  }
  return true;
}

/// Fills in how the grid is cut into groups; the threads of a whole group.
Result<uint64_t> cut_grid(const CpuPipeline& pipeline, const Size3& threads, const Size3& group,
                          smelt_cpu_dispatch& dispatch) {
  const std::array<uint64_t, 3> grid = {threads.x, threads.y, threads.z};
  const std::array<uint64_t, 3> size = {group.x, group.y, group.z};
  constexpr uint64_t kMost = std::numeric_limits<uint32_t>::max();
  uint64_t group_threads = 1;
  for (size_t axis = 0; axis < 3; ++axis) {
    if (grid[axis] > kMost)
      return fail(Errc::invalid_argument,
                  "kernel '{}': {} threads along one axis; positions have 32 bits, so at most {}", pipeline.name(),
                  grid[axis], kMost);
    // A group larger than the grid is trimmed to it, yet its nominal size is what the kernel is told.
    dispatch.grid[axis] = static_cast<uint32_t>(grid[axis]);
    dispatch.group[axis] = static_cast<uint32_t>(size[axis]);
    dispatch.groups[axis] = static_cast<uint32_t>((grid[axis] + size[axis] - 1) / size[axis]);
    group_threads *= size[axis];
  }
  dispatch.nominal_threads = static_cast<uint32_t>(round_up<uint64_t>(group_threads, 32));
  return group_threads;
}

}  // namespace

struct CpuEncoder::Prelude {
  const CpuCode* code = nullptr;
  smelt_cpu_dispatch dispatch;  ///< but for the fault and the services
  std::array<uint32_t, kSlots> threadgroup_offsets{};
  uint64_t scratch_bytes = 0;
  uint64_t group_threads = 0;
  double all_threads = 0;
  std::array<uint32_t, 3> extent{};  ///< of the range that the code takes
  float cost = 0;                    ///< ns of a thread; 0: nobody knows
  float expected = 0;                ///< ns
  bool privatise = false;            ///< the workers have copies of what is fed by atomics alone

  bool by_thread() const { return code->range == schema::CpuRangeKind::threads; }
  uint64_t groups() const { return uint64_t{dispatch.groups[0]} * dispatch.groups[1] * dispatch.groups[2]; }
  bool waits() const { return code->waits && groups() > 1; }
  /// The position in the grid of the group with this number.
  std::array<uint32_t, 3> place_of(uint64_t group) const {
    return {static_cast<uint32_t>(group % dispatch.groups[0]),
            static_cast<uint32_t>(group / dispatch.groups[0] % dispatch.groups[1]),
            static_cast<uint32_t>(group / dispatch.groups[0] / dispatch.groups[1])};
  }
  /// The range of the group at this position.
  smelt_cpu_range box_of(const std::array<uint32_t, 3>& at) const {
    smelt_cpu_range one{};
    for (size_t axis = 0; axis < 3; ++axis) {
      const uint64_t step = by_thread() ? dispatch.group[axis] : 1;
      one.low[axis] = static_cast<uint32_t>(at[axis] * step);
      one.high[axis] = static_cast<uint32_t>(std::min<uint64_t>((uint64_t{at[axis]} + 1) * step, extent[axis]));
    }
    return one;
  }
  smelt_cpu_range box() const { return {{0, 0, 0}, {extent[0], extent[1], extent[2]}}; }
};

CpuEncoder::CpuEncoder(std::shared_ptr<CpuDevice> device) : Encoder(device), cpu_(*device) {}

CpuEncoder::~CpuEncoder() {
  // What has been dispatched runs, also when nobody asks what came of it.
  static_cast<void>(CpuEncoder::run_kept());
}

Result<void> CpuEncoder::run_kept() {
  if (!batch_ || batch_->empty()) return {};
  return batch_->run(cpu_);
}

Result<void> CpuEncoder::run(const PipelineState& state, const Size3& threads, const Size3& group) {
  const auto& pipeline = static_cast<const CpuPipeline&>(state);
  Prelude prelude;
  SMELT_TRY_VOID(prepare(pipeline, threads, group, prelude));
  // A trace says what each took.
  if (concurrent() && !runs_in_order(*prelude.code) && prelude.cost != 0 && prelude.expected < kWorthWaking &&
      !prelude.privatise && !prelude.waits() && !tracing()) {
    keep(pipeline, prelude);
    return batch_->full() ? run_kept() : Result<void>();
  }
  if (!concurrent()) SMELT_TRY_VOID(run_kept());
  float took = 0;
  auto done = launch(pipeline, prelude, took);
  if (done && took > 0) pipeline.ran_for(took);
  return done;
}

Result<void> CpuEncoder::prepare(const CpuPipeline& pipeline, const Size3& threads, const Size3& group,
                                 Prelude& prelude) {
  const CpuCode& code = pipeline.code();
  prelude.code = &code;
  smelt_cpu_dispatch& dispatch = prelude.dispatch;
  SMELT_TRY(prelude.group_threads, cut_grid(pipeline, threads, group, dispatch));
  dispatch.buffers = addresses_.data();
  dispatch.buffer_bytes = lengths_.data();
  dispatch.threadgroup_bytes = threadgroup_lengths_.data();
  dispatch.threadgroup_offsets = prelude.threadgroup_offsets.data();
  dispatch.constants = code.constants.data();
  dispatch.private_buffers = 0;
  dispatch.tensor_layout = cpu_.tensor_layout();
  dispatch.textures = textures_.data();
  dispatch.samplers = samplers_.data();

  uint64_t scratch_bytes =
      round_up(code.fixed_bytes + code.bytes_per_thread * dispatch.nominal_threads, kScratchAlignment);
  for (SlotMask mask = in_use(BindingClass::threadgroup); mask != 0; mask &= mask - 1) {
    const size_t slot = lowest_slot(mask);
    prelude.threadgroup_offsets[slot] = static_cast<uint32_t>(scratch_bytes);
    scratch_bytes = round_up(scratch_bytes + threadgroup_lengths_[slot], kScratchAlignment);
  }
  // Of no length: behind everything, where nobody's memory is (kBehindScratch).
  const SlotMask unsized = pipeline.facts().may_lack_length & ~in_use(BindingClass::threadgroup);
  for (SlotMask mask = unsized; mask != 0; mask &= mask - 1)
    prelude.threadgroup_offsets[lowest_slot(mask)] = static_cast<uint32_t>(scratch_bytes);
  if (scratch_bytes > kMostScratch)
    return fail(Errc::pipeline_failed, "kernel '{}' needs {} bytes of working memory per threadgroup; at most {}",
                pipeline.name(), scratch_bytes, kMostScratch);
  prelude.scratch_bytes = scratch_bytes;

  prelude.all_threads = double(threads.x) * double(threads.y) * double(threads.z);
  prelude.extent = prelude.by_thread() ? std::array{dispatch.grid[0], dispatch.grid[1], dispatch.grid[2]}
                                       : std::array{dispatch.groups[0], dispatch.groups[1], dispatch.groups[2]};
  prelude.cost = pipeline.thread_cost.load(std::memory_order_relaxed);
  prelude.expected = (prelude.cost == 0 ? kGuessedCost : prelude.cost) * static_cast<float>(prelude.all_threads);
  // Copies spare one worker its locks, too. What is expected of the next launch may not decide that alone: with copies
  // a launch is short, and the next one would go without.
  const double most_words =
      prelude.expected >= kWorthWaking ? prelude.all_threads : prelude.all_threads / kLocksPerCopiedWord;
  prelude.privatise = can_privatise(code, dispatch, most_words);
  return {};
}

std::shared_ptr<const KnownHandles> CpuEncoder::known_to(const CpuCode& code) const {
  if (!code.checked) return nullptr;
  return known_handles(textures_, samplers_, used_textures_, used_samplers_);
}

void CpuEncoder::keep(const CpuPipeline& pipeline, const Prelude& prelude) {
  if (!batch_) batch_ = std::make_unique<Batch>();
  Batch::Item& item = batch_->add();
  item.pipeline = pipeline.shared_from_this();
  item.code = prelude.code;
  item.dispatch = prelude.dispatch;
  item.box = prelude.box();
  item.scratch_bytes = prelude.scratch_bytes;
  item.threads = prelude.all_threads;
  item.expected = prelude.expected;
  item.addresses = addresses_;
  item.lengths = lengths_;
  item.threadgroup_offsets = prelude.threadgroup_offsets;
  item.threadgroup_lengths = threadgroup_lengths_;
  item.textures.clear();
  for (SlotMask mask = in_use(BindingClass::texture); mask != 0; mask &= mask - 1) {
    const size_t index = lowest_slot(mask);
    item.textures.resize(index + 1);
    item.textures[index] = textures_[index];
    item.handles.push_back(texture_refs_[index]);
  }
  for (SlotMask mask = in_use(BindingClass::sampler); mask != 0; mask &= mask - 1)
    item.handles.push_back(sampler_refs_[lowest_slot(mask)]);
  item.handles.insert(item.handles.end(), used_textures_.begin(), used_textures_.end());
  item.handles.insert(item.handles.end(), used_samplers_.begin(), used_samplers_.end());
  item.known = known_to(*prelude.code);
  item.samplers = samplers_;
  size_t inlined = 0;
  for (SlotMask mask = in_use(BindingClass::buffer); mask != 0; mask &= mask - 1) {
    const Slot& slot = slots_[lowest_slot(mask)];
    if (slot.buffer) item.buffers.push_back(slot.buffer);
    if (slot.is_inline) inlined += round_up(slot.inlined.size(), kInlineAlignment);
  }
  item.inlined.resize(inlined);
  std::byte* at = item.inlined.data();
  for (SlotMask mask = in_use(BindingClass::buffer); mask != 0; mask &= mask - 1) {
    const size_t index = lowest_slot(mask);
    const Slot& slot = slots_[index];
    if (!slot.is_inline || slot.inlined.empty()) continue;
    std::copy(slot.inlined.begin(), slot.inlined.end(), at);
    item.addresses[index] = at;
    at += round_up(slot.inlined.size(), kInlineAlignment);
  }
}

Result<void> CpuEncoder::launch(const CpuPipeline& pipeline, Prelude& prelude, float& took) {
  const CpuCode& code = *prelude.code;
  smelt_cpu_dispatch& dispatch = prelude.dispatch;
  RunningLaunchOfThread::Scope running(pipeline, dispatch);
  smelt_cpu_fault& fault = running.record();
  dispatch.fault = &fault;
  LaunchServices services(cpu_, pipeline, known_to(code));
  dispatch.services = &services.calls();
  if (code.checked) forget_findings();
  if (runs_in_order(code)) return launch_in_order(pipeline, prelude, services.calls(), fault);
  if (prelude.waits()) return launch_waiting(pipeline, prelude, fault);
  float expected = prelude.expected;

  const Watchdog::Launch watched(cpu_.watchdog(), fault);
  const FloatMode mode;
  const std::array<uint32_t, 3>& extent = prelude.extent;
  const bool probing = prelude.cost == 0 && extent[0] * double(extent[1]) * double(extent[2]) > 1 && !prelude.privatise;
  if (expected < kWorthWaking && !probing && !prelude.privatise) {
    void* const scratch = scratch_of_thread.at_least(prelude.scratch_bytes);
    if (scratch == nullptr) return no_scratch(pipeline, prelude.scratch_bytes);
    const smelt_cpu_range box = prelude.box();
    if (const bool sampled = scratch_of_thread.sampled(); sampled || prelude.cost == 0) {
      const auto start = std::chrono::steady_clock::now();
      code.entry(&dispatch, &box, scratch);
      const float nanoseconds = nanoseconds_since(start);
      learn(pipeline, nanoseconds, prelude.all_threads);
      took = sampled ? nanoseconds * kSampled : nanoseconds;
    } else {
      code.entry(&dispatch, &box, scratch);
    }
  } else {
    const unsigned limit = cpu_.pool().threads();
    const float most = std::max(float(limit * kChunksPerThread), expected / kLongestChunk);
    const auto wanted = probing ? kProbeChunks : static_cast<uint64_t>(std::min(expected / kChunkTime, most));
    const bool by_thread = prelude.by_thread();
    const Tiling tiling(extent, std::max<uint64_t>(wanted, 2), by_thread ? 64 : 1);
    Ending ending(cpu_);
    const auto start = std::chrono::steady_clock::now();
    Launch launch(pipeline, code, dispatch, tiling, prelude.scratch_bytes,
                  by_thread ? 1.0 : double(prelude.group_threads), limit, prelude.privatise, ending);
    if (probing) {
      launch.probe();
      expected = pipeline.thread_cost.load(std::memory_order_relaxed) * static_cast<float>(prelude.all_threads);
    }
    if (expected < kWorthWaking)
      launch.work(0);
    else
      cpu_.pool().run(launch, limit);
    launch.merge();
    took = nanoseconds_since(start);
    if (launch.out_of_memory()) return no_scratch(pipeline, prelude.scratch_bytes);
    if (launch.broken_off()) end_launch(fault);
  }
  return outcome(cpu_, pipeline, dispatch, fault);
}

Result<void> CpuEncoder::launch_waiting(const CpuPipeline& pipeline, Prelude& prelude, smelt_cpu_fault& fault) {
  const CpuCode& code = *prelude.code;
  const smelt_cpu_dispatch& dispatch = prelude.dispatch;
  const Watchdog::Launch watched(cpu_.watchdog(), fault);
  std::atomic<bool> out_of_memory{false};
  const auto run = [&](uint64_t group) {
    if (__atomic_load_n(&fault.claimed, __ATOMIC_RELAXED) == SMELT_CPU_LAUNCH_ENDS) return;
    const FloatMode mode;
    const RunningLaunchOfThread::Help help(pipeline, dispatch);
    void* const scratch = scratch_of_thread.at_least(prelude.scratch_bytes);
    if (scratch == nullptr) {
      out_of_memory.store(true, std::memory_order_relaxed);
      end_launch(fault);
      return;
    }
    const smelt_cpu_range box = prelude.box_of(prelude.place_of(group));
    code.entry(&dispatch, &box, scratch);
  };
  const bool ended_by_themselves = run_waiting_groups({.count = prelude.groups(),
                                                       .threads = cpu_.pool().threads(),
                                                       .run = run,
                                                       .is_asked_to_end = [&] { return cpu_.interrupted(); },
                                                       .end = [&] { end_launch(fault); }});
  if (out_of_memory.load(std::memory_order_relaxed)) return no_scratch(pipeline, prelude.scratch_bytes);
  if (!ended_by_themselves)
    return fail(Errc::unsupported,
                "kernel '{}': its {} groups wait for each other in a loop, and at most {} of them run at the same time",
                pipeline.name(), prelude.groups(), kMostWaitingGroups);
  return outcome(cpu_, pipeline, dispatch, fault);
}

Result<void> CpuEncoder::launch_in_order(const CpuPipeline& pipeline, Prelude& prelude, smelt_cpu_services& services,
                                         smelt_cpu_fault& fault) {
  const CpuCode& code = *prelude.code;
  smelt_cpu_dispatch& dispatch = prelude.dispatch;
  const Watchdog::Launch watched(cpu_.watchdog(), fault);
  const FloatMode mode;
  // Pages of its own: what is known of values is known by pages, of which none is a buffer's too.
  constexpr std::align_val_t kPage{ValueShadow::kPageBytes};
  const uint64_t bytes = round_up<uint64_t>(prelude.scratch_bytes + kBehindScratch, ValueShadow::kPageBytes);
  const std::unique_ptr<void, void (*)(void*)> memory(::operator new(bytes, kPage, std::nothrow),
                                                      [](void* at) { ::operator delete(at, kPage); });
  void* const scratch = memory.get();
  if (scratch == nullptr) return no_scratch(pipeline, prelude.scratch_bytes);
  std::optional<Watcher> watcher;
  if (code.checked.watches()) {
    watcher.emplace(pipeline, dispatch, code.checked,
                    std::span(static_cast<std::byte*>(scratch), prelude.scratch_bytes), code.threadgroup_bytes,
                    cpu_.order());
    if (code.checked.has(Check::races) && !watcher->lay_out_cells(pass() == nullptr))
      return no_scratch(pipeline, prelude.scratch_bytes);
    services.watch = &watcher->calls();
  }
  const uint64_t groups = prelude.groups();
  Ending ending(cpu_);
  std::optional<WaitingGuard> guard;
  if (prelude.waits()) guard.emplace([&fault] { end_launch(fault); });
  for (uint64_t i = 0; i < groups && !ending.requested() && !(guard && guard->has_ended_it()); ++i) {
    const std::array<uint32_t, 3> at = prelude.place_of(cpu_.order().at(i, groups));
    const smelt_cpu_range box = prelude.box_of(at);
    if (watcher) watcher->begin_group_code(at);
    if (guard) guard->begins(i + 1 == groups);
    code.entry(&dispatch, &box, scratch);
    ending.look();
  }
  if (guard && guard->has_ended_it())
    return fail(Errc::unsupported,
                "kernel '{}': a threadgroup waits in a loop for a later one, but {} threadgroups run one after the "
                "other; otherwise, up to {} run at the same time",
                pipeline.name(), code.checked.watches() ? "in checked code" : "with SMELT_ORDER", kMostWaitingGroups);
  std::vector<Finding> found = watcher ? watcher->finish() : std::vector<Finding>();
  if (watcher && pass() != nullptr) watcher->compare(*pass(), barriers(), found);
  if (ending.requested()) end_launch(fault);
  return outcome(cpu_, pipeline, dispatch, fault, std::move(found));
}

}  // namespace smelt::loader
