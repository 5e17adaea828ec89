// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "job.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <type_traits>
#include <utility>
#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace smelt::test {
namespace {

constexpr size_t kPage = 4096;
constexpr size_t kLine = 64;
constexpr size_t kGuardBytes = 256;
constexpr std::byte kGuard{0x5a};

class FlushDenormals {
 public:
#if defined(__x86_64__)
  FlushDenormals() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040); }
  ~FlushDenormals() { _mm_setcsr(static_cast<unsigned>(before_)); }
#elif defined(__aarch64__)
  FlushDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(before_));
    asm volatile("msr fpcr, %0" ::"r"(before_ | uint64_t{1} << 24));  // FZ
  }
  ~FlushDenormals() { asm volatile("msr fpcr, %0" ::"r"(before_)); }
#endif

 private:
  uint64_t before_ = 0;
};

class Packer {
 public:
  template <class T>
  void put(const T& value) {
    static_assert(std::is_trivially_copyable_v<T>);
    const auto* first = reinterpret_cast<const std::byte*>(&value);
    bytes.insert(bytes.end(), first, first + sizeof(T));
  }
  template <class T>
  void put_all(const T* first, size_t count) {
    put(uint64_t{count});
    const auto* data = reinterpret_cast<const std::byte*>(first);
    bytes.insert(bytes.end(), data, data + count * sizeof(T));
  }
  std::vector<std::byte> bytes;
};

class Unpacker {
 public:
  explicit Unpacker(const std::vector<std::byte>& bytes) : left_(bytes.data()), end_(bytes.data() + bytes.size()) {}
  template <class T>
  T get() {
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }
  template <class T>
  std::vector<T> get_all() {
    const auto count = get<uint64_t>();
    std::vector<T> values(count);
    if (count != 0) std::memcpy(values.data(), take(count * sizeof(T)), count * sizeof(T));
    return values;
  }

 private:
  const std::byte* take(size_t bytes) {
    if (static_cast<size_t>(end_ - left_) < bytes) throw std::runtime_error("a job is cut off");
    return std::exchange(left_, left_ + bytes);
  }
  const std::byte* left_;
  const std::byte* end_;
};

/// The first buffer of the same address, which is where the contents are.
size_t owner_of(const Job& job, size_t at) {
  for (size_t i = 0; i < at; ++i)
    if (job.buffers[i].address == job.buffers[at].address && job.buffers[i].bytes >= job.buffers[at].bytes) return i;
  return at;
}

}  // namespace

Executable::Executable(const std::byte* code, size_t bytes, uint64_t entry_offset)
    : size_((bytes + kPage - 1) / kPage * kPage) {
  memory_ = mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory_ == MAP_FAILED) throw std::runtime_error("mmap failed");
  std::memcpy(memory_, code, bytes);
  if (mprotect(memory_, size_, PROT_READ | PROT_EXEC) != 0) throw std::runtime_error("mprotect failed");
  auto* const start = static_cast<char*>(memory_);
  __builtin___clear_cache(start, start + bytes);
  entry_ = reinterpret_cast<smelt_cpu_entry>(reinterpret_cast<uintptr_t>(memory_) + entry_offset);
}

Executable::~Executable() {
  munmap(memory_, size_);
}

Prepared::Prepared(const Job& job)
    : job_(job),
      addresses_(SMELT_CPU_MAX_BUFFERS),
      lengths_(SMELT_CPU_MAX_BUFFERS),
      memory_(job.scratch_bytes + kLine + 2 * kGuardBytes, std::byte{job.scratch_filling}),
      dispatch_(job.dispatch) {
  for (const Job::Buffer& buffer : job.buffers) {
    addresses_.at(buffer.index) = buffer.address;
    lengths_.at(buffer.index) = buffer.bytes;
  }
  const auto first = reinterpret_cast<uintptr_t>(memory_.data());
  scratch_ = memory_.data() + ((first + kGuardBytes + kLine - 1) / kLine * kLine - first);
  std::fill(memory_.data(), scratch_, kGuard);
  std::fill(scratch_ + job.scratch_bytes, memory_.data() + memory_.size(), kGuard);
  dispatch_.buffers = addresses_.data();
  dispatch_.buffer_bytes = lengths_.data();
  dispatch_.threadgroup_offsets = job.threadgroup_offsets.data();
  dispatch_.threadgroup_bytes = job.threadgroup_bytes.data();
  dispatch_.constants = job.constants.data();
  dispatch_.textures = job.textures.data();
  dispatch_.samplers = job.samplers.data();
  dispatch_.fault = job.fault;
  dispatch_.services = job.services;
}

void Prepared::run(smelt_cpu_entry entry) const {
  const FlushDenormals flush;
  for (const smelt_cpu_range& range : job_.ranges) entry(&dispatch_, &range, scratch_);
}

bool Prepared::intact() const {
  const auto holds = [](const std::byte* from, const std::byte* to) {
    return std::all_of(from, to, [](std::byte b) { return b == kGuard; });
  };
  return holds(memory_.data(), scratch_) && holds(scratch_ + job_.scratch_bytes, memory_.data() + memory_.size());
}

std::vector<std::byte> pack_job(const Job& job, const std::byte* code, size_t code_bytes, uint64_t entry_offset) {
  if (job.services != nullptr) throw std::runtime_error("services do not reach another machine");
  if (!job.textures.empty() || !job.samplers.empty())
    throw std::runtime_error("textures and samplers do not reach another machine");
  Packer out;
  out.put_all(code, code_bytes);
  out.put(entry_offset);
  out.put(uint64_t{job.buffers.size()});
  for (size_t i = 0; i < job.buffers.size(); ++i) {
    const Job::Buffer& buffer = job.buffers[i];
    const size_t owner = owner_of(job, i);
    out.put(buffer.index);
    out.put(buffer.bytes);
    out.put(uint64_t{owner});
    if (owner != i) continue;
    out.put(reinterpret_cast<uintptr_t>(buffer.address) % kLine);  // it is aligned there as it is here
    out.put_all(buffer.address, buffer.bytes);
  }
  out.put_all(job.threadgroup_offsets.data(), job.threadgroup_offsets.size());
  out.put_all(job.threadgroup_bytes.data(), job.threadgroup_bytes.size());
  out.put_all(job.constants.data(), job.constants.size());
  out.put_all(job.ranges.data(), job.ranges.size());
  out.put(job.scratch_bytes);
  out.put(job.scratch_filling);
  out.put(uint8_t{job.fault != nullptr});
  out.put(job.fault != nullptr ? *job.fault : smelt_cpu_fault{});
  out.put(job.dispatch);
  return std::move(out.bytes);
}

std::vector<std::byte> run_packed(const std::vector<std::byte>& packed) {
  Unpacker in(packed);
  Job job;
  const auto code = in.get_all<std::byte>();
  const Executable executable(code.data(), code.size(), in.get<uint64_t>());
  std::vector<std::vector<std::byte>> memories;
  std::vector<uint64_t> owners;
  for (auto left = in.get<uint64_t>(); left != 0; --left) {
    Job::Buffer buffer;
    buffer.index = in.get<uint32_t>();
    buffer.bytes = in.get<uint64_t>();
    owners.push_back(in.get<uint64_t>());
    if (owners.back() < job.buffers.size()) {
      buffer.address = job.buffers[owners.back()].address;
    } else {
      const auto from_line = in.get<uint64_t>();
      const auto contents = in.get_all<std::byte>();
      memories.emplace_back(contents.size() + 2 * kLine);
      std::byte* const memory = memories.back().data();
      buffer.address = memory + (kLine - reinterpret_cast<uintptr_t>(memory) % kLine) + from_line;
      std::copy(contents.begin(), contents.end(), buffer.address);
    }
    job.buffers.push_back(buffer);
  }
  job.threadgroup_offsets = in.get_all<uint32_t>();
  job.threadgroup_bytes = in.get_all<uint32_t>();
  job.constants = in.get_all<std::byte>();
  job.ranges = in.get_all<smelt_cpu_range>();
  job.scratch_bytes = in.get<uint64_t>();
  job.scratch_filling = in.get<uint8_t>();
  const bool wants_fault = in.get<uint8_t>() != 0;
  auto fault = in.get<smelt_cpu_fault>();
  if (wants_fault) job.fault = &fault;
  job.dispatch = in.get<smelt_cpu_dispatch>();

  const Prepared prepared(job);
  prepared.run(executable.entry());
  Packer out;
  out.put(uint8_t{prepared.intact()});
  out.put(fault);
  for (size_t i = 0; i < job.buffers.size(); ++i)
    if (owners[i] == i) out.put_all(job.buffers[i].address, job.buffers[i].bytes);
  return std::move(out.bytes);
}

bool unpack_outcome(const std::vector<std::byte>& packed, const Job& job) {
  Unpacker in(packed);
  const bool intact = in.get<uint8_t>() != 0;
  const auto fault = in.get<smelt_cpu_fault>();
  if (job.fault != nullptr) *job.fault = fault;
  for (size_t i = 0; i < job.buffers.size(); ++i) {
    if (owner_of(job, i) != i) continue;
    const auto contents = in.get_all<std::byte>();
    std::copy(contents.begin(), contents.end(), job.buffers[i].address);
  }
  return intact;
}

bool send(int pipe, const std::vector<std::byte>& message) {
  const auto write_all = [pipe](const void* from, size_t bytes) {
    const auto* at = static_cast<const std::byte*>(from);
    while (bytes != 0) {
      const ssize_t done = write(pipe, at, bytes);
      if (done <= 0) return false;
      at += done;
      bytes -= static_cast<size_t>(done);
    }
    return true;
  };
  const uint64_t length = message.size();
  return write_all(&length, sizeof length) && write_all(message.data(), message.size());
}

bool receive(int pipe, std::vector<std::byte>& message) {
  const auto read_all = [pipe](void* to, size_t bytes) {
    auto* at = static_cast<std::byte*>(to);
    while (bytes != 0) {
      const ssize_t done = read(pipe, at, bytes);
      if (done <= 0) return false;
      at += done;
      bytes -= static_cast<size_t>(done);
    }
    return true;
  };
  uint64_t length = 0;
  if (!read_all(&length, sizeof length)) return false;
  message.resize(length);
  return read_all(message.data(), message.size());
}

}  // namespace smelt::test
