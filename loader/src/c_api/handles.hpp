// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The handles of the loader's C interface.
#pragma once

#include "smelt/base/c_interface.hpp"
#include "smelt/loader/encoder.hpp"
#include "smelt/smelt.h"

struct smelt_device : smelt::c_api::Handle<smelt::loader::DeviceRef> {
  using Handle::Handle;
};
struct smelt_package : smelt::c_api::Handle<smelt::loader::PackageRef> {
  using Handle::Handle;
};
struct smelt_library : smelt::c_api::Handle<smelt::loader::LibraryRef> {
  explicit smelt_library(smelt::loader::LibraryRef r) : Handle(std::move(r)), report(ref->slice_report().text()) {}
  std::string report;
};
struct smelt_function : smelt::c_api::Handle<smelt::loader::FunctionRef> {
  using Handle::Handle;
};
struct smelt_pipeline : smelt::c_api::Handle<smelt::loader::PipelineRef> {
  using Handle::Handle;
};
struct smelt_buffer : smelt::c_api::Handle<smelt::loader::BufferRef> {
  using Handle::Handle;
};
struct smelt_texture : smelt::c_api::Handle<smelt::loader::TextureRef> {
  using Handle::Handle;
};
struct smelt_sampler : smelt::c_api::Handle<smelt::loader::SamplerRef> {
  using Handle::Handle;
};
struct smelt_encoder : smelt::c_api::Handle<std::unique_ptr<smelt::loader::Encoder>> {
  using Handle::Handle;
};

namespace smelt::c_api {

/// The array, whose memory, shape and strides stay the caller's. Errors: invalid_argument, in the words of `function`.
inline Result<loader::ArrayView> view_of(const smelt_array* given, const char* function) {
  SMELT_TRY(const smelt_array array, read_options(given, function));
  if (array.data == nullptr || array.shape == nullptr) return null_argument(function, "data or shape");
  if (array.element < 0 || array.element > SMELT_TYPE_FLOAT32)
    return fail(Errc::invalid_argument, "{}: {} is not a SMELT_TYPE_ value", function, array.element);
  loader::ArrayView view{static_cast<std::byte*>(array.data),
                         {array.shape, array.rank},
                         {},
                         static_cast<loader::ScalarType>(array.element)};
  if (array.strides != nullptr) view.strides = {array.strides, array.rank};
  return view;
}

/// Memory that a caller lends. `release(context)` runs with the last reference, but not before take(): when the call
/// fails the memory stays the caller's.
class CallersMemory {
 public:
  CallersMemory(void (*release)(void* context), void* context, const void* memory) {
    if (release == nullptr) return;
    ref_ = std::shared_ptr<const void>(memory, [release, context, taken = taken_](const void*) {
      if (*taken) release(context);
    });
  }
  std::shared_ptr<const void> ref() const { return ref_; }
  void take() { *taken_ = true; }

 private:
  std::shared_ptr<bool> taken_ = std::make_shared<bool>(false);
  std::shared_ptr<const void> ref_;
};

}  // namespace smelt::c_api
