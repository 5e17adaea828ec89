// The operations that several lanes of a simdgroup (or quadgroup) do together, described once for the region driver,
// the lane vectoriser and the tests' interpreter. docs/air.md 3.8 and 3.9.
//
// Reference semantics. L is 32 for simd_*, 4 for quad_* (groups of four consecutive lanes). A lane takes part when it
// reaches the call together with others (the active mask); only those get a result. `x[i]` is lane i's operand.
//   reduce            combine of x[i] over active lanes of the group, in lane order
//   prefix_inclusive  combine over active lanes <= own;  prefix_exclusive: < own (neutral element for the first)
//   shuffle           x[index]; broadcast the same (index is the same in all lanes);  broadcast_first: lowest active
//   lane shuffle_xor       x[own ^ index];  shuffle_up x[own - index];  shuffle_down x[own + index] rotate_up/down the
//   same modulo L fill_up(d, f, delta, modulo)    own - delta inside the run of `modulo` lanes ? d[own - delta]
//                                                                             : f[own - delta + modulo]
//   fill_down(d, f, delta, modulo)  own + delta inside the run ? d[own + delta] : f[own + delta - modulo]
//   ballot            bit i = x[i] of active lanes, 0 for the others;  active_mask: ballot(true);  is_first: own is the
//                     lowest active lane;  all / any over active lanes
// A shuffle out of the group's range gives the lane's own operand; one from a lane that is not active is undefined in
// Metal (here: any value, never a trap).
//   matrix_*          whole simdgroup. Lane l holds two elements of the 8x8 matrix, elements 0 and 1 of its <64 x T>:
//                     row (l & 16) >> 2 | (l & 6) >> 1, columns 2 * ((l & 8) >> 2 | (l & 1)) and the next one.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace smelt::aot::cpu {

enum class CollectiveKind : uint8_t {
  barrier,
  reduce,
  prefix_inclusive,
  prefix_exclusive,
  shuffle,
  shuffle_xor,
  shuffle_up,
  shuffle_down,
  rotate_up,
  rotate_down,
  fill_up,
  fill_down,
  broadcast,
  broadcast_first,
  ballot,
  all,
  any,
  is_first,
  active_mask,
  matrix_load,
  matrix_store,
  matrix_multiply_accumulate,
  matrix_fill,
  matrix_diagonal,
};

enum class Combine : uint8_t { none, sum, product, minimum, maximum, bit_and, bit_or, bit_xor };

struct Collective {
  CollectiveKind kind = CollectiveKind::barrier;
  Combine combine = Combine::none;
  uint8_t lanes = 32;      ///< 32 simd, 4 quad
  bool is_signed = false;  ///< integer minimum and maximum
  bool is_float = false;
};

/// What `name` (a function's name, "air.simd_sum.f32") does, or nothing when it is no collective. Value types are those
/// of the call itself; they may be vectors. simd_vote_* and get_simdgroup_size are plain operations, not collectives.
std::optional<Collective> describe_collective(std::string_view name);

}  // namespace smelt::aot::cpu
