// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "launch.hpp"

#include "job.hpp"

#include "llvm/AsmParser/Parser.h"
#include "llvm/Bitcode/BitcodeWriter.h"
#include "llvm/IR/LLVMContext.h"
#include "llvm/IR/Module.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/raw_ostream.h"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <stdexcept>

namespace smelt::test {
namespace {

#if defined(__x86_64__)
constexpr schema::CpuArch kHere = schema::CpuArch::x86_64;
#else
constexpr schema::CpuArch kHere = schema::CpuArch::aarch64;
#endif

/// A program that runs what this processor cannot: the command in SMELT_TEST_MACHINE (QEMU and tests/aot/cpu/launch),
/// started once.
class Machine {
 public:
  static Machine& started() {
    static Machine machine;
    return machine;
  }

  bool run(const Job& job, ByteView code, uint64_t entry_offset) {
    const std::lock_guard lock(mutex_);
    std::vector<std::byte> outcome;
    if (!send(to_, pack_job(job, code.data(), code.size(), entry_offset)) || !receive(from_, outcome))
      throw std::runtime_error("the machine that runs code of another architecture has ended");
    return unpack_outcome(outcome, job);
  }

 private:
  Machine() {
    const char* const command = std::getenv("SMELT_TEST_MACHINE");
    if (command == nullptr) throw std::runtime_error("SMELT_TEST_MACHINE names no program that runs this code");
    std::signal(SIGPIPE, SIG_IGN);
    int to[2], from[2];
    if (pipe2(to, O_CLOEXEC) != 0 || pipe2(from, O_CLOEXEC) != 0) throw std::runtime_error("no pipe");
    if (fork() == 0) {
      dup2(to[0], STDIN_FILENO);
      dup2(from[1], STDOUT_FILENO);
      execl("/bin/sh", "sh", "-c", (std::string("exec ") + command).c_str(), nullptr);
      _exit(127);
    }
    close(to[0]);
    close(from[1]);
    to_ = to[1];
    from_ = from[0];
  }

  std::mutex mutex_;
  int to_ = -1, from_ = -1;
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
  Bytes bytes;
  uint64_t entry_offset = 0;
  std::unique_ptr<Executable> executable;  ///< null for another machine's
};

LoadedSlice::LoadedSlice(const Bytes& slice) {
  auto read = schema::read_cpu_slice(slice);
  if (!read) throw std::runtime_error(read.error().message);
  slice_ = std::move(*read);
  for (const schema::CpuKernel& kernel : slice_.kernels) {
    const ByteView code = ByteView(slice).subspan(kernel.code_offset, kernel.code_bytes);
    if (sha256(code) != kernel.code_digest) throw std::runtime_error(kernel.name + ": wrong digest");
    auto made = std::make_unique<Code>(Code{Bytes(code.begin(), code.end()), kernel.entry_offset, nullptr});
    if (slice_.arch == kHere)
      made->executable = std::make_unique<Executable>(code.data(), code.size(), kernel.entry_offset);
    code_[kernel.name] = std::move(made);
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

  Job job;
  for (const auto& [index, buffer] : launch.buffers)
    job.buffers.push_back({index, static_cast<std::byte*>(buffer.address), buffer.bytes});
  job.constants.resize(std::max<size_t>(kernel->constants_bytes, 1));
  for (const schema::CpuConstant& constant : kernel->constants) {
    const auto given = launch.constants.find(constant.index);
    if (given == launch.constants.end()) continue;
    if (given->second.size() != constant.bytes) throw std::runtime_error("constant of another size");
    std::copy(given->second.begin(), given->second.end(), job.constants.begin() + constant.offset);
    job.constants[constant.defined_offset] = std::byte{1};
  }

  uint64_t nominal = 1;
  for (int i = 0; i < 3; ++i) {
    job.dispatch.grid[i] = launch.grid[i];
    job.dispatch.group[i] = launch.group[i];
    job.dispatch.groups[i] = static_cast<uint32_t>((uint64_t{launch.grid[i]} + launch.group[i] - 1) / launch.group[i]);
    nominal *= launch.group[i];
  }
  job.dispatch.nominal_threads = static_cast<uint32_t>((nominal + 31) / 32 * 32);
  job.dispatch.private_buffers = launch.private_buffers;
  job.scratch_bytes = kernel->fixed_bytes + uint64_t{kernel->bytes_per_thread} * job.dispatch.nominal_threads;
  job.scratch_filling = launch.scratch_filling;
  job.threadgroup_offsets.resize(SMELT_CPU_MAX_BUFFERS);
  job.threadgroup_bytes.resize(SMELT_CPU_MAX_BUFFERS);
  for (const auto& [index, length] : launch.threadgroup_bytes) {
    job.scratch_bytes = (job.scratch_bytes + 63) / 64 * 64;
    job.threadgroup_offsets.at(index) = static_cast<uint32_t>(job.scratch_bytes);
    job.threadgroup_bytes.at(index) = length;
    job.scratch_bytes += length;
  }
  const auto by_index = [](const auto& from, auto& to, size_t most) {
    if (from.empty()) return;
    to.resize(most);
    for (const auto& [index, handle] : from) to.at(index) = handle;
  };
  by_index(launch.textures, job.textures, SMELT_CPU_MAX_TEXTURES);
  by_index(launch.samplers, job.samplers, SMELT_CPU_MAX_SAMPLERS);
  job.fault = launch.fault;
  job.services = launch.services;

  const uint32_t* extent = kernel->range == schema::CpuRangeKind::threads ? job.dispatch.grid : job.dispatch.groups;
  const int cut = static_cast<int>(std::max_element(extent, extent + 3) - extent);
  for (unsigned piece = 0; piece < launch.pieces; ++piece) {
    smelt_cpu_range range{{0, 0, 0}, {extent[0], extent[1], extent[2]}};
    range.low[cut] = static_cast<uint32_t>(uint64_t{extent[cut]} * piece / launch.pieces);
    range.high[cut] = static_cast<uint32_t>(uint64_t{extent[cut]} * (piece + 1) / launch.pieces);
    job.ranges.push_back(range);
  }

  const Code& code = *code_.at(name);
  bool intact = false;
  const char* const results = std::getenv("SMELT_CPU_RESULTS");
  if (code.executable == nullptr) {
    intact = Machine::started().run(job, code.bytes, code.entry_offset);
    if (results != nullptr) write_results(results, name, launch);
  } else {
    const Prepared prepared(job);
    const auto run_once = [&] { prepared.run(code.executable->entry()); };
    run_once();
    if (results != nullptr) write_results(results, name, launch);
    if (const char* const times = std::getenv("SMELT_CPU_TIMES")) write_time(times, name, run_once);
    intact = prepared.intact();
  }
  if (!intact) throw std::runtime_error(name + " wrote outside its scratch");
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
  if (const char* const level = std::getenv("SMELT_TEST_LEVEL")) return {aot::parse_cpu_level(level).value()};
  const auto best = aot::host_cpu_level();
  if (!best) return {};
  if (*best == aot::CpuLevel::x86_64_v4) return {aot::CpuLevel::x86_64_v3, aot::CpuLevel::x86_64_v4};
  return {*best};
}

bool kernels_see_our_memory() {
  if (std::getenv("SMELT_TEST_MACHINE") == nullptr) return true;
  MESSAGE("left out: addresses in buffers mean nothing to the machine that runs the kernels");
  return false;
}

}  // namespace smelt::test
