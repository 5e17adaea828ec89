// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "batch.hpp"

#include "float_mode.hpp"
#include "launch_parts.hpp"

#include <chrono>

namespace smelt::loader {
namespace {

constexpr float kWorthWaking = 30e3f;  // ns, as for one launch
constexpr float kWorthSharing = 4e3f;  // with a worker that is awake: what it costs to hand work over, and back
constexpr size_t kChunksPerThread = 8;

void run_item(CpuDevice& device, Batch::Item& item) {
  void* const scratch = scratch_of_thread.at_least(item.scratch_bytes);
  item.no_memory = scratch == nullptr;
  if (item.no_memory) return;
  LaunchServices services(device, *item.pipeline, item.known);
  item.dispatch.buffers = item.addresses.data();
  item.dispatch.buffer_bytes = item.lengths.data();
  item.dispatch.threadgroup_offsets = item.threadgroup_offsets.data();
  item.dispatch.threadgroup_bytes = item.threadgroup_lengths.data();
  item.dispatch.constants = item.code->constants.data();
  item.dispatch.textures = item.textures.data();
  item.dispatch.samplers = item.samplers.data();
  item.dispatch.fault = &item.fault;
  item.dispatch.services = &services.calls();
  const Watchdog::Launch watched(device.watchdog(), item.fault);
  if (!scratch_of_thread.sampled()) return item.code->entry(&item.dispatch, &item.box, scratch);
  const auto start = std::chrono::steady_clock::now();
  item.code->entry(&item.dispatch, &item.box, scratch);
  const auto nanoseconds = std::chrono::duration<float, std::nano>(std::chrono::steady_clock::now() - start).count();
  learn(*item.pipeline, nanoseconds, item.threads);
  item.took = nanoseconds * kSampled;
}

class Work final : public Pool::Job {
 public:
  Work(CpuDevice& device, const std::vector<std::unique_ptr<Batch::Item>>& items, const std::vector<size_t>& ends)
      : Job(ends.size()), device_(device), items_(items), ends_(ends) {}

  void work(unsigned) override {
    const FloatMode mode;
    for (uint64_t chunk = 0; take(chunk);)
      for (size_t i = chunk == 0 ? 0 : ends_[chunk - 1]; i < ends_[chunk]; ++i) run_item(device_, *items_[i]);
  }

 private:
  CpuDevice& device_;
  const std::vector<std::unique_ptr<Batch::Item>>& items_;
  const std::vector<size_t>& ends_;
};

}  // namespace

Batch::Item& Batch::add() {
  if (count_ == items_.size()) items_.push_back(std::make_unique<Item>());
  return *items_[count_++];
}

Result<void> Batch::run(CpuDevice& device) {
  float expected = 0;
  for (size_t i = 0; i < count_; ++i) expected += items_[i]->expected;
  const unsigned threads = device.pool().threads();
  const float chunk = expected / static_cast<float>(threads * kChunksPerThread);
  ends_.clear();
  float until = chunk;
  float so_far = 0;
  for (size_t i = 0; i < count_; ++i) {
    so_far += items_[i]->expected;
    if (so_far < until && i + 1 != count_) continue;
    ends_.push_back(i + 1);
    until = so_far + chunk;
  }
  Work work(device, items_, ends_);
  if (expected >= (device.pool().awake() ? kWorthSharing : kWorthWaking))
    device.pool().run(work, threads);
  else
    work.work(0);

  Result<void> first;
  for (size_t i = 0; i < count_; ++i) {
    Item& item = *items_[i];
    Result<void> done = item.no_memory ? Result<void>(no_scratch(*item.pipeline, item.scratch_bytes))
                                       : outcome(device, *item.pipeline, item.dispatch, item.fault);
    if (done && item.took > 0) item.pipeline->ran_for(item.took);
    if (!done && first) first = std::move(done);
    item.took = 0;
    item.fault = {};
    item.buffers.clear();
    item.handles.clear();
    item.known.reset();
    item.pipeline.reset();
  }
  count_ = 0;
  return first;
}

}  // namespace smelt::loader
