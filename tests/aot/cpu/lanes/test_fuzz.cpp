// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random kernels: gangs of every layout must write what threads write one by one.
#include "harness.hpp"
#include "random_kernel.hpp"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

using namespace smelt;
using namespace smelt::test;

namespace {

struct Tally {
  unsigned equal = 0, refused = 0, different = 0;
};

void run_seed(uint32_t seed, bool flat, Cpu cpu, Tally& tally) {
  CAPTURE(seed);
  CAPTURE(flat);
  auto context = std::make_unique<llvm::LLVMContext>();
  auto module = random_kernel(*context, seed, flat);
  LaneKernel kernel(std::move(context), std::move(module), "kernel", cpu);
  const bool one_function = seed % 8 < 4;
  CAPTURE(one_function);
  auto made = kernel.vectorise(one_function);
  if (!made) {
    MESSAGE("seed " << seed << " refused: " << made.error().message);
    ++tally.refused;
    return;
  }
  for (const auto& variant : *made) CHECK((variant.is_one() || !one_function));
  kernel.compile();
  const std::vector<Group> groups =
      flat ? std::vector<Group>{{{32, 1, 1}}, {{77, 1, 1}}, {{1, 1, 1}}}
           : std::vector<Group>{{{64, 1, 1}}, {{16, 3, 1}}, {{5, 7, 1}}, {{40, 2, 1}, {8, 4, 0}}};
  std::string difference;
  for (uint32_t uniform : {0u, 5u, 6u}) {
    if (difference.empty()) difference = compare(kernel, random_kernel_inputs(96, uniform), groups);
  }
  CHECK_MESSAGE(difference.empty(), "seed " << seed << ": " << difference);
  ++(difference.empty() ? tally.equal : tally.different);
}

unsigned setting(const char* name, unsigned otherwise) {
  const char* text = std::getenv(name);
  return text ? static_cast<unsigned>(std::strtoul(text, nullptr, 10)) : otherwise;
}

}  // namespace

// SMELT_LANE_SEED and SMELT_LANE_COUNT choose other kernels for a longer run.
TEST_CASE("random kernels give the same results by gangs as by threads") {
  const unsigned first = setting("SMELT_LANE_SEED", 1);
  const unsigned count = setting("SMELT_LANE_COUNT", 16);
  Tally tally;
  for (unsigned seed = first; seed < first + count; ++seed) {
    run_seed(seed, seed % 2 == 0, seed % 4 < 2 ? Cpu::native : Cpu::v3, tally);
  }
  MESSAGE(tally.equal << " equal, " << tally.refused << " refused, " << tally.different << " different");
  CHECK(tally.refused == 0);
}
