// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Programs for metal-cpp name these headers, and rely on what comes with them.
#define NS_PRIVATE_IMPLEMENTATION
#define CA_PRIVATE_IMPLEMENTATION
#define MTL_PRIVATE_IMPLEMENTATION
#include <Metal.hpp>

namespace {

float half_of_root(const void* bytes) {
  float value = 0;
  std::memcpy(&value, bytes, sizeof value);
  assert(value >= 0);
  return std::sqrt(value) / 2;
}

}  // namespace

#include <QuartzCore/QuartzCore.hpp>
#include <doctest/doctest.h>

TEST_CASE("metal-cpp's other headers: QuartzCore, the single one, and what of C comes with them") {
  MTL::Device* const device = MTL::CreateSystemDefaultDevice();
  REQUIRE(device != nullptr);
  MTL::Buffer* const buffer = device->newBuffer(4, MTL::ResourceStorageModeShared);
  const float four = 4;
  std::memcpy(buffer->contents(), &four, sizeof four);
  CHECK(half_of_root(buffer->contents()) == 1);
  buffer->release();
  device->release();
}
