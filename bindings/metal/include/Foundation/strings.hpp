// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Text and bytes: NS::String, NS::Data, NS::URL.
#pragma once

#include "Foundation/object.hpp"

#include <string>

namespace NS {

using unichar = char16_t;

enum StringEncoding : UInteger {
  ASCIIStringEncoding = 1,
  UTF8StringEncoding = 4,
  ISOLatin1StringEncoding = 5,
  UTF16StringEncoding = 10,
  UnicodeStringEncoding = UTF16StringEncoding,
  UTF16BigEndianStringEncoding = 0x90000100,
  UTF16LittleEndianStringEncoding = 0x94000100
};

using StringCompareOptions = UInteger;
enum : UInteger { CaseInsensitiveSearch = 1, LiteralSearch = 2, BackwardsSearch = 4, AnchoredSearch = 8 };

/// Immutable text, kept as UTF-8. Of the encodings ASCII, UTF-8 and ISO Latin 1 are taken from bytes; others give null.
class SMELT_METAL_API String : public Copying<String> {
 public:
  static String* string();
  static String* string(const String* other);
  static String* string(const char* text, StringEncoding encoding);
  static String* alloc();
  String* init();
  String* init(const String* other);
  String* init(const char* text, StringEncoding encoding);
  /// `bytes` are copied; with `freeBuffer` they are then given to free().
  String* init(void* bytes, UInteger length, StringEncoding encoding, bool freeBuffer);

  unichar character(UInteger index) const;
  /// In UTF-16 units, as in Foundation.
  UInteger length() const;
  /// Valid as long as the string. Null for an encoding that cannot say it.
  const char* cString(StringEncoding encoding) const;
  const char* utf8String() const;
  UInteger maximumLengthOfBytes(StringEncoding encoding) const;
  UInteger lengthOfBytes(StringEncoding encoding) const;
  bool isEqualToString(const String* other) const;
  /// CaseInsensitiveSearch (of ASCII letters) and BackwardsSearch are known. Location NotFound, length 0: not there.
  Range rangeOfString(const String* other, StringCompareOptions options) const;
  const char* fileSystemRepresentation() const { return utf8String(); }
  String* stringByAppendingString(const String* other) const;
  ComparisonResult caseInsensitiveCompare(const String* other) const;

  /// The text itself.
  virtual const std::string& text() const = 0;
};

/// One for each call, owned by nobody but the program's end: for text in the source.
SMELT_METAL_API String* MakeConstantString(const char* text);

/// Immutable bytes.
class SMELT_METAL_API Data : public Copying<Data> {
 public:
  static Data* data(const void* bytes, UInteger length);
  static Data* alloc();
  Data* init();
  Data* init(const void* bytes, UInteger length);
  const void* mutableBytes() const { return bytes(); }
  const void* bytes() const;
  UInteger length() const;
};

/// Of files alone: "file:///a/b" or a path.
class SMELT_METAL_API URL : public Copying<URL> {
 public:
  static URL* fileURLWithPath(const String* path);
  static URL* alloc();
  URL* init();
  URL* init(const String* text);
  URL* initFileURLWithPath(const String* path);
  const char* fileSystemRepresentation() const;
  String* path() const;
  String* absoluteString() const;
};

}  // namespace NS

#define MTLSTR(literal) NS::MakeConstantString("" literal "")
