// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Short launches that do not depend on each other, kept until they run side by side: each is too short to be worth a
// second thread, all together are not.
#pragma once

#include "cpu_device.hpp"
#include "known_handles.hpp"

#include <memory>
#include <vector>

namespace smelt::loader {

/// Belongs to one encoder; not thread-safe. Items and their memory are used again.
class Batch {
 public:
  /// A launch with a copy of all that an encoder may change afterwards. Ready when add() has returned it but for what
  /// is marked: the caller's to fill in.
  struct Item {
    std::shared_ptr<const CpuPipeline> pipeline;
    const CpuCode* code = nullptr;
    smelt_cpu_dispatch dispatch{};  ///< sizes: the caller's; pointers: run()'s
    smelt_cpu_range box{};
    uint64_t scratch_bytes = 0;
    double threads = 0;
    float expected = 0;  ///< nanoseconds
    std::array<void*, SMELT_CPU_MAX_BUFFERS> addresses;
    std::array<uint64_t, SMELT_CPU_MAX_BUFFERS> lengths;
    std::array<uint32_t, SMELT_CPU_MAX_BUFFERS> threadgroup_offsets;
    std::array<uint32_t, SMELT_CPU_MAX_BUFFERS> threadgroup_lengths;
    std::vector<const smelt_cpu_texture*> textures;
    std::array<const smelt_cpu_sampler*, SMELT_CPU_MAX_SAMPLERS> samplers;
    std::vector<BufferRef> buffers;                    ///< kept until it has run
    std::vector<std::shared_ptr<const void>> handles;  ///< textures and samplers, likewise
    std::shared_ptr<const KnownHandles> known;         ///< null unless the code is checked
    std::vector<std::byte> inlined;                    ///< what set_bytes gave; `addresses` point into it

    // What came of it.
    smelt_cpu_fault fault{};
    bool no_memory = false;
    float took = 0;  ///< as CpuEncoder::launch
  };

  /// So many are kept at most: memory has a bound, and so has the time until somebody asks whether to go on.
  static constexpr size_t kMost = 1024;

  Item& add();
  bool empty() const { return count_ == 0; }
  bool full() const { return count_ == kMost; }
  /// All of them, on as many threads as are worth it; the first error in their order. Empty afterwards.
  Result<void> run(CpuDevice& device);

 private:
  std::vector<std::unique_ptr<Item>> items_;
  size_t count_ = 0;
  std::vector<size_t> ends_;  // of the chunks
};

}  // namespace smelt::loader
