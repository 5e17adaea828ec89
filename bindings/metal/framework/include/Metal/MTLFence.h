/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SMELT_METAL_MTLFENCE_H
#define SMELT_METAL_MTLFENCE_H

#import <Metal/MTLTypes.h>

@protocol MTLFence <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy) NSString* label;
@end

#endif
