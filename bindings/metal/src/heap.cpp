// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A heap is one buffer of the loader; its pieces are kept by offset. First fit: heaps have few pieces.
#include "smelt/base/bytes.hpp"

#include "Metal/Metal.hpp"
#include "holder.hpp"
#include "resource_object.hpp"
#include "validation.hpp"

namespace smelt::metal {

HeapObject::~HeapObject() {
  if (device != nullptr) device->allocated -= bytes;
}

std::optional<uint64_t> HeapObject::take(uint64_t wanted, uint64_t alignment) {
  const std::lock_guard guard(mutex);
  uint64_t at = 0;
  for (const auto& [offset, length] : taken) {
    if (offset >= at && offset - at >= wanted) break;
    at = std::max(at, round_up(offset + length, alignment));
  }
  if (at > bytes || wanted > bytes - at) return std::nullopt;
  taken.emplace(at, wanted);
  return at;
}

void HeapObject::give_back(uint64_t offset) {
  const std::lock_guard guard(mutex);
  if (type == MTL::HeapTypeAutomatic) taken.erase(offset);
}

uint64_t HeapObject::largest_free(uint64_t alignment) const {
  const std::lock_guard guard(mutex);
  uint64_t at = 0, most = 0;
  for (const auto& [offset, length] : taken) {
    if (offset > at) most = std::max(most, offset - at);
    at = std::max(at, round_up(offset + length, alignment));
  }
  return std::max(most, bytes > at ? bytes - at : 0);
}

namespace {

struct HeapValues {
  static constexpr std::string_view kClass = "MTLHeapDescriptor";
  NS::UInteger size = 0;
  MTL::ResourceOptions options = MTL::ResourceStorageModePrivate;  // Metal's default
  MTL::HeapType type = MTL::HeapTypeAutomatic;
};

void put_bits(MTL::ResourceOptions& options, MTL::ResourceOptions mask, MTL::ResourceOptions bits) {
  options = (options & ~mask) | bits;
}

/// The buffer of a place that is the caller's already.
BufferObject* piece_of(HeapObject& heap, uint64_t offset, uint64_t length) {
  auto* made = new BufferObject;
  made->device = heap.device;
  made->in = NS::RetainPtr(&heap);
  made->start = heap.memory->contents().data() + offset;
  made->bytes = length;
  made->heap_offset = offset;
  made->options = heap.options;
  made->hazard = heap.hazard;
  return made;
}

/// Whether a piece may be asked for like this.
bool may_be_cut(const HeapObject& heap, const char* call, NS::UInteger length, MTL::ResourceOptions options) {
  if (length == 0) return misuse(call, "length is 0"), false;
  if ((options & kStorageMask) != (heap.options & kStorageMask))
    return misuse(call, "options {:#x} have another storage mode than the heap's {:#x}", options, heap.options), false;
  return true;
}

}  // namespace
}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

SMELT_DESCRIPTOR(HeapDescriptor, HeapValues)
SMELT_VALUE(HeapDescriptor, NS::UInteger, size, setSize, size)
SMELT_VALUE(HeapDescriptor, HeapType, type, setType, type)
SMELT_VALUE(HeapDescriptor, ResourceOptions, resourceOptions, setResourceOptions, options)
StorageMode HeapDescriptor::storageMode() const {
  return storage_in(resourceOptions());
}
void HeapDescriptor::setStorageMode(StorageMode mode) {
  put_bits(values_of(this).options, kStorageMask, mode << 4);
}
CPUCacheMode HeapDescriptor::cpuCacheMode() const {
  return cache_in(resourceOptions());
}
void HeapDescriptor::setCpuCacheMode(CPUCacheMode mode) {
  put_bits(values_of(this).options, kCacheMask, mode);
}
HazardTrackingMode HeapDescriptor::hazardTrackingMode() const {
  return tracking_in(resourceOptions());
}
void HeapDescriptor::setHazardTrackingMode(HazardTrackingMode mode) {
  put_bits(values_of(this).options, kTrackingMask, mode << 8);
}

Heap* Device::newHeap(const HeapDescriptor* descriptor) {
  constexpr const char* kCall = "-[MTLDevice newHeapWithDescriptor:]";
  if (descriptor == nullptr) return misuse(kCall, "descriptor is null"), nullptr;
  const auto& values = values_of(descriptor);
  if (values.size == 0) return misuse(kCall, "the descriptor's size is 0"), nullptr;
  if (values.size > maxBufferLength())
    return misuse(kCall, "size {} is above the device's maxBufferLength of {}", values.size, maxBufferLength()),
           nullptr;
  if (values.type == HeapTypeSparse)
    return misuse(kCall, "sparse heaps are for textures, which heaps do not support"), nullptr;
  if (const std::string trouble = trouble_with(values.options); !trouble.empty())
    return misuse(kCall, "{}", trouble), nullptr;
  DeviceObject& device = from(this);
  auto memory = make_memory(device, values.size);
  if (!memory) return nullptr;
  auto* heap = new HeapObject;
  heap->device = &device;
  heap->bytes = values.size;
  heap->memory = std::move(*memory);
  heap->type = values.type;
  heap->options = values.options;
  if ((heap->options & kTrackingMask) == 0) heap->options |= ResourceHazardTrackingModeUntracked;
  if (is_tracked(heap->options)) heap->hazard = device.next_hazard++;
  device.allocated += values.size;
  return heap;
}

SMELT_LABEL_AND_DEVICE(Heap, from(this).label, from(this).device)
ResourceOptions Heap::resourceOptions() const {
  return from(this).options;
}
StorageMode Heap::storageMode() const {
  return storage_in(resourceOptions());
}
CPUCacheMode Heap::cpuCacheMode() const {
  return cache_in(resourceOptions());
}
HazardTrackingMode Heap::hazardTrackingMode() const {
  return tracking_in(resourceOptions());
}
HeapType Heap::type() const {
  return from(this).type;
}
NS::UInteger Heap::size() const {
  return from(this).bytes;
}
NS::UInteger Heap::usedSize() const {
  const HeapObject& heap = from(this);
  const std::lock_guard guard(heap.mutex);
  uint64_t used = 0;
  for (const auto& [offset, length] : heap.taken) used += length;
  return used;
}
NS::UInteger Heap::currentAllocatedSize() const {
  return size();
}
NS::UInteger Heap::maxAvailableSize(NS::UInteger alignment) const {
  return from(this).largest_free(std::max<uint64_t>(alignment, kHeapAlignment));
}
Buffer* Heap::newBuffer(NS::UInteger length, ResourceOptions options) {
  constexpr const char* kCall = "-[MTLHeap newBufferWithLength:options:]";
  HeapObject& heap = from(this);
  if (heap.type != HeapTypeAutomatic) return misuse(kCall, "a placement heap needs an offset"), nullptr;
  if (!may_be_cut(heap, kCall, length, options)) return nullptr;
  const auto offset = heap.take(smelt::round_up<uint64_t>(length, kHeapAlignment), kHeapAlignment);
  return offset ? piece_of(heap, *offset, length) : nullptr;
}
Buffer* Heap::newBuffer(NS::UInteger length, ResourceOptions options, NS::UInteger offset) {
  constexpr const char* kCall = "-[MTLHeap newBufferWithLength:options:offset:]";
  HeapObject& heap = from(this);
  if (heap.type != HeapTypePlacement) return misuse(kCall, "the heap is not a placement heap"), nullptr;
  if (!may_be_cut(heap, kCall, length, options)) return nullptr;
  if (offset % kHeapAlignment != 0)
    return misuse(kCall, "offset {} is not a multiple of {}", offset, kHeapAlignment), nullptr;
  if (offset > heap.bytes || length > heap.bytes - offset)
    return misuse(kCall, "offset {} and length {} go past the heap's {} bytes", offset, length, heap.bytes), nullptr;
  return piece_of(heap, offset, length);
}
PurgeableState Heap::setPurgeableState(PurgeableState state) {
  PurgeableState& kept = from(this).purgeable;
  return state == PurgeableStateKeepCurrent ? kept : std::exchange(kept, state);
}

}  // namespace MTL
