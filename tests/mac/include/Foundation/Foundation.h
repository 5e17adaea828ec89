/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Foundation, what is used of it, written from its public documentation: enough for a compiler to check types, nothing
 * that could be linked. */
#pragma once
#include <dispatch/dispatch.h>

typedef unsigned long NSUInteger;
typedef long NSInteger;
typedef signed char BOOL_t;
#if !defined(OBJC_BOOL_DEFINED)
typedef bool BOOL;
#define YES __objc_yes
#define NO __objc_no
#define OBJC_BOOL_DEFINED
#endif
#define nil nullptr

__attribute__((objc_root_class))
@interface NSObject
+ (instancetype)alloc;
+ (instancetype)new;
- (instancetype)init;
@end

typedef enum NSStringEncoding : NSUInteger { NSUTF8StringEncoding = 4 } NSStringEncoding;

@interface NSString : NSObject
@property(readonly) const char* UTF8String;
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding;
@end

@interface NSError : NSObject
@property(readonly, copy) NSString* localizedDescription;
@end

typedef struct {
  NSInteger majorVersion;
  NSInteger minorVersion;
  NSInteger patchVersion;
} NSOperatingSystemVersion;

@interface NSProcessInfo : NSObject
@property(class, readonly, strong) NSProcessInfo* processInfo;
@property(readonly) NSOperatingSystemVersion operatingSystemVersion;
@end
