// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Foundation/strings.hpp"

#include "foundation/made.hpp"
#include "text.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <mutex>

namespace smelt::metal {
namespace {

class StringObject final : public NS::String {
 public:
  explicit StringObject(std::string text) : text_(std::move(text)) {}
  const std::string& text() const override { return text_; }
  std::string_view class_name() const override { return "NSString"; }

 protected:
  NS::UInteger hash_value() const override { return std::hash<std::string>()(text_); }
  bool equals(const NS::Object& other) const override {
    const auto* string = dynamic_cast<const NS::String*>(&other);
    return string != nullptr && string->text() == text_;
  }
  NS::String* describe() const override { return const_cast<StringObject*>(this)->retain()->autorelease(); }

 private:
  const std::string text_;
};

/// What alloc() gives; init() takes its place, as Foundation allows it to.
class StringPlace final : public NS::String {
 public:
  const std::string& text() const override {
    static const std::string none;
    return none;
  }
  std::string_view class_name() const override { return "NSString"; }
};

std::optional<std::string> decode(const char* bytes, size_t length, NS::StringEncoding encoding) {
  // Programs that run on Macs call source ASCII whose comments have other letters (MLX does).
  if (encoding == NS::ASCIIStringEncoding) encoding = NS::ISOLatin1StringEncoding;
  std::string text;
  if (encoding == NS::UTF16StringEncoding || !foundation::decode({bytes, length}, encoding, text)) return std::nullopt;
  return text;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c;
}
std::string lower(std::string text) {
  for (char& c : text) c = lower(c);
  return text;
}

class DataObject final : public NS::Data {
 public:
  explicit DataObject(std::string bytes) : bytes_(std::move(bytes)) {}
  std::string_view class_name() const override { return "NSData"; }
  const std::string& all() const { return bytes_; }

 protected:
  NS::UInteger hash_value() const override { return std::hash<std::string>()(bytes_); }
  bool equals(const NS::Object& other) const override {
    const auto* data = dynamic_cast<const DataObject*>(&other);
    return data != nullptr && data->bytes_ == bytes_;
  }

 private:
  const std::string bytes_;
};

class UrlObject final : public NS::URL {
 public:
  explicit UrlObject(std::string path) : path_(std::move(path)) {}
  std::string_view class_name() const override { return "NSURL"; }
  const std::string& all() const { return path_; }

 protected:
  NS::UInteger hash_value() const override { return std::hash<std::string>()(path_); }
  bool equals(const NS::Object& other) const override {
    const auto* url = dynamic_cast<const UrlObject*>(&other);
    return url != nullptr && url->path_ == path_;
  }
  NS::String* describe() const override { return absoluteString(); }

 private:
  const std::string path_;
};

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = lower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/// The path of a file's URL: without its scheme and host, %XX as bytes.
std::string path_of_url(std::string_view url) {
  if (!url.starts_with("file:")) return std::string(url);
  url.remove_prefix(5);
  if (url.starts_with("//")) {
    url.remove_prefix(2);
    url.remove_prefix(std::min(url.find('/'), url.size()));
  }
  std::string path;
  for (size_t i = 0; i < url.size(); ++i) {
    if (url[i] == '%' && i + 2 < url.size() && hex_digit(url[i + 1]) >= 0 && hex_digit(url[i + 2]) >= 0) {
      path += static_cast<char>(hex_digit(url[i + 1]) * 16 + hex_digit(url[i + 2]));
      i += 2;
    } else {
      path += url[i];
    }
  }
  return path;
}

template <class Object>
Object* in_pool(Object* object) {
  object->autorelease();
  return object;
}

/// init() of what alloc() gave: the caller gets another object, made for its arguments, and the first one goes.
template <class Place, class Object>
Object* instead_of(Place* place, Object* object) {
  place->release();
  return object;
}

}  // namespace

NS::String* new_string(std::string_view text) {
  return new StringObject(std::string(text));
}
NS::String* string_of(std::string_view text) {
  return new_string(text)->autorelease();
}
std::string text_of(const NS::String* string) {
  return string != nullptr ? string->text() : std::string();
}

}  // namespace smelt::metal

namespace NS {
using namespace smelt::metal;

String* String::string() {
  return string_of("");
}
String* String::string(const String* other) {
  return string_of(text_of(other));
}
String* String::string(const char* text, StringEncoding encoding) {
  if (text == nullptr) return nullptr;
  auto decoded = decode(text, std::strlen(text), encoding);
  return decoded ? in_pool(new StringObject(std::move(*decoded))) : nullptr;
}
String* String::alloc() {
  return new StringPlace;
}
String* String::init() {
  return instead_of(this, new_string(""));
}
String* String::init(const String* other) {
  return instead_of(this, new_string(text_of(other)));
}
String* String::init(const char* text, StringEncoding encoding) {
  return init(const_cast<char*>(text), text != nullptr ? std::strlen(text) : 0, encoding, false);
}
String* String::init(void* bytes, UInteger length, StringEncoding encoding, bool freeBuffer) {
  auto decoded = bytes != nullptr ? decode(static_cast<const char*>(bytes), length, encoding) : std::nullopt;
  if (freeBuffer) std::free(bytes);
  String* const made = decoded ? new StringObject(std::move(*decoded)) : nullptr;
  return instead_of(this, made);
}
unichar String::character(UInteger index) const {
  const std::u16string units = smelt::foundation::to_utf16(text());
  return index < units.size() ? units[index] : u'\0';
}
UInteger String::length() const {
  return smelt::foundation::to_utf16(text()).size();
}
const char* String::cString(StringEncoding encoding) const {
  const bool is_kept =
      encoding == ASCIIStringEncoding ? smelt::foundation::is_ascii(text()) : encoding == UTF8StringEncoding;
  return is_kept ? text().c_str() : nullptr;
}
const char* String::utf8String() const {
  return text().c_str();
}
UInteger String::maximumLengthOfBytes(StringEncoding encoding) const {
  return length() * (encoding == UTF8StringEncoding ? 3 : encoding == ASCIIStringEncoding ? 1 : 2);
}
UInteger String::lengthOfBytes(StringEncoding encoding) const {
  if (encoding == UTF8StringEncoding) return text().size();
  if (encoding == ASCIIStringEncoding) return cString(encoding) != nullptr ? text().size() : 0;
  return encoding == ISOLatin1StringEncoding ? length() : 2 * length();
}
bool String::isEqualToString(const String* other) const {
  return other != nullptr && text() == other->text();
}
Range String::rangeOfString(const String* other, StringCompareOptions options) const {
  std::u16string in = smelt::foundation::to_utf16((options & CaseInsensitiveSearch) != 0 ? lower(text()) : text());
  std::u16string what =
      smelt::foundation::to_utf16((options & CaseInsensitiveSearch) != 0 ? lower(text_of(other)) : text_of(other));
  if (what.empty()) return {UInteger(NotFound), 0};
  const size_t at = (options & BackwardsSearch) != 0 ? in.rfind(what) : in.find(what);
  if (at == std::u16string::npos) return {UInteger(NotFound), 0};
  return {at, what.size()};
}
String* String::stringByAppendingString(const String* other) const {
  return string_of(text() + text_of(other));
}
ComparisonResult String::caseInsensitiveCompare(const String* other) const {
  const int order = lower(text()).compare(lower(text_of(other)));
  return order < 0 ? OrderedAscending : order > 0 ? OrderedDescending : OrderedSame;
}

String* MakeConstantString(const char* text) {
  static auto& lock = *new std::mutex;
  static auto& known = *new std::map<std::string, String*>;
  const std::lock_guard guard(lock);
  String*& string = known[text];
  if (string == nullptr) string = new_string(text);
  return string;
}

Data* Data::data(const void* bytes, UInteger length) {
  return in_pool(new DataObject(std::string(static_cast<const char*>(bytes), length)));
}
Data* Data::alloc() {
  return new DataObject({});
}
Data* Data::init() {
  return this;
}
Data* Data::init(const void* bytes, UInteger length) {
  return instead_of(this, new DataObject(std::string(static_cast<const char*>(bytes), length)));
}
const void* Data::bytes() const {
  return static_cast<const DataObject*>(this)->all().data();
}
UInteger Data::length() const {
  return static_cast<const DataObject*>(this)->all().size();
}

URL* URL::fileURLWithPath(const String* path) {
  return in_pool(new UrlObject(text_of(path)));
}
URL* URL::alloc() {
  return new UrlObject({});
}
URL* URL::init() {
  return this;
}
URL* URL::init(const String* text) {
  return instead_of(this, new UrlObject(path_of_url(text_of(text))));
}
URL* URL::initFileURLWithPath(const String* path) {
  return instead_of(this, new UrlObject(text_of(path)));
}
const char* URL::fileSystemRepresentation() const {
  return static_cast<const UrlObject*>(this)->all().c_str();
}
String* URL::path() const {
  return string_of(fileSystemRepresentation());
}
String* URL::absoluteString() const {
  std::string text = "file://";
  for (const char* c = fileSystemRepresentation(); *c != 0; ++c) {
    constexpr const char* kPlain = "/-._~!$&'()*+,;=:@";
    const bool alpha = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z') || (*c >= '0' && *c <= '9');
    constexpr const char* kHex = "0123456789ABCDEF";
    if (alpha || std::strchr(kPlain, *c) != nullptr)
      text += *c;
    else
      text += {'%', kHex[static_cast<unsigned char>(*c) >> 4], kHex[*c & 15]};
  }
  return string_of(text);
}

}  // namespace NS
