// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Bytes from outside: every prefix, every mutation, and claims far beyond the file. Each image is a fresh buffer of the
// exact size, so that the sanitizer presets see any step over its end.
#include "smelt/metallib/check.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/text.hpp"
#include "smelt/metallib/writer.hpp"

#include "real_files.hpp"

#include <doctest/doctest.h>

#include <random>

using namespace smelt;
using namespace smelt::metallib;

namespace {

Bytes case_file(const std::string& name) {
  const Bytes text =
      test::must_read(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/metallib/cases" / (name + ".txt"));
  return from_text(as_text(text)).value();
}

void check_every_prefix_is_refused(const Bytes& image) {
  for (size_t n = 0; n < image.size(); ++n) {
    const Bytes prefix(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(n));
    const auto library = read(prefix);
    if (library || library.error().code != (n < 4 ? Errc::not_metallib : Errc::truncated))
      FAIL_CHECK("prefix of ", n, " bytes: ", library ? "read" : library.error().message);
  }
}

/// A changed file is refused, or comes back as it is: nothing is invented, nothing is lost.
bool fails_or_comes_back(const Bytes& image, bool check_hashes) {
  const auto library = read(image, {.check_hashes = check_hashes});
  if (!library) return !library.error().message.empty();
  const auto written = write(*library);
  return written && *written == image;
}

}  // namespace

TEST_CASE("no prefix of a library is read") {
  for (const char* name : {"ok_one_function", "ok_oldest_container", "ok_everything", "ok_no_functions"})
    check_every_prefix_is_refused(case_file(name));
  if (const auto folder = test::shared("data/metallibs"))
    for (const char* name : {"kernel.26.metallib", "constants.11.metallib"})
      check_every_prefix_is_refused(test::must_read(*folder / name));
}

TEST_CASE("a prefix whose header is corrected is refused or comes back") {
  // The size field no longer gives the cut away; the sections must.
  for (const char* name : {"ok_one_function", "ok_oldest_container", "ok_everything"}) {
    const Bytes image = case_file(name);
    for (size_t n = sizeof(Header); n < image.size(); ++n) {
      Bytes prefix(image.begin(), image.begin() + static_cast<std::ptrdiff_t>(n));
      store_le<uint64_t>(prefix.data() + 16, n);
      CHECK_FALSE(read(prefix));
    }
  }
}

TEST_CASE("every single changed byte is refused or comes back") {
  const Bytes values{std::byte{0x00}, std::byte{0x01}, std::byte{0x7F}, std::byte{0x80}, std::byte{0xFF}};
  for (const char* name : {"ok_one_function", "ok_everything", "ok_oldest_container"}) {
    const Bytes image = case_file(name);
    size_t refused = 0;
    for (size_t at = 0; at < image.size(); ++at)
      for (int k = 0; k < 13; ++k) {
        Bytes changed = image;
        changed[at] = k < 5 ? values[k] : changed[at] ^ (std::byte{1} << (k - 5));
        if (changed == image) continue;
        for (const bool check_hashes : {true, false})
          if (!fails_or_comes_back(changed, check_hashes)) FAIL_CHECK(name, ": byte ", at, ", change ", k);
        refused += read(changed) ? 0 : 1;
      }
    CHECK(refused > image.size());
  }
}

TEST_CASE("real libraries with a few changed bytes are refused or come back") {
  std::mt19937 random(20260101);
  for (const auto& path : test::fixtures()) {
    const Bytes image = test::must_read(path);
    for (int i = 0; i < 60; ++i) {
      Bytes changed = image;
      // Mostly in the structure; a change inside a module only spoils its hash.
      const size_t within = i % 4 == 0 ? image.size() : std::min<size_t>(image.size(), 700);
      for (unsigned k = random() % 4 + 1; k > 0; --k) changed[random() % within] = static_cast<std::byte>(random());
      if (!fails_or_comes_back(changed, i % 2 == 0)) FAIL_CHECK(path.filename(), ": change ", i);
      check_file(changed);
    }
  }
}

TEST_CASE("a changed module spoils its hash, and only that") {
  Bytes image = case_file("ok_two_functions");
  image.back() = std::byte{0};  // padding already
  const auto library = read(image);
  REQUIRE(library);
  Library changed = *library;
  changed.functions[1].hash.bytes[0] ^= std::byte{1};
  const Bytes wrong = write(changed).value();
  const auto refused = read(wrong);
  REQUIRE_FALSE(refused);
  CHECK(refused.error().code == Errc::corrupt);
  CHECK(refused.error().message.starts_with("function 1 'daxpy': HASH is "));
  CHECK(read(wrong, {.check_hashes = false}));
  const auto findings = check_file(wrong);
  REQUIRE(findings.size() == 1);
  CHECK(findings[0].place == "function 1 'daxpy'");
  CHECK(findings[0].severity == Severity::error);
}

TEST_CASE("newer containers are read when asked for, if they have the known shape") {
  Bytes image = case_file("ok_one_function");
  image[8] = std::byte{10};
  CHECK(read(image).error().code == Errc::format_newer);
  const auto library = read(image, {.allow_newer = true});
  REQUIRE(library);
  CHECK(library->patch == 10);
  CHECK(write(*library).value() == image);
  image[6] = std::byte{3};
  CHECK(read(image, {.allow_newer = true}).error().code == Errc::format_newer);
}
