/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Visible functions that a kernel may reach through tables: of the kernel's own library, and without function
 * constants. Others are an error when the pipeline is made. Private ones have no handle. Groups say nothing here. */
#pragma once

#import <Metal/MTLTypes.h>

@interface MTLLinkedFunctions : SmeltMetalObject <NSCopying>
+ (MTLLinkedFunctions*)linkedFunctions;
@property(copy) NSArray<id<MTLFunction>>* functions;
@property(copy) NSArray<id<MTLFunction>>* binaryFunctions;
@property(copy) NSArray<id<MTLFunction>>* privateFunctions;
@property(copy) NSDictionary<NSString*, NSArray<id<MTLFunction>>*>* groups;
@end
