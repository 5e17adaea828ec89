/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#import <Foundation/NSDictionary.h>

typedef NSString* NSExceptionName;
FOUNDATION_EXPORT NSExceptionName const NSGenericException;
FOUNDATION_EXPORT NSExceptionName const NSRangeException;
FOUNDATION_EXPORT NSExceptionName const NSInvalidArgumentException;
FOUNDATION_EXPORT NSExceptionName const NSInternalInconsistencyException;
FOUNDATION_EXPORT NSExceptionName const NSMallocException;

@interface NSException : NSObject <NSCopying>
+ (NSException*)exceptionWithName:(NSExceptionName)name reason:(NSString*)reason userInfo:(NSDictionary*)info;
+ (void)raise:(NSExceptionName)name format:(NSString*)format, ...;
- (instancetype)initWithName:(NSExceptionName)name reason:(NSString*)reason userInfo:(NSDictionary*)info;
@property(readonly, copy) NSExceptionName name;
@property(readonly, copy) NSString* reason;
@property(readonly, copy) NSDictionary* userInfo;
- (void)raise;
@end

#define NSAssert(condition, ...)                                                               \
  do {                                                                                         \
    if (!(condition)) [NSException raise:NSInternalInconsistencyException format:__VA_ARGS__]; \
  } while (0)
#define NSCAssert NSAssert
#define NSParameterAssert(condition) NSAssert((condition), @"not so: %s", #condition)
#define NSCParameterAssert NSParameterAssert
