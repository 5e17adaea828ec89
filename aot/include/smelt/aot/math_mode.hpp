// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How exact floating point is, in the words of Metal's compiler (docs/formats/metal-language.md 4.4).
#pragma once

#include "smelt/base/result.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace smelt::aot {

enum class MathMode : uint8_t {
  safe,     ///< as IEEE has it, but a * b + c may be one operation
  relaxed,  ///< reordered and approximated; infinities and NaNs are honoured
  fast,     ///< and none of either occurs
};

struct MathOptions {
  MathMode mode = MathMode::safe;
  bool fast_functions = false;  ///< of float functions the fast variant, where the source does not name one
  bool operator==(const MathOptions&) const = default;
};

/// -ffast-math: Metal's own default.
inline constexpr MathOptions kFastMath{MathMode::fast, true};

/// Flags of Metal's driver that shape code, as they come: of those about one thing the last counts.
///   -fmetal-math-mode=safe|relaxed|fast
///   -fmetal-math-fp32-functions=precise|fast   when absent: precise with safe, else fast
///   -ffast-math, -fno-fast-math                fast with fast, safe with precise functions
///   -O0 ... -O3, -O, -Os, -Oz, -Og, -Ofast     one level is all there is; -Ofast is -ffast-math too
class DriverFlags {
 public:
  explicit DriverFlags(MathMode without) : mode_(without) {}
  /// False: it is none of these. Errors: an unknown value.
  Result<bool> take(std::string_view flag);
  MathOptions math() const { return {mode_, fast_functions_.value_or(mode_ != MathMode::safe)}; }

 private:
  MathMode mode_;
  std::optional<bool> fast_functions_;
};

}  // namespace smelt::aot
