/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SMELT_METAL_MTLCOMPUTEPASS_H
#define SMELT_METAL_MTLCOMPUTEPASS_H

#import <Metal/MTLCommandEncoder.h>

@interface MTLComputePassDescriptor : SmeltMetalObject <NSCopying>
+ (MTLComputePassDescriptor*)computePassDescriptor;
@property MTLDispatchType dispatchType;
@end

#endif
