/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SMELT_METAL_MTLALLOCATION_H
#define SMELT_METAL_MTLALLOCATION_H

#import <Metal/MTLTypes.h>

@protocol MTLAllocation <NSObject>
@property(readonly) NSUInteger allocatedSize;
@end

#endif
