// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Stands in for metal.mm where there is no Metal.
#if !defined(__APPLE__)

#include "device_impl.hpp"

namespace smelt::loader {

Result<DeviceRef> open_metal_device(const DeviceOptions&) {
  return fail(Errc::device_unavailable,
              "there is no Metal device: this is not a Mac. The cpu device runs packages that hold CPU code");
}

}  // namespace smelt::loader

#endif
