/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Metal/MTLCommandEncoder.h>

@interface MTLBlitPassDescriptor : SmeltMetalObject <NSCopying>
+ (MTLBlitPassDescriptor*)blitPassDescriptor;
@end
