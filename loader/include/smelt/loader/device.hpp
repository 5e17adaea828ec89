// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices: where kernels run. docs/reference/cpp.md.
#pragma once

#include "smelt/loader/types.hpp"

#include <chrono>
#include <functional>
#include <span>

namespace smelt::loader {

enum class DeviceKind : uint8_t {
  automatic,  ///< metal on a Mac that has it, else cpu
  metal,
  cpu,
  offline  ///< loads and answers questions by a profile; dispatch is `device_unavailable`
};
std::string_view to_string(DeviceKind kind);

/// What an offline device pretends to be.
struct DeviceProfile {
  std::string name = "offline";
  Target target = {"macos27", Platform::macos, {27, 0, 0}, {4, 1, 0}, {2, 9, 0}, 9};
  Limits limits;
};

/// One line of a kernel's os_log, formatted. Called from worker threads, one call at a time.
using LogSink = std::function<void(std::string_view kernel, std::string_view line)>;

struct DeviceOptions {
  /// Threads that run a dispatch, the calling one included; 0: as many as the process may use.
  unsigned threads = 0;
  /// Forces a level of CPU code ("x86-64-v3"), taken literally. Empty: $SMELT_CPU, else the best that fits.
  std::string cpu_level;
  const DeviceProfile* profile = nullptr;  ///< offline only; copied
  LogSink log;                             ///< empty: stderr
  /// CPU: how long one launch may take. Then it ends between two groups, its buffers half written, with `cancelled`.
  /// 0: $SMELT_LAUNCH_LIMIT in seconds, else no limit.
  std::chrono::milliseconds launch_limit{0};
  /// CPU: asked about every 20 ms of a launch, on the thread that dispatched it; true ends the launch in the same way.
  std::function<bool()> interrupted;
};

/// Memory that kernels can reach. Contents are shared with the caller on every device.
/// Threads: the bytes are the caller's to guard, as with any memory.
class Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  std::span<std::byte> contents() const { return contents_; }
  uint64_t size() const { return contents_.size(); }
  /// What a kernel sees when this address lies in another buffer (lists of tensors).
  uint64_t gpu_address() const { return gpu_address_; }

 protected:
  Buffer(std::span<std::byte> contents, uint64_t gpu_address) : contents_(contents), gpu_address_(gpu_address) {}

 private:
  std::span<std::byte> contents_;
  uint64_t gpu_address_;
};

/// Thread-safe. Lives as long as any library, pipeline, buffer or encoder made with it.
class Device : public std::enable_shared_from_this<Device> {
 public:
  /// `device_unavailable` when there is no such device; `invalid_argument` for a CPU level that is unknown or that
  /// this processor lacks.
  static Result<DeviceRef> open(DeviceKind kind = DeviceKind::automatic, const DeviceOptions& options = {});
  virtual ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  DeviceKind kind() const { return kind_; }
  std::string_view name() const { return name_; }  ///< "cpu x86-64-v4, 8 threads"
  const Target& target() const { return target_; }
  const Limits& limits() const { return limits_; }
  /// Whether the limits are upper bounds rather than the hardware's answer.
  bool limits_estimated() const { return kind_ != DeviceKind::metal; }

  /// Zeroed memory. `invalid_argument` when it cannot be had.
  virtual Result<BufferRef> make_buffer(uint64_t bytes);
  /// The caller's memory, kept alive by `owner` (may be empty when the caller sees to it). Metal copies nothing only
  /// if address and size are multiples of the page; otherwise it refuses with `invalid_argument`.
  virtual Result<BufferRef> wrap(std::span<std::byte> memory, std::shared_ptr<const void> owner = {});

 protected:
  Device(DeviceKind kind, std::string name, Target target, Limits limits);

 private:
  DeviceKind kind_;
  std::string name_;
  Target target_;
  Limits limits_;
};

}  // namespace smelt::loader
