// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Shaders run by Mesa's lavapipe: what it writes for the inputs that our side is given.
#pragma once

#include "smelt/base/result.hpp"

#include "generator.hpp"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace smelt::test {

/// Threads of one run: for fragments a picture of 16 x 8, thread x + 16 * y.
inline constexpr uint32_t kWidth = 16, kHeight = 8, kThreads = kWidth * kHeight;
/// Of an output that a discarded fragment did not write.
inline constexpr float kNotWritten = -12345;
/// The image's sides, and its texels: rgba8unorm.
inline constexpr uint32_t kTexels = 8;

struct JudgedThread {
  std::array<float, 4> output[2];
};

class ShaderJudge {
 public:
  /// Errors: unsupported, with what is missing here.
  static Result<std::unique_ptr<ShaderJudge>> open();
  virtual ~ShaderJudge() = default;

  /// `spirv` is the shader without METAL. Fails with an exception where Vulkan does.
  virtual std::vector<JudgedThread> run(GlslStage stage, std::span<const uint32_t> spirv,
                                        const ShaderConstants& constants, std::span<const ShaderInputs> inputs,
                                        std::span<const std::byte> texels) = 0;
};

}  // namespace smelt::test
