// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random numbers that are the same with every standard library, and ggml's types made of them.
#pragma once
#include "ggml.h"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

namespace judge {

float uniform(std::mt19937& random, float low, float high);
std::vector<float> uniform(std::mt19937& random, size_t count, float low, float high);

/// FNV-1a.
uint32_t seed_of(const std::string& text);

/// The values as ggml stores them in a tensor of that type. `row`: how many belong together; blocks must fit in.
std::vector<uint8_t> converted(lm_ggml_type type, const std::vector<float>& values, int64_t row);
/// What such bytes stand for.
std::vector<float> as_floats(lm_ggml_type type, const std::vector<uint8_t>& bytes, size_t count);

}  // namespace judge
