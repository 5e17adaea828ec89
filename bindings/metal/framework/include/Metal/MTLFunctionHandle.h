/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Metal/MTLLibrary.h>

/** A function of a pipeline's linked functions. Immutable, for any thread. */
@protocol MTLFunctionHandle <NSObject>
@property(readonly) MTLFunctionType functionType;
@property(readonly) NSString* name;
@property(readonly) id<MTLDevice> device;
@end
