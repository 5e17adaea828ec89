/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Fences order passes, of one queue or several. A pass that waits for a fence waits for the latest update that was
 * committed before it. */
#pragma once

#import <Metal/MTLTypes.h>

@protocol MTLFence <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy) NSString* label;
@end
