// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Choosing a slice: docs/design/loader.md 3.7.
#pragma once

#include "device/device_impl.hpp"

#include <span>

namespace smelt::loader {

struct SliceChoice {
  std::vector<size_t> usable;  ///< best first; never empty
  SliceReport report;
};

/// `what` names the library in the error. When nothing is usable: one error of the most hopeful kind, one line per
/// slice.
Result<SliceChoice> choose_slice(const DeviceImpl& device, std::span<const SliceFacts> slices,
                                 const LoadOptions& options, std::string_view what,
                                 const std::optional<std::string>& untrusted);

}  // namespace smelt::loader
