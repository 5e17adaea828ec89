// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "function_table.hpp"

#include "Metal/Metal.hpp"
#include "holder.hpp"
#include "library_object.hpp"
#include "validation.hpp"

namespace smelt::metal {

struct FunctionTableValues {
  static constexpr std::string_view kClass = "MTLVisibleFunctionTableDescriptor";
  NS::UInteger count = 0;
};

namespace {

constexpr uint64_t kMostEntries = 1 << 20;

FunctionHandleObject& from(const MTL::FunctionHandle* handle) {
  return const_cast<FunctionHandleObject&>(static_cast<const FunctionHandleObject&>(*handle));
}

}  // namespace

FunctionTableObject::FunctionTableObject(PipelineObject& of, uint64_t count)
    : pipeline(NS::RetainPtr(&of)), entries_(count) {
  device = of.device;
  bytes = count * sizeof(uint64_t);
  options = MTL::ResourceStorageModePrivate | MTL::ResourceHazardTrackingModeUntracked;
}

void FunctionTableObject::set(const char* call, const MTL::FunctionHandle* handle, uint64_t index) {
  if (index >= entries_.size()) {
    misuse(call, "index {} in a table of {} functions", index, entries_.size());
    return;
  }
  std::string name;
  if (handle != nullptr) {
    const FunctionObject& function = from(from(handle).function.get());
    if (from(handle).pipeline.get() != pipeline.get()) {
      misuse(call, "the handle of '{}' at index {} is of another pipeline than the table", function.name, index);
      return;
    }
    name = function.name;
  }
  const std::lock_guard guard(mutex_);
  entries_[index] = std::move(name);
}

Result<void> FunctionTableObject::bind(loader::Encoder& encoder, uint32_t index) const {
  const std::lock_guard guard(mutex_);
  const std::vector<std::string_view> names(entries_.begin(), entries_.end());
  return encoder.set_function_table(index, names);
}

}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

SMELT_DESCRIPTOR(VisibleFunctionTableDescriptor, FunctionTableValues)
SMELT_VALUE(VisibleFunctionTableDescriptor, NS::UInteger, functionCount, setFunctionCount, count)
VisibleFunctionTableDescriptor* VisibleFunctionTableDescriptor::visibleFunctionTableDescriptor() {
  return alloc()->init()->autorelease();
}

FunctionType FunctionHandle::functionType() const {
  return from(this).function->functionType();
}
NS::String* FunctionHandle::name() const {
  return from(this).function->name();
}
Device* FunctionHandle::device() const {
  return from(this).pipeline->device;
}

FunctionHandle* ComputePipelineState::functionHandle(const Function* function) const {
  if (function == nullptr)
    return misuse("-[MTLComputePipelineState functionHandleWithFunction:]", "function is null"), nullptr;
  PipelineObject& pipeline = from(this);
  for (const NS::SharedPtr<Function>& linked : pipeline.linked) {
    if (linked.get() != function) continue;
    auto* const handle = new FunctionHandleObject;
    handle->function = linked;
    handle->pipeline = NS::RetainPtr(&pipeline);
    handle->autorelease();
    return handle;
  }
  return nullptr;
}

VisibleFunctionTable* ComputePipelineState::newVisibleFunctionTable(
    const VisibleFunctionTableDescriptor* descriptor) const {
  constexpr const char* kCall = "-[MTLComputePipelineState newVisibleFunctionTableWithDescriptor:]";
  if (descriptor == nullptr) return misuse(kCall, "descriptor is null"), nullptr;
  const NS::UInteger count = descriptor->functionCount();
  if (count > kMostEntries) return misuse(kCall, "functionCount {} is above {}", count, kMostEntries), nullptr;
  return new FunctionTableObject(from(this), count);
}

void VisibleFunctionTable::setFunction(const FunctionHandle* function, NS::UInteger index) {
  from(this).set("-[MTLVisibleFunctionTable setFunction:atIndex:]", function, index);
}
void VisibleFunctionTable::setFunctions(const FunctionHandle* const functions[], NS::Range range) {
  for (NS::UInteger i = 0; i < range.length; ++i)
    from(this).set("-[MTLVisibleFunctionTable setFunctions:withRange:]", functions[i], range.location + i);
}

}  // namespace MTL
