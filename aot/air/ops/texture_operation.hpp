// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// AIR's operations on textures, of every version, as one thing. Their operands change at AIR 2.0, 2.2 and 2.8
// (docs/formats/air.md 3.11): what a call means is read here, once for the legaliser, which writes it in the form of
// its target, and for the CPU, which lowers any form.
//
// Front ends call them in a neutral form: "smelt." in front of the name, the operands of AIR 2.7, and the bare texel as
// the result.
#pragma once

#include "smelt/aot/target.hpp"
#include "smelt/base/result.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace llvm {
class CallBase;
class IRBuilderBase;
class Value;
}  // namespace llvm

namespace smelt::aot::air {

inline constexpr llvm::StringLiteral kNeutralPrefix = "smelt.air.";
/// ptr AS2 (i64): the handle of a sampler, which the number is, or whose state it is.
inline constexpr llvm::StringLiteral kNeutralSampler = "smelt.air.sampler";
/// !{!"air.sampler_state", global}, one for each constant sampler.
inline constexpr llvm::StringLiteral kSamplerList = "air.sampler_states";

inline constexpr Version kFirstReadSampler{2, 8};  ///< reads take a sampler and an offset
inline constexpr Version kFirstWideSampler{2, 7};  ///< constant samplers are [2 x i64]

struct TextureOperation {
  enum class Verb : uint8_t { sample, gather, read, write, query, fence };
  Verb verb = Verb::read;
  llvm::StringRef query;  ///< "get_width"
  llvm::StringRef kind;   ///< "2d_array"
  llvm::StringRef texel;  ///< behind the first dot: "u.v4i32", "i16.v4f32"
  bool is_depth = false, has_gradient = false, compares = false;

  bool is_cube() const { return kind.starts_with("cube"); }
  bool is_array() const { return kind.ends_with("_array"); }
  bool is_multisampled() const { return kind.contains("_ms"); }
  bool is_buffer() const { return kind == "buffer_1d"; }
  /// Of a coordinate to sample at: 1 to 3.
  unsigned axes() const;
  /// Samples and gathers take an offset; reads do from AIR 2.8 on.
  bool has_offset() const { return !is_cube() && !is_multisampled() && !is_buffer(); }
  bool is_signed() const { return texel.starts_with("s.") || texel.contains(".s."); }
};

/// "read_texture_2d.v4f32", behind "air."; nothing for what is none of these verbs (atomics, null textures, ...).
std::optional<TextureOperation> parse_texture_operation(llvm::StringRef name);
/// Of a function, with "air." or in the neutral form.
std::optional<TextureOperation> texture_operation_of(llvm::StringRef function);

/// What a call says; null where it says nothing.
struct TextureOperands {
  llvm::Value* texture = nullptr;
  llvm::Value* sampler = nullptr;
  llvm::Value* coordinate = nullptr;
  llvm::Value* face = nullptr;     ///< of a cube that is read or written
  llvm::Value* element = nullptr;  ///< of an array
  llvm::Value* reference = nullptr;
  llvm::Value* gradients[2] = {nullptr, nullptr};
  llvm::Value* offset = nullptr;
  llvm::Value* is_level = nullptr;  ///< i1: `lod` is a level, and not a bias
  llvm::Value* lod = nullptr;
  llvm::Value* least_lod = nullptr;
  llvm::Value* component = nullptr;
  llvm::Value* value = nullptr;  ///< to write
  llvm::Value* level = nullptr;  ///< of a read, write or query; a sample's index in textures of several
  llvm::Value* access = nullptr;
};

/// Errors: compile_failed for operands that no version has.
Result<TextureOperands> read_texture_operands(const TextureOperation& operation, const llvm::CallBase& call);

/// The operands of AIR from 2.2 on, for one version. `read_sampler` is what air.get_read_sampler gave, from 2.8 on.
llvm::SmallVector<llvm::Value*, 12> texture_operands_for(const TextureOperation& operation,
                                                         const TextureOperands& operands, llvm::IRBuilderBase& builder,
                                                         Version air, llvm::Value* read_sampler);
/// Whether a call of this version wants that sampler.
bool wants_read_sampler(const TextureOperation& operation, Version air);

}  // namespace smelt::aot::air
