// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Devices: where kernels run. docs/reference/cpp.md.
#pragma once

#include "smelt/loader/types.hpp"

#include <chrono>
#include <functional>
#include <span>

namespace smelt::loader {

/// The kinds of devices.
enum class DeviceKind : uint8_t {
  automatic,  ///< Metal on a Mac that has it, else the CPU
  metal,      ///< a Mac's GPU
  cpu,        ///< this machine's processor
  offline     ///< describes libraries for a profile; a dispatch is `device_unavailable`
};
/// "automatic", "metal", "cpu" or "offline".
std::string_view to_string(DeviceKind kind);

/// The device that an offline device describes.
struct DeviceProfile {
  std::string name = "offline";  ///< Device::name()
  /// Device::target()
  Target target = {"macos27", Platform::macos, {27, 0, 0}, {4, 1, 0}, {2, 9, 0}, 9};
  Limits limits;  ///< Device::limits()
};

/// Receives one formatted line of a kernel's os_log. Called from worker threads, one call at a time.
using LogSink = std::function<void(std::string_view kernel, std::string_view line)>;

/// Options of Device::open.
struct DeviceOptions {
  /// Threads that run a dispatch, including the calling one; 0: as many as the process may use.
  unsigned threads = 0;
  /// The level of CPU code to run, such as "x86-64-v3". Empty: $SMELT_CPU, else the best that fits.
  std::string cpu_level;
  const DeviceProfile* profile = nullptr;  ///< offline only; copied
  LogSink log;                             ///< empty: stderr
  /// CPU: how long one launch may take. It then ends between two groups, with its buffers half written, as `cancelled`.
  /// 0: $SMELT_LAUNCH_LIMIT in seconds, else no limit.
  std::chrono::milliseconds launch_limit{0};
  /// CPU: called about every 20 ms of a launch, on the thread that dispatched it. True ends the launch in the same way.
  std::function<bool()> interrupted;
};

/// Memory that kernels can use, shared with the caller on every device. As with any memory, the program must keep
/// threads from using its bytes at the same time.
class Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  /// Its bytes.
  std::span<std::byte> contents() const { return contents_; }
  /// Its length in bytes.
  uint64_t size() const { return contents_.size(); }
  /// The address that kernels see, to be stored in another buffer (lists of tensors).
  uint64_t gpu_address() const { return gpu_address_; }

 protected:
  Buffer(std::span<std::byte> contents, uint64_t gpu_address) : contents_(contents), gpu_address_(gpu_address) {}

 private:
  std::span<std::byte> contents_;
  uint64_t gpu_address_;
};

/// A device that runs kernels. Thread-safe. It lives as long as any library, pipeline, buffer or encoder made with it.
class Device : public std::enable_shared_from_this<Device> {
 public:
  /// Opens a device. Errors: `device_unavailable` if there is no such device; `invalid_argument` for a CPU level that
  /// is unknown or that this processor lacks.
  static Result<DeviceRef> open(DeviceKind kind = DeviceKind::automatic, const DeviceOptions& options = {});
  virtual ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  /// The kind of device, never `automatic`.
  DeviceKind kind() const { return kind_; }
  /// Such as "cpu x86-64-v4, 8 threads".
  std::string_view name() const { return name_; }
  /// The target whose slices it runs.
  const Target& target() const { return target_; }
  /// Its limits.
  const Limits& limits() const { return limits_; }
  /// Whether the limits are upper bounds, because there is no GPU to ask.
  bool limits_estimated() const { return kind_ != DeviceKind::metal; }

  /// Makes a buffer of zeroed memory. Errors: `invalid_argument` if there is not enough.
  virtual Result<BufferRef> make_buffer(uint64_t bytes);
  /// Makes a buffer of the caller's memory and keeps `owner`; with an empty `owner` the caller keeps the memory valid.
  /// Metal refuses memory whose address or size is not a multiple of the page with `invalid_argument`.
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
