// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The cpu device: opens CPU slices, makes pipelines of their kernels, runs them on a pool.
#pragma once

#include "smelt/schema/cpu_slice.hpp"

#include "../device_impl.hpp"
#include "code.hpp"
#include "features.hpp"
#include "launch_order.hpp"
#include "pool.hpp"
#include "watchdog.hpp"

#include <atomic>

namespace smelt::loader {

class CpuDevice final : public DeviceImpl {
 public:
  CpuDevice(CpuLevel level, bool forced, unsigned threads, const DeviceOptions& options, LaunchOrder order,
            uint32_t tensor_layout);

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
  /// $SMELT_ORDER, when the device was opened.
  const LaunchOrder& order() const { return order_; }
  /// $SMELT_MPP_LAYOUT, likewise.
  uint32_t tensor_layout() const { return tensor_layout_; }
  bool interrupted() const { return interrupted_ && interrupted_(); }
  /// One line of a kernel's os_log; from any worker.
  void log(std::string_view kernel, std::string_view line);

 private:
  const CpuLevel level_;
  const bool forced_;  // only slices of exactly level_
  Pool pool_;
  LogSink log_;
  const LaunchOrder order_;
  const uint32_t tensor_layout_;
  const std::chrono::milliseconds launch_limit_;  ///< 0: none
  Watchdog watchdog_{launch_limit_};
  const std::function<bool()> interrupted_;
  std::mutex log_mutex_;
};

/// What a launch runs.
struct CpuCode {
  CpuCode(const schema::CpuKernel& kernel, CodePlace code, Bytes constants);

  smelt_cpu_entry entry;
  schema::CpuRangeKind range;
  bool waits;  ///< groups may wait for each other
  Checks checked;
  uint32_t threadgroup_bytes;  ///< its variables, with the gaps between them, from the beginning of scratch
  uint64_t fixed_bytes;
  uint64_t bytes_per_thread;
  Bytes constants;  ///< the block that the code reads; of constants_bytes
  std::vector<schema::CpuPrivateBuffer> private_buffers;
  std::shared_ptr<const CodeRegion> region;  ///< keeps `entry`
};

/// Hundreds are built at once, and each page that they fill is paid for when it is first touched: so one is one piece
/// of memory, and what few of them need is not in it.
class CpuPipeline final : public PipelineState, public std::enable_shared_from_this<CpuPipeline> {
 public:
  CpuPipeline(Facts facts, std::vector<BoundConstant> constants, CpuCode code);
  ~CpuPipeline() override;

  /// Asked once by each launch. Lives as long as the pipeline.
  const CpuCode& code() const {
    const Newer* const newest = newest_.load(std::memory_order_acquire);
    return newest ? newest->code : first_;
  }
  std::string_view effort() const override;
  void replace(CpuCode code, std::string effort) const;
  const std::vector<BoundConstant>& given_constants() const { return constants_; }

  /// Launches took so long. Tells the tier when it was long enough; called without a lock.
  void ran_for(float nanoseconds) const;

  /// Nanoseconds that one thread took in earlier launches; 0 before the first. Decides how a grid is cut.
  mutable std::atomic<float> thread_cost{0};

 private:
  /// Code that took the place of other, which stays: launches may be in it.
  struct Newer {
    CpuCode code;
    std::string effort;
    const Newer* before = nullptr;
  };

  const CpuCode first_;
  mutable std::atomic<const Newer*> newest_{nullptr};  // owned, with all before it
  mutable std::atomic<int64_t> until_better_;          // nanoseconds; not looked at without a tier that wants to know
  const std::vector<BoundConstant> constants_;
};

class Batch;
struct KnownHandles;

class CpuEncoder final : public Encoder {
 public:
  explicit CpuEncoder(std::shared_ptr<CpuDevice> device);
  ~CpuEncoder() override;
  Result<void> run_kept() override;

 private:
  struct Prelude;
  Result<void> run(const PipelineState& pipeline, const Size3& threads, const Size3& group) override;
  bool takes_memory() const override { return true; }
  /// `took`: nanoseconds that this launch stands for in what its pipeline has run; 0 when nobody looked at the clock.
  Result<void> launch(const CpuPipeline& pipeline, Prelude& prelude, float& took);

  /// Whether that is how `code` runs.
  bool runs_in_order(const CpuCode& code) const { return code.checked.watches() || cpu_.order().is_asked(); }
  /// On this thread alone: code that watches its threads, or groups in the order that somebody asked for.
  Result<void> launch_in_order(const CpuPipeline& pipeline, Prelude& prelude, smelt_cpu_services& services,
                               smelt_cpu_fault& fault);

  /// Runs groups that wait for each other, each on a thread of its own, on as many threads as that needs.
  Result<void> launch_waiting(const CpuPipeline& pipeline, Prelude& prelude, smelt_cpu_fault& fault);

  /// What is the same for a launch and one that is kept. `prelude` is not to be moved afterwards.
  Result<void> prepare(const CpuPipeline& pipeline, const Size3& threads, const Size3& group, Prelude& prelude);
  void keep(const CpuPipeline& pipeline, const Prelude& prelude);
  /// The textures and samplers that a launch may use now. Null unless `code` is checked, which alone asks for them.
  std::shared_ptr<const KnownHandles> known_to(const CpuCode& code) const;

  CpuDevice& cpu_;
  std::unique_ptr<Batch> batch_;  // of dispatches that are independent; null before the first
};

}  // namespace smelt::loader
