// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "support.hpp"

#include <doctest/doctest.h>

extern "C" int smelt_c_api_test(const void* data, size_t size);
extern "C" int smelt_c_tensors_test(const void* data, size_t size);
extern "C" int smelt_c_textures_test(const void* data, size_t size);

TEST_CASE("the C API, from C") {
  const smelt::Bytes package = smelt::test::kernel_package();
  CHECK(smelt_c_api_test(package.data(), package.size()) == 0);
}

TEST_CASE("tensors, from C") {
  const smelt::Bytes package = smelt::test::kernel_package({smelt::test::tensor_kernel()});
  CHECK(smelt_c_tensors_test(package.data(), package.size()) == 0);
}

TEST_CASE("textures and samplers, from C") {
  const smelt::Bytes package = smelt::test::kernel_package({smelt::test::texture_kernel()});
  CHECK(smelt_c_textures_test(package.data(), package.size()) == 0);
}
