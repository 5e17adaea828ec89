/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SMELT_METAL_MTLCAPTURESCOPE_H
#define SMELT_METAL_MTLCAPTURESCOPE_H

#import <Metal/MTLTypes.h>

@protocol MTLCaptureScope <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy, atomic) NSString* label;
- (void)beginScope;
- (void)endScope;
@end

#endif
