/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Metal/MTLTypes.h>

@protocol MTLCaptureScope <NSObject>
@property(readonly) id<MTLDevice> device;
@property(copy, atomic) NSString* label;
- (void)beginScope;
- (void)endScope;
@end
