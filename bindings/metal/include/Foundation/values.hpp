// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Numbers, errors, dates, and the program's own bundle.
#pragma once

#include "Foundation/collections.hpp"
#include "Foundation/strings.hpp"

namespace NS {

class SMELT_METAL_API Value : public Copying<Value> {
 public:
  static Value* value(const void* pointer);
  void* pointerValue() const;
};

/// A number of any of C's types; reading it as another type converts as C does.
class SMELT_METAL_API Number : public Copying<Number, Value> {
 public:
  static Number* number(bool value);
  static Number* number(char value);
  static Number* number(unsigned char value);
  static Number* number(short value);
  static Number* number(unsigned short value);
  static Number* number(int value);
  static Number* number(unsigned int value);
  static Number* number(long value);
  static Number* number(unsigned long value);
  static Number* number(long long value);
  static Number* number(unsigned long long value);
  static Number* number(float value);
  static Number* number(double value);
  bool boolValue() const;
  char charValue() const { return static_cast<char>(longLongValue()); }
  unsigned char unsignedCharValue() const { return static_cast<unsigned char>(unsignedLongLongValue()); }
  short shortValue() const { return static_cast<short>(longLongValue()); }
  unsigned short unsignedShortValue() const { return static_cast<unsigned short>(unsignedLongLongValue()); }
  int intValue() const { return static_cast<int>(longLongValue()); }
  unsigned int unsignedIntValue() const { return static_cast<unsigned int>(unsignedLongLongValue()); }
  long longValue() const { return static_cast<long>(longLongValue()); }
  unsigned long unsignedLongValue() const { return static_cast<unsigned long>(unsignedLongLongValue()); }
  long long longLongValue() const;
  unsigned long long unsignedLongLongValue() const;
  float floatValue() const { return static_cast<float>(doubleValue()); }
  double doubleValue() const;
  Integer integerValue() const { return static_cast<Integer>(longLongValue()); }
  UInteger unsignedIntegerValue() const { return static_cast<UInteger>(unsignedLongLongValue()); }
  /// Shortest text that reads back as the same number; a bool is 1 or 0, as in Foundation.
  String* stringValue() const;
  ComparisonResult compare(const Number* other) const;
  bool isEqualToNumber(const Number* other) const { return isEqual(other); }
};

using ErrorDomain = String*;
using ErrorUserInfoKey = String*;
/// Keys of an error's userInfo().
SMELT_METAL_API extern const ErrorUserInfoKey LocalizedDescriptionKey;
SMELT_METAL_API extern const ErrorUserInfoKey UnderlyingErrorKey;
SMELT_METAL_API extern const ErrorDomain CocoaErrorDomain;
SMELT_METAL_API extern const ErrorDomain POSIXErrorDomain;

class SMELT_METAL_API Error : public Copying<Error> {
 public:
  static Error* error(ErrorDomain domain, Integer code, Dictionary* userInfo);
  static Error* alloc();
  Error* init();
  Error* init(ErrorDomain domain, Integer code, Dictionary* userInfo);
  Integer code() const;
  ErrorDomain domain() const;
  Dictionary* userInfo() const;
  /// userInfo's LocalizedDescriptionKey, else domain and code.
  String* localizedDescription() const;
  String* localizedFailureReason() const { return nullptr; }
};

/// The folder that the program lies in stands for its bundle.
class SMELT_METAL_API Bundle : public Referencing<Bundle> {
 public:
  static Bundle* mainBundle();
  /// A folder; null when there is none.
  static Bundle* bundle(const String* path);
  static Bundle* alloc();
  Bundle* init(const String* path);
  String* bundlePath() const;
  URL* bundleURL() const;
  String* resourcePath() const;
  URL* resourceURL() const;
  String* executablePath() const;
  /// A file of the folder; null when it is not there.
  String* pathForResource(const String* name, const String* extension) const;
  URL* URLForResource(const String* name, const String* extension) const;
};

/// Seconds since 1970 with sub-second digits.
class SMELT_METAL_API Date : public Copying<Date> {
 public:
  static Date* dateWithTimeIntervalSinceNow(TimeInterval seconds);
  TimeInterval timeIntervalSince1970() const;
};

struct OperatingSystemVersion {
  Integer majorVersion = 0;
  Integer minorVersion = 0;
  Integer patchVersion = 0;
};

class SMELT_METAL_API ProcessInfo : public Referencing<ProcessInfo> {
 public:
  static ProcessInfo* processInfo();
  String* processName() const;
  int processIdentifier() const;
  UInteger processorCount() const;
  UInteger activeProcessorCount() const;
  unsigned long long physicalMemory() const;
  TimeInterval systemUptime() const;
  /// The macOS whose Metal the devices stand for (docs/reference/metal-api.md).
  OperatingSystemVersion operatingSystemVersion() const;
  bool isOperatingSystemAtLeastVersion(OperatingSystemVersion version) const;
};

}  // namespace NS
