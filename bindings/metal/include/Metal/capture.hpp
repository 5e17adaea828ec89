// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counters and captures, which there are none of: asking for them says so. What ran is written by SMELT_TRACE.
#pragma once

#include "Metal/types.hpp"

namespace MTL {

class SMELT_METAL_API CounterSet : public NS::Referencing<CounterSet> {
 public:
  NS::String* name() const;
  NS::Array* counters() const;
};
class SMELT_METAL_API CounterSampleBufferDescriptor : public NS::Copying<CounterSampleBufferDescriptor> {
 public:
  static CounterSampleBufferDescriptor* alloc();
  CounterSampleBufferDescriptor* init();
  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::UInteger sampleCount() const;
  void setSampleCount(NS::UInteger count);
  StorageMode storageMode() const;
  void setStorageMode(StorageMode mode);
  CounterSet* counterSet() const;
  void setCounterSet(const CounterSet* set);
};
class SMELT_METAL_API CounterSampleBuffer : public NS::Referencing<CounterSampleBuffer> {
 public:
  NS::UInteger sampleCount() const;
};

class SMELT_METAL_API CaptureScope : public NS::Referencing<CaptureScope> {
 public:
  Device* device() const;
  NS::String* label() const;
  void setLabel(const NS::String* label);
  void beginScope() {}
  void endScope() {}
};
class SMELT_METAL_API CaptureDescriptor : public NS::Copying<CaptureDescriptor> {
 public:
  static CaptureDescriptor* alloc();
  CaptureDescriptor* init();
  NS::Object* captureObject() const;
  void setCaptureObject(NS::Object* object);
  CaptureDestination destination() const;
  void setDestination(CaptureDestination destination);
  NS::URL* outputURL() const;
  void setOutputURL(const NS::URL* url);
};
class SMELT_METAL_API CaptureManager : public NS::Referencing<CaptureManager> {
 public:
  static CaptureManager* sharedCaptureManager();
  CaptureScope* newCaptureScope(const Device* device);
  CaptureScope* newCaptureScope(const CommandQueue* queue);
  bool supportsDestination(CaptureDestination) const { return false; }
  /// False with CaptureErrorNotSupported.
  bool startCapture(const CaptureDescriptor* descriptor, NS::Error** error);
  void startCapture(const Device* device);
  void startCapture(const CommandQueue* queue);
  void stopCapture() {}
  bool isCapturing() const { return false; }
  CaptureScope* defaultCaptureScope() const { return nullptr; }
  void setDefaultCaptureScope(const CaptureScope*) {}
};

}  // namespace MTL
