// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// NSString: text kept as UTF-8, asked in UTF-16 units. Strings that change are in mutable_strings.mm, those that the
// compiler makes in constant_strings.mm.
#include <algorithm>
#include <cstring>

#include "internal.hpp"
#include "strings.hpp"
#include "text.hpp"

using namespace smelt::foundation;

@interface SmeltString : NSString {
 @public
  std::string text_;
}
@end

namespace smelt::foundation {
std::string_view text_of(NSString* string) { return string ? [string smelt_text] : std::string_view(); }
NSString* string_of(std::string_view text) {
  SmeltString* made = [SmeltString alloc];
  made->text_ = text;
  return [made autorelease];
}
}  // namespace smelt::foundation

namespace {


std::string appended(NSString* one, NSString* other) {
  std::string text(text_of(one));
  return text.append(text_of(other));
}

}  // namespace

@implementation NSString
+ (instancetype)alloc {
  return self == [NSString class] ? (id)[SmeltString alloc] : [super alloc];
}
- (instancetype)smelt_init:(std::string)text {
  [self release];
  return (id)[[SmeltString alloc] smelt_init:std::move(text)];
}
- (std::string_view)smelt_text {
  raise(NSInvalidArgumentException, "class '%s' has to say what its text is", object_getClassName(self));
}
- (const char*)UTF8String {
  return [self smelt_text].data();
}

+ (instancetype)string {
  return [[[self alloc] smelt_init:""] autorelease];
}
+ (instancetype)stringWithString:(NSString*)string {
  return [[[self alloc] initWithString:string] autorelease];
}
+ (instancetype)stringWithUTF8String:(const char*)text {
  return [[[self alloc] initWithUTF8String:text] autorelease];
}
+ (instancetype)stringWithCString:(const char*)text encoding:(NSStringEncoding)encoding {
  return [[[self alloc] initWithCString:text encoding:encoding] autorelease];
}
+ (instancetype)stringWithFormat:(NSString*)format, ... {
  va_list list;
  va_start(list, format);
  NSString* made = [[self alloc] initWithFormat:format arguments:list];
  va_end(list);
  return [made autorelease];
}
+ (instancetype)stringWithContentsOfFile:(NSString*)path encoding:(NSStringEncoding)encoding error:(NSError**)error {
  return [[[self alloc] initWithContentsOfFile:path encoding:encoding error:error] autorelease];
}
+ (instancetype)stringWithContentsOfURL:(NSURL*)url encoding:(NSStringEncoding)encoding error:(NSError**)error {
  return [self stringWithContentsOfFile:url.path encoding:encoding error:error];
}
- (instancetype)init {
  return [self smelt_init:""];
}
- (instancetype)initWithString:(NSString*)string {
  if (!string) raise(NSInvalidArgumentException, "a string cannot be made of nil");
  return [self smelt_init:std::string(text_of(string))];
}
- (instancetype)initWithUTF8String:(const char*)text {
  if (!text) raise(NSInvalidArgumentException, "a string cannot be made of NULL");
  return [self initWithBytes:text length:strlen(text) encoding:NSUTF8StringEncoding];
}
- (instancetype)initWithCString:(const char*)text encoding:(NSStringEncoding)encoding {
  if (!text) raise(NSInvalidArgumentException, "a string cannot be made of NULL");
  return [self initWithBytes:text length:strlen(text) encoding:encoding];
}
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding {
  std::string text;
  if (decode({static_cast<const char*>(bytes), length}, encoding, text)) return [self smelt_init:std::move(text)];
  [self release];
  return nil;
}
- (instancetype)initWithBytesNoCopy:(void*)bytes
                             length:(NSUInteger)length
                           encoding:(NSStringEncoding)encoding
                       freeWhenDone:(BOOL)free_it {
  self = [self initWithBytes:bytes length:length encoding:encoding];
  if (self && free_it) free(bytes);
  return self;
}
- (instancetype)initWithData:(NSData*)data encoding:(NSStringEncoding)encoding {
  return [self initWithBytes:data.bytes length:data.length encoding:encoding];
}
- (instancetype)initWithFormat:(NSString*)format, ... {
  va_list list;
  va_start(list, format);
  self = [self initWithFormat:format arguments:list];
  va_end(list);
  return self;
}
- (instancetype)initWithFormat:(NSString*)format arguments:(va_list)arguments {
  return [self smelt_init:std::string(text_of(format_list(format, arguments)))];
}
- (instancetype)initWithContentsOfFile:(NSString*)path encoding:(NSStringEncoding)encoding error:(NSError**)error {
  std::string bytes, text;
  if (!path || !read_file([path UTF8String], bytes)) {
    file_error(error, errno == ENOENT ? NSFileReadNoSuchFileError : NSFileReadUnknownError, path ? errno : ENOENT, path);
  } else if (!decode(bytes, encoding, text)) {
    file_error(error, NSFileReadInapplicableStringEncodingError, EILSEQ, path);
  } else {
    return [self smelt_init:std::move(text)];
  }
  [self release];
  return nil;
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (id)mutableCopyWithZone:(NSZone*)zone {
  return [[NSMutableString alloc] smelt_init:std::string(text_of(self))];
}

- (NSUInteger)length {
  return units_of(text_of(self));
}
- (unichar)characterAtIndex:(NSUInteger)index {
  const std::u16string units = to_utf16(text_of(self));
  if (index >= units.size()) raise(NSRangeException, "character %lu of %zu", index, units.size());
  return units[index];
}
- (const char*)cStringUsingEncoding:(NSStringEncoding)encoding {
  if (encoding == NSUTF8StringEncoding || is_ascii(text_of(self))) return [self UTF8String];
  NSMutableData* data = [[[self dataUsingEncoding:encoding] mutableCopy] autorelease];
  [data appendBytes:"" length:1];
  return static_cast<const char*>(data.bytes);
}
- (NSData*)dataUsingEncoding:(NSStringEncoding)encoding {
  std::string bytes;
  if (!encode(text_of(self), encoding, bytes)) return nil;
  return [NSData dataWithBytes:bytes.data() length:bytes.size()];
}
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding {
  std::string bytes;
  return encode(text_of(self), encoding, bytes) ? bytes.size() : 0;
}
- (NSUInteger)maximumLengthOfBytesUsingEncoding:(NSStringEncoding)encoding {
  return self.length * (encoding == NSUTF8StringEncoding ? 3 : encoding == NSUTF16StringEncoding ? 2 : 1);
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSString class]] && text_of(self) == text_of(other));
}
- (BOOL)isEqualToString:(NSString*)other {
  return other != nil && text_of(self) == text_of(other);
}
- (NSUInteger)hash {
  return std::hash<std::string_view>()(text_of(self));
}
- (NSComparisonResult)compare:(NSString*)other {
  const int order = to_utf16(text_of(self)).compare(to_utf16(text_of(other)));
  return order < 0 ? NSOrderedAscending : order > 0 ? NSOrderedDescending : NSOrderedSame;
}
- (NSComparisonResult)caseInsensitiveCompare:(NSString*)other {
  return [self.lowercaseString compare:other.lowercaseString];
}
- (BOOL)hasPrefix:(NSString*)other {
  return text_of(self).starts_with(text_of(other));
}
- (BOOL)hasSuffix:(NSString*)other {
  return text_of(self).ends_with(text_of(other));
}
- (BOOL)containsString:(NSString*)other {
  return text_of(self).find(text_of(other)) != std::string_view::npos;
}
- (NSRange)rangeOfString:(NSString*)other {
  return [self rangeOfString:other options:0];
}
- (NSRange)rangeOfString:(NSString*)other options:(NSStringCompareOptions)options {
  if (options & NSCaseInsensitiveSearch)
    return [self.lowercaseString rangeOfString:other.lowercaseString options:options & ~NSStringCompareOptions{NSCaseInsensitiveSearch}];
  const std::string_view text = text_of(self), wanted = text_of(other);
  size_t at = options & NSBackwardsSearch ? text.rfind(wanted) : text.find(wanted);
  if (wanted.empty() || at == std::string_view::npos) return NSMakeRange(NSNotFound, 0);
  if (options & NSAnchoredSearch) {
    const bool there = options & NSBackwardsSearch ? text.ends_with(wanted) : text.starts_with(wanted);
    if (!there) return NSMakeRange(NSNotFound, 0);
    at = options & NSBackwardsSearch ? text.size() - wanted.size() : 0;
  }
  return NSMakeRange(units_of(text.substr(0, at)), units_of(wanted));
}
- (NSString*)substringFromIndex:(NSUInteger)index {
  return [self substringWithRange:NSMakeRange(index, self.length - index)];
}
- (NSString*)substringToIndex:(NSUInteger)index {
  return [self substringWithRange:NSMakeRange(0, index)];
}
- (NSString*)substringWithRange:(NSRange)range {
  const std::string_view text = text_of(self);
  const NSUInteger all = self.length;
  if (range.location > all || range.length > all - range.location)
    raise(NSRangeException, "characters %lu to %lu of %lu", range.location, NSMaxRange(range), all);
  if (all == text.size()) return string_of(text.substr(range.location, range.length));
  return string_of(from_utf16(to_utf16(text).substr(range.location, range.length)));
}
- (NSArray*)componentsSeparatedByString:(NSString*)separator {
  const std::string_view text = text_of(self), between = text_of(separator);
  NSMutableArray* parts = [NSMutableArray array];
  if (between.empty()) return [NSArray arrayWithObject:self];
  size_t at = 0;
  for (size_t end; (end = text.find(between, at)) != std::string_view::npos; at = end + between.size())
    [parts addObject:string_of(text.substr(at, end - at))];
  [parts addObject:string_of(text.substr(at))];
  return parts;
}
- (NSString*)stringByAppendingString:(NSString*)other {
  if (!other) raise(NSInvalidArgumentException, "nil cannot be appended to a string");
  return string_of(appended(self, other));
}
- (NSString*)stringByAppendingFormat:(NSString*)format, ... {
  va_list list;
  va_start(list, format);
  NSString* other = format_list(format, list);
  va_end(list);
  return string_of(appended(self, other));
}
- (NSString*)stringByReplacingOccurrencesOfString:(NSString*)what withString:(NSString*)other {
  NSArray* parts = [self componentsSeparatedByString:what];
  return [parts componentsJoinedByString:other];
}
- (NSString*)uppercaseString {
  std::string text(text_of(self));
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  return string_of(text);
}
- (NSString*)lowercaseString {
  std::string text(text_of(self));
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
  return string_of(text);
}
- (int)intValue {
  return static_cast<int>(std::clamp<long long>([self longLongValue], INT_MIN, INT_MAX));
}
- (NSInteger)integerValue {
  return [self longLongValue];
}
- (long long)longLongValue {
  return strtoll([self UTF8String], nullptr, 10);
}
- (float)floatValue {
  return static_cast<float>([self doubleValue]);
}
- (double)doubleValue {
  return parse_double(text_of(self));
}
- (BOOL)boolValue {
  const char* text = [self UTF8String];
  while (strchr(" \t\n+-0", *text) && *text) ++text;
  return *text && strchr("YyTt123456789", *text) != nullptr;
}
- (BOOL)writeToFile:(NSString*)path
         atomically:(BOOL)atomically
           encoding:(NSStringEncoding)encoding
              error:(NSError**)error {
  std::string bytes;
  if (encode(text_of(self), encoding, bytes) && write_file([path UTF8String], bytes, atomically)) return YES;
  file_error(error, NSFileWriteUnknownError, errno, path);
  return NO;
}
- (NSString*)description {
  return self;
}
@end

@implementation SmeltString
- (instancetype)smelt_init:(std::string)text {
  text_ = std::move(text);
  return self;
}
- (std::string_view)smelt_text {
  return text_;
}
@end
