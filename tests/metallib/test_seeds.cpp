// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The fuzzer's seeds are the text form's good cases, as bytes; SMELT_ACCEPT=1 writes them anew.
#include "smelt/base/files.hpp"
#include "smelt/metallib/text.hpp"

#include "files.hpp"

#include <doctest/doctest.h>

#include <cstdlib>

using namespace smelt;

TEST_CASE("the fuzzer's seeds are the good cases") {
  const std::filesystem::path tests = std::filesystem::path(SMELT_SOURCE_DIR) / "tests";
  for (const auto& path : test::files_below(tests / "metallib/cases", ".txt")) {
    const std::string stem = path.stem().string();
    if (!stem.starts_with("ok_")) continue;
    CAPTURE(stem);
    const Bytes text = test::must_read(path);
    const Bytes image = metallib::from_text(as_text(text)).value();
    const auto seed = tests / "fuzz/metallib_seeds" / (stem.substr(3) + ".metallib");
    if (std::getenv("SMELT_ACCEPT") && read_file(seed).value_or(Bytes{}) != image) {
      REQUIRE(write_file(seed, image));
      MESSAGE("accepted ", seed.filename().string());
      continue;
    }
    const auto found = read_file(seed);
    REQUIRE_MESSAGE(found, found.error().message);
    CHECK(*found == image);
  }
}
