/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Text. Lengths and places are in UTF-16 units, as in Apple's Foundation; it is kept as UTF-8. Letter case and numbers
 * are ASCII's. Of the encodings ASCII, UTF-8, ISO Latin 1 and UTF-16 are known; another gives nil. */
#pragma once

#import <Foundation/NSObject.h>
#include <stdarg.h>

@class NSArray<ObjectType>, NSData, NSError, NSURL;

typedef NSUInteger NSStringEncoding;
enum {
  NSASCIIStringEncoding = 1,
  NSUTF8StringEncoding = 4,
  NSISOLatin1StringEncoding = 5,
  NSUnicodeStringEncoding = 10,
  NSUTF16StringEncoding = NSUnicodeStringEncoding,
};
typedef NS_OPTIONS(NSUInteger, NSStringCompareOptions) {
  NSCaseInsensitiveSearch = 1,
  NSLiteralSearch = 2,
  NSBackwardsSearch = 4,
  NSAnchoredSearch = 8,
};

@interface NSString : NSObject <NSCopying, NSMutableCopying, NSSecureCoding>
@property(readonly) NSUInteger length;
- (unichar)characterAtIndex:(NSUInteger)index;
+ (instancetype)string;
+ (instancetype)stringWithString:(NSString*)string;
+ (instancetype)stringWithUTF8String:(const char*)text;
+ (instancetype)stringWithCString:(const char*)text encoding:(NSStringEncoding)encoding;
/** C's conversions but %n and positions, and %@. */
+ (instancetype)stringWithFormat:(NSString*)format, ...;
+ (instancetype)stringWithContentsOfFile:(NSString*)path encoding:(NSStringEncoding)encoding error:(NSError**)error;
+ (instancetype)stringWithContentsOfURL:(NSURL*)url encoding:(NSStringEncoding)encoding error:(NSError**)error;
- (instancetype)initWithString:(NSString*)string;
- (instancetype)initWithUTF8String:(const char*)text;
- (instancetype)initWithCString:(const char*)text encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length encoding:(NSStringEncoding)encoding;
- (instancetype)initWithBytesNoCopy:(void*)bytes
                             length:(NSUInteger)length
                           encoding:(NSStringEncoding)encoding
                       freeWhenDone:(BOOL)free;
- (instancetype)initWithData:(NSData*)data encoding:(NSStringEncoding)encoding;
- (instancetype)initWithFormat:(NSString*)format, ...;
- (instancetype)initWithFormat:(NSString*)format arguments:(va_list)arguments;
- (instancetype)initWithContentsOfFile:(NSString*)path encoding:(NSStringEncoding)encoding error:(NSError**)error;
/** Alive as long as the string is, and unchanged until it changes. */
@property(readonly) const char* UTF8String NS_RETURNS_INNER_POINTER;
- (const char*)cStringUsingEncoding:(NSStringEncoding)encoding NS_RETURNS_INNER_POINTER;
- (NSData*)dataUsingEncoding:(NSStringEncoding)encoding;
- (NSUInteger)lengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (NSUInteger)maximumLengthOfBytesUsingEncoding:(NSStringEncoding)encoding;
- (BOOL)isEqualToString:(NSString*)other;
- (NSComparisonResult)compare:(NSString*)other;
- (NSComparisonResult)caseInsensitiveCompare:(NSString*)other;
- (BOOL)hasPrefix:(NSString*)other;
- (BOOL)hasSuffix:(NSString*)other;
- (BOOL)containsString:(NSString*)other;
- (NSRange)rangeOfString:(NSString*)other;
- (NSRange)rangeOfString:(NSString*)other options:(NSStringCompareOptions)options;
- (NSString*)substringFromIndex:(NSUInteger)index;
- (NSString*)substringToIndex:(NSUInteger)index;
- (NSString*)substringWithRange:(NSRange)range;
- (NSArray<NSString*>*)componentsSeparatedByString:(NSString*)separator;
- (NSString*)stringByAppendingString:(NSString*)other;
- (NSString*)stringByAppendingFormat:(NSString*)format, ...;
- (NSString*)stringByReplacingOccurrencesOfString:(NSString*)what withString:(NSString*)other;
@property(readonly, copy) NSString* uppercaseString;
@property(readonly, copy) NSString* lowercaseString;
@property(readonly) int intValue;
@property(readonly) NSInteger integerValue;
@property(readonly) long long longLongValue;
@property(readonly) float floatValue;
@property(readonly) double doubleValue;
@property(readonly) BOOL boolValue;
- (BOOL)writeToFile:(NSString*)path
         atomically:(BOOL)atomically
           encoding:(NSStringEncoding)encoding
              error:(NSError**)error;
@end

@interface NSString (NSStringPathExtensions)
+ (NSString*)pathWithComponents:(NSArray<NSString*>*)components;
@property(readonly, copy) NSArray<NSString*>* pathComponents;
@property(readonly, copy) NSString* lastPathComponent;
@property(readonly, copy) NSString* pathExtension;
@property(readonly, copy) NSString* stringByDeletingLastPathComponent;
@property(readonly, copy) NSString* stringByDeletingPathExtension;
- (NSString*)stringByAppendingPathComponent:(NSString*)component;
- (NSString*)stringByAppendingPathExtension:(NSString*)extension;
@property(getter=isAbsolutePath, readonly) BOOL absolutePath;
@property(readonly) const char* fileSystemRepresentation NS_RETURNS_INNER_POINTER;
@end

@interface NSMutableString : NSString
+ (instancetype)stringWithCapacity:(NSUInteger)capacity;
- (void)appendString:(NSString*)other;
- (void)appendFormat:(NSString*)format, ...;
- (void)setString:(NSString*)other;
- (void)insertString:(NSString*)other atIndex:(NSUInteger)index;
- (void)deleteCharactersInRange:(NSRange)range;
- (void)replaceCharactersInRange:(NSRange)range withString:(NSString*)other;
@end

/** Never released. */
@interface SmeltLastingString : NSString
@end

/** What the compiler makes of @"text". */
@interface NSConstantString : SmeltLastingString {
 @public
  uint32_t flags_, length_, size_, hash_;
  const char* data_;
}
@end
