// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// air.* names taken apart (docs/formats/air.md 3.1): air.<operation>[.more][.s|.u][.v<N>]<type>.
#pragma once

#include "lower/collectives.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

namespace smelt::aot::cpu {

struct AirName {
  llvm::StringRef operation;                    ///< after "air.", without "fast_": "exp", "atomic"
  llvm::SmallVector<llvm::StringRef, 6> parts;  ///< what follows, split at the dots: {"v2f32"}, {"global", "add", ...}
  bool fast = false;                            ///< the name had "fast_"

  llvm::StringRef part(size_t i) const { return i < parts.size() ? parts[i] : llvm::StringRef(); }
};

/// Nothing when `name` does not begin with "air.".
std::optional<AirName> parse_air_name(llvm::StringRef name);

/// A type in a name as the lowering needs it: names say apart from it whether its integers have a sign.
struct OperandType {
  Element element;
  uint8_t components = 1;
};
/// "v4f16", "i32", "bf16", "v64f32" (ops/types.hpp); `sign` is the "s" or "u" in front of it, empty for none (which
/// reads as unsigned).
std::optional<OperandType> parse_operand_type(llvm::StringRef sign, llvm::StringRef type);

/// The type at the end of a name, with the ".s" or ".u" in front of it if there is one.
std::optional<OperandType> parse_trailing_type(const AirName& name);

}  // namespace smelt::aot::cpu
