// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <cerrno>
#include <cstring>

#include "internal.hpp"

using namespace smelt::foundation;

@implementation NSData {
 @public
  std::string own_;     // the bytes, unless
  const void* others_;  // they are somebody else's
  NSUInteger length_;   // of those
  void (^deallocator_)(void* bytes, NSUInteger length);
}
+ (instancetype)data {
  return [[self new] autorelease];
}
+ (instancetype)dataWithBytes:(const void*)bytes length:(NSUInteger)length {
  return [[[self alloc] initWithBytes:bytes length:length] autorelease];
}
+ (instancetype)dataWithBytesNoCopy:(void*)bytes length:(NSUInteger)length {
  return [self dataWithBytesNoCopy:bytes length:length freeWhenDone:YES];
}
+ (instancetype)dataWithBytesNoCopy:(void*)bytes length:(NSUInteger)length freeWhenDone:(BOOL)free_it {
  return [[[self alloc] initWithBytesNoCopy:bytes length:length freeWhenDone:free_it] autorelease];
}
+ (instancetype)dataWithContentsOfFile:(NSString*)path {
  return [[[self alloc] initWithContentsOfFile:path] autorelease];
}
+ (instancetype)dataWithContentsOfURL:(NSURL*)url {
  return [self dataWithContentsOfFile:url.path];
}
+ (instancetype)dataWithData:(NSData*)data {
  return [[[self alloc] initWithData:data] autorelease];
}
- (instancetype)initWithBytes:(const void*)bytes length:(NSUInteger)length {
  if (length != 0) own_.assign(static_cast<const char*>(bytes), length);
  return self;
}
- (instancetype)initWithBytesNoCopy:(void*)bytes length:(NSUInteger)length freeWhenDone:(BOOL)free_it {
  void (^deallocator)(void*, NSUInteger) = nil;
  if (free_it) deallocator = ^(void* given, NSUInteger) {
    free(given);
  };
  return [self initWithBytesNoCopy:bytes length:length deallocator:deallocator];
}
- (instancetype)initWithBytesNoCopy:(void*)bytes
                             length:(NSUInteger)length
                        deallocator:(void (^)(void* bytes, NSUInteger length))deallocator {
  others_ = bytes;
  length_ = length;
  deallocator_ = Block_copy(deallocator);
  return self;
}
- (instancetype)initWithContentsOfFile:(NSString*)path {
  if (path && read_file([path UTF8String], own_)) return self;
  [self release];
  return nil;
}
- (instancetype)initWithData:(NSData*)data {
  return [self initWithBytes:data.bytes length:data.length];
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (id)mutableCopyWithZone:(NSZone*)zone {
  return [[NSMutableData alloc] initWithData:self];
}
- (NSUInteger)length {
  return others_ ? length_ : own_.size();
}
- (const void*)bytes {
  return others_ ? others_ : own_.data();
}
- (void)getBytes:(void*)buffer length:(NSUInteger)length {
  memcpy(buffer, self.bytes, MIN(length, self.length));
}
- (void)getBytes:(void*)buffer range:(NSRange)range {
  if (range.location > self.length || range.length > self.length - range.location)
    raise(NSRangeException, "bytes %lu to %lu of %lu", range.location, NSMaxRange(range), self.length);
  memcpy(buffer, static_cast<const char*>(self.bytes) + range.location, range.length);
}
- (NSData*)subdataWithRange:(NSRange)range {
  NSMutableData* made = [NSMutableData dataWithLength:range.length];
  [self getBytes:made.mutableBytes range:range];
  return made;
}
- (BOOL)isEqualToData:(NSData*)other {
  return other && self.length == other.length && memcmp(self.bytes, other.bytes, self.length) == 0;
}
- (BOOL)isEqual:(id)other {
  return self == other || ([other isKindOfClass:[NSData class]] && [self isEqualToData:other]);
}
- (NSUInteger)hash {
  return self.length;
}
- (BOOL)writeToFile:(NSString*)path atomically:(BOOL)atomically {
  return path && write_file([path UTF8String], {static_cast<const char*>(self.bytes), self.length}, atomically);
}
- (BOOL)writeToFile:(NSString*)path options:(NSDataWritingOptions)options error:(NSError**)error {
  const bool keeps = (options & NSDataWritingWithoutOverwriting) != 0;
  if (keeps && path && [[NSFileManager defaultManager] fileExistsAtPath:path]) {
    file_error(error, NSFileWriteFileExistsError, EEXIST, path);
    return NO;
  }
  errno = ENOENT;  // for a null path, which reaches no system call
  if ([self writeToFile:path atomically:(options & NSDataWritingAtomic) != 0]) return YES;
  file_error(error, NSFileWriteUnknownError, errno, path);
  return NO;
}
- (BOOL)writeToURL:(NSURL*)url atomically:(BOOL)atomically {
  return [self writeToFile:url.path atomically:atomically];
}
- (BOOL)writeToURL:(NSURL*)url options:(NSDataWritingOptions)options error:(NSError**)error {
  return [self writeToFile:url.path options:options error:error];
}
- (NSString*)description {
  return [NSString stringWithFormat:@"{length = %lu}", self.length];
}
- (void)dealloc {
  if (deallocator_) {
    deallocator_(const_cast<void*>(others_), length_);
    Block_release(deallocator_);
  }
  [super dealloc];
}
@end

@implementation NSMutableData
@dynamic length;
+ (instancetype)dataWithLength:(NSUInteger)length {
  return [[[self alloc] initWithLength:length] autorelease];
}
+ (instancetype)dataWithCapacity:(NSUInteger)capacity {
  return [self data];
}
- (instancetype)initWithLength:(NSUInteger)length {
  own_.resize(length);
  return self;
}
- (instancetype)initWithBytesNoCopy:(void*)bytes
                             length:(NSUInteger)length
                        deallocator:(void (^)(void* bytes, NSUInteger length))deallocator {
  self = [self initWithBytes:bytes length:length];
  if (deallocator) deallocator(bytes, length);
  return self;
}
- (id)copyWithZone:(NSZone*)zone {
  return [[NSData alloc] initWithData:self];
}
- (void*)mutableBytes {
  return own_.data();
}
- (void)setLength:(NSUInteger)length {
  own_.resize(length);
}
- (void)appendBytes:(const void*)bytes length:(NSUInteger)length {
  own_.append(static_cast<const char*>(bytes), length);
}
- (void)appendData:(NSData*)other {
  [self appendBytes:other.bytes length:other.length];
}
@end
