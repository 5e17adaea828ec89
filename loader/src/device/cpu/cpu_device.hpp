// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cpu device: opens CPU slices, makes pipelines of their kernels, runs them on a pool.
#pragma once

#include "smelt/schema/cpu_slice.hpp"

#include "../device_impl.hpp"
#include "code.hpp"
#include "features.hpp"
#include "pool.hpp"
#include "watchdog.hpp"

#include <atomic>

namespace smelt::loader {

class CpuDevice final : public DeviceImpl {
 public:
  CpuDevice(CpuLevel level, bool forced, unsigned threads, const DeviceOptions& options);

  std::optional<Rejection> reject(const SliceFacts& slice, const LoadOptions& options) const override;
  uint64_t preference(const SliceFacts& slice) const override { return slice.level; }
  std::string remedy(const LoadOptions& options) const override;
  Result<std::shared_ptr<OpenSlice>> open_slice(const SliceFacts& slice,
                                                const std::shared_ptr<const void>& owner) override;
  Result<std::unique_ptr<Encoder>> make_encoder() override;

  unsigned build_threads() const override { return pool_.threads(); }

  Pool& pool() { return pool_; }
  Watchdog& watchdog() { return watchdog_; }
  std::chrono::milliseconds launch_limit() const { return launch_limit_; }
  bool interrupted() const { return interrupted_ && interrupted_(); }
  /// One line of a kernel's os_log; from any worker.
  void log(std::string_view kernel, std::string_view line);

 private:
  const CpuLevel level_;
  const bool forced_;  // only slices of exactly level_
  Pool pool_;
  LogSink log_;
  const std::chrono::milliseconds launch_limit_;  ///< 0: none
  Watchdog watchdog_{launch_limit_};
  const std::function<bool()> interrupted_;
  std::mutex log_mutex_;
};

class CpuPipeline final : public PipelineState {
 public:
  CpuPipeline(Facts facts, const schema::CpuKernel& kernel, CodePlace code, Bytes constants);

  smelt_cpu_entry entry;
  schema::CpuRangeKind range;
  bool checked;
  uint64_t fixed_bytes;
  uint64_t bytes_per_thread;
  Bytes constants;  ///< the block that the code reads; of constants_bytes
  std::vector<schema::CpuPrivateBuffer> private_buffers;
  /// Nanoseconds that one thread took in earlier launches; 0 before the first. Decides how a grid is cut.
  mutable std::atomic<float> thread_cost{0};

 private:
  std::shared_ptr<const CodeRegion> code_;
};

class CpuEncoder final : public Encoder {
 public:
  explicit CpuEncoder(std::shared_ptr<CpuDevice> device);

 private:
  Result<void> run(const PipelineState& pipeline, const Size3& threads, const Size3& group) override;
  bool takes_memory() const override { return true; }

  CpuDevice& cpu_;
  unsigned launches_ = 0;
};

}  // namespace smelt::loader
