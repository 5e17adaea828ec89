// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Apple's own bitcode, six generations of it: vadd with function constants foo (index 0) and bar (index 2),
// c = foo * a + b + bar.
#include "smelt/metallib/reader.hpp"

#include "files.hpp"
#include "launch.hpp"
#include "skips.hpp"

#include <doctest/doctest.h>

namespace smelt::test {
namespace {

TEST_CASE("vadd of every generation runs with its function constants") {
  const auto folder = shared("data/metallibs");
  if (!folder) {
    smelt::test::skipped("tests/data/metallibs is absent");
    return;
  }
  for (const char* version : {"11", "12", "13", "14", "15", "26"}) {
    CAPTURE(version);
    const Bytes image = must_read(*folder / (std::string("constants.") + version + ".metallib"));
    const metallib::Library library = metallib::read(image).value();
    const metallib::Function* function = library.find("vadd");
    REQUIRE(function != nullptr);
    for (const aot::CpuLevel level : runnable_levels()) {
      aot::CpuOptions options;
      options.level = level;
      options.verify_ir = true;
      const LoadedSlice slice = compile_one("vadd", library.module_of(*function).blob, options);
      const schema::CpuKernel* kernel = slice.find("vadd");
      REQUIRE(kernel->constants.size() == 2);
      CHECK(kernel->constants[0].index == 0);
      CHECK(kernel->constants[1].index == 2);
      CHECK(kernel->range == schema::CpuRangeKind::threads);

      std::vector<float> a(1003);
      std::vector<float> b(a.size());
      std::vector<float> c(a.size() + 1, -1.0f);
      for (size_t i = 0; i < a.size(); ++i) {
        a[i] = static_cast<float>(i) * 0.5f;
        b[i] = 7.0f - static_cast<float>(i);
      }
      Launch launch;
      launch.grid = {static_cast<uint32_t>(a.size()), 1, 1};
      launch.group = {64, 1, 1};
      launch.pieces = 3;
      launch.bind(0, a).bind(1, b).bind(2, c).constant(0, 3.0f).constant(2, -2.0f);
      slice.run("vadd", launch);
      size_t wrong = 0;
      for (size_t i = 0; i < a.size(); ++i) wrong += c[i] != 3.0f * a[i] + b[i] - 2.0f;
      CHECK(wrong == 0);
      CHECK(c.back() == -1.0f);
    }
  }
}

}  // namespace
}  // namespace smelt::test
