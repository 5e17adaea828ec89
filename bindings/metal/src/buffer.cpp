// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/bytes.hpp"

#include "Metal/Metal.hpp"
#include "foundation/nil.hpp"
#include "resource_object.hpp"
#include "validation.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>

namespace smelt::metal {

BufferObject::~BufferObject() {
  if (in) {
    if (!aliasable) in->give_back(heap_offset);
    return;
  }
  if (!deallocator && device != nullptr && memory) device->allocated -= bytes;
  memory.reset();
  if (deallocator) deallocator(start, bytes);
}

Result<loader::BufferRef> make_memory(DeviceObject& device, uint64_t bytes) {
  const auto page = static_cast<uint64_t>(::sysconf(_SC_PAGESIZE));
  // From here on the system's own zeroed pages cost less than writing zeros.
  constexpr uint64_t kManyPages = 1 << 18;
  if (bytes >= kManyPages) {
    void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) return fail(Errc::out_of_memory, "no memory for a buffer of {} bytes", bytes);
    const std::shared_ptr<const void> owner(pages, [bytes](void* at) { ::munmap(at, bytes); });
    return device.loader->wrap({static_cast<std::byte*>(pages), bytes}, owner);
  }
  const uint64_t alignment = bytes < page ? kHeapAlignment : page;
  void* const memory = std::aligned_alloc(alignment, round_up(bytes, alignment));
  if (memory == nullptr) return fail(Errc::out_of_memory, "no memory for a buffer of {} bytes", bytes);
  std::memset(memory, 0, bytes);
  return device.loader->wrap({static_cast<std::byte*>(memory), bytes}, std::shared_ptr<const void>(memory, std::free));
}

std::string trouble_with(MTL::ResourceOptions options) {
  const MTL::ResourceOptions storage = options & kStorageMask;
  if (storage == MTL::ResourceStorageModeMemoryless) return "memoryless storage is for textures";
  if (storage > MTL::ResourceStorageModeMemoryless)
    return fmt::format("options {:#x} name an unknown storage mode", options);
  if ((options & kTrackingMask) == kTrackingMask)
    return fmt::format("options {:#x} are tracked and untracked", options);
  if ((options & ~(kStorageMask | kTrackingMask | kCacheMask)) != 0)
    return fmt::format("options {:#x} have bits that mean nothing", options);
  return {};
}

namespace {

/// Of a buffer of its own the default is to be tracked.
MTL::ResourceOptions as_counted(MTL::ResourceOptions options) {
  return (options & kTrackingMask) == 0 ? options | MTL::ResourceHazardTrackingModeTracked : options;
}

NS::SharedPtr<BufferObject> new_buffer(DeviceObject& device, loader::BufferRef memory, MTL::ResourceOptions options) {
  auto made = NS::TransferPtr(new BufferObject);
  made->device = &device;
  made->start = memory->contents().data();
  made->bytes = memory->size();
  made->memory = std::move(memory);
  made->options = as_counted(options);
  if (is_tracked(made->options)) made->hazard = device.next_hazard++;
  return made;
}

BufferObject* release_to_caller(NS::SharedPtr<BufferObject> buffer) {
  BufferObject* const made = buffer.get();
  buffer.detach();
  return made;
}

/// Whether a buffer of this length and these options may be made.
bool may_be_made(DeviceObject& device, const char* call, NS::UInteger length, MTL::ResourceOptions options) {
  if (length == 0) return misuse(call, "length is 0"), false;
  if (length > device.maxBufferLength())
    return misuse(call, "length {} is above the device's maxBufferLength of {}", length, device.maxBufferLength()),
           false;
  if (const std::string trouble = trouble_with(options); !trouble.empty()) return misuse(call, "{}", trouble), false;
  return true;
}

BufferObject* make_buffer(DeviceObject& device, const char* call, NS::UInteger length, MTL::ResourceOptions options) {
  if (!may_be_made(device, call, length, options)) return nullptr;
  auto memory = make_memory(device, length);
  if (!memory) return nullptr;  // no memory: null, as in Metal
  device.allocated += length;
  return release_to_caller(new_buffer(device, std::move(*memory), options));
}

}  // namespace
}  // namespace smelt::metal

namespace MTL {
using namespace smelt::metal;

namespace {

const ResourceFacts& facts_of(const Resource* resource) {
  return *dynamic_cast<const ResourceFacts*>(resource);
}
ResourceFacts& facts_of(Resource* resource) {
  return *dynamic_cast<ResourceFacts*>(resource);
}

}  // namespace

Buffer* Device::newBuffer(NS::UInteger length, ResourceOptions options) {
  return make_buffer(from(this), "-[MTLDevice newBufferWithLength:options:]", length, options);
}

Buffer* Device::newBuffer(const void* pointer, NS::UInteger length, ResourceOptions options) {
  constexpr const char* kCall = "-[MTLDevice newBufferWithBytes:length:options:]";
  if (pointer == nullptr) return misuse(kCall, "bytes is null"), nullptr;
  BufferObject* const made = make_buffer(from(this), kCall, length, options);
  if (made != nullptr) std::memcpy(made->start, pointer, length);
  return made;
}

Buffer* Device::newBuffer(const void* pointer, NS::UInteger length, ResourceOptions options,
                          const BufferDeallocator& deallocator) {
  constexpr const char* kCall = "-[MTLDevice newBufferWithBytesNoCopy:length:options:deallocator:]";
  DeviceObject& device = from(this);
  if (!may_be_made(device, kCall, length, options)) return nullptr;
  const auto page = static_cast<uintptr_t>(::sysconf(_SC_PAGESIZE));
  if (pointer == nullptr) return misuse(kCall, "pointer is null"), nullptr;
  // Programs try this first and copy if it fails, so Metal returns nil instead of stopping them.
  if ((reinterpret_cast<uintptr_t>(pointer) % page != 0 || length % page != 0) && !validation_is_off()) return nullptr;
  if (is_private(options)) return misuse(kCall, "private storage cannot be the caller's memory"), nullptr;
  auto memory = device.loader->wrap({static_cast<std::byte*>(const_cast<void*>(pointer)), length});
  if (!memory) return nullptr;
  auto made = new_buffer(device, std::move(*memory), options);
  // Without a deallocator nothing is called, yet the memory is the caller's all the same.
  made->deallocator = deallocator ? deallocator : BufferDeallocator([](void*, NS::UInteger) {});
  return release_to_caller(std::move(made));
}

SizeAndAlign Device::heapBufferSizeAndAlign(NS::UInteger length, ResourceOptions) {
  return {smelt::round_up<uint64_t>(length, kHeapAlignment), kHeapAlignment};
}

NS::UInteger Allocation::allocatedSize() const {
  if (is_nil(this)) return 0;
  if (const auto* resource = dynamic_cast<const ResourceFacts*>(this)) return resource->bytes;
  return static_cast<const HeapObject*>(this)->bytes;
}

NS::String* Resource::label() const {
  if (is_nil(this)) return nullptr;
  return facts_of(this).label.get();
}
void Resource::setLabel(const NS::String* label) {
  if (is_nil(this)) return;
  facts_of(this).label.set(label);
}
Device* Resource::device() const {
  if (is_nil(this)) return nullptr;
  return facts_of(this).device;
}
ResourceOptions Resource::resourceOptions() const {
  if (is_nil(this)) return 0;
  return facts_of(this).options;
}
CPUCacheMode Resource::cpuCacheMode() const {
  return cache_in(resourceOptions());
}
StorageMode Resource::storageMode() const {
  return storage_in(resourceOptions());
}
HazardTrackingMode Resource::hazardTrackingMode() const {
  return tracking_in(resourceOptions());
}
PurgeableState Resource::setPurgeableState(PurgeableState state) {
  if (is_nil(this)) return PurgeableState{};
  PurgeableState& kept = facts_of(this).purgeable;
  return state == PurgeableStateKeepCurrent ? kept : std::exchange(kept, state);
}
Heap* Resource::heap() const {
  if (is_nil(this)) return nullptr;
  return facts_of(this).in.get();
}
NS::UInteger Resource::heapOffset() const {
  if (is_nil(this)) return 0;
  return facts_of(this).heap_offset;
}
void Resource::makeAliasable() {
  if (is_nil(this)) return;
  ResourceFacts& resource = facts_of(this);
  if (!resource.in) {
    misuse("-[MTLResource makeAliasable]", "the resource is not of a heap");
    return;
  }
  if (!resource.aliasable.exchange(true)) resource.in->give_back(resource.heap_offset);
}
bool Resource::isAliasable() const {
  if (is_nil(this)) return false;
  return facts_of(this).aliasable;
}

NS::UInteger Buffer::length() const {
  if (is_nil(this)) return 0;
  return from(this).bytes;
}
void* Buffer::contents() {
  if (is_nil(this)) return nullptr;
  return is_private(from(this).options) ? nullptr : from(this).start;
}
void Buffer::didModifyRange(const NS::Range& range) {
  if (is_nil(this)) return;
  const uint64_t bytes = from(this).bytes;
  if (range.location > bytes || range.length > bytes - range.location)
    misuse("-[MTLBuffer didModifyRange:]", "range {{{}, {}}} goes past the buffer's {} bytes", range.location,
           range.length, bytes);
}
uint64_t Buffer::gpuAddress() const {
  if (is_nil(this)) return 0;
  return reinterpret_cast<uintptr_t>(from(this).start);
}
void Buffer::addDebugMarker(const NS::String*, const NS::Range&) {}
void Buffer::removeAllDebugMarkers() {}

}  // namespace MTL
