// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Random fragment, vertex and compute shaders in GLSL, with how far a colour of theirs may be from that of another
// implementation.
//
// The body is the same for both sides; only where its inputs come from differs (METAL or not). Each expression is made
// with a bound of its value and of its error, from the precision that the Vulkan specification asks of each operation
// (appendix "Precision and Operation of SPIR-V Instructions"). What is not continuous (floor, comparisons, conditions)
// is asked only of values that are exact on both sides.
#pragma once

#include <cstdint>
#include <random>
#include <string>

namespace smelt::test {

struct GlslShader {
  std::string text;          ///< with `#ifdef METAL`
  double error[2] = {0, 0};  ///< of each number of outputs 0 and 1
  bool discards = false;
};

/// What both sides give a shader for each of its threads; laid out as GLSL's std430 has it.
struct ShaderInputs {
  float a[4], b[4];  ///< multiples of 1/1024 in [-2, 2)
  int32_t i[4];      ///< in [-512, 512)
  uint32_t u[4];     ///< any
};
/// The same for all threads, in std140.
struct ShaderConstants {
  float c[4];    ///< as a and b
  int32_t k[4];  ///< as i
};

/// Compute shaders have groups of kGroup threads, which meet at barriers and exchange values.
enum class GlslStage : uint8_t { vertex, fragment, compute };
inline constexpr unsigned kGroup = 64;

GlslShader random_shader(uint64_t seed, GlslStage stage);

}  // namespace smelt::test
