// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One launch of CPU code with nothing left open, so that another program can run it: on the other side of a pipe, of
// another architecture (machine.cpp, under QEMU). Includes nothing of smelt but the ABI.
#pragma once

#include "smelt/schema/cpu_abi.h"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace smelt::test {

struct Job {
  struct Buffer {
    uint32_t index = 0;
    std::byte* address = nullptr;
    uint64_t bytes = 0;
  };
  std::vector<Buffer> buffers;                ///< two of one address are one memory
  std::vector<uint32_t> threadgroup_offsets;  ///< SMELT_CPU_MAX_BUFFERS of them, as are the lengths
  std::vector<uint32_t> threadgroup_bytes;
  std::vector<std::byte> constants;
  std::vector<const smelt_cpu_texture*> textures;  ///< by index; none for another machine, as the samplers
  std::vector<const smelt_cpu_sampler*> samplers;
  std::vector<smelt_cpu_range> ranges;  ///< run one after the other
  uint64_t scratch_bytes = 0;
  uint8_t scratch_filling = 0;
  smelt_cpu_fault* fault = nullptr;
  const smelt_cpu_services* services = nullptr;  ///< null for another machine
  smelt_cpu_dispatch dispatch{};                 ///< sizes and bits; Prepared fills in the pointers
};

/// Code in memory that may be executed. Throws when there is none to be had.
class Executable {
 public:
  Executable(const std::byte* code, size_t bytes, uint64_t entry_offset);
  ~Executable();
  Executable(const Executable&) = delete;
  Executable& operator=(const Executable&) = delete;
  smelt_cpu_entry entry() const { return entry_; }

 private:
  size_t size_;
  void* memory_ = nullptr;
  smelt_cpu_entry entry_ = nullptr;
};

/// A job with its scratch, guarded at both ends. Denormals are flushed while it runs, as the loader does.
class Prepared {
 public:
  explicit Prepared(const Job& job);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  void run(smelt_cpu_entry entry) const;
  /// False where a guard was written over.
  bool intact() const;

 private:
  const Job& job_;
  std::vector<void*> addresses_;
  std::vector<uint64_t> lengths_;
  std::vector<std::byte> memory_;
  std::byte* scratch_;
  smelt_cpu_dispatch dispatch_;
};

/// A job with its code and its buffers' contents, and what came of it, as bytes. Both sides are little-endian.
std::vector<std::byte> pack_job(const Job& job, const std::byte* code, size_t code_bytes, uint64_t entry_offset);

/// The other side: unpacks, runs, packs what pack_job's side takes with unpack_outcome.
std::vector<std::byte> run_packed(const std::vector<std::byte>& packed);

/// Writes the buffers and the fault back; false where a guard was written over.
bool unpack_outcome(const std::vector<std::byte>& packed, const Job& job);

/// Whole messages over a pipe: a length of 64 bits, then as many bytes. False at the end of the pipe.
bool send(int pipe, const std::vector<std::byte>& message);
bool receive(int pipe, std::vector<std::byte>& message);

}  // namespace smelt::test
