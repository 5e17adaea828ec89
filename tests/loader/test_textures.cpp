// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Which textures there are: each rule at its edge.
#include "smelt/loader/texture.hpp"

#include <doctest/doctest.h>

#include <string>
#include <utility>

namespace smelt::loader {
namespace {

using Type = TextureType;

std::string error_of(const TextureDescriptor& descriptor) {
  const auto made = Texture::create(descriptor);
  return made ? "" : made.error().message;
}

}  // namespace

TEST_CASE("textures_that_metal_has_are_made_and_others_are_refused") {
  const TextureDescriptor good[] = {
      {.type = Type::d1, .width = 5},
      {.type = Type::d1_array, .width = 5, .array_length = 2},
      {.type = Type::d2, .width = 5, .height = 3, .levels = 3},
      {.type = Type::d3, .width = 2, .height = 2, .depth = 9, .levels = 4},
      {.type = Type::cube, .width = 4, .height = 4, .levels = 3},
      {.type = Type::d2_multisample, .width = 5, .height = 3, .samples = 2},
      {.type = Type::d2_multisample, .width = 5, .height = 3, .samples = 8},
      {.type = Type::d2_multisample_array, .width = 5, .height = 3, .array_length = 2, .samples = 4},
      {.type = Type::d2, .width = 65536},
  };
  for (const TextureDescriptor& one : good) CHECK(error_of(one) == "");
  const std::pair<TextureDescriptor, const char*> bad[] = {
      {{.type = Type::d1, .width = 5, .height = 2}, "has no height, 2 was given"},
      {{.type = Type::d2, .width = 5, .depth = 2}, "has no depth, 2 was given"},
      {{.type = Type::d2, .width = 5, .array_length = 2}, "is not an array, 2 elements were given"},
      {{.type = Type::cube, .width = 4, .height = 5}, "has square faces, 4 x 5 was given"},
      {{.type = Type::d2_multisample, .width = 5, .height = 3}, "with 1 samples and 1 levels"},
      {{.type = Type::d2_multisample, .width = 5, .height = 3, .samples = 9}, "with 9 samples and 1 levels"},
      {{.type = Type::d2_multisample, .width = 5, .height = 3, .levels = 2, .samples = 4},
       "with 4 samples and 2 levels"},
      {{.type = Type::d2, .width = 5, .height = 3, .samples = 2}, "with 2 samples and 1 levels"},
      {{.type = Type::d2, .width = 5, .height = 3, .levels = 4}, "has 1 to 3 levels, 4 were given"},
      {{.type = Type::d2, .width = 5, .height = 3, .levels = 0}, "has 1 to 3 levels, 0 were given"},
      {{.type = Type::d2, .width = 65537}, "each must be from 1 to 65536"},
      {{.type = Type::d2, .width = 0}, "each must be from 1 to 65536"},
  };
  for (const auto& [one, wanted] : bad) {
    CAPTURE(wanted);
    const std::string error = error_of(one);
    CHECK_MESSAGE(error.find(wanted) != std::string::npos, error);
  }
}

}  // namespace smelt::loader
