// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a device must do for the rest of the loader. One .cpp (or .mm) per device stands behind this header.
#pragma once

#include "smelt/loader/device.hpp"
#include "smelt/loader/encoder.hpp"
#include "smelt/loader/library.hpp"
#include "smelt/schema/package.hpp"

#include "constants_bound.hpp"

#include <thread>

namespace smelt::loader {

/// A slice as the choice sees it (3.7): from a package's manifest, or made up for a plain metallib.
struct SliceFacts {
  Target target;
  schema::SliceKind kind = schema::SliceKind::metallib;
  uint32_t arch = 0;
  uint32_t level = 0;
  Checks checked;
  Digest hash;
  std::optional<Digest> root;  ///< CPU slices: what the slice's own header must say
  ByteView bytes;
};

/// Why a device cannot use a slice. `hopeful` is how far the checks of 3.7 got.
struct Rejection {
  Errc code;
  std::string needs_has;  ///< "needs macOS 15.0, device has 14.2"
};

/// What a pipeline is to be made from.
struct PipelineRequest {
  PipelineState::Facts facts;
  std::vector<BoundConstant> constants;  ///< by index, ascending
  bool has_constants = false;            ///< the function declares some, given or not
};

/// A slice that a device has opened. Thread-safe.
class OpenSlice {
 public:
  virtual ~OpenSlice() = default;
  /// One result per request, in order. The requests of one call may share memory.
  virtual std::vector<Result<PipelineRef>> make_pipelines(std::vector<PipelineRequest> requests) = 0;
  /// Gives a pipeline of the same device the code that this slice has for its kernel.
  virtual Result<void> replace_code(const PipelineState& pipeline, std::string_view effort);
};

class DeviceImpl : public Device {
 public:
  virtual std::optional<Rejection> reject(const SliceFacts& slice, const LoadOptions& options) const = 0;
  /// Higher is better among slices that the device takes, before the rules of 3.7 decide.
  virtual uint64_t preference(const SliceFacts&) const { return 0; }
  /// How to get a slice that this device takes, for an error's last line; empty when there is nothing to say.
  virtual std::string remedy(const LoadOptions&) const { return {}; }
  /// `owner` keeps slice.bytes.
  virtual Result<std::shared_ptr<OpenSlice>> open_slice(const SliceFacts& slice,
                                                        const std::shared_ptr<const void>& owner) = 0;
  virtual Result<std::unique_ptr<Encoder>> make_encoder() = 0;
  /// Threads that may build pipelines at once.
  virtual unsigned build_threads() const { return std::thread::hardware_concurrency(); }

 protected:
  using Device::Device;
};

Result<DeviceRef> open_cpu_device(const DeviceOptions& options);
Result<DeviceRef> open_offline_device(const DeviceOptions& options);
/// device_unavailable where there is no Metal.
Result<DeviceRef> open_metal_device(const DeviceOptions& options);

/// The checks of 3.7 against an Apple target, in their order; for the metal and offline devices.
std::optional<Rejection> reject_by_target(const SliceFacts& slice, const Target& device, const LoadOptions& options);

}  // namespace smelt::loader
