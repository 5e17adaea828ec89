// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "smelt/loader/library.hpp"

#include "Metal/MTLComputePipeline.hpp"
#include "device_object.hpp"
#include "foundation/made.hpp"

#include <array>
#include <vector>

namespace smelt::metal {

class PipelineObject final : public MTL::ComputePipelineState {
 public:
  std::string_view class_name() const override { return "MTLComputePipelineState"; }

  DeviceObject* device = nullptr;
  loader::PipelineRef pipeline;
  uint64_t most_threads = 0;  ///< per threadgroup
  bool whole_simdgroups = false;
  Label label;
  ByClass<SlotMask> used;  ///< slots that the kernel may use
  SlotMask written = 0;    ///< buffers that it may write
  SlotMask needed = 0;     ///< buffers without which it is not dispatched
  /// Of buffers that are there with some values of function constants alone: bytes of what they point to, or 1; else 0.
  std::array<uint32_t, 31> conditional{};
  /// Whether arguments may be there with some values of function constants alone. Then the buffers that are needed are
  /// not known: a condition that is made of constants, instead of being one, is in no library. Missing ones are null,
  /// or zeros for conditional ones.
  bool has_constants = false;
  std::vector<NS::SharedPtr<MTL::Function>> linked;  ///< those that have handles
};

inline PipelineObject& from(const MTL::ComputePipelineState* state) {
  return const_cast<PipelineObject&>(static_cast<const PipelineObject&>(*state));
}

/// What a pipeline says about its arguments; belongs to the innermost pool.
MTL::ComputePipelineReflection* reflection_of(const loader::PipelineState& pipeline);

/// One of them, likewise.
MTL::Argument* argument_of(const loader::ArgInfo& info);

struct PipelineValues;
/// The pipeline, owned by the caller. Errors as Metal's: in MTLLibraryErrorDomain.
Result<NS::SharedPtr<PipelineObject>> make_pipeline(DeviceObject& device,
                                                    const MTL::ComputePipelineDescriptor& descriptor,
                                                    MTL::PipelineOption options);

}  // namespace smelt::metal
