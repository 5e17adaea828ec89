// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a launch by itself (cpu_encoder.cpp) and launches side by side (batch.cpp) have in common.
#pragma once

#include "smelt/loader/findings.hpp"

#include "cpu_device.hpp"
#include "known_handles.hpp"

#include <limits>
#include <new>

namespace smelt::loader {

constexpr size_t kScratchAlignment = 64;
constexpr uint32_t kSampled = 16;  // of so many launches that are short, one looks at the clock
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
inline thread_local Scratch scratch_of_thread;

/// Threads of this kernel took so long.
void learn(const CpuPipeline& pipeline, float nanoseconds, double threads);

/// The services of the host for one launch, for which they must stay alive.
class LaunchServices {
 public:
  /// `known`: null unless the code is checked.
  LaunchServices(CpuDevice& device, const CpuPipeline& pipeline, std::shared_ptr<const KnownHandles> known);
  LaunchServices(const LaunchServices&) = delete;
  LaunchServices& operator=(const LaunchServices&) = delete;

  smelt_cpu_services& calls() { return calls_; }

 private:
  CpuDevice& device_;
  const CpuPipeline& pipeline_;
  std::shared_ptr<const KnownHandles> known_;
  smelt_cpu_services calls_{};
};

tl::unexpected<Error> no_scratch(const CpuPipeline& pipeline, uint64_t bytes);

/// What a launch came to that has left this record. `found`: what a watcher of it knows; told with an access outside of
/// memory, if there was one.
Result<void> outcome(const CpuDevice& device, const CpuPipeline& pipeline, const smelt_cpu_dispatch& dispatch,
                     const smelt_cpu_fault& fault, std::vector<Finding> found = {});

}  // namespace smelt::loader
