// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers, bytes, errors, dates, locks.
#include <charconv>
#include <cmath>
#include <cstring>
#include <ctime>

#include "internal.hpp"

using namespace smelt::foundation;

@implementation NSValue {
  const void* pointer_;
}
+ (NSValue*)valueWithPointer:(const void*)pointer {
  NSValue* made = [[self new] autorelease];
  made->pointer_ = pointer;
  return made;
}
- (void*)pointerValue {
  return const_cast<void*>(pointer_);
}
- (const char*)objCType {
  return "^v";
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[NSValue class]] && ![other isKindOfClass:[NSNumber class]] && pointer_ == [other pointerValue];
}
- (NSUInteger)hash {
  return reinterpret_cast<NSUInteger>(pointer_) >> 4;
}
@end

@interface NSNumber () {
 @public
  char type_;  // as @encode writes it
  union {
    long long whole_;
    unsigned long long natural_;
    double real_;
  } value_;
}
@end
@implementation NSNumber
#define MAKE(name, type, member, code)             \
  +(NSNumber*)numberWith##name : (type)value {     \
    NSNumber* made = [[NSNumber new] autorelease]; \
    made->type_ = code;                            \
    made->value_.member = value;                          \
    return made;                                   \
  }
MAKE(Char, char, whole_, 'c')
MAKE(UnsignedChar, unsigned char, whole_, 'C')
MAKE(Short, short, whole_, 's')
MAKE(UnsignedShort, unsigned short, whole_, 'S')
MAKE(Int, int, whole_, 'i')
MAKE(UnsignedInt, unsigned int, whole_, 'I')
MAKE(Long, long, whole_, 'q')
MAKE(UnsignedLong, unsigned long, natural_, 'Q')
MAKE(LongLong, long long, whole_, 'q')
MAKE(UnsignedLongLong, unsigned long long, natural_, 'Q')
MAKE(Integer, NSInteger, whole_, 'q')
MAKE(UnsignedInteger, NSUInteger, natural_, 'Q')
MAKE(Float, float, real_, 'f')
MAKE(Double, double, real_, 'd')
MAKE(Bool, BOOL, whole_, 'c')
#undef MAKE
namespace {
bool is_real(NSNumber* number) { return number->type_ == 'f' || number->type_ == 'd'; }
}  // namespace
#define READ(name, type)                                                    \
  -(type)name {                                                             \
    if (is_real(self)) return static_cast<type>(value_.real_);                     \
    return type_ == 'Q' ? static_cast<type>(value_.natural_) : static_cast<type>(value_.whole_); \
  }
READ(charValue, char)
READ(unsignedCharValue, unsigned char)
READ(shortValue, short)
READ(unsignedShortValue, unsigned short)
READ(intValue, int)
READ(unsignedIntValue, unsigned int)
READ(longValue, long)
READ(unsignedLongValue, unsigned long)
READ(longLongValue, long long)
READ(unsignedLongLongValue, unsigned long long)
READ(integerValue, NSInteger)
READ(unsignedIntegerValue, NSUInteger)
READ(floatValue, float)
READ(doubleValue, double)
#undef READ
- (BOOL)boolValue {
  return is_real(self) ? value_.real_ != 0 : value_.whole_ != 0;
}
- (const char*)objCType {
  static const char types[] = "c\0C\0s\0S\0i\0I\0q\0Q\0f\0d";
  for (const char* at = types;; at += 2)
    if (*at == type_) return at;
}
- (NSString*)stringValue {
  char text[64];
  char* end = text;
  if (type_ == 'f')
    end = std::to_chars(text, text + sizeof text, static_cast<float>(value_.real_)).ptr;
  else if (type_ == 'd')
    end = std::to_chars(text, text + sizeof text, value_.real_).ptr;
  else if (type_ == 'Q')
    end = std::to_chars(text, text + sizeof text, value_.natural_).ptr;
  else
    end = std::to_chars(text, text + sizeof text, value_.whole_).ptr;
  return string_of({text, static_cast<size_t>(end - text)});
}
- (NSString*)description {
  return self.stringValue;
}
- (NSComparisonResult)compare:(NSNumber*)other {
  if (is_real(self) || is_real(other)) {
    const double one = self.doubleValue, two = other.doubleValue;
    return one < two ? NSOrderedAscending : one > two ? NSOrderedDescending : NSOrderedSame;
  }
  const bool negative = type_ != 'Q' && value_.whole_ < 0, other_negative = other->type_ != 'Q' && other->value_.whole_ < 0;
  if (negative != other_negative) return negative ? NSOrderedAscending : NSOrderedDescending;
  return value_.natural_ < other->value_.natural_   ? NSOrderedAscending
         : value_.natural_ > other->value_.natural_ ? NSOrderedDescending
                                      : NSOrderedSame;
}
- (BOOL)isEqualToNumber:(NSNumber*)other {
  return other && [self compare:other] == NSOrderedSame;
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSNumber class]] && [self isEqualToNumber:other]);
}
- (NSUInteger)hash {
  const double value = self.doubleValue;
  return static_cast<NSUInteger>(std::fabs(value) < 1e18 ? static_cast<long long>(value) : 0) * 2654435761u;
}
@end

NSErrorDomain const NSCocoaErrorDomain = @"NSCocoaErrorDomain";
NSErrorDomain const NSPOSIXErrorDomain = @"NSPOSIXErrorDomain";
NSErrorUserInfoKey const NSLocalizedDescriptionKey = @"NSLocalizedDescription";
NSErrorUserInfoKey const NSLocalizedFailureReasonErrorKey = @"NSLocalizedFailureReason";
NSErrorUserInfoKey const NSUnderlyingErrorKey = @"NSUnderlyingError";
NSErrorUserInfoKey const NSFilePathErrorKey = @"NSFilePath";

@implementation NSError
@synthesize domain = domain_, code = code_, userInfo = user_info_;
+ (instancetype)errorWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary*)info {
  return [[[self alloc] initWithDomain:domain code:code userInfo:info] autorelease];
}
- (instancetype)initWithDomain:(NSErrorDomain)domain code:(NSInteger)code userInfo:(NSDictionary*)info {
  domain_ = [domain copy];
  code_ = code;
  user_info_ = info ? [info copy] : [NSDictionary new];
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (NSString*)localizedDescription {
  if (NSString* text = [user_info_ objectForKey:NSLocalizedDescriptionKey]) return text;
  return [NSString stringWithFormat:@"The operation couldn't be completed. (%@ error %ld.)", domain_, code_];
}
- (NSString*)localizedFailureReason {
  return [user_info_ objectForKey:NSLocalizedFailureReasonErrorKey];
}
- (NSString*)description {
  return [NSString stringWithFormat:@"Error Domain=%@ Code=%ld \"%@\"", domain_, code_, self.localizedDescription];
}
- (void)dealloc {
  [domain_ release];
  [user_info_ release];
  [super dealloc];
}
@end

namespace {
constexpr double kReference = 978307200;  // 2001-01-01 in seconds from 1970
double now() {
  timespec time{};
  clock_gettime(CLOCK_REALTIME, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}
}  // namespace
CFAbsoluteTime CFAbsoluteTimeGetCurrent(void) { return now() - kReference; }
@implementation NSDate {
  double since_1970_;
}
+ (instancetype)date {
  return [self dateWithTimeIntervalSince1970:now()];
}
+ (instancetype)dateWithTimeIntervalSinceNow:(NSTimeInterval)seconds {
  return [self dateWithTimeIntervalSince1970:now() + seconds];
}
+ (instancetype)dateWithTimeIntervalSince1970:(NSTimeInterval)seconds {
  NSDate* made = [[self alloc] init];
  made->since_1970_ = seconds;
  return [made autorelease];
}
- (instancetype)init {
  since_1970_ = now();
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (NSTimeInterval)timeIntervalSince1970 {
  return since_1970_;
}
- (NSTimeInterval)timeIntervalSinceNow {
  return since_1970_ - now();
}
- (NSTimeInterval)timeIntervalSinceReferenceDate {
  return since_1970_ - kReference;
}
- (NSTimeInterval)timeIntervalSinceDate:(NSDate*)other {
  return since_1970_ - other->since_1970_;
}
- (NSString*)description {
  const time_t seconds = static_cast<time_t>(std::floor(since_1970_));
  tm parts{};
  gmtime_r(&seconds, &parts);
  char text[40];
  strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S +0000", &parts);
  return string_of(text);
}
@end
