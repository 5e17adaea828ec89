// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/loader/device.hpp"

#include "device_impl.hpp"

#include <new>

namespace smelt::loader {
namespace {

/// Memory of this process, aligned for the widest vectors.
class HostBuffer final : public Buffer {
 public:
  HostBuffer(std::span<std::byte> memory, std::shared_ptr<const void> owner)
      : Buffer(memory, reinterpret_cast<uintptr_t>(memory.data())), owner_(std::move(owner)) {}

 private:
  std::shared_ptr<const void> owner_;
};

constexpr std::align_val_t kBufferAlignment{64};

}  // namespace

Device::Device(DeviceKind kind, std::string name, Target target, Limits limits)
    : kind_(kind), name_(std::move(name)), target_(std::move(target)), limits_(limits) {}

Device::~Device() = default;

Result<DeviceRef> Device::open(DeviceKind kind, const DeviceOptions& options) {
  switch (kind) {
    case DeviceKind::automatic:
      if (auto metal = open_metal_device(options)) return metal;
      return open_cpu_device(options);
    case DeviceKind::metal:
      return open_metal_device(options);
    case DeviceKind::cpu:
      return open_cpu_device(options);
    case DeviceKind::offline:
      return open_offline_device(options);
  }
  return fail(Errc::invalid_argument, "device kind {} is not known", static_cast<int>(kind));
}

Result<BufferRef> Device::make_buffer(uint64_t bytes) {
  void* at = ::operator new(bytes == 0 ? 1 : bytes, kBufferAlignment, std::nothrow);
  if (at == nullptr) return fail(Errc::invalid_argument, "no memory for a buffer of {} bytes", bytes);
  std::memset(at, 0, bytes);
  std::shared_ptr<const void> owner(at, [](void* memory) { ::operator delete(memory, kBufferAlignment); });
  return std::make_shared<HostBuffer>(std::span(static_cast<std::byte*>(at), bytes), std::move(owner));
}

Result<BufferRef> Device::wrap(std::span<std::byte> memory, std::shared_ptr<const void> owner) {
  return std::make_shared<HostBuffer>(memory, std::move(owner));
}

}  // namespace smelt::loader
