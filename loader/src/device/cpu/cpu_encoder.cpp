// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A launch. Small grids run on the calling thread at once: no lock, no allocation, no clock. Larger ones are cut into
// boxes by what a thread of this kernel has cost before.
#include "cpu_device.hpp"
#include "float_mode.hpp"
#include "log_format.hpp"
#include "private_buffers.hpp"
#include "tiling.hpp"

#include <algorithm>
#include <chrono>
#include <limits>
#include <new>
#include <optional>

namespace smelt::loader {
namespace {

constexpr size_t kScratchAlignment = 64;
constexpr uint64_t kMostScratch = uint64_t{1} << 30;
// Waking a worker costs microseconds: a launch shorter than this stays on one thread.
constexpr float kWorthWaking = 30e3f;  // ns
constexpr float kChunkTime = 25e3f;    // ns that one chunk should take
constexpr float kGuessedCost = 4.0f;   // ns per thread, before anything is known
constexpr uint64_t kChunksPerThread = 8;
constexpr float kLongestChunk = 20e6f;             // ns: so often a launch can be ended
constexpr uint64_t kProbeChunks = 1024;            // of a kernel's first launch, whose cost nobody knows
constexpr uint32_t kSampled = 16;                  // of so many launches that are short, one looks at the clock
constexpr uint64_t kMostPrivateBytes = 256 << 10;  // of one buffer and worker
// Behind the last argument in threadgroup memory, where a GPU has memory too: its threadgroups have 32 KB, whatever was
// asked for, and kernels that write past their share of it go unnoticed (ggml's attention with heads of 96 numbers).
constexpr uint64_t kBehindScratch = 32 << 10;

/// Memory of one OS thread for the kernels that it runs; grows to the largest and stays.
class Scratch {
 public:
  ~Scratch() { ::operator delete(at_, std::align_val_t(kScratchAlignment)); }
  /// Of this thread's launches about every kSampled-th, at no pattern that kernels could fall into step with.
  bool sampled() {
    random_ = random_ * 1664525 + 1013904223;
    return random_ < UINT32_MAX / kSampled;
  }

  void* at_least(uint64_t bytes) {
    if (bytes > size_ || at_ == nullptr) {
      bytes = std::max<uint64_t>(bytes, kScratchAlignment);
      ::operator delete(at_, std::align_val_t(kScratchAlignment));
      size_ = 0;
      at_ = ::operator new(bytes + kBehindScratch, std::align_val_t(kScratchAlignment), std::nothrow);
      if (at_ != nullptr) size_ = bytes;
    }
    return at_;
  }

 private:
  void* at_ = nullptr;
  uint64_t size_ = 0;
  uint32_t random_ = 1;
};
thread_local Scratch scratch_of_thread;

double volume(const smelt_cpu_range& box) {
  double product = 1;
  for (size_t axis = 0; axis < 3; ++axis) product *= box.high[axis] - box.low[axis];
  return product;
}

float nanoseconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<float, std::nano>(std::chrono::steady_clock::now() - start).count();
}

void learn(const CpuPipeline& pipeline, float nanoseconds, double threads) {
  const float sample = nanoseconds / static_cast<float>(threads);
  const float before = pipeline.thread_cost.load(std::memory_order_relaxed);
  pipeline.thread_cost.store(before == 0 ? sample : before * 0.75f + sample * 0.25f, std::memory_order_relaxed);
}

tl::unexpected<Error> over_limit(const CpuDevice& device, const CpuPipeline& pipeline) {
  return fail(
      Errc::cancelled,
      "kernel '{}' was ended by the device's limit of {:.3g} s for a launch; some of its groups ran and some did "
      "not",
      pipeline.name(), std::chrono::duration<double>(device.launch_limit()).count());
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
    over_limit_ = device_.launch_limit().count() != 0 && now - began_ > device_.launch_limit();
    if (over_limit_ || device_.interrupted()) requested_.store(true, std::memory_order_relaxed);
  }

  tl::unexpected<Error> error(const CpuPipeline& pipeline) const {
    if (over_limit_) return over_limit(device_, pipeline);
    const auto so_far = std::chrono::duration<double>(std::chrono::steady_clock::now() - began_).count();
    return fail(Errc::cancelled, "kernel '{}' was interrupted after {:.2f} s; some of its groups ran and some did not",
                pipeline.name(), so_far);
  }

 private:
  static constexpr std::chrono::milliseconds kPatience{10};
  const CpuDevice& device_;
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  std::chrono::steady_clock::time_point looked_ = began_;
  std::atomic<bool> requested_{false};
  bool over_limit_ = false;
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
  void work(unsigned worker) override { run(worker, Until::none_left); }

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

/// Whether each worker may have its own copy: small, bound, and no other argument looks at the same memory.
bool can_privatise(const CpuCode& code, const smelt_cpu_dispatch& dispatch, double threads) {
  if (code.private_buffers.empty()) return false;
  for (const schema::CpuPrivateBuffer& buffer : code.private_buffers) {
    const auto low = reinterpret_cast<uintptr_t>(dispatch.buffers[buffer.buffer]);
    const uint64_t bytes = dispatch.buffer_bytes[buffer.buffer];
    if (low == 0 || low % sizeof(uint32_t) != 0 || bytes > kMostPrivateBytes) return false;
    if (static_cast<double>(bytes / sizeof(uint32_t)) > threads) return false;
    for (uint32_t i = 0; i < SMELT_CPU_MAX_BUFFERS; ++i) {
      const auto other = reinterpret_cast<uintptr_t>(dispatch.buffers[i]);
      if (i != buffer.buffer && other < low + bytes && low < other + dispatch.buffer_bytes[i]) return false;
    }
  }
  return true;
}

/// Memory that has no index and no length in the launch. Nothing for an argument.
std::optional<std::string> place_of(const smelt_cpu_fault& fault) {
  const auto offset = static_cast<int64_t>(fault.offset);
  switch (fault.buffer) {
    case SMELT_CPU_FAULT_CONSTANT_TABLE:
      return fmt::format("at offset {} of a constant table", offset);
    case SMELT_CPU_FAULT_PRIVATE:
      return fmt::format("at offset {} of an array of its own, outside of it", offset);
    case SMELT_CPU_FAULT_NULL:
      return fmt::format("through a null pointer, at address {:#x}", fault.offset);
    case SMELT_CPU_FAULT_STRAY:
      return fmt::format(
          "at address {:#x}, through a pointer that was read from memory or made from a number: it lies in no buffer "
          "that is bound",
          fault.offset);
    default:
      return std::nullopt;
  }
}

tl::unexpected<Error> faulted(const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch,
                              const smelt_cpu_fault& fault) {
  if (fault.buffer == SMELT_CPU_FAULT_RECURSION)
    return fail(Errc::pipeline_failed,
                "kernel '{}' calls one of its functions from itself deeper than the CPU's stack is sure to hold; its "
                "results are not complete",
                pipeline.name());
  std::string what;
  uint64_t has = 0;
  uint64_t element = 1;
  ArgumentKind kind = ArgumentKind::buffer;
  uint32_t index = fault.buffer;
  if (fault.buffer == SMELT_CPU_FAULT_STATIC_THREADGROUP) {
    what = "static threadgroup memory";
    has = pipeline.static_threadgroup_memory_length();
  } else if (const auto place = place_of(fault)) {
    auto error =
        fail(Errc::buffer_bounds, "kernel '{}': thread ({}, {}, {}) {} {} bytes {}", pipeline.name(), fault.position[0],
             fault.position[1], fault.position[2], fault.is_write != 0 ? "writes" : "reads", fault.bytes, *place);
    error.value().subject = pipeline.name();
    return error;
  } else {
    if ((fault.buffer & SMELT_CPU_FAULT_THREADGROUP_ARGUMENT) != 0) {
      kind = ArgumentKind::threadgroup;
      index = fault.buffer & ~SMELT_CPU_FAULT_THREADGROUP_ARGUMENT;
    }
    what = fmt::format("{} {}", to_string(kind), index);
    if (index < SMELT_CPU_MAX_BUFFERS)
      has = kind == ArgumentKind::buffer ? dispatch.buffer_bytes[index] : dispatch.threadgroup_bytes[index];
    for (const ArgInfo& argument : pipeline.args())
      if (argument.index == index && argument.kind == kind) {
        what += fmt::format(" '{}'", argument.name);
        if (argument.size > 1) element = argument.size;
      }
  }
  const auto offset = static_cast<int64_t>(fault.offset);
  std::string place = fmt::format("offset {}", offset);
  if (element > 1 && offset % static_cast<int64_t>(element) == 0)
    place += fmt::format(" (index {})", offset / static_cast<int64_t>(element));
  auto error = fail(Errc::buffer_bounds, "kernel '{}': thread ({}, {}, {}) {} {} bytes at {} of {}, which has {} bytes",
                    pipeline.name(), fault.position[0], fault.position[1], fault.position[2],
                    fault.is_write != 0 ? "writes" : "reads", fault.bytes, place, what, has);
  error.value().subject = pipeline.name();
  return error;
}

/// Whom the lines of one launch are from, and who gets them.
struct LogContext {
  CpuDevice* device;
  const CpuPipeline* pipeline;
};

void receive_log(void* context, const char*, const char*, uint32_t, const char* format, const void* arguments,
                 uint64_t bytes) {
  const auto& log = *static_cast<const LogContext*>(context);
  if (format == nullptr || (arguments == nullptr && bytes != 0)) return;
  log.device->log(log.pipeline->name(), format_log(format, {static_cast<const std::byte*>(arguments), bytes}));
}

tl::unexpected<Error> no_scratch(const CpuPipeline& pipeline, uint64_t bytes) {
  return fail(Errc::pipeline_failed, "kernel '{}': no memory for {} bytes of scratch on every thread", pipeline.name(),
              bytes);
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

CpuEncoder::CpuEncoder(std::shared_ptr<CpuDevice> device) : Encoder(device), cpu_(*device) {}

Result<void> CpuEncoder::run(const PipelineState& state, const Size3& threads, const Size3& group) {
  const auto& pipeline = static_cast<const CpuPipeline&>(state);
  float took = 0;
  auto done = launch(pipeline, threads, group, took);
  if (done && took > 0) pipeline.ran_for(took);
  return done;
}

Result<void> CpuEncoder::launch(const CpuPipeline& pipeline, const Size3& threads, const Size3& group, float& took) {
  const CpuCode& code = pipeline.code();
  smelt_cpu_dispatch dispatch;
  smelt_cpu_fault fault{};
  SMELT_TRY(const uint64_t group_threads, cut_grid(pipeline, threads, group, dispatch));
  dispatch.buffers = addresses_.data();
  dispatch.buffer_bytes = lengths_.data();
  dispatch.threadgroup_bytes = threadgroup_lengths_.data();
  dispatch.constants = code.constants.data();
  dispatch.fault = &fault;
  LogContext log_context{&cpu_, &pipeline};
  const smelt_cpu_services services{&log_context, receive_log};
  dispatch.services = &services;
  dispatch.private_buffers = 0;

  std::array<uint32_t, kSlots> threadgroup_offsets{};
  uint64_t scratch_bytes =
      round_up(code.fixed_bytes + code.bytes_per_thread * dispatch.nominal_threads, kScratchAlignment);
  for (uint32_t mask = threadgroups_in_use(); mask != 0; mask &= mask - 1) {
    const auto slot = static_cast<size_t>(std::countr_zero(mask));
    threadgroup_offsets[slot] = static_cast<uint32_t>(scratch_bytes);
    scratch_bytes = round_up(scratch_bytes + threadgroup_lengths_[slot], kScratchAlignment);
  }
  if (scratch_bytes > kMostScratch)
    return fail(Errc::pipeline_failed, "kernel '{}' wants {} bytes of working memory per threadgroup; at most {}",
                pipeline.name(), scratch_bytes, kMostScratch);
  dispatch.threadgroup_offsets = threadgroup_offsets.data();

  const bool by_thread = code.range == schema::CpuRangeKind::threads;
  const double all_threads = double(threads.x) * double(threads.y) * double(threads.z);
  const std::array<uint32_t, 3> extent = by_thread
                                             ? std::array{dispatch.grid[0], dispatch.grid[1], dispatch.grid[2]}
                                             : std::array{dispatch.groups[0], dispatch.groups[1], dispatch.groups[2]};
  const float cost = pipeline.thread_cost.load(std::memory_order_relaxed);
  float expected = (cost == 0 ? kGuessedCost : cost) * static_cast<float>(all_threads);

  // Copies spare one worker its locks, too.
  const bool privatise = expected >= kWorthWaking && can_privatise(code, dispatch, all_threads);

  const Watchdog::Launch watched(cpu_.watchdog(), fault);
  const FloatMode mode;
  const bool probing = cost == 0 && extent[0] * double(extent[1]) * double(extent[2]) > 1 && !privatise;
  if (expected < kWorthWaking && !probing) {
    void* const scratch = scratch_of_thread.at_least(scratch_bytes);
    if (scratch == nullptr) return no_scratch(pipeline, scratch_bytes);
    const smelt_cpu_range box{{0, 0, 0}, {extent[0], extent[1], extent[2]}};
    if (const bool sampled = scratch_of_thread.sampled(); sampled || cost == 0) {
      const auto start = std::chrono::steady_clock::now();
      code.entry(&dispatch, &box, scratch);
      const float nanoseconds = nanoseconds_since(start);
      learn(pipeline, nanoseconds, all_threads);
      took = sampled ? nanoseconds * kSampled : nanoseconds;
    } else {
      code.entry(&dispatch, &box, scratch);
    }
  } else {
    const unsigned limit = cpu_.pool().threads();
    const float most = std::max(float(limit * kChunksPerThread), expected / kLongestChunk);
    const auto wanted = probing ? kProbeChunks : static_cast<uint64_t>(std::min(expected / kChunkTime, most));
    const Tiling tiling(extent, std::max<uint64_t>(wanted, 2), by_thread ? 64 : 1);
    Ending ending(cpu_);
    const auto start = std::chrono::steady_clock::now();
    Launch launch(pipeline, code, dispatch, tiling, scratch_bytes, by_thread ? 1.0 : double(group_threads), limit,
                  privatise, ending);
    if (probing) {
      launch.probe();
      expected = pipeline.thread_cost.load(std::memory_order_relaxed) * static_cast<float>(all_threads);
    }
    if (expected < kWorthWaking)
      launch.work(0);
    else
      cpu_.pool().run(launch, limit);
    launch.merge();
    took = nanoseconds_since(start);
    if (launch.out_of_memory()) return no_scratch(pipeline, scratch_bytes);
    if (launch.broken_off()) return ending.error(pipeline);
  }
  if (fault.claimed == SMELT_CPU_LAUNCH_ENDS) return over_limit(cpu_, pipeline);
  if (fault.claimed != 0) return faulted(pipeline, dispatch, fault);
  return {};
}

}  // namespace smelt::loader
