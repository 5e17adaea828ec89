// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <stdexcept>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace smelt::test {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kGuardBytes = 256;
constexpr std::byte kGuard{0x5a};

size_t pages(size_t bytes) {
  return (bytes + kPage - 1) / kPage * kPage;
}

/// Flushes denormals for the time of a launch, as the loader does.
class FlushDenormals {
 public:
#if defined(__x86_64__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushDenormals() { _mm_setcsr(before_); }

 private:
  unsigned before_;
#endif
};

/// Appends the kernel's name and a digest of all its buffers after the launch.
void write_results(const char* file, const std::string& name, const Launch& launch) {
  Bytes all;
  for (const auto& [index, buffer] : launch.buffers) {
    const auto* first = static_cast<const std::byte*>(buffer.address);
    all.insert(all.end(), first, first + buffer.bytes);
  }
  std::ofstream(file, std::ios::app) << name << ' ' << to_hex(sha256(all)) << '\n';
}

/// Appends the kernel's name and the nanoseconds of its fastest launch in 30 ms. Kernels that work in place go on from
/// what the launch before left, so that their results are wrong then: for measuring, not for checking.
template <class Run>
void write_time(const char* file, const std::string& name, Run run) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::milliseconds(30);
  auto fastest = Clock::duration::max();
  for (unsigned launches = 0; launches < 5 || Clock::now() < end; ++launches) {
    const auto start = Clock::now();
    run();
    fastest = std::min(fastest, Clock::now() - start);
  }
  std::ofstream(file, std::ios::app) << name << ' ' << std::chrono::nanoseconds(fastest).count() << '\n';
}

}  // namespace

struct LoadedSlice::Code {
  explicit Code(ByteView bytes, uint64_t entry_offset) : size(pages(bytes.size())) {
    memory = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::runtime_error("mmap failed");
    std::memcpy(memory, bytes.data(), bytes.size());
    if (mprotect(memory, size, PROT_READ | PROT_EXEC) != 0) throw std::runtime_error("mprotect failed");
    entry = reinterpret_cast<smelt_cpu_entry>(reinterpret_cast<uintptr_t>(memory) + entry_offset);
  }
  ~Code() { munmap(memory, size); }
  Code(const Code&) = delete;
  Code& operator=(const Code&) = delete;

  size_t size;
  void* memory = nullptr;
  smelt_cpu_entry entry = nullptr;
};

LoadedSlice::LoadedSlice(const Bytes& slice) {
  auto read = schema::read_cpu_slice(slice);
  if (!read) throw std::runtime_error(read.error().message);
  slice_ = std::move(*read);
  for (const schema::CpuKernel& kernel : slice_.kernels) {
    const ByteView code = ByteView(slice).subspan(kernel.code_offset, kernel.code_bytes);
    if (sha256(code) != kernel.code_digest) throw std::runtime_error(kernel.name + ": wrong digest");
    code_[kernel.name] = std::make_unique<Code>(code, kernel.entry_offset);
  }
}

LoadedSlice::~LoadedSlice() = default;
LoadedSlice::LoadedSlice(LoadedSlice&&) noexcept = default;

const schema::CpuKernel* LoadedSlice::find(const std::string& name) const {
  const auto at = std::find_if(slice_.kernels.begin(), slice_.kernels.end(),
                               [&](const schema::CpuKernel& kernel) { return kernel.name == name; });
  return at != slice_.kernels.end() ? &*at : nullptr;
}

void LoadedSlice::run(const std::string& name, const Launch& launch) const {
  const schema::CpuKernel* kernel = find(name);
  if (kernel == nullptr) throw std::runtime_error("no kernel " + name);

  std::vector<void*> buffers(SMELT_CPU_MAX_BUFFERS);
  std::vector<uint64_t> bytes(SMELT_CPU_MAX_BUFFERS);
  for (const auto& [index, buffer] : launch.buffers) {
    buffers.at(index) = buffer.address;
    bytes.at(index) = buffer.bytes;
  }
  std::vector<std::byte> constants(std::max<size_t>(kernel->constants_bytes, 1));
  for (const schema::CpuConstant& constant : kernel->constants) {
    const auto given = launch.constants.find(constant.index);
    if (given == launch.constants.end()) continue;
    if (given->second.size() != constant.bytes) throw std::runtime_error("constant of another size");
    std::copy(given->second.begin(), given->second.end(), constants.begin() + constant.offset);
    constants[constant.defined_offset] = std::byte{1};
  }

  smelt_cpu_dispatch dispatch{};
  uint64_t nominal = 1;
  for (int i = 0; i < 3; ++i) {
    dispatch.grid[i] = launch.grid[i];
    dispatch.group[i] = launch.group[i];
    dispatch.groups[i] = static_cast<uint32_t>((uint64_t{launch.grid[i]} + launch.group[i] - 1) / launch.group[i]);
    nominal *= launch.group[i];
  }
  dispatch.nominal_threads = static_cast<uint32_t>((nominal + 31) / 32 * 32);
  uint64_t scratch_bytes = kernel->fixed_bytes + uint64_t{kernel->bytes_per_thread} * dispatch.nominal_threads;
  std::vector<uint32_t> offsets(SMELT_CPU_MAX_BUFFERS);
  std::vector<uint32_t> lengths(SMELT_CPU_MAX_BUFFERS);
  for (const auto& [index, length] : launch.threadgroup_bytes) {
    scratch_bytes = (scratch_bytes + 63) / 64 * 64;
    offsets.at(index) = static_cast<uint32_t>(scratch_bytes);
    lengths.at(index) = length;
    scratch_bytes += length;
  }
  std::vector<std::byte> memory(scratch_bytes + 64 + 2 * kGuardBytes, std::byte{launch.scratch_filling});
  auto* start = reinterpret_cast<std::byte*>((reinterpret_cast<uintptr_t>(memory.data()) + kGuardBytes + 63) / 64 * 64);
  std::fill(memory.data(), start, kGuard);
  std::fill(start + scratch_bytes, memory.data() + memory.size(), kGuard);

  dispatch.buffers = buffers.data();
  dispatch.buffer_bytes = bytes.data();
  dispatch.threadgroup_offsets = offsets.data();
  dispatch.threadgroup_bytes = lengths.data();
  dispatch.constants = constants.data();
  dispatch.fault = launch.fault;
  dispatch.services = launch.services;
  dispatch.private_buffers = launch.private_buffers;

  const uint32_t* extent = kernel->range == schema::CpuRangeKind::threads ? dispatch.grid : dispatch.groups;
  const int cut = static_cast<int>(std::max_element(extent, extent + 3) - extent);
  const FlushDenormals flush;
  const auto run_once = [&] {
    for (unsigned piece = 0; piece < launch.pieces; ++piece) {
      smelt_cpu_range range{{0, 0, 0}, {extent[0], extent[1], extent[2]}};
      range.low[cut] = static_cast<uint32_t>(uint64_t{extent[cut]} * piece / launch.pieces);
      range.high[cut] = static_cast<uint32_t>(uint64_t{extent[cut]} * (piece + 1) / launch.pieces);
      code_.at(name)->entry(&dispatch, &range, start);
    }
  };
  run_once();
  if (const char* results = std::getenv("SMELT_CPU_RESULTS")) write_results(results, name, launch);
  if (const char* times = std::getenv("SMELT_CPU_TIMES")) write_time(times, name, run_once);
  const auto intact = [](const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [](std::byte b) { return b == kGuard; });
  };
  if (!intact(memory.data(), start) || !intact(start + scratch_bytes, memory.data() + memory.size()))
    throw std::runtime_error(name + " wrote outside its scratch");
}

Bytes assemble(const std::string& text) {
  llvm::LLVMContext context;
  llvm::SMDiagnostic diagnostic;
  const auto module = llvm::parseAssemblyString(text, diagnostic, context);
  if (!module) {
    std::string message;
    llvm::raw_string_ostream stream(message);
    diagnostic.print("kernel", stream);
    throw std::runtime_error(message);
  }
  llvm::SmallVector<char, 0> buffer;
  llvm::raw_svector_ostream stream(buffer);
  llvm::WriteBitcodeToFile(*module, stream);
  const auto* data = reinterpret_cast<const std::byte*>(buffer.data());
  return Bytes(data, data + buffer.size());
}

LoadedSlice compile_one(const std::string& name, ByteView bitcode, const aot::CpuOptions& options) {
  const aot::AirModuleView view{name, bitcode};
  auto compiled = aot::compile_cpu(std::span(&view, 1), options);
  if (!compiled) throw std::runtime_error(compiled.error().message);
  if (!compiled->missing.empty()) throw std::runtime_error(name + ": " + compiled->missing.front().reason);
  return LoadedSlice(compiled->slice);
}

const char* const kAirHeader =
    "target datalayout = "
    "\"e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-"
    "v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32\"\n"
    "target triple = \"air64-apple-macosx14.0.0\"\n";

std::vector<aot::CpuLevel> runnable_levels() {
  const auto best = aot::host_cpu_level();
  if (!best) return {};
  if (*best == aot::CpuLevel::x86_64_v4) return {aot::CpuLevel::x86_64_v3, aot::CpuLevel::x86_64_v4};
  return {*best};
}

}  // namespace smelt::test
