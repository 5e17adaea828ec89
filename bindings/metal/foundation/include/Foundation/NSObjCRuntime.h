/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Foundation's numbers, and the words that its declarations use. */
#pragma once

#include <Availability.h>
#include <TargetConditionals.h>
#include <limits.h>
#include <objc/objc.h>
#include <objc/runtime.h>

#ifdef __cplusplus
#define FOUNDATION_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define FOUNDATION_EXPORT extern __attribute__((visibility("default")))
#endif
#define FOUNDATION_EXTERN FOUNDATION_EXPORT
#define NS_ENUM(type, name) \
  enum name : type name;    \
  enum name : type
#ifdef __cplusplus /* where the sum of two of an enumeration's values is a number */
#define NS_OPTIONS(type, name) \
  type name;                   \
  enum : type
#else
#define NS_OPTIONS(type, name) \
  enum name : type name;       \
  enum name : type
#endif
#define NS_ASSUME_NONNULL_BEGIN _Pragma("clang assume_nonnull begin")
#define NS_ASSUME_NONNULL_END _Pragma("clang assume_nonnull end")
#define NS_INLINE static inline
#define NS_DESIGNATED_INITIALIZER __attribute__((objc_designated_initializer))
#define NS_REQUIRES_SUPER __attribute__((objc_requires_super))
#define NS_RETURNS_INNER_POINTER __attribute__((objc_returns_inner_pointer))
#define NS_RETURNS_RETAINED __attribute__((ns_returns_retained))
#define NS_RETURNS_NOT_RETAINED __attribute__((ns_returns_not_retained))
#define NS_UNAVAILABLE __attribute__((unavailable))
#define NS_FORMAT_FUNCTION(at, first)
#define NS_REQUIRES_NIL_TERMINATION __attribute__((sentinel(0, 1)))
#define NS_SWIFT_NAME(...)
#define NS_NOESCAPE __attribute__((noescape))
#define NS_ROOT_CLASS __attribute__((objc_root_class))

typedef long NSInteger;
typedef unsigned long NSUInteger;
#define NSIntegerMax LONG_MAX
#define NSIntegerMin LONG_MIN
#define NSUIntegerMax ULONG_MAX
#define NSNotFound NSIntegerMax
typedef double NSTimeInterval;
typedef double CFTimeInterval;
typedef double CFAbsoluteTime;
typedef double CGFloat;
typedef unsigned short unichar;
typedef NS_ENUM(NSInteger, NSComparisonResult) { NSOrderedAscending = -1, NSOrderedSame = 0, NSOrderedDescending = 1 };
typedef NSComparisonResult (^NSComparator)(id one, id other);

typedef struct _NSRange {
  NSUInteger location;
  NSUInteger length;
} NSRange;
NS_INLINE NSRange NSMakeRange(NSUInteger location, NSUInteger length) {
  NSRange range = {location, length};
  return range;
}
NS_INLINE NSUInteger NSMaxRange(NSRange range) {
  return range.location + range.length;
}
NS_INLINE BOOL NSLocationInRange(NSUInteger at, NSRange range) {
  return at - range.location < range.length;
}
NS_INLINE BOOL NSEqualRanges(NSRange one, NSRange other) {
  return one.location == other.location && one.length == other.length;
}

#define MIN(a, b)           \
  ({                        \
    __typeof__(a) a_ = (a); \
    __typeof__(b) b_ = (b); \
    a_ < b_ ? a_ : b_;      \
  })
#define MAX(a, b)           \
  ({                        \
    __typeof__(a) a_ = (a); \
    __typeof__(b) b_ = (b); \
    a_ < b_ ? b_ : a_;      \
  })

@class NSString;
/** To stderr: date, program, process, then the text as -[NSString stringWithFormat:] makes it. */
FOUNDATION_EXPORT void NSLog(NSString* format, ...);
FOUNDATION_EXPORT SEL NSSelectorFromString(NSString* name);
FOUNDATION_EXPORT NSString* NSStringFromSelector(SEL selector);
FOUNDATION_EXPORT Class NSClassFromString(NSString* name);
FOUNDATION_EXPORT NSString* NSStringFromClass(Class of);
