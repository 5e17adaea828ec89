// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/metallib/check.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"
#include "smelt/metallib/writer.hpp"

#include "real_files.hpp"

#include <doctest/doctest.h>

using namespace smelt;
using namespace smelt::metallib;

namespace {

Bytes small_library() {
  return write(make_library({.os_major = 14}).value()).value();
}

Universal wrapper(bool metal, bool big_endian, std::vector<ByteView> contents, uint32_t alignment = 4) {
  Universal universal{.metal = metal, .big_endian = big_endian, .slices = {}};
  for (const ByteView bytes : contents)
    universal.slices.push_back({.cpu = kCpuAir64, .subtype = 10, .offset = 0, .alignment = alignment, .bytes = bytes});
  REQUIRE(place_slices(universal));
  return universal;
}

}  // namespace

TEST_CASE("slices are found in both wrappers and both byte orders, and written back") {
  const Bytes library = small_library();
  const Bytes gpu = to_bytes(as_bytes("\xCF\xFA\xED\xFE not looked into"));
  struct Form {
    bool metal, big_endian;
    std::string_view magic;
  };
  for (const Form& form : {Form{false, true, "\xCA\xFE\xBA\xBE"}, Form{true, true, "\xCB\xFE\xBA\xBE"},
                           Form{true, false, "\xBE\xBA\xFE\xCB"}}) {
    const Bytes file = write_universal(wrapper(form.metal, form.big_endian, {gpu, library}, 12)).value();
    CHECK(as_text(file).starts_with(form.magic));
    const auto universal = read_universal(file);
    REQUIRE_MESSAGE(universal, universal.error().message);
    CHECK(universal->slices.size() == 2);
    CHECK(universal->slices[1].offset == 8192);
    CHECK(write_universal(*universal).value() == file);
    const auto images = find_images(file);
    REQUIRE(images);
    REQUIRE(images->size() == 1);
    CHECK(images->front().where == "slice 1 (cpu 0x1000017, subtype 10)");
    CHECK(images->front().cpu == kCpuAir64);
    CHECK(read(images->front().bytes));
    CHECK(read(file).error().code == Errc::not_metallib);
    CHECK(read(file).error().message.find("universal") != std::string::npos);
  }
}

TEST_CASE("a plain library is its own only image") {
  const Bytes library = small_library();
  const auto images = find_images(library);
  REQUIRE(images);
  REQUIRE(images->size() == 1);
  CHECK(images->front().where.empty());
  CHECK(find_images(as_bytes("#include <metal_stdlib>")).error().message ==
        "not a Metal library: it looks like Metal Shading Language source; want a file that starts with 'MTLB'");
}

TEST_CASE("nesting is bounded") {
  Bytes file = small_library();
  for (uint32_t depth = 0; depth < kMaxFatDepth; ++depth) file = write_universal(wrapper(true, false, {file})).value();
  const auto images = find_images(file);
  REQUIRE(images);
  CHECK(images->front().where == "slice 0 (cpu 0x1000017, subtype 10), slice 0 (cpu 0x1000017, subtype 10)");
  file = write_universal(wrapper(true, false, {file})).value();
  REQUIRE_FALSE(find_images(file));
  CHECK(find_images(file).error().message.ends_with("universal files nested more than 2 deep"));
}

TEST_CASE("no prefix of a universal file is read, and every changed byte is refused or comes back") {
  const Bytes library = small_library();
  const Bytes file = write_universal(wrapper(true, true, {library, library})).value();
  for (size_t n = 0; n < file.size(); ++n)
    CHECK_FALSE(read_universal(Bytes(file.begin(), file.begin() + static_cast<std::ptrdiff_t>(n))));
  for (size_t at = 0; at < file.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      Bytes changed = file;
      changed[at] ^= std::byte{1} << bit;
      const auto universal = read_universal(changed);
      if (universal && write_universal(*universal).value_or(Bytes{}) != changed) FAIL_CHECK("byte ", at, ", bit ", bit);
      check_file(changed);
    }
}

TEST_CASE("hostile tables are refused") {
  const Bytes library = small_library();
  const Bytes file = write_universal(wrapper(true, false, {library, library})).value();
  const auto with = [&](size_t at, uint32_t value) {
    Bytes changed = file;
    store_le<uint32_t>(changed.data() + at, value);
    const auto universal = read_universal(changed);
    return universal ? std::string() : universal.error().message;
  };
  CHECK(with(4, 0xFFFFFFFF) == "universal file: claims 4294967295 slices; at most 64 are read");
  CHECK(with(8 + 8, 20).find("slice 0 of 118 bytes at byte 20 is not between") != std::string::npos);
  CHECK(with(8 + 12, 0xFFFFFFFF).find("slice 0 of 4294967295 bytes") != std::string::npos);
  CHECK(with(28 + 8, 48) == "universal file: slice at byte 48 overlaps the one that ends at byte 166");
}
