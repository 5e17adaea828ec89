/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Visible functions as arguments: what a kernel's visible_function_table<S> [[buffer(index)]] is. */
#pragma once

#import <Metal/MTLFunctionHandle.h>
#import <Metal/MTLResource.h>

@interface MTLVisibleFunctionTableDescriptor : SmeltMetalObject <NSCopying>
+ (MTLVisibleFunctionTableDescriptor*)visibleFunctionTableDescriptor;
@property(nonatomic) NSUInteger functionCount;
@end

/** Its entries are empty at first. A dispatch reads them when it runs. A kernel that calls an empty entry, or a
 * function of another type, ends its command buffer with an error. Any thread. */
@protocol MTLVisibleFunctionTable <MTLResource>
/** A handle of the pipeline that made the table; nil: an empty entry. */
- (void)setFunction:(id<MTLFunctionHandle>)function atIndex:(NSUInteger)index;
- (void)setFunctions:(const id<MTLFunctionHandle> __unsafe_unretained[])functions withRange:(NSRange)range;
@end
