// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs kernels of a CPU slice in the tests, without the loader: one worker thread, checks that only tests care about.
#pragma once

#include "smelt/aot/cpu.hpp"
#include "smelt/schema/cpu_slice.hpp"

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace smelt::test {

using Size3 = std::array<uint32_t, 3>;

/// A buffer as the kernel sees it.
struct BoundBuffer {
  void* address = nullptr;
  uint64_t bytes = 0;
};

struct Launch {
  Size3 grid{1, 1, 1};
  Size3 group{1, 1, 1};
  std::map<uint32_t, BoundBuffer> buffers;                ///< by [[buffer(i)]]
  std::map<uint32_t, uint32_t> threadgroup_bytes;         ///< by [[threadgroup(i)]]
  std::map<uint32_t, std::vector<std::byte>> constants;   ///< by function constant index
  std::map<uint32_t, const smelt_cpu_texture*> textures;  ///< by [[texture(i)]]; on this machine alone
  std::map<uint32_t, const smelt_cpu_sampler*> samplers;  ///< by [[sampler(i)]]; likewise
  smelt_cpu_fault* fault = nullptr;
  const smelt_cpu_services* services = nullptr;
  uint8_t scratch_filling = 0xcd;  ///< what scratch holds before the launch
  uint32_t private_buffers = 0;    ///< bit i: nobody else sees buffer i
  unsigned pieces = 1;             ///< ranges that the launch is cut into along its longest dimension

  template <class T>
  Launch& bind(uint32_t index, std::vector<T>& data) {
    buffers[index] = {data.data(), data.size() * sizeof(T)};
    return *this;
  }
  template <class T>
  Launch& constant(uint32_t index, const T& value) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&value);
    constants[index].assign(bytes, bytes + sizeof(T));
    return *this;
  }
};

/// A slice whose kernels are executable. Throws (doctest shows the message) when something is wrong with it.
class LoadedSlice {
 public:
  explicit LoadedSlice(const Bytes& slice);
  ~LoadedSlice();
  LoadedSlice(LoadedSlice&&) noexcept;

  const schema::CpuKernel* find(const std::string& name) const;
  /// Denormals are flushed and the scratch is guarded at both ends. Code of another architecture runs in the program
  /// that SMELT_TEST_MACHINE names, on copies of the buffers. With SMELT_CPU_TIMES=FILE the kernel runs again and
  /// again, and its fastest time goes to the end of the file (bench/cpu_compile/compare_times.py); with
  /// SMELT_CPU_RESULTS=FILE, a digest of its buffers after the first run.
  void run(const std::string& name, const Launch& launch) const;

 private:
  struct Code;
  schema::CpuSlice slice_;
  std::map<std::string, std::unique_ptr<Code>> code_;
};

/// LLVM IR text as bitcode.
Bytes assemble(const std::string& text);

/// One module compiled and loaded; throws with the reason when it is missing.
LoadedSlice compile_one(const std::string& name, ByteView bitcode, const aot::CpuOptions& options);

/// AIR's data layout and triple, to put before kernels in IR text.
extern const char* const kAirHeader;

/// The levels that this machine can run, or the one that SMELT_TEST_LEVEL names.
std::vector<aot::CpuLevel> runnable_levels();

/// Whether an address of this process means the same to the kernels: false, having said so, where they work on copies.
bool kernels_see_our_memory();

}  // namespace smelt::test
