/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Visible functions are not linked here: a list that is not empty is an error when the pipeline is made. */
#ifndef SMELT_METAL_MTLLINKEDFUNCTIONS_H
#define SMELT_METAL_MTLLINKEDFUNCTIONS_H

#import <Metal/MTLTypes.h>

@interface MTLLinkedFunctions : SmeltMetalObject <NSCopying>
+ (MTLLinkedFunctions*)linkedFunctions;
@property(copy) NSArray<id<MTLFunction>>* functions;
@property(copy) NSArray<id<MTLFunction>>* binaryFunctions;
@property(copy) NSArray<id<MTLFunction>>* privateFunctions;
@end

#endif
