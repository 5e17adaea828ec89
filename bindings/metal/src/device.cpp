// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/loader/findings.hpp"

#include "Metal/Metal.hpp"
#include "device_object.hpp"
#include "foundation/made.hpp"
#include "settings.hpp"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

namespace smelt::metal {
namespace {

constexpr std::string_view kCpu = "cpu-";

class ArchitectureObject final : public MTL::Architecture {
 public:
  std::string_view class_name() const override { return "MTLArchitecture"; }
};

/// Threads that take nodes: at least two, so that what nothing orders can be seen to be unordered.
unsigned lane_count() {
  if (const auto wanted = number_setting("SMELT_METAL_LANES", 1, 64)) return static_cast<unsigned>(*wanted);
  return std::clamp(std::thread::hardware_concurrency(), 2u, 4u);
}

std::vector<DeviceObject*> open_devices() {
  std::vector<DeviceObject*> devices;
  const uint64_t count = number_setting("SMELT_METAL_DEVICES", 1, 16).value_or(1);
  loader::DeviceOptions options;
  options.threads = static_cast<unsigned>(number_setting("SMELT_METAL_THREADS", 1, 4096).value_or(0));
  for (uint64_t i = 0; i < count; ++i) {
    auto opened = loader::Device::open(loader::DeviceKind::cpu, options);
    if (!opened) {
      std::fprintf(stderr, "smelt: no Metal device: %s\n", opened.error().message.c_str());
      break;
    }
    devices.push_back(new DeviceObject(std::move(*opened), static_cast<unsigned>(i)));
  }
  return devices;
}

}  // namespace

DeviceObject::DeviceObject(loader::DeviceRef loaded, unsigned which)
    : loader(std::move(loaded)),
      number(which),
      level(loader->target().name.substr(std::min(kCpu.size(), loader->target().name.size()))),
      checked(checks_setting()),
      scheduler(*new Scheduler(loader, lane_count())) {
  if (checked) loader::say_findings();
}

const std::vector<DeviceObject*>& all_devices() {
  static const auto& devices = *[] {
    auto* made = new std::vector<DeviceObject*>(open_devices());
    // A program may end while its commands run.
    std::atexit([] {
      for (DeviceObject* device : all_devices()) device->scheduler.rest();
    });
    return made;
  }();
  return devices;
}

}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

const NS::ErrorDomain CommandBufferErrorDomain = NS::MakeConstantString("MTLCommandBufferErrorDomain");
const NS::ErrorDomain LibraryErrorDomain = NS::MakeConstantString("MTLLibraryErrorDomain");
const NS::ErrorDomain BinaryArchiveDomain = NS::MakeConstantString("MTLBinaryArchiveDomain");
const NS::ErrorDomain CaptureErrorDomain = NS::MakeConstantString("MTLCaptureError");

Device* CreateSystemDefaultDevice() {
  return all_devices().empty() ? nullptr : all_devices().front()->retain();
}

NS::Array* CopyAllDevices() {
  const std::vector<NS::Object*> devices(all_devices().begin(), all_devices().end());
  return array_of(devices)->retain();
}

NS::String* Architecture::name() const {
  return string_of(device_model().architecture);
}

NS::String* Device::name() const {
  if (const std::string name = setting("SMELT_METAL_NAME"); !name.empty()) return string_of(name);
  const DeviceObject& device = from(this);
  std::string text = fmt::format("{} (smelt on {})", device_model().name, device.level);
  if (device.number != 0) text += fmt::format(" #{}", device.number);
  return string_of(text);
}
uint64_t Device::registryID() const {
  return 0x736d656c74000000 + from(this).number;
}
Architecture* Device::architecture() const {
  static ArchitectureObject* const architecture = new ArchitectureObject;
  return architecture;
}
Size Device::maxThreadsPerThreadgroup() const {
  const uint64_t most = from(this).loader->limits().max_threads_per_threadgroup;
  return {most, most, most};
}
uint64_t Device::recommendedMaxWorkingSetSize() const {
  if (const auto wanted = number_setting("SMELT_METAL_MEMORY", 1, UINT64_MAX)) return *wanted;
  return from(this).loader->limits().memory_bytes / 4 * 3;
}
NS::UInteger Device::maxBufferLength() const {
  return std::min<uint64_t>(from(this).loader->limits().max_buffer_bytes, recommendedMaxWorkingSetSize());
}
NS::UInteger Device::maxThreadgroupMemoryLength() const {
  return from(this).loader->limits().max_threadgroup_memory;
}
NS::UInteger Device::currentAllocatedSize() const {
  return from(this).allocated.load(std::memory_order_relaxed);
}
bool Device::supportsFamily(GPUFamily family) const {
  return device_model().supports(family);
}
void Device::sampleTimestamps(Timestamp* cpuTimestamp, Timestamp* gpuTimestamp) {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  *cpuTimestamp = *gpuTimestamp =
      static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
}

}  // namespace MTL
