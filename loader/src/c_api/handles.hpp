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
struct smelt_encoder : smelt::c_api::Handle<std::unique_ptr<smelt::loader::Encoder>> {
  using Handle::Handle;
};
