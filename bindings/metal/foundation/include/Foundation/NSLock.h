/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Foundation/NSString.h>

@protocol NSLocking
- (void)lock;
- (void)unlock;
@end

@interface NSLock : NSObject <NSLocking>
- (BOOL)tryLock;
@property(copy) NSString* name;
@end
@interface NSRecursiveLock : NSObject <NSLocking>
- (BOOL)tryLock;
@property(copy) NSString* name;
@end
@interface NSCondition : NSObject <NSLocking>
- (void)wait;
- (void)signal;
- (void)broadcast;
@property(copy) NSString* name;
@end
