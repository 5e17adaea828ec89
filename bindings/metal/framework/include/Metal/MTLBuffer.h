/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Metal/MTLTexture.h>

@protocol MTLBuffer <MTLResource>
@property(readonly) NSUInteger length;
/** NULL for private storage. */
- (void*)contents NS_RETURNS_INNER_POINTER;
/** Nothing to do: there is one copy. Checks the range. */
- (void)didModifyRange:(NSRange)range;
/** What a kernel sees as its address. */
@property(readonly) uint64_t gpuAddress;
/** A texture in the buffer's memory, of one level, which keeps the buffer. */
- (id<MTLTexture>)newTextureWithDescriptor:(MTLTextureDescriptor*)descriptor
                                    offset:(NSUInteger)offset
                               bytesPerRow:(NSUInteger)bytesPerRow;
- (void)addDebugMarker:(NSString*)marker range:(NSRange)range;
- (void)removeAllDebugMarkers;
@end
