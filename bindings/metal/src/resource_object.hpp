// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers and heaps as they are kept.
#pragma once

#include "smelt/loader/encoder.hpp"
#include "smelt/loader/texture.hpp"

#include "Metal/MTLHeap.hpp"
#include "Metal/MTLSampler.hpp"
#include "Metal/MTLTexture.hpp"
#include "device_object.hpp"
#include "encoded_handles.hpp"
#include "foundation/made.hpp"

#include <map>
#include <mutex>

namespace smelt::metal {

class HeapObject;

/// What kernels reach and passes are ordered by. Resources of every kind are one.
struct Tracked {
  uint64_t hazard = 0;  ///< what is tracked: itself or its heap; 0: not tracked
};

/// Of a resource of any kind.
inline uint64_t hazard_of(const MTL::Resource& resource) {
  const auto* const tracked = dynamic_cast<const Tracked*>(&resource);
  return tracked != nullptr ? tracked->hazard : 0;
}

/// What resources of every kind say of themselves.
struct ResourceFacts : Tracked {
  DeviceObject* device = nullptr;
  uint64_t bytes = 0;
  NS::SharedPtr<HeapObject> in;  // whose piece it is; null for one of its own
  uint64_t heap_offset = 0;
  MTL::ResourceOptions options = 0;  // as they count: the tracking mode is never the default
  MTL::PurgeableState purgeable = MTL::PurgeableStateNonVolatile;
  std::atomic<bool> aliasable{false};
  Label label;
};

/// What a dispatch binds as an object of its own.
class Bindable {
 public:
  virtual Result<void> bind(loader::Encoder& encoder, uint32_t index) const = 0;

 protected:
  ~Bindable() = default;
};

/// A resource through which a dispatch may reach textures and samplers that it does not bind.
class Reachable {
 public:
  virtual void use(loader::Encoder& encoder) const = 0;

 protected:
  ~Reachable() = default;
};

class BufferObject final : public MTL::Buffer, public ResourceFacts, public Reachable {
 public:
  ~BufferObject() override;
  std::string_view class_name() const override { return "MTLBuffer"; }
  using ResourceFacts::device;  // not the function of the same name
  using ResourceFacts::label;

  loader::BufferRef memory;  // null for a piece of a heap
  std::byte* start = nullptr;
  MTL::BufferDeallocator deallocator;
  EncodedHandles handles;
  void use(loader::Encoder& encoder) const override { handles.use(encoder); }
};

class TextureObject final : public MTL::Texture, public ResourceFacts, public Bindable, public Reachable {
 public:
  ~TextureObject() override;
  std::string_view class_name() const override { return "MTLTexture"; }
  Result<void> bind(loader::Encoder& encoder, uint32_t index) const override {
    return encoder.set_texture(index, texture);
  }
  void use(loader::Encoder& encoder) const override { encoder.use(texture); }
  using ResourceFacts::device;  // not the function of the same name
  using ResourceFacts::label;

  loader::TextureRef texture;
  MTL::TextureUsage usage = MTL::TextureUsageUnknown;
  NS::SharedPtr<MTL::Texture> parent;
  uint64_t first_level = 0, first_slice = 0;  // in the parent
  NS::SharedPtr<MTL::Buffer> buffer;          // whose memory it has
  uint64_t buffer_offset = 0, buffer_row_bytes = 0;
};

class SamplerObject final : public MTL::SamplerState, public Bindable {
 public:
  std::string_view class_name() const override { return "MTLSamplerState"; }
  Result<void> bind(loader::Encoder& encoder, uint32_t index) const override {
    return encoder.set_sampler(index, sampler);
  }
  DeviceObject* device = nullptr;
  loader::SamplerRef sampler;
  Label label;
};

inline TextureObject& from(const MTL::Texture* texture) {
  return const_cast<TextureObject&>(static_cast<const TextureObject&>(*texture));
}
inline SamplerObject& from(const MTL::SamplerState* sampler) {
  return const_cast<SamplerObject&>(static_cast<const SamplerObject&>(*sampler));
}

/// A box of texels in a level of a slice; of a compressed texture a box of whole blocks. `trouble` says what is wrong
/// with it, else is empty.
struct TexelBox {
  std::string trouble;
  std::byte* start = nullptr;
  uint64_t row_bytes = 0, slice_bytes = 0;  // from one row, from one slice of a 3D texture to the next
  uint64_t texel_bytes = 0;                 // of a block
  uint64_t across = 0, rows = 0;            // texels or blocks of a row, and how many rows
};
TexelBox box_of(const TextureObject& texture, uint64_t slice, uint64_t level, const MTL::Origin& origin,
                const MTL::Size& size);

/// Texels from one place to another, row by row.
struct BoxCopy {
  const std::byte* source = nullptr;
  std::byte* destination = nullptr;
  uint64_t bytes = 0, rows = 0, slices = 0;  // bytes of a row
  uint64_t source_row = 0, source_slice = 0, destination_row = 0, destination_slice = 0;
  loader::Texture* into = nullptr;  // to decode afterwards; kept by the command buffer
};
Result<void> run_copy(const BoxCopy& copy);

class HeapObject final : public MTL::Heap, public Tracked {
 public:
  ~HeapObject() override;
  std::string_view class_name() const override { return "MTLHeap"; }

  /// Takes `bytes` of the free space; nothing when there is no such piece.
  std::optional<uint64_t> take(uint64_t bytes, uint64_t alignment);
  void give_back(uint64_t offset);
  uint64_t largest_free(uint64_t alignment) const;

  DeviceObject* device = nullptr;
  loader::BufferRef memory;
  uint64_t bytes = 0;
  MTL::ResourceOptions options = 0;
  MTL::HeapType type = MTL::HeapTypeAutomatic;
  MTL::PurgeableState purgeable = MTL::PurgeableStateNonVolatile;
  Label label;
  mutable std::mutex mutex;            // guards what follows
  std::map<uint64_t, uint64_t> taken;  // offset, length
};

inline BufferObject& from(const MTL::Buffer* buffer) {
  return const_cast<BufferObject&>(static_cast<const BufferObject&>(*buffer));
}
inline HeapObject& from(const MTL::Heap* heap) {
  return const_cast<HeapObject&>(static_cast<const HeapObject&>(*heap));
}

// ResourceOptions are three values side by side.
constexpr MTL::ResourceOptions kTrackingMask = 0x300;
constexpr MTL::ResourceOptions kStorageMask = 0xf0;
constexpr MTL::ResourceOptions kCacheMask = 0xf;
inline MTL::HazardTrackingMode tracking_in(MTL::ResourceOptions options) {
  return static_cast<MTL::HazardTrackingMode>((options & kTrackingMask) >> 8);
}
inline MTL::StorageMode storage_in(MTL::ResourceOptions options) {
  return static_cast<MTL::StorageMode>((options & kStorageMask) >> 4);
}
inline MTL::CPUCacheMode cache_in(MTL::ResourceOptions options) {
  return static_cast<MTL::CPUCacheMode>(options & kCacheMask);
}
inline bool is_tracked(MTL::ResourceOptions options) {
  return (options & kTrackingMask) == MTL::ResourceHazardTrackingModeTracked;
}
inline bool is_private(MTL::ResourceOptions options) {
  return (options & kStorageMask) == MTL::ResourceStorageModePrivate;
}
/// Where pieces of heaps begin: what heapBufferSizeAndAlign says.
constexpr uint64_t kHeapAlignment = 256;

/// Zeroed memory that begins at a page, or at 256 bytes if it is less than one: as Metal's begins, so that what
/// programs cut out of a buffer is as aligned as there. `invalid_argument` when it cannot be had.
Result<loader::BufferRef> make_memory(DeviceObject& device, uint64_t bytes);

/// What is wrong with options; empty when nothing is.
std::string trouble_with(MTL::ResourceOptions options);

}  // namespace smelt::metal
