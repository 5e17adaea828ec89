// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures and samplers. Pixel formats, filters and types: docs/reference/textures.md.
#pragma once

#include "Metal/resource.hpp"

namespace MTL {

class SMELT_METAL_API TextureDescriptor : public NS::Copying<TextureDescriptor> {
 public:
  static TextureDescriptor* alloc();
  TextureDescriptor* init();
  static TextureDescriptor* texture2DDescriptor(PixelFormat pixelFormat, NS::UInteger width, NS::UInteger height,
                                                bool mipmapped);
  static TextureDescriptor* textureCubeDescriptor(PixelFormat pixelFormat, NS::UInteger size, bool mipmapped);
  static TextureDescriptor* textureBufferDescriptor(PixelFormat pixelFormat, NS::UInteger width,
                                                    ResourceOptions resourceOptions, TextureUsage usage);
  TextureType textureType() const;
  void setTextureType(TextureType type);
  PixelFormat pixelFormat() const;
  void setPixelFormat(PixelFormat format);
  NS::UInteger width() const;
  void setWidth(NS::UInteger width);
  NS::UInteger height() const;
  void setHeight(NS::UInteger height);
  NS::UInteger depth() const;
  void setDepth(NS::UInteger depth);
  NS::UInteger mipmapLevelCount() const;
  void setMipmapLevelCount(NS::UInteger count);
  NS::UInteger sampleCount() const;
  void setSampleCount(NS::UInteger count);
  NS::UInteger arrayLength() const;
  void setArrayLength(NS::UInteger length);
  ResourceOptions resourceOptions() const;
  void setResourceOptions(ResourceOptions options);
  CPUCacheMode cpuCacheMode() const;
  void setCpuCacheMode(CPUCacheMode mode);
  StorageMode storageMode() const;
  void setStorageMode(StorageMode mode);
  HazardTrackingMode hazardTrackingMode() const;
  void setHazardTrackingMode(HazardTrackingMode mode);
  /// Remembered; every texture here may be used in every way.
  TextureUsage usage() const;
  void setUsage(TextureUsage usage);
  bool allowGPUOptimizedContents() const;
  void setAllowGPUOptimizedContents(bool allow);
};

class SMELT_METAL_API Texture : public NS::Referencing<Texture, Resource> {
 public:
  TextureType textureType() const;
  PixelFormat pixelFormat() const;
  NS::UInteger width() const;
  NS::UInteger height() const;
  NS::UInteger depth() const;
  NS::UInteger mipmapLevelCount() const;
  NS::UInteger sampleCount() const;
  NS::UInteger arrayLength() const;
  TextureUsage usage() const;
  bool framebufferOnly() const { return false; }
  bool isFramebufferOnly() const { return false; }
  bool shareable() const { return false; }
  bool isShareable() const { return false; }
  /// Of a view: what it is a view of.
  Texture* parentTexture() const;
  NS::UInteger parentRelativeLevel() const;
  NS::UInteger parentRelativeSlice() const;
  /// Of a texture in a buffer's memory.
  Buffer* buffer() const;
  NS::UInteger bufferOffset() const;
  NS::UInteger bufferBytesPerRow() const;
  /// At once, whatever commands are under way.
  void replaceRegion(Region region, NS::UInteger level, NS::UInteger slice, const void* pixelBytes,
                     NS::UInteger bytesPerRow, NS::UInteger bytesPerImage);
  void replaceRegion(Region region, NS::UInteger level, const void* pixelBytes, NS::UInteger bytesPerRow);
  void getBytes(void* pixelBytes, NS::UInteger bytesPerRow, NS::UInteger bytesPerImage, Region region,
                NS::UInteger level, NS::UInteger slice);
  void getBytes(void* pixelBytes, NS::UInteger bytesPerRow, Region region, NS::UInteger level);
  /// The same texels in a format of as many bytes.
  Texture* newTextureView(PixelFormat pixelFormat);
  Texture* newTextureView(PixelFormat pixelFormat, TextureType textureType, NS::Range levelRange, NS::Range sliceRange);
};

class SMELT_METAL_API SamplerDescriptor : public NS::Copying<SamplerDescriptor> {
 public:
  static SamplerDescriptor* alloc();
  SamplerDescriptor* init();
  NS::String* label() const;
  void setLabel(const NS::String* label);
  SamplerMinMagFilter minFilter() const;
  void setMinFilter(SamplerMinMagFilter filter);
  SamplerMinMagFilter magFilter() const;
  void setMagFilter(SamplerMinMagFilter filter);
  SamplerMipFilter mipFilter() const;
  void setMipFilter(SamplerMipFilter filter);
  NS::UInteger maxAnisotropy() const;
  void setMaxAnisotropy(NS::UInteger most);
  SamplerAddressMode sAddressMode() const;
  void setSAddressMode(SamplerAddressMode mode);
  SamplerAddressMode tAddressMode() const;
  void setTAddressMode(SamplerAddressMode mode);
  SamplerAddressMode rAddressMode() const;
  void setRAddressMode(SamplerAddressMode mode);
  SamplerBorderColor borderColor() const;
  void setBorderColor(SamplerBorderColor colour);
  bool normalizedCoordinates() const;
  void setNormalizedCoordinates(bool normalized);
  float lodMinClamp() const;
  void setLodMinClamp(float level);
  float lodMaxClamp() const;
  void setLodMaxClamp(float level);
  bool lodAverage() const;
  void setLodAverage(bool average);
  CompareFunction compareFunction() const;
  void setCompareFunction(CompareFunction function);
  bool supportArgumentBuffers() const;
  void setSupportArgumentBuffers(bool support);
};

/// Immutable, for any thread.
class SMELT_METAL_API SamplerState : public NS::Referencing<SamplerState> {
 public:
  NS::String* label() const;
  Device* device() const;
};

}  // namespace MTL
