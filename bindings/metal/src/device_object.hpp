// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "smelt/loader/device.hpp"

#include "Metal/MTLDevice.hpp"
#include "device_model.hpp"
#include "schedule.hpp"

#include <atomic>

namespace smelt::metal {

/// Devices are made once and never destroyed, as the system's are.
class DeviceObject final : public MTL::Device {
 public:
  DeviceObject(loader::DeviceRef loaded, unsigned number);
  std::string_view class_name() const override { return "MTLDevice"; }

  const loader::DeviceRef loader;
  const unsigned number;  // 0: the default one
  /// "x86-64-v3": what CPU code is made for.
  const std::string level;
  /// SMELT_METAL_CHECKED, else SMELT_CHECK: what CPU code looks at.
  const Checks checked;
  Scheduler& scheduler;
  std::atomic<uint64_t> allocated{0};
  std::atomic<uint64_t> next_hazard{1};  // numbers of tracked resources, fences: never used twice
};

inline DeviceObject& from(const MTL::Device* device) {
  return const_cast<DeviceObject&>(static_cast<const DeviceObject&>(*device));
}

/// The devices that this process has; empty, with the reason told on stderr, when none can be opened.
const std::vector<DeviceObject*>& all_devices();

}  // namespace smelt::metal
