/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Metal/MTLCommandEncoder.h>

@interface MTLComputePassDescriptor : SmeltMetalObject <NSCopying>
+ (MTLComputePassDescriptor*)computePassDescriptor;
@property MTLDispatchType dispatchType;
@end
