// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/digest.hpp"
#include "smelt/base/metal.hpp"
#include "smelt/base/text.hpp"
#include "smelt/base/text_list.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace smelt;

TEST_CASE("what could steer a terminal, or is no UTF-8, is written out") {
  CHECK(printable("plain, \ttab\nand line, \xC3\xA4, \xE2\x82\xAC, \xF0\x9F\x94\xA5") ==
        "plain, \ttab\nand line, \xC3\xA4, \xE2\x82\xAC, \xF0\x9F\x94\xA5");
  CHECK(printable("\x1b[31mred\x07\r\x7f") == "\\x1b[31mred\\x07\\x0d\\x7f");
  CHECK(printable(std::string_view("a\0b", 3)) == "a\\x00b");
  CHECK(printable("\xC2\x9B"
                  "31m") == "\\xc2\\x9b31m");  // C1: the same as ESC [
  CHECK(printable("\xff\xfe") == "\\xff\\xfe");
  CHECK(printable("\xE2\x82") == "\\xe2\\x82");                    // cut
  CHECK(printable("\xC0\xAF") == "\\xc0\\xaf");                    // overlong
  CHECK(printable("\xED\xA0\x80") == "\\xed\\xa0\\x80");           // surrogate
  CHECK(printable("\xF4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // past the end
  for (int byte = 0; byte < 256; ++byte) CHECK(is_utf8(printable(std::string(3, static_cast<char>(byte)))));
}

TEST_CASE("errors quote nothing raw, and name a place once") {
  const Error error = fail(Errc::io, "{}: cannot open", "no\x1b[31mfile").value();
  CHECK(error.message == "no\\x1b[31mfile: cannot open");
  CHECK(Error(error).in("no\x1b[31mfile").message == error.message);
  CHECK(Error(error).in("folder").message == "folder: " + error.message);
  CHECK(Error{Errc::io, "nofile2: x", {}}.in("nofile").message == "nofile: nofile2: x");
}

TEST_CASE("every code has a name of its own and a number of its own") {
  std::set<std::string_view> names;
  std::set<int> numbers;
#define SMELT_ERRC(name, c_name, number) \
  names.insert(to_string(Errc::name));   \
  numbers.insert(number);                \
  CHECK(to_string(static_cast<Errc>(number)) == #name);
#include "smelt/base/errc.def"
#undef SMELT_ERRC
  CHECK(names.size() == 43);
  CHECK(numbers.size() == 43);
  CHECK(to_string(static_cast<Errc>(999)) == "unknown");
}

TEST_CASE("hexadecimal digests: 64 digits, either case, nothing else") {
  const Digest digest = sha256({});
  const std::string hex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
  CHECK(to_hex(digest) == hex);
  std::string upper = hex;
  for (char& c : upper) c = static_cast<char>(std::toupper(c));
  CHECK(digest_from_hex(hex).value() == digest);
  CHECK(digest_from_hex(upper).value() == digest);
  for (size_t at = 0; at < hex.size(); ++at)
    for (const char wrong : {' ', '\n', 'g', '-', '\0'}) {
      std::string bad = hex;
      bad[at] = wrong;
      CHECK_FALSE(digest_from_hex(bad));
    }
  CHECK_FALSE(digest_from_hex(hex.substr(1)));
  CHECK_FALSE(digest_from_hex(hex + "0"));
}

TEST_CASE("Metal's names go both ways") {
  for (int kind = 0; kind <= static_cast<int>(FunctionKind::object); ++kind) {
    const auto value = static_cast<FunctionKind>(kind);
    CHECK(function_kind(to_string(value)) == value);
  }
  CHECK(to_string(FunctionKind::external) == "external");
  CHECK_FALSE(function_kind("extern"));
  CHECK(to_string(ArgumentKind::builtin) == "builtin");
  CHECK(to_string(Access::sample) == "sample");
  CHECK(to_string(static_cast<Access>(77)) == "unknown");
  CHECK(to_string(Platform::visionos) == "visionOS");
  CHECK(to_string(Version{26, 0, 1}) == "26.0.1");
  CHECK(to_string(Version{3, 1, 0}) == "3.1");
}

TEST_CASE("lists of texts as one text") {
  using Texts = std::vector<std::string>;
  for (const Texts& texts : {Texts{}, Texts{""}, Texts{"", "", "a"}, Texts{"fill", "twice", "12:3"},
                             Texts{std::string("\0:\n", 3), std::string(1000, '7')}}) {
    const std::string list = smelt::pack_texts(texts);
    CHECK(smelt::unpack_texts(list) == texts);
    // What is cut off is none, or a list of less.
    for (size_t length = 0; length < list.size(); ++length)
      if (const auto cut = smelt::unpack_texts(std::string_view(list).substr(0, length))) {
        REQUIRE(cut->size() < texts.size());
        CHECK(std::equal(cut->begin(), cut->end(), texts.begin()));
      }
  }
  CHECK(smelt::pack_texts({"fill", "twice"}) == "4:fill5:twice");
  for (const char* const none : {"4", ":", "fill", "4fill", "5:fill", "-1:a", " 1:a", "1:ab", "99999999999999999999:a",
                                 "18446744073709551615:a", "+1:a"})
    CHECK_FALSE(smelt::unpack_texts(none));
}
