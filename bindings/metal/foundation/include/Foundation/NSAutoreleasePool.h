/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#ifndef SMELT_FOUNDATION_NSAUTORELEASEPOOL_H
#define SMELT_FOUNDATION_NSAUTORELEASEPOOL_H

#import <Foundation/NSObject.h>

@interface NSAutoreleasePool : NSObject
- (void)drain;
@end

#endif
