/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Metal/MTLTypes.h>

@protocol MTLAllocation <NSObject>
@property(readonly) NSUInteger allocatedSize;
@end
