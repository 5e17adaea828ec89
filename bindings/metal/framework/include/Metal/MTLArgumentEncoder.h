/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Argument buffers by descriptors: a C structure in the order of the indexes. */
#ifndef SMELT_METAL_MTLARGUMENTENCODER_H
#define SMELT_METAL_MTLARGUMENTENCODER_H

#import <Metal/MTLArgument.h>

@protocol MTLSamplerState;
@protocol MTLTexture;

@interface MTLArgumentDescriptor : SmeltMetalObject <NSCopying>
+ (MTLArgumentDescriptor*)argumentDescriptor;
@property MTLDataType dataType;
@property NSUInteger index;
@property NSUInteger arrayLength;
@property MTLBindingAccess access;
@property NSUInteger constantBlockAlignment;
@end

@protocol MTLArgumentEncoder <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy, atomic) NSString* label;
@property(readonly) NSUInteger encodedLength;
@property(readonly) NSUInteger alignment;
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset;
- (void)setArgumentBuffer:(id<MTLBuffer>)buffer startOffset:(NSUInteger)offset arrayElement:(NSUInteger)element;
- (void)setBuffer:(id<MTLBuffer>)buffer offset:(NSUInteger)offset atIndex:(NSUInteger)index;
- (void)setBuffers:(const id<MTLBuffer> __unsafe_unretained[])buffers
           offsets:(const NSUInteger[])offsets
         withRange:(NSRange)range;
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (void)setTextures:(const id<MTLTexture> __unsafe_unretained[])textures withRange:(NSRange)range;
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index;
- (void)setSamplerStates:(const id<MTLSamplerState> __unsafe_unretained[])samplers withRange:(NSRange)range;
- (void*)constantDataAtIndex:(NSUInteger)index NS_RETURNS_INNER_POINTER;
@end

#endif
