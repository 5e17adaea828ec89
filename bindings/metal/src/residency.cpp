// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Metal/Metal.hpp"
#include "holder.hpp"
#include "resource_object.hpp"

#include <algorithm>

namespace smelt::metal {
namespace {

struct ResidencyValues {
  static constexpr std::string_view kClass = "MTLResidencySetDescriptor";
  NS::SharedPtr<NS::String> label;
  NS::UInteger capacity = 0;
};

class ResidencyObject final : public MTL::ResidencySet {
 public:
  using Kept = std::vector<NS::SharedPtr<MTL::Allocation>>;
  std::string_view class_name() const override { return "MTLResidencySet"; }
  DeviceObject* device_ = nullptr;
  Label label_;
  mutable std::mutex mutex;  // guards what follows
  Kept wanted;               // what counts from the next commit() on
  Kept committed;

  static Kept::const_iterator find(const Kept& in, const MTL::Allocation* allocation) {
    return std::find_if(in.begin(), in.end(), [&](const auto& one) { return one.get() == allocation; });
  }
};

ResidencyObject& from(MTL::ResidencySet* set) {
  return static_cast<ResidencyObject&>(*set);
}
const ResidencyObject& from(const MTL::ResidencySet* set) {
  return static_cast<const ResidencyObject&>(*set);
}

}  // namespace
}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

SMELT_DESCRIPTOR(ResidencySetDescriptor, ResidencyValues)
SMELT_OBJECT(ResidencySetDescriptor, NS::String, label, setLabel, label)
SMELT_VALUE(ResidencySetDescriptor, NS::UInteger, initialCapacity, setInitialCapacity, capacity)

ResidencySet* Device::newResidencySet(const ResidencySetDescriptor* descriptor, NS::Error**) {
  auto* set = new ResidencyObject;
  set->device_ = &from(this);
  if (descriptor != nullptr) set->label_.set(descriptor->label());
  return set;
}

Device* ResidencySet::device() const {
  return from(this).device_;
}
NS::String* ResidencySet::label() const {
  return from(this).label_.get();
}
uint64_t ResidencySet::allocatedSize() const {
  const ResidencyObject& set = from(this);
  const std::lock_guard guard(set.mutex);
  uint64_t bytes = 0;
  for (const auto& one : set.committed) bytes += one->allocatedSize();
  return bytes;
}
void ResidencySet::requestResidency() {}
void ResidencySet::endResidency() {}
void ResidencySet::addAllocation(const Allocation* allocation) {
  ResidencyObject& set = from(this);
  const std::lock_guard guard(set.mutex);
  if (ResidencyObject::find(set.wanted, allocation) == set.wanted.end())
    set.wanted.push_back(NS::RetainPtr(const_cast<Allocation*>(allocation)));
}
void ResidencySet::addAllocations(const Allocation* const allocations[], NS::UInteger count) {
  for (NS::UInteger i = 0; i < count; ++i) addAllocation(allocations[i]);
}
void ResidencySet::removeAllocation(const Allocation* allocation) {
  ResidencyObject& set = from(this);
  const std::lock_guard guard(set.mutex);
  if (const auto at = ResidencyObject::find(set.wanted, allocation); at != set.wanted.end()) set.wanted.erase(at);
}
void ResidencySet::removeAllocations(const Allocation* const allocations[], NS::UInteger count) {
  for (NS::UInteger i = 0; i < count; ++i) removeAllocation(allocations[i]);
}
void ResidencySet::removeAllAllocations() {
  ResidencyObject& set = from(this);
  const std::lock_guard guard(set.mutex);
  set.wanted.clear();
}
bool ResidencySet::containsAllocation(const Allocation* allocation) const {
  const ResidencyObject& set = from(this);
  const std::lock_guard guard(set.mutex);
  return ResidencyObject::find(set.wanted, allocation) != set.wanted.end();
}
NS::Array* ResidencySet::allAllocations() const {
  const ResidencyObject& set = from(this);
  const std::lock_guard guard(set.mutex);
  std::vector<NS::Object*> all;
  for (const auto& one : set.wanted) all.push_back(one.get());
  return array_of(all);
}
NS::UInteger ResidencySet::allocationCount() const {
  const ResidencyObject& set = from(this);
  const std::lock_guard guard(set.mutex);
  return set.wanted.size();
}
void ResidencySet::commit() {
  ResidencyObject& set = from(this);
  const std::lock_guard guard(set.mutex);
  set.committed = set.wanted;
}

}  // namespace MTL
