// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/digest.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/writer.hpp"

#include "real_files.hpp"

#include <doctest/doctest.h>

#include <set>

using namespace smelt;
using namespace smelt::metallib;

TEST_CASE("every real library is read with no unexplained byte and written back byte for byte") {
  size_t functions = 0;
  std::set<Digest> modules;
  for (const auto& path : test::real_files()) {
    CAPTURE(path);
    const Bytes image = test::must_read(path);
    const auto library = read(image);
    REQUIRE_MESSAGE(library, library.error().message);
    CHECK(library->order.empty());  // Apple's files have the standard order and no padding
    const auto written = write(*library);
    REQUIRE_MESSAGE(written, written.error().message);
    CHECK(*written == image);
    for (const Function& function : library->functions) {
      ++functions;
      const Module& module = library->module_of(function);
      CHECK(sha256(module.blob) == function.hash);
      CHECK(as_text(module.bitcode()).starts_with("BC\xC0\xDE"));
      modules.insert(function.hash);
    }
  }
  MESSAGE(functions, " functions, ", modules.size(), " distinct modules");
}
