// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Function tables as they are kept.
#pragma once

#include "smelt/loader/encoder.hpp"

#include "Metal/MTLVisibleFunctionTable.hpp"
#include "pipeline_object.hpp"
#include "resource_object.hpp"

#include <mutex>
#include <string>
#include <vector>

namespace smelt::metal {

class FunctionHandleObject final : public MTL::FunctionHandle {
 public:
  std::string_view class_name() const override { return "MTLFunctionHandle"; }
  NS::SharedPtr<MTL::Function> function;
  NS::SharedPtr<PipelineObject> pipeline;
};

class FunctionTableObject final : public MTL::VisibleFunctionTable, public ResourceFacts, public Bindable {
 public:
  FunctionTableObject(PipelineObject& of, uint64_t count);
  std::string_view class_name() const override { return "MTLVisibleFunctionTable"; }
  using ResourceFacts::device;  // not the function of the same name
  using ResourceFacts::label;

  /// `call` for what misuse says.
  void set(const char* call, const MTL::FunctionHandle* handle, uint64_t index);
  /// What the entries are now.
  Result<void> bind(loader::Encoder& encoder, uint32_t index) const override;

  const NS::SharedPtr<PipelineObject> pipeline;

 private:
  mutable std::mutex mutex_;          // guards what follows
  std::vector<std::string> entries_;  // names; empty: an empty entry
};

inline FunctionTableObject& from(const MTL::VisibleFunctionTable* table) {
  return const_cast<FunctionTableObject&>(static_cast<const FunctionTableObject&>(*table));
}

}  // namespace smelt::metal
