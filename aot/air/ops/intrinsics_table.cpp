// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ops/intrinsics_table.hpp"

#include <algorithm>
#include <iterator>

namespace smelt::aot::air {
namespace {

#define SMELT_OPERATION(name, suffix, signature, effect, evidence, variants, versions, stages, cpu) \
  {name,     Suffix::suffix,   signature,        Effect::effect, Evidence::evidence,                \
   variants, (versions).since, (versions).until, stages},
constexpr Row kRows[] = {
#include "ops/ops.def"
};

#define SMELT_FAMILY(word, stages) {word, stages},
constexpr Family kFamilies[] = {
#include "ops/ops.def"
};

}  // namespace

std::span<const Row> table() {
  return kRows;
}

const Family* family_of(std::string_view name) {
  const auto* const found = std::find_if(std::begin(kFamilies), std::end(kFamilies), [&](const Family& family) {
    return name.find(family.word) != std::string_view::npos;
  });
  return found == std::end(kFamilies) ? nullptr : found;
}

}  // namespace smelt::aot::air
