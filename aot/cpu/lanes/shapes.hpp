// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How a value of one thread looks across the lanes of a gang: docs/design/cpu-lanes.md 3.
//
//   uniform   the same in every lane that is on
//   linear    lane l has base + step * l (modulo the type's width); pointers count bytes
//   spread    lane l has base + a constant of its own: what masks, shifts and remainders make of a linear value
//   matrix    a simdgroup matrix: one row-major value for the whole gang (lower/collectives.hpp)
//   varying   anything
//
// The analysis is optimistic: every value starts as unknown and only moves towards varying, until nothing changes.
// What control flow does to values is part of it: a phi where lanes meet that came different ways is varying, and so is
// a value that leaves a loop which lanes leave at different times.
#pragma once

#include "lanes/levels.hpp"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"

#include <array>
#include <cstdint>
#include <limits>
#include <set>

namespace llvm {
class DataLayout;
class Instruction;
class PHINode;
class Type;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu::lanes {

/// What is added to lane 0's value in each lane; those that a gang does not have are 0.
using LaneOffsets = std::array<int64_t, 32>;

struct Shape {
  enum class Kind : uint8_t { unknown, uniform, linear, spread, matrix, varying };
  static constexpr uint64_t kNoLimit = std::numeric_limits<uint64_t>::max();

  Kind kind = Kind::unknown;
  /// Linear or spread only if no lane's value wraps when it is widened. That is tested at run time, at the memory
  /// access (memory.hpp); everything but an address must use the vector form.
  bool guarded = false;
  /// Linear or spread: the base, lane 0's value, is a multiple of 2^aligned.
  uint8_t aligned = 0;
  int64_t step = 0;
  /// Linear or spread: no lane's value, as an unsigned number, is above this. Below 2^width it also says that no lane
  /// wraps.
  uint64_t limit = kNoLimit;
  /// Spread: the constants, one object for equal ones; it belongs to the Shapes that made it.
  const LaneOffsets* offsets = nullptr;

  bool operator==(const Shape&) const = default;
  bool is_uniform() const { return kind == Kind::uniform; }
  bool is_linear() const { return kind == Kind::linear; }
  bool is_spread() const { return kind == Kind::spread; }
  bool is_varying() const { return kind == Kind::varying; }
  bool is_matrix() const { return kind == Kind::matrix; }

  /// One scalar and a constant for each lane say it all: linear or spread.
  bool has_offsets() const { return is_linear() || is_spread(); }
  int64_t offset(unsigned lane) const {
    return is_spread() ? (*offsets)[lane] : static_cast<int64_t>(static_cast<uint64_t>(step) * lane);
  }

  static Shape uniform() { return {Kind::uniform}; }
  static Shape varying() { return {Kind::varying}; }
  static Shape matrix() { return {Kind::matrix}; }
  static Shape linear(int64_t step, uint64_t limit = kNoLimit, unsigned aligned = 0, bool guarded = false);
};

Shape join(const Shape& a, const Shape& b);

/// `i1 (i1)`, made by specialise.hpp: true in all lanes that are on. Uniform.
inline constexpr char kAllLanes[] = "smelt.lanes.all";

/// `<64 x T>` of half, bfloat or float: a simdgroup matrix and nothing else (docs/formats/air.md 3.9).
bool is_matrix_type(const llvm::Type* type);
/// Simdgroup matrices or arrays of them, also as Metal's header wraps them in structs, and nothing else.
bool holds_matrices(const llvm::Type* type);

class Shapes {
 public:
  /// Analyses `function`; `arguments` are the shapes of its parameters. Keeps references to everything it is given.
  Shapes(llvm::Function& function, llvm::LoopInfo& loops, const Levels& levels, llvm::ArrayRef<Shape> arguments,
         unsigned lanes);

  Shape of(const llvm::Value* value) const;
  /// Lanes may leave `block` by different edges.
  bool divergent(const llvm::BasicBlock* block) const;
  /// Lanes may leave `loop` in different iterations or by different edges.
  bool divergent(const llvm::Loop* loop) const { return divergent_loops_.contains(loop); }
  /// A node of a level that sends lanes different ways.
  bool divergent(const LevelNode& node) const;
  /// Lanes that came different ways meet at the head of `block`.
  bool is_join(const llvm::BasicBlock* block) const { return joins_.contains(block); }

 private:
  bool propagate();
  bool settle_unknown();
  bool find_joins();
  Shape compute(const llvm::Instruction& instruction) const;
  Shape of_phi(const llvm::PHINode& phi) const;
  Shape of_call(const llvm::Instruction& instruction) const;
  Shape of_arithmetic(const llvm::Instruction& instruction) const;
  Shape of_bits(const llvm::Instruction& instruction, const Shape& a, uint64_t number) const;
  Shape of_cast(const llvm::Instruction& instruction) const;
  Shape of_address(const llvm::Instruction& instruction) const;
  /// Uniform or linear where the offsets are those of one.
  Shape spread(LaneOffsets offsets, const llvm::Type* type, uint64_t limit, unsigned aligned, bool guarded) const;
  uint64_t reach(const Shape& shape) const;
  bool left_divergent_loop(const llvm::BasicBlock* from, const llvm::BasicBlock* to, const llvm::Value* value) const;

  llvm::Function& function_;
  llvm::LoopInfo& loops_;
  const Levels& levels_;
  const llvm::DataLayout& layout_;
  unsigned lanes_;
  llvm::DenseMap<const llvm::Value*, Shape> shapes_;
  llvm::SmallPtrSet<const llvm::BasicBlock*, 16> joins_;
  llvm::SmallPtrSet<const llvm::Loop*, 8> divergent_loops_;
  mutable std::set<LaneOffsets> offsets_;
};

}  // namespace smelt::aot::cpu::lanes
