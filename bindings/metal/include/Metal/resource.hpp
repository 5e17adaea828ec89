// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Memory: buffers, heaps, residency.
#pragma once

#include "Metal/types.hpp"

namespace MTL {

class SMELT_METAL_API Allocation : public NS::Referencing<Allocation> {
 public:
  NS::UInteger allocatedSize() const;
};

class SMELT_METAL_API Resource : public NS::Referencing<Resource, Allocation> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  CPUCacheMode cpuCacheMode() const;
  StorageMode storageMode() const;
  /// What counts: never the default one.
  HazardTrackingMode hazardTrackingMode() const;
  ResourceOptions resourceOptions() const;
  /// Memory is never purged: remembers the state, and says what it was.
  PurgeableState setPurgeableState(PurgeableState state);
  Heap* heap() const;
  NS::UInteger heapOffset() const;
  void makeAliasable();
  bool isAliasable() const;
};

class SMELT_METAL_API Buffer : public NS::Referencing<Buffer, Resource> {
 public:
  NS::UInteger length() const;
  /// Null for private storage.
  void* contents();
  /// Nothing to do: there is one copy. Checks the range.
  void didModifyRange(const NS::Range& range);
  /// What a kernel sees as its address.
  uint64_t gpuAddress() const;
  /// A texture in the buffer's memory, of one level, which keeps the buffer.
  Texture* newTexture(const TextureDescriptor* descriptor, NS::UInteger offset, NS::UInteger bytesPerRow);
  void addDebugMarker(const NS::String* marker, const NS::Range& range);
  void removeAllDebugMarkers();
};

class SMELT_METAL_API HeapDescriptor : public NS::Copying<HeapDescriptor> {
 public:
  static HeapDescriptor* alloc();
  HeapDescriptor* init();
  NS::UInteger size() const;
  void setSize(NS::UInteger size);
  StorageMode storageMode() const;
  void setStorageMode(StorageMode mode);
  CPUCacheMode cpuCacheMode() const;
  void setCpuCacheMode(CPUCacheMode mode);
  HazardTrackingMode hazardTrackingMode() const;
  void setHazardTrackingMode(HazardTrackingMode mode);
  ResourceOptions resourceOptions() const;
  void setResourceOptions(ResourceOptions options);
  HeapType type() const;
  void setType(HeapType type);
};

/// One piece of memory that buffers are cut from. Its buffers are tracked together when the heap is tracked, and not at
/// all otherwise (the default).
class SMELT_METAL_API Heap : public NS::Referencing<Heap, Allocation> {
 public:
  NS::String* label() const;
  void setLabel(const NS::String* label);
  Device* device() const;
  StorageMode storageMode() const;
  CPUCacheMode cpuCacheMode() const;
  HazardTrackingMode hazardTrackingMode() const;
  ResourceOptions resourceOptions() const;
  HeapType type() const;
  NS::UInteger size() const;
  NS::UInteger usedSize() const;
  NS::UInteger currentAllocatedSize() const;
  NS::UInteger maxAvailableSize(NS::UInteger alignment) const;
  /// Null when there is no room.
  Buffer* newBuffer(NS::UInteger length, ResourceOptions options);
  /// Of placement heaps.
  Buffer* newBuffer(NS::UInteger length, ResourceOptions options, NS::UInteger offset);
  PurgeableState setPurgeableState(PurgeableState state);
};

class SMELT_METAL_API ResidencySetDescriptor : public NS::Copying<ResidencySetDescriptor> {
 public:
  static ResidencySetDescriptor* alloc();
  ResidencySetDescriptor* init();
  NS::String* label() const;
  void setLabel(const NS::String* label);
  NS::UInteger initialCapacity() const;
  void setInitialCapacity(NS::UInteger count);
};

/// Memory is always resident: a list that keeps its allocations.
class SMELT_METAL_API ResidencySet : public NS::Referencing<ResidencySet> {
 public:
  Device* device() const;
  NS::String* label() const;
  uint64_t allocatedSize() const;
  void requestResidency();
  void endResidency();
  void addAllocation(const Allocation* allocation);
  void addAllocations(const Allocation* const allocations[], NS::UInteger count);
  void removeAllocation(const Allocation* allocation);
  void removeAllocations(const Allocation* const allocations[], NS::UInteger count);
  void removeAllAllocations();
  bool containsAllocation(const Allocation* allocation) const;
  NS::Array* allAllocations() const;
  NS::UInteger allocationCount() const;
  /// Additions and removals count from here on, as in Metal.
  void commit();
};

}  // namespace MTL
