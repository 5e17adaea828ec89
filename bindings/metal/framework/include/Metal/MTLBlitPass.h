/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SMELT_METAL_MTLBLITPASS_H
#define SMELT_METAL_MTLBLITPASS_H

#import <Metal/MTLCommandEncoder.h>

@interface MTLBlitPassDescriptor : SmeltMetalObject <NSCopying>
+ (MTLBlitPassDescriptor*)blitPassDescriptor;
@end

#endif
