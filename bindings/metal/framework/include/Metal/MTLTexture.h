/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Textures. Pixel formats and types: docs/reference/textures.md. */
#pragma once

#import <Metal/MTLPixelFormat.h>
#import <Metal/MTLResource.h>

typedef NS_ENUM(NSUInteger, MTLTextureType) {
  MTLTextureType1D = 0,
  MTLTextureType1DArray = 1,
  MTLTextureType2D = 2,
  MTLTextureType2DArray = 3,
  MTLTextureType2DMultisample = 4,
  MTLTextureTypeCube = 5,
  MTLTextureTypeCubeArray = 6,
  MTLTextureType3D = 7,
  MTLTextureType2DMultisampleArray = 8,
  MTLTextureTypeTextureBuffer = 9,
};
typedef NS_OPTIONS(NSUInteger, MTLTextureUsage) {
  MTLTextureUsageUnknown = 0,
  MTLTextureUsageShaderRead = 1,
  MTLTextureUsageShaderWrite = 2,
  MTLTextureUsageRenderTarget = 4,
  MTLTextureUsagePixelFormatView = 16,
  MTLTextureUsageShaderAtomic = 32,
};

@interface MTLTextureDescriptor : SmeltMetalObject <NSCopying>
+ (MTLTextureDescriptor*)texture2DDescriptorWithPixelFormat:(MTLPixelFormat)format
                                                      width:(NSUInteger)width
                                                     height:(NSUInteger)height
                                                  mipmapped:(BOOL)mipmapped;
+ (MTLTextureDescriptor*)textureCubeDescriptorWithPixelFormat:(MTLPixelFormat)format
                                                         size:(NSUInteger)size
                                                    mipmapped:(BOOL)mipmapped;
+ (MTLTextureDescriptor*)textureBufferDescriptorWithPixelFormat:(MTLPixelFormat)format
                                                          width:(NSUInteger)width
                                                resourceOptions:(MTLResourceOptions)options
                                                          usage:(MTLTextureUsage)usage;
@property MTLTextureType textureType;
@property MTLPixelFormat pixelFormat;
@property NSUInteger width;
@property NSUInteger height;
@property NSUInteger depth;
@property NSUInteger mipmapLevelCount;
@property NSUInteger sampleCount;
@property NSUInteger arrayLength;
@property MTLResourceOptions resourceOptions;
@property MTLCPUCacheMode cpuCacheMode;
@property MTLStorageMode storageMode;
@property MTLHazardTrackingMode hazardTrackingMode;
/** Remembered; every texture here may be used in every way. */
@property MTLTextureUsage usage;
@property BOOL allowGPUOptimizedContents;
@end

@protocol MTLTexture <MTLResource>
@property(readonly) MTLTextureType textureType;
@property(readonly) MTLPixelFormat pixelFormat;
@property(readonly) NSUInteger width;
@property(readonly) NSUInteger height;
@property(readonly) NSUInteger depth;
@property(readonly) NSUInteger mipmapLevelCount;
@property(readonly) NSUInteger sampleCount;
@property(readonly) NSUInteger arrayLength;
@property(readonly) MTLTextureUsage usage;
@property(readonly, getter=isFramebufferOnly) BOOL framebufferOnly;
@property(readonly, getter=isShareable) BOOL shareable;
/** Of a view: what it is a view of. */
@property(readonly) id<MTLTexture> parentTexture;
@property(readonly) NSUInteger parentRelativeLevel;
@property(readonly) NSUInteger parentRelativeSlice;
/** Of a texture in a buffer's memory. */
@property(readonly) id<MTLBuffer> buffer;
@property(readonly) NSUInteger bufferOffset;
@property(readonly) NSUInteger bufferBytesPerRow;
/** At once, whatever commands are under way. */
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
                slice:(NSUInteger)slice
            withBytes:(const void*)bytes
          bytesPerRow:(NSUInteger)bytesPerRow
        bytesPerImage:(NSUInteger)bytesPerImage;
- (void)replaceRegion:(MTLRegion)region
          mipmapLevel:(NSUInteger)level
            withBytes:(const void*)bytes
          bytesPerRow:(NSUInteger)bytesPerRow;
- (void)getBytes:(void*)bytes
      bytesPerRow:(NSUInteger)bytesPerRow
    bytesPerImage:(NSUInteger)bytesPerImage
       fromRegion:(MTLRegion)region
      mipmapLevel:(NSUInteger)level
            slice:(NSUInteger)slice;
- (void)getBytes:(void*)bytes
     bytesPerRow:(NSUInteger)bytesPerRow
      fromRegion:(MTLRegion)region
     mipmapLevel:(NSUInteger)level;
/** The same texels in a format of as many bytes. */
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)format;
- (id<MTLTexture>)newTextureViewWithPixelFormat:(MTLPixelFormat)format
                                    textureType:(MTLTextureType)type
                                         levels:(NSRange)levels
                                         slices:(NSRange)slices;
@end
