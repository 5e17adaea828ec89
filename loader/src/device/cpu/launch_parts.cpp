// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch_parts.hpp"

#include "fault_texts.hpp"
#include "findings.hpp"
#include "log_format.hpp"

namespace smelt::loader {

void learn(const CpuPipeline& pipeline, float nanoseconds, double threads) {
  const float sample = nanoseconds / static_cast<float>(threads);
  const float before = pipeline.thread_cost.load(std::memory_order_relaxed);
  pipeline.thread_cost.store(before == 0 ? sample : before * 0.75f + sample * 0.25f, std::memory_order_relaxed);
}

tl::unexpected<Error> no_scratch(const CpuPipeline& pipeline, uint64_t bytes) {
  return fail(Errc::pipeline_failed, "kernel '{}': no memory for {} bytes of scratch on every thread", pipeline.name(),
              bytes);
}

LaunchServices::LaunchServices(CpuDevice& device, const CpuPipeline& pipeline,
                               std::shared_ptr<const KnownHandles> known)
    : device_(device), pipeline_(pipeline), known_(std::move(known)) {
  calls_.context = this;
  calls_.log = [](void* context, const char*, const char*, uint32_t, const char* format, const void* arguments,
                  uint64_t bytes) {
    const auto& self = *static_cast<const LaunchServices*>(context);
    if (format == nullptr || (arguments == nullptr && bytes != 0)) return;
    self.device_.log(self.pipeline_.name(), format_log(format, {static_cast<const std::byte*>(arguments), bytes}));
  };
  if (!known_) return;
  calls_.textures = known_->textures.data();
  calls_.texture_count = known_->textures.size();
  calls_.samplers = known_->samplers.data();
  calls_.sampler_count = known_->samplers.size();
}

namespace {

tl::unexpected<Error> ended(const CpuDevice& device, const CpuPipeline& pipeline) {
  if (device.launch_limit().count() == 0 || device.interrupted())
    return fail(Errc::cancelled, "kernel '{}' was interrupted; some of its groups ran and some did not",
                pipeline.name());
  return fail(
      Errc::cancelled,
      "kernel '{}' was ended by the device's limit of {:.3g} s for a launch; some of its groups ran and some did "
      "not",
      pipeline.name(), std::chrono::duration<double>(device.launch_limit()).count());
}

}  // namespace

Result<void> outcome(const CpuDevice& device, const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch,
                     const smelt_cpu_fault& fault, std::vector<Finding> found) {
  const bool is_finding = fault.place != nullptr;  // an access outside of memory, of checked code
  if (is_finding) found.insert(found.begin(), finding_of(pipeline, dispatch, fault));
  Result<void> told = found.empty() ? Result<void>() : tell(pipeline.name(), std::move(found));
  if (fault.claimed == SMELT_CPU_LAUNCH_ENDS) {
    auto error = ended(device, pipeline);
    if (!told) error.value().message += "; before that, " + told.error().message;
    return error;
  }
  if (fault.claimed != 0 && !is_finding) return faulted(pipeline, dispatch, fault);
  return told;
}

}  // namespace smelt::loader
