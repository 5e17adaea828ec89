// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.hpp"

#include <doctest/doctest.h>

extern "C" int smelt_c_api_test(const void* data, size_t size);

TEST_CASE("the C API, from C") {
  const smelt::Bytes package = smelt::test::kernel_package();
  CHECK(smelt_c_api_test(package.data(), package.size()) == 0);
}
