// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Foundation/values.hpp"

#include "foundation/made.hpp"

#include <fmt/format.h>

#include <functional>
#include <variant>

namespace smelt::metal {
namespace {

using Scalar = std::variant<bool, long long, unsigned long long, float, double>;

class NumberObject final : public NS::Number {
 public:
  explicit NumberObject(Scalar value) : value_(value) {}
  std::string_view class_name() const override { return "NSNumber"; }
  template <class As>
  As as() const {
    return std::visit([](auto value) { return static_cast<As>(value); }, value_);
  }
  std::string text() const {
    if (const bool* truth = std::get_if<bool>(&value_)) return *truth ? "1" : "0";
    return std::visit([](auto value) { return fmt::format("{}", value); }, value_);
  }
  /// -1, 0, 1. Integers exactly.
  int order(const NumberObject& other) const {
    if (is_real() || other.is_real()) {
      const double a = as<double>(), b = other.as<double>();
      return a < b ? -1 : a > b ? 1 : 0;
    }
    if (negative() != other.negative()) return negative() ? -1 : 1;
    const auto a = as<unsigned long long>(), b = other.as<unsigned long long>();
    return a < b ? -1 : a > b ? 1 : 0;
  }

 protected:
  NS::UInteger hash_value() const override { return std::hash<double>()(as<double>()); }
  bool equals(const NS::Object& other) const override {
    const auto* number = dynamic_cast<const NumberObject*>(&other);
    return number != nullptr && order(*number) == 0;
  }
  NS::String* describe() const override { return string_of(text()); }

 private:
  bool is_real() const { return value_.index() >= 3; }
  bool negative() const { return value_.index() == 1 && std::get<long long>(value_) < 0; }
  const Scalar value_;
};

class PointerObject final : public NS::Value {
 public:
  explicit PointerObject(const void* to) : pointer(to) {}
  const void* const pointer;
  std::string_view class_name() const override { return "NSValue"; }
};

NS::Number* number_of(Scalar value) {
  auto* made = new NumberObject(value);
  made->autorelease();
  return made;
}
const NumberObject& from(const NS::Number* number) {
  return static_cast<const NumberObject&>(*number);
}

class ErrorObject final : public NS::Error {
 public:
  NS::SharedPtr<NS::String> in;
  NS::Integer number = 0;
  NS::SharedPtr<NS::Dictionary> info;
  std::string_view class_name() const override { return "NSError"; }

 protected:
  NS::String* describe() const override {
    return string_of(
        fmt::format("Error Domain={} Code={} \"{}\"", text_of(in.get()), number, text_of(localizedDescription())));
  }
};

}  // namespace

NS::Error* error_of(const char* domain, NS::Integer code, std::string_view message) {
  NS::Dictionary* const info = NS::Dictionary::dictionary(string_of(message), NS::LocalizedDescriptionKey);
  return NS::Error::error(string_of(domain), code, info);
}
std::nullptr_t fail_with(NS::Error** out, const char* domain, NS::Integer code, std::string_view message) {
  if (out != nullptr) *out = error_of(domain, code, message);
  return nullptr;
}

}  // namespace smelt::metal

namespace NS {
using namespace smelt::metal;

const ErrorUserInfoKey LocalizedDescriptionKey = MakeConstantString("NSLocalizedDescription");
const ErrorUserInfoKey UnderlyingErrorKey = MakeConstantString("NSUnderlyingError");
const ErrorDomain CocoaErrorDomain = MakeConstantString("NSCocoaErrorDomain");
const ErrorDomain POSIXErrorDomain = MakeConstantString("NSPOSIXErrorDomain");

Value* Value::value(const void* pointer) {
  auto* made = new PointerObject(pointer);
  made->autorelease();
  return made;
}
void* Value::pointerValue() const {
  const auto* pointer = dynamic_cast<const PointerObject*>(this);
  return pointer != nullptr ? const_cast<void*>(pointer->pointer) : nullptr;
}

Number* Number::number(bool value) {
  return number_of(value);
}
#define SMELT_NUMBER(type, as)           \
  Number* Number::number(type value) {   \
    return number_of(Scalar(as(value))); \
  }
using Wide = long long;
using WideUnsigned = unsigned long long;
SMELT_NUMBER(char, Wide)
SMELT_NUMBER(unsigned char, WideUnsigned)
SMELT_NUMBER(short, Wide)
SMELT_NUMBER(unsigned short, WideUnsigned)
SMELT_NUMBER(int, Wide)
SMELT_NUMBER(unsigned int, WideUnsigned)
SMELT_NUMBER(long, Wide)
SMELT_NUMBER(unsigned long, WideUnsigned)
SMELT_NUMBER(long long, Wide)
SMELT_NUMBER(unsigned long long, WideUnsigned)
SMELT_NUMBER(float, float)
SMELT_NUMBER(double, double)
#undef SMELT_NUMBER
bool Number::boolValue() const {
  return from(this).as<bool>();
}
long long Number::longLongValue() const {
  return from(this).as<long long>();
}
unsigned long long Number::unsignedLongLongValue() const {
  return from(this).as<unsigned long long>();
}
double Number::doubleValue() const {
  return from(this).as<double>();
}
String* Number::stringValue() const {
  return string_of(from(this).text());
}
ComparisonResult Number::compare(const Number* other) const {
  return static_cast<ComparisonResult>(from(this).order(from(other)));
}

Error* Error::error(ErrorDomain domain, Integer code, Dictionary* userInfo) {
  return alloc()->init(domain, code, userInfo)->autorelease();
}
Error* Error::alloc() {
  return new ErrorObject;
}
Error* Error::init() {
  return this;
}
Error* Error::init(ErrorDomain domain, Integer code, Dictionary* userInfo) {
  auto& error = static_cast<ErrorObject&>(*this);
  error.in = RetainPtr(domain);
  error.number = code;
  error.info = RetainPtr(userInfo);
  return this;
}
Integer Error::code() const {
  return static_cast<const ErrorObject*>(this)->number;
}
ErrorDomain Error::domain() const {
  return static_cast<const ErrorObject*>(this)->in.get();
}
Dictionary* Error::userInfo() const {
  return static_cast<const ErrorObject*>(this)->info.get();
}
String* Error::localizedDescription() const {
  const auto& error = static_cast<const ErrorObject&>(*this);
  if (error.info)
    if (auto* told = error.info->object<String>(LocalizedDescriptionKey)) return told;
  return string_of(fmt::format("{} error {}", text_of(error.in.get()), error.number));
}

}  // namespace NS
