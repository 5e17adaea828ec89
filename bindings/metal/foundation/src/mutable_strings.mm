// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSMutableString, whose subclasses say how their text changes, and the one that we make.
#include "strings.hpp"

using namespace smelt::foundation;

@interface SmeltMutableString : NSMutableString {
 @public
  std::string text_;
}
@end

@implementation NSMutableString
+ (instancetype)alloc {
  return self == [NSMutableString class] ? (id)[SmeltMutableString alloc] : [super alloc];
}
+ (instancetype)stringWithCapacity:(NSUInteger)capacity {
  return [self string];
}
- (id)copyWithZone:(NSZone*)zone {
  return [[NSString alloc] smelt_init:std::string(text_of(self))];
}
- (void)replaceCharactersInRange:(NSRange)range withString:(NSString*)other {
  raise(NSInvalidArgumentException, "class '%s' has to say how its text changes", object_getClassName(self));
}
- (void)appendString:(NSString*)other {
  [self replaceCharactersInRange:NSMakeRange(self.length, 0) withString:other];
}
- (void)appendFormat:(NSString*)format, ... {
  va_list list;
  va_start(list, format);
  NSString* other = format_list(format, list);
  va_end(list);
  [self appendString:other];
}
- (void)setString:(NSString*)other {
  [self replaceCharactersInRange:NSMakeRange(0, self.length) withString:other];
}
- (void)insertString:(NSString*)other atIndex:(NSUInteger)index {
  [self replaceCharactersInRange:NSMakeRange(index, 0) withString:other];
}
- (void)deleteCharactersInRange:(NSRange)range {
  [self replaceCharactersInRange:range withString:@""];
}
@end
@implementation SmeltMutableString
- (instancetype)smelt_init:(std::string)text {
  text_ = std::move(text);
  return self;
}
- (std::string_view)smelt_text {
  return text_;
}
- (void)appendString:(NSString*)other {
  text_.append(std::string(text_of(other)));
}
- (void)replaceCharactersInRange:(NSRange)range withString:(NSString*)other {
  NSString* before = [self substringWithRange:NSMakeRange(0, range.location)];
  NSString* after = [self substringFromIndex:NSMaxRange(range)];
  text_ = std::string(text_of(before)).append(text_of(other)).append(text_of(after));
}
@end
