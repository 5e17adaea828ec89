// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Metal/Metal.hpp"
#include "holder.hpp"
#include "validation.hpp"

#include <cstdio>
#include <mutex>

namespace smelt::metal {
namespace {

constexpr const char* kNoCapture = "GPU capture is not supported; SMELT_TRACE=file.json records what ran";
constexpr const char* kNoCounters = "the device has no counters (counterSets is empty)";

struct CounterValues {
  static constexpr std::string_view kClass = "MTLCounterSampleBufferDescriptor";
  NS::SharedPtr<NS::String> label;
  NS::UInteger count = 0;
  MTL::StorageMode storage = MTL::StorageModeShared;
  NS::SharedPtr<MTL::CounterSet> set;
};
struct CaptureValues {
  static constexpr std::string_view kClass = "MTLCaptureDescriptor";
  NS::SharedPtr<NS::Object> object;
  MTL::CaptureDestination destination = MTL::CaptureDestinationDeveloperTools;
  NS::SharedPtr<NS::URL> url;
};

class ScopeObject final : public MTL::CaptureScope {
 public:
  explicit ScopeObject(MTL::Device* on) : device_(on) {}
  std::string_view class_name() const override { return "MTLCaptureScope"; }
  MTL::Device* const device_;
  Label label_;
};
ScopeObject& from(const MTL::CaptureScope* scope) {
  return const_cast<ScopeObject&>(static_cast<const ScopeObject&>(*scope));
}
class ManagerObject final : public MTL::CaptureManager {
 public:
  std::string_view class_name() const override { return "MTLCaptureManager"; }
};

void say_no_capture() {
  static std::once_flag once;
  std::call_once(once, [] { std::fprintf(stderr, "smelt: startCapture: %s\n", kNoCapture); });
}

}  // namespace
}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

NS::Array* Device::counterSets() const {
  return NS::Array::array();
}
CounterSampleBuffer* Device::newCounterSampleBuffer(const CounterSampleBufferDescriptor*, NS::Error** error) {
  return fail_with(error, "MTLCounterErrorDomain", CounterSampleBufferErrorInvalid, kNoCounters);
}
// No object of these two classes exists.
NS::String* CounterSet::name() const {
  return nullptr;
}
NS::Array* CounterSet::counters() const {
  return nullptr;
}
NS::UInteger CounterSampleBuffer::sampleCount() const {
  return 0;
}

SMELT_DESCRIPTOR(CounterSampleBufferDescriptor, CounterValues)
SMELT_OBJECT(CounterSampleBufferDescriptor, NS::String, label, setLabel, label)
SMELT_VALUE(CounterSampleBufferDescriptor, NS::UInteger, sampleCount, setSampleCount, count)
SMELT_VALUE(CounterSampleBufferDescriptor, StorageMode, storageMode, setStorageMode, storage)
SMELT_OBJECT(CounterSampleBufferDescriptor, CounterSet, counterSet, setCounterSet, set)

SMELT_LABEL_AND_DEVICE(CaptureScope, from(this).label_, from(this).device_)

SMELT_DESCRIPTOR(CaptureDescriptor, CaptureValues)
NS::Object* CaptureDescriptor::captureObject() const {
  return values_of(this).object.get();
}
void CaptureDescriptor::setCaptureObject(NS::Object* object) {
  values_of(this).object = NS::RetainPtr(object);
}
SMELT_VALUE(CaptureDescriptor, CaptureDestination, destination, setDestination, destination)
SMELT_OBJECT(CaptureDescriptor, NS::URL, outputURL, setOutputURL, url)

CaptureManager* CaptureManager::sharedCaptureManager() {
  static ManagerObject* const manager = new ManagerObject;
  return manager;
}
CaptureScope* CaptureManager::newCaptureScope(const Device* device) {
  return new ScopeObject(const_cast<Device*>(device));
}
CaptureScope* CaptureManager::newCaptureScope(const CommandQueue* queue) {
  return new ScopeObject(queue->device());
}
bool CaptureManager::startCapture(const CaptureDescriptor*, NS::Error** error) {
  fail_with(error, "MTLCaptureError", CaptureErrorNotSupported, kNoCapture);
  return false;
}
void CaptureManager::startCapture(const Device*) {
  say_no_capture();
}
void CaptureManager::startCapture(const CommandQueue*) {
  say_no_capture();
}

}  // namespace MTL
