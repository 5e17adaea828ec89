// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <sys/random.h>

#include <cstdio>
#include <cstring>
#include <random>

#include "internal.hpp"

using namespace smelt::foundation;

namespace {

/// The text has a hyphen before these bytes.
bool begins_group(unsigned byte) {
  return byte == 4 || byte == 6 || byte == 8 || byte == 10;
}

}  // namespace

@implementation NSUUID {
  uuid_t bytes_;
}
+ (instancetype)UUID {
  return [[self new] autorelease];
}
- (instancetype)init {
  if (getrandom(bytes_, sizeof bytes_, 0) != static_cast<ssize_t>(sizeof bytes_)) {
    std::random_device chance;
    for (unsigned char& byte : bytes_) byte = static_cast<unsigned char>(chance());
  }
  bytes_[6] = static_cast<unsigned char>((bytes_[6] & 0x0F) | 0x40);  // version 4, of RFC 4122
  bytes_[8] = static_cast<unsigned char>((bytes_[8] & 0x3F) | 0x80);
  return self;
}
- (instancetype)initWithUUIDString:(NSString*)text {
  const std::string_view given = text_of(text);
  size_t at = 0;
  bool fits = given.size() == 36;
  for (unsigned i = 0; fits && i < sizeof bytes_; ++i) {
    if (begins_group(i)) fits = given[at++] == '-';
    const std::string pair(given.substr(at, 2));
    fits = fits && pair.find_first_not_of("0123456789abcdefABCDEF") == std::string::npos;
    if (fits) bytes_[i] = static_cast<unsigned char>(std::stoul(pair, nullptr, 16));
    at += 2;
  }
  if (fits) return self;
  [self release];
  return nil;
}
- (instancetype)initWithUUIDBytes:(const uuid_t)bytes {
  memcpy(bytes_, bytes, sizeof bytes_);
  return self;
}
- (void)getUUIDBytes:(uuid_t)bytes {
  memcpy(bytes, bytes_, sizeof bytes_);
}
- (NSString*)UUIDString {
  std::string text;
  char pair[3];
  for (unsigned i = 0; i < sizeof bytes_; ++i) {
    if (begins_group(i)) text += '-';
    snprintf(pair, sizeof pair, "%02X", bytes_[i]);
    text += pair;
  }
  return string_of(text);
}
- (id)copyWithZone:(NSZone*)zone {
  return [self retain];
}
- (BOOL)isEqual:(id)other {
  return [other isKindOfClass:[NSUUID class]] &&
         memcmp(bytes_, static_cast<NSUUID*>(other)->bytes_, sizeof bytes_) == 0;
}
- (NSUInteger)hash {
  NSUInteger first = 0;
  memcpy(&first, bytes_, sizeof first);
  return first;
}
- (NSString*)description {
  return self.UUIDString;
}
@end
