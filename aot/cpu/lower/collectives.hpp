// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the lanes of a simdgroup (or quadgroup) do together: a description of every such air.* call, and the IR of its
// meaning, shared by the region loop and the lane vectoriser so that both give the same numbers.
// Names and meanings: docs/formats/air.md 3.7 to 3.10, docs/formats/metal-language.md 3.9 to 3.11.
//
// simdgroup_matrix. In AIR every thread holds a `<64 x T>`, which stands for 8x8 elements spread over 32 lanes:
// positions 0 and 1 are the lane's own two elements (`thread_elements()`), the others have no meaning. On the CPU:
//   * as one value of the whole simdgroup a matrix is a *row-major* `<64 x T>`: element (row, column) is at
//     8 * row + column. The emit_matrix_* functions take and give this form.
//   * position `slot` (0 or 1) of lane `l` is element matrix_element(l, slot) of it. MLX and PyTorch rely on exactly
//     this layout.
// A vectoriser keeps the row-major value and uses emit_matrix_slot / emit_matrix_with_slot where a kernel touches
// positions 0 and 1. A region loop keeps two T per thread (position 0 and position 1 of its `<64 x T>`), and calls
// emit_matrix_from_slots and emit_matrix_slot at each matrix operation.
#pragma once

#include "llvm/ADT/ArrayRef.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace llvm {
class CallInst;
class Constant;
class IRBuilderBase;
class LLVMContext;
class Type;
class Value;
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::cpu {

inline constexpr unsigned kSimdWidth = 32;
inline constexpr unsigned kQuadWidth = 4;

enum class CollectiveKind : uint8_t {
  // T (T), over the active lanes of the group
  sum,
  product,
  minimum,
  maximum,
  bit_and,
  bit_or,
  bit_xor,
  prefix_inclusive_sum,
  prefix_inclusive_product,
  prefix_exclusive_sum,
  prefix_exclusive_product,
  broadcast_first,  // of the lowest active lane
  // T (T, i16)
  broadcast,
  shuffle,
  shuffle_xor,
  shuffle_up,
  shuffle_down,
  rotate_up,
  rotate_down,
  // T (T data, T fill, i16 delta, i16 modulo)
  fill_up,
  fill_down,
  // votes
  ballot,               // i64 (i1)
  all,                  // i1 (i1), over the active lanes
  any,                  // i1 (i1), over the active lanes
  is_first,             // i1 ()
  active_threads_mask,  // i64 ()
  // matrices
  matrix_load,
  matrix_store,
  matrix_multiply_accumulate,
  matrix_filled,
  matrix_diagonal,
  // synchronisation
  threadgroup_barrier,  // void (i32 flags, i32 scope) or (flags, order, scope)
  simdgroup_barrier,    // the same
  // copies by the whole simdgroup; one execution per simdgroup does it all
  async_copy_1d,
  async_copy_2d,
  async_wait,  // void (i32 count, event**): copies are done at once, so nothing is left to wait for
  // Of tensors (lower/tensors.hpp), by the whole simdgroup: pointers are each lane's own, numbers are the same in all.
  tensor_product,  // void (descriptor, left, right, destination, i32 form, i32 thread, i32 threads, i32 layout)
  tensor_reduce,   // void (elements, results, i32 operation, rows, columns, form, thread, threads, layout; identity)
};

enum class ElementKind : uint8_t { none, signed_integer, unsigned_integer, half, bfloat, single };
struct Element {
  ElementKind kind = ElementKind::none;
  uint8_t bits = 0;
  bool is_float() const { return kind >= ElementKind::half; }
  bool operator==(const Element&) const = default;
};

struct Collective {
  CollectiveKind kind = CollectiveKind::sum;
  uint8_t group_width = kSimdWidth;   ///< 32, or 4 for quad_*
  Element element;                    ///< of T; of the result for matrices; none for barriers
  uint8_t components = 1;             ///< of T: 1 to 4, or 64 for matrices
  std::array<Element, 3> operands{};  ///< matrix_multiply_accumulate: elements of A, B and C
};

/// The description of a collective `air.*` function, or nothing when it is not one.
std::optional<Collective> parse_collective(std::string_view name);

/// Runtime functions of the whole simdgroup, without prefix: what tensor_product and tensor_reduce call. The callee's
/// name is "smelt." and this.
std::optional<std::string_view> tensor_function(CollectiveKind kind);

/// T (T) operations with combine(): sum to bit_xor.
bool is_reduction(CollectiveKind kind);
bool is_prefix(CollectiveKind kind);
/// broadcast_first to fill_down: the result is another lane's operand.
bool is_lane_move(CollectiveKind kind);
bool is_matrix(CollectiveKind kind);

// ---- Reductions and prefixes --------------------------------------------------------------------------------------
// Lanes are widened, combined, and the result is narrowed: half and bfloat are summed in float and rounded once.
// Values may be scalars or vectors of any width; AIR's own vectors (components > 1) are combined component-wise.

/// `value` in the type in which lanes are combined: float for half and bfloat, else the same.
llvm::Value* emit_widen(llvm::IRBuilderBase& builder, const Collective& collective, llvm::Value* value);
/// Back to the collective's own element type.
llvm::Value* emit_narrow(llvm::IRBuilderBase& builder, const Collective& collective, llvm::Value* value);
/// Neutral element, of the given widened type (scalar or vector): what lanes that are off contribute.
/// For minimum and maximum of floats it is NaN: the other operand wins, and a group of NaNs gives NaN.
llvm::Constant* identity(const Collective& collective, llvm::Type* widened);
/// One step, on widened values. Sums of floats carry `reassoc contract` (the order of lanes is not specified).
llvm::Value* emit_combine(llvm::IRBuilderBase& builder, const Collective& collective, llvm::Value* left,
                          llvm::Value* right);

// ---- Shuffles -------------------------------------------------------------------------------------------------------

// A lane that does not take part (it has no thread, in a group that does not fill its simdgroup, or its thread is in
// another branch) reads as 0. Metal leaves the value undefined; the kernels that PyTorch publishes read such lanes
// (c10/metal/reduction_utils.h, simd_sum of long), and 0 is what they get on M1 and M2 (pytorch/pytorch#187788). Where
// fill_up and fill_down would take the fill of such a lane, a lane takes its own.

/// Where a lane's result comes from. Indices are lanes of the *simdgroup* (0 to 31), also for quads.
struct SourceLane {
  llvm::Value* index = nullptr;      ///< i32 or vector of i32: lane whose operand is the result
  llvm::Value* from_fill = nullptr;  ///< i1 or vector of i1, fill_up and fill_down only: take `fill` of that lane
};
/// `lane` is i32 (or a vector of i32: all lanes at once); `amount` and `modulo` are the call's i16 operands, scalar or
/// vector like `lane` (modulo only for fill_*). Lanes without a source name themselves, so they keep their value.
/// Not for broadcast_first, whose source is the lowest active lane (of the quad).
SourceLane emit_source_lane(llvm::IRBuilderBase& builder, const Collective& collective, llvm::Value* lane,
                            llvm::Value* amount, llvm::Value* modulo = nullptr);

// ---- Matrices -------------------------------------------------------------------------------------------------------

/// Row-major index of the element that `lane` holds at position `slot` (0 or 1).
constexpr unsigned matrix_element(unsigned lane, unsigned slot) {
  const unsigned quad = lane / 4;
  const unsigned row = (quad & 4) + (lane / 2) % 4;
  const unsigned column = (quad & 2) * 2 + (lane % 2) * 2;
  return row * 8 + column + slot;
}

/// `operands` are those of the air call, in its order, both forms: (p, pitch, origin, transpose) and, from AIR 2.8,
/// (p, dims, strides, origin). Gives a row-major `<64 x T>`.
llvm::Value* emit_matrix_load(llvm::IRBuilderBase& builder, const Collective& collective,
                              llvm::ArrayRef<llvm::Value*> operands);
/// The same into memory, which does not overlap what is loaded. `as_floats`: made floats on the way. The call that does
/// it; null, and nothing done, for floats where neither rows nor columns lie in lines.
llvm::CallInst* emit_matrix_load_to(llvm::IRBuilderBase& builder, const Collective& collective,
                                    llvm::ArrayRef<llvm::Value*> operands, llvm::Value* result, bool as_floats = false);
/// `operands` as in the call; the first is the row-major matrix.
void emit_matrix_store(llvm::IRBuilderBase& builder, const Collective& collective,
                       llvm::ArrayRef<llvm::Value*> operands);
/// a * b + c, computed in float and rounded once to the result's type. All row-major.
llvm::Value* emit_matrix_multiply_accumulate(llvm::IRBuilderBase& builder, const Collective& collective, llvm::Value* a,
                                             llvm::Value* b, llvm::Value* c);
/// As floats into memory at `result`; from `place` where the matrix lies in memory already, else null.
void emit_matrix_widened_to(llvm::IRBuilderBase& builder, llvm::Value* matrix, llvm::Value* place, llvm::Value* result);
/// How a matrix lies in memory: row-major, a and b as floats; or what all lanes hold at position 0 and then what they
/// hold at position 1.
enum class MatrixForm : uint8_t { rows, slots };

/// The same as a function of the module, made when it is first asked for: `void (a, b, c, result)` on matrices in
/// memory, all of one form, which do not overlap the result. A product is 64 multiplications of vectors: where there
/// are dozens of them, one copy of that is what can be compiled and kept in the instruction cache.
llvm::Function* matrix_multiply_function(llvm::Module& module, const Collective& collective, MatrixForm form);
llvm::Value* emit_matrix_filled(llvm::IRBuilderBase& builder, llvm::Value* scalar);
llvm::Value* emit_matrix_diagonal(llvm::IRBuilderBase& builder, llvm::Value* scalar);

/// `<32 x T>`: what each lane holds at position `slot` of a row-major matrix.
llvm::Value* emit_matrix_slot(llvm::IRBuilderBase& builder, llvm::Value* matrix, unsigned slot);
/// The row-major matrix with position `slot` of all lanes replaced by `lanes` (`<32 x T>`).
llvm::Value* emit_matrix_with_slot(llvm::IRBuilderBase& builder, llvm::Value* matrix, unsigned slot,
                                   llvm::Value* lanes);
/// The row-major matrix of two `<32 x T>`.
llvm::Value* emit_matrix_from_slots(llvm::IRBuilderBase& builder, llvm::Value* slot0, llvm::Value* slot1);

// ---- Copies ---------------------------------------------------------------------------------------------------------

/// The whole copy, for one execution per simdgroup. Gives the event (a null pointer). Calls the runtime: link_runtime
/// (runtime/runtime.hpp) must run on the module afterwards.
llvm::Value* emit_async_copy(llvm::IRBuilderBase& builder, const Collective& collective,
                             llvm::ArrayRef<llvm::Value*> operands);

}  // namespace smelt::aot::cpu
