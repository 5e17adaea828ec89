// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/remote/address.hpp"

#include "smelt/base/files.hpp"
#include "smelt/base/sizes.hpp"

#include "curl_library.hpp"

#include <algorithm>
#include <charconv>
#include <memory>

namespace smelt::remote {
namespace {

using std::chrono::milliseconds;

struct Scheme {
  std::string_view name;
  Kind kind;
  bool tls;
};
constexpr Scheme kSchemes[] = {{"file", Kind::file, false},   {"http", Kind::http, false},
                               {"https", Kind::http, true},   {"redis", Kind::redis, false},
                               {"rediss", Kind::redis, true}, {"s3", Kind::s3, true}};

struct TextOption {
  std::string_view name;
  std::string Address::* to;
};
constexpr TextOption kTexts[] = {
    {"token-file", &Address::token_file}, {"ca-file", &Address::ca_file},   {"cert-file", &Address::cert_file},
    {"key-file", &Address::key_file},     {"proxy", &Address::proxy},       {"prefix", &Address::prefix},
    {"region", &Address::region},         {"endpoint", &Address::endpoint},
};
struct DurationOption {
  std::string_view name;
  milliseconds Address::* to;
};
constexpr DurationOption kDurations[] = {
    {"connect", &Address::connect}, {"stall", &Address::stall}, {"timeout", &Address::timeout},
    {"budget", &Address::budget},   {"rest", &Address::rest},   {"remember-misses", &Address::remember_misses},
};

std::string known_options() {
  std::string known = "read-only, ttl, max-size";
  for (const auto& option : kDurations) known += fmt::format(", {}", option.name);
  for (const auto& option : kTexts) known += fmt::format(", {}", option.name);
  return known;
}

std::string decoded(std::string_view text) {
  if (text.empty()) return {};  // which libcurl would take for "up to the end of the C string"
  int size = 0;
  const std::unique_ptr<char, decltype(&curl_free)> plain(
      curl().easy_unescape(nullptr, text.data(), static_cast<int>(text.size()), &size), curl().free);
  return plain ? std::string(plain.get(), static_cast<size_t>(size)) : std::string(text);
}

Result<void> set_option(Address& address, std::string_view name, const std::string& value) {
  if (name == "read-only") {
    address.read_only = value.empty() || value == "1" || value == "true";
    return {};
  }
  if (name == "ttl") {
    SMELT_TRY(const auto ttl, parse_duration(value));
    address.ttl = std::chrono::duration_cast<std::chrono::seconds>(ttl);
    return {};
  }
  if (name == "max-size") {
    SMELT_TRY(address.max_size, parse_size(value));
    return {};
  }
  for (const auto& option : kDurations)
    if (option.name == name) {
      SMELT_TRY(address.*option.to, parse_duration(value));
      return {};
    }
  for (const auto& option : kTexts)
    if (option.name == name) {
      if (value.empty()) return fail(Errc::invalid_argument, "option '{}' has no value", name);
      address.*option.to = value;
      return {};
    }
  return fail(Errc::invalid_argument, "option '{}' is not known; the options are {}", name, known_options());
}

Result<void> set_options(Address& address, std::string_view query) {
  while (!query.empty()) {
    const size_t end = std::min(query.find('&'), query.size());
    const std::string_view option = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    if (option.empty()) continue;
    const size_t equals = std::min(option.find('='), option.size());
    const std::string value = decoded(option.substr(std::min(equals + 1, option.size())));
    SMELT_TRY_VOID(set_option(address, option.substr(0, equals), value));
  }
  return {};
}

/// A piece of a parsed URL; empty when it has none.
std::string piece(CURLU* url, CURLUPart part, unsigned flags = CURLU_URLDECODE) {
  char* text = nullptr;
  if (curl().url_get(url, part, &text, flags) != CURLUE_OK) return {};
  const std::unique_ptr<char, decltype(&curl_free)> owned(text, curl().free);
  return text;
}

Result<Address> parse(const std::string& text) {
  SMELT_TRY_VOID(curl_available());
  const std::unique_ptr<CURLU, decltype(&curl_url_cleanup)> url(curl().url(), curl().url_cleanup);
  const CURLUcode code = curl().url_set(url.get(), CURLUPART_URL, text.c_str(), CURLU_NON_SUPPORT_SCHEME);
  const std::string scheme = piece(url.get(), CURLUPART_SCHEME);
  const auto* known =
      std::find_if(std::begin(kSchemes), std::end(kSchemes), [&](const Scheme& one) { return one.name == scheme; });
  if (code != CURLUE_OK || known == std::end(kSchemes))
    return fail(Errc::invalid_argument, "want file:///folder, http(s)://host/base, redis(s)://host/db or s3://bucket");
  Address address;
  address.kind = known->kind;
  address.tls = known->tls;
  address.host = piece(url.get(), CURLUPART_HOST);
  address.path = piece(url.get(), CURLUPART_PATH);
  while (!address.path.empty() && address.path.back() == '/') address.path.pop_back();
  address.user = piece(url.get(), CURLUPART_USER);
  address.password = piece(url.get(), CURLUPART_PASSWORD);
  const std::string port = piece(url.get(), CURLUPART_PORT);
  std::from_chars(port.data(), port.data() + port.size(), address.port);
  SMELT_TRY_VOID(set_options(address, piece(url.get(), CURLUPART_QUERY, 0)));
  std::string path = piece(url.get(), CURLUPART_PATH, 0);
  while (!path.empty() && path.back() == '/') path.pop_back();
  address.shown = fmt::format("{}://{}{}{}", scheme, address.host, port.empty() ? "" : ":" + port, path);
  if (address.kind != Kind::file && address.max_size != 0)
    return fail(Errc::invalid_argument, "max-size is for folders (file://); a server sets its own limit");
  if (address.kind == Kind::file && address.path.empty())
    return fail(Errc::invalid_argument, "file:// needs an absolute folder, e.g. file:///srv/smelt");
  if (address.kind == Kind::redis && address.path.find_first_not_of("0123456789", 1) != std::string::npos)
    return fail(Errc::invalid_argument, "the path of a redis:// URL is a database number, e.g. redis://host/0");
  if (address.cert_file.empty() != address.key_file.empty())
    return fail(Errc::invalid_argument, "cert-file and key-file go together");
  return address;
}

/// For messages about URLs that may not parse: nothing between "://" and '@' is shown, and no options.
std::string without_secrets(std::string_view url) {
  std::string text(url.substr(0, url.find('?')));
  const size_t slashes = text.find("://");
  const size_t at = text.rfind('@');
  if (slashes != text.npos && at != text.npos && at > slashes) text.erase(slashes + 3, at + 1 - slashes - 3);
  return text;
}

}  // namespace

Result<milliseconds> parse_duration(std::string_view text) {
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit(end, static_cast<size_t>(text.data() + text.size() - end));
  constexpr uint64_t kSecond = 1000, kDay = 24 * 3600 * kSecond;
  const uint64_t factor = unit == "ms"  ? 1
                          : unit == "s" ? kSecond
                          : unit == "m" ? 60 * kSecond
                          : unit == "h" ? 3600 * kSecond
                          : unit == "d" ? kDay
                                        : 0;
  if (error != std::errc() || factor == 0 || count > 3650 * kDay / factor)
    return fail(Errc::invalid_argument, "'{}': want a duration such as 300ms, 2s, 5m, 1h or 7d", text);
  return milliseconds(count * factor);
}

Result<Address> parse_address(std::string_view url) {
  auto address = parse(std::string(url));
  if (!address) return tl::unexpected(std::move(address).error().in(fmt::format("remote {}", without_secrets(url))));
  return address;
}

Result<std::vector<Address>> parse_addresses(std::string_view urls) {
  std::vector<Address> addresses;
  constexpr std::string_view kSpace = " \t\r\n";
  for (size_t at = urls.find_first_not_of(kSpace); at != urls.npos; at = urls.find_first_not_of(kSpace, at)) {
    const size_t end = std::min(urls.find_first_of(kSpace, at), urls.size());
    SMELT_TRY(addresses.emplace_back(), parse_address(urls.substr(at, end - at)));
    at = end;
  }
  return addresses;
}

Result<std::string> read_token(const std::string& file) {
  SMELT_TRY(const Bytes bytes, read_file(file));
  std::string token(as_text(bytes).substr(0, as_text(bytes).find('\n')));
  while (!token.empty() && (token.back() == '\r' || token.back() == ' ')) token.pop_back();
  if (token.empty()) return fail(Errc::invalid_argument, "{}: the first line should be the token; it is empty", file);
  return token;
}

}  // namespace smelt::remote
