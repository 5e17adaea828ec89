/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Argument buffers, by descriptors or as a function reads them. Addresses are plain numbers on these devices, so a
 * program may also write the gpuAddress of its buffers into the structure that its kernel declares. */
#pragma once

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

/** Sets the members of an argument buffer by their [[id(n)]]. One made by a function has the layout of the structure
 * that its kernel reads. One made of descriptors lays values out as a C structure in the order of their indexes: 8
 * bytes for a pointer, a constant's own size and alignment. */
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
/** The program keeps the texture or sampler until the last launch that reads the buffer has ended. nil: none. */
- (void)setTexture:(id<MTLTexture>)texture atIndex:(NSUInteger)index;
- (void)setTextures:(const id<MTLTexture> __unsafe_unretained[])textures withRange:(NSRange)range;
- (void)setSamplerState:(id<MTLSamplerState>)sampler atIndex:(NSUInteger)index;
- (void)setSamplerStates:(const id<MTLSamplerState> __unsafe_unretained[])samplers withRange:(NSRange)range;
/** Where the constant's bytes go. Constants that follow each other lie as in the structure. */
- (void*)constantDataAtIndex:(NSUInteger)index NS_RETURNS_INNER_POINTER;
@end
