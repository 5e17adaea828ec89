/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Foundation/NSObject.h>

@interface NSAutoreleasePool : NSObject
- (void)drain;
@end
