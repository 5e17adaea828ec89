/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Metal/MTLCommandEncoder.h>
#import <Metal/MTLResource.h>

@protocol MTLBlitCommandEncoder <MTLCommandEncoder>
/** The ranges may overlap only if they are in different buffers or equal, as in Metal. */
- (void)copyFromBuffer:(id<MTLBuffer>)source
          sourceOffset:(NSUInteger)sourceOffset
              toBuffer:(id<MTLBuffer>)destination
     destinationOffset:(NSUInteger)destinationOffset
                  size:(NSUInteger)size;
- (void)fillBuffer:(id<MTLBuffer>)buffer range:(NSRange)range value:(uint8_t)value;
- (void)copyFromBuffer:(id<MTLBuffer>)source
           sourceOffset:(NSUInteger)sourceOffset
      sourceBytesPerRow:(NSUInteger)bytesPerRow
    sourceBytesPerImage:(NSUInteger)bytesPerImage
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)destination
       destinationSlice:(NSUInteger)slice
       destinationLevel:(NSUInteger)level
      destinationOrigin:(MTLOrigin)origin;
- (void)copyFromTexture:(id<MTLTexture>)source
                 sourceSlice:(NSUInteger)slice
                 sourceLevel:(NSUInteger)level
                sourceOrigin:(MTLOrigin)origin
                  sourceSize:(MTLSize)size
                    toBuffer:(id<MTLBuffer>)destination
           destinationOffset:(NSUInteger)destinationOffset
      destinationBytesPerRow:(NSUInteger)bytesPerRow
    destinationBytesPerImage:(NSUInteger)bytesPerImage;
- (void)copyFromTexture:(id<MTLTexture>)source
            sourceSlice:(NSUInteger)sourceSlice
            sourceLevel:(NSUInteger)sourceLevel
           sourceOrigin:(MTLOrigin)sourceOrigin
             sourceSize:(MTLSize)size
              toTexture:(id<MTLTexture>)destination
       destinationSlice:(NSUInteger)destinationSlice
       destinationLevel:(NSUInteger)destinationLevel
      destinationOrigin:(MTLOrigin)destinationOrigin;
/** All levels and slices of one to the other, which has as many. */
- (void)copyFromTexture:(id<MTLTexture>)source toTexture:(id<MTLTexture>)destination;
/** Each level the averages of the one before. */
- (void)generateMipmapsForTexture:(id<MTLTexture>)texture;
/** Nothing to do: there is one copy. */
- (void)synchronizeTexture:(id<MTLTexture>)texture slice:(NSUInteger)slice level:(NSUInteger)level;
/** Nothing to do: there is one copy. */
- (void)synchronizeResource:(id<MTLResource>)resource;
- (void)updateFence:(id<MTLFence>)fence;
- (void)waitForFence:(id<MTLFence>)fence;
@end
