// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The seam inside cpu/: a kernel as a function of one *unit*. The unit is a thread at first; the lane vectoriser turns
// that into a function of a gang (32 or 16 lanes of one simdgroup), and the region splitter treats either the same way.
// docs/design/cpu-code.md 2, docs/design/cpu-lanes.md 2.
//
// A scalar work item (unit = thread), after make_work_item():
//   * returns void; every helper is inlined; no calls except llvm.* intrinsics, sync sites, functions that recur
//     (work_item/recursion.hpp) and, on its way to lanes, functions in which lanes exchange values
//     (work_item/lane_functions.hpp);
//   * parameters are described one by one by `parameters`, in order;
//   * all hardware values are i32 scalars, one component each, and only those that the kernel uses are parameters;
//   * threadgroup globals are offsets from the `threadgroup_memory` parameter; function constants are loads from the
//     dispatch block; air.* operations other than sync sites are lowered to plain IR (lower/);
//   * address spaces 1 to 3 are left on pointers: both targets treat them as flat;
//   * simdgroup matrices are still `<64 x T>` values; the region splitter narrows them to the two elements of a lane
//     itself, the lane vectoriser keeps one row-major value per gang (lower/collectives.hpp).
//
// Sync sites are calls that stay in the function until it is split:
//   air.wg.barrier                  threadgroup barrier; carries metadata !smelt.site !{i32 number}
//   all other calls for which parse_collective (lower/collectives.hpp) answers
// MeetingPoint numbers start at 1 in reverse post-order and are given by number_sites() before any vectorising, so that
// all variants of one kernel agree on them. A pass that clones a barrier into another function keeps its metadata.
//
// A gang work item (unit = gang) has no sites but air.wg.barrier. Its parameters are the scalar ones, where every
// builtin means *the value for lane 0 of the gang*, plus one `lanes_on`: lanes 0..lanes_on-1 exist (a full gang's
// function has none: all lanes exist). How lanes 1, 2, ... follow from lane 0 is the layout's business:
//   row32, row16   x = lane 0's + lane; y and z are the same in the gang. thread_index counts on.
//   linear32       thread_index = lane 0's + lane; x, y, z by division with threads_per_threadgroup.
#pragma once

#include "smelt/base/entry_interface.hpp"
#include "smelt/base/result.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
class TargetMachine;
}  // namespace llvm

namespace smelt::aot::cpu {

/// Hardware values, by component where they have three. Everything else in AIR's list is made from these.
enum class Builtin : uint8_t {
  thread_position_in_grid,              // 3
  thread_position_in_threadgroup,       // 3
  threadgroup_position_in_grid,         // 3
  threads_per_threadgroup,              // 3, of this group: trimmed at the edge
  dispatch_threads_per_threadgroup,     // 3, nominal
  threads_per_grid,                     // 3
  threadgroups_per_grid,                // 3
  thread_index_in_threadgroup,          // 1
  thread_index_in_simdgroup,            // 1
  simdgroup_index_in_threadgroup,       // 1
  simdgroups_per_threadgroup,           // 1, of this group
  dispatch_simdgroups_per_threadgroup,  // 1, nominal
};
inline constexpr unsigned kBuiltinCount = 12;
inline constexpr unsigned component_count(Builtin b) {
  return b < Builtin::thread_index_in_threadgroup ? 3 : 1;
}
/// May differ between the threads of one threadgroup.
inline constexpr bool varies_in_group(Builtin b) {
  return b == Builtin::thread_position_in_grid || b == Builtin::thread_position_in_threadgroup ||
         b == Builtin::thread_index_in_threadgroup || b == Builtin::thread_index_in_simdgroup ||
         b == Builtin::simdgroup_index_in_threadgroup;
}

struct WorkParameter {
  enum class Kind : uint8_t {
    bound,  ///< what the caller bound to slot `index` of class `binding`. A buffer: a pointer (AS 1 or 2) from
            ///< smelt_cpu_dispatch::buffers; threadgroup memory: an AS 3 pointer, scratch + threadgroup_offsets
    threadgroup_memory,  ///< AS 3 pointer to this group's static threadgroup memory; 64-byte aligned; noalias
    dispatch,            ///< pointer to smelt_cpu_dispatch: same for all threads, its memory never changes; noalias
    builtin,             ///< i32: `builtin`, component `component`
    lanes_on,            ///< i32, gang functions only
  };
  Kind kind = Kind::builtin;
  BindingClass binding = BindingClass::buffer;
  uint32_t index = 0;
  uint32_t count = 0;  ///< of textures or samplers that are one parameter: the address of their handles, in space 0
  Builtin builtin = Builtin::thread_position_in_grid;
  uint8_t component = 0;
  bool no_alias = false;  ///< AIR promises that no other argument reaches this memory

  bool is_bound(BindingClass wanted) const { return kind == Kind::bound && binding == wanted; }
};

enum class Unit : uint8_t { thread, gang };
enum class LaneLayout : uint8_t { row32, row16, linear32 };
inline constexpr unsigned lane_count(LaneLayout layout) {
  return layout == LaneLayout::row16 ? 16 : 32;
}

/// A function of one unit. The function lives in the kernel's module, internal linkage.
struct WorkItem {
  Unit unit = Unit::thread;
  LaneLayout layout = LaneLayout::row32;  ///< gangs only
  llvm::Function* function = nullptr;
  std::vector<WorkParameter> parameters;
  bool grid_only =
      false;  ///< no barrier, collective, threadgroup memory or per-group builtin: runs over boxes of threads
  bool has_barriers = false;     ///< of the threadgroup
  bool has_collectives = false;  ///< simdgroup or quadgroup sites, or simdgroup builtins: lanes must be simdgroup lanes

  /// No thread waits for another or looks at its values.
  bool threads_are_alone() const { return !has_barriers && !has_collectives; }
};

/// One layout of a vectorised kernel. `full` and `partial` number their sites alike; a gang is full or partial for a
/// whole threadgroup, so the two need not agree on what they keep across sites. Large kernels have one function for
/// both, with `lanes_on`.
struct GangVariant {
  LaneLayout layout = LaneLayout::row32;
  WorkItem full;
  WorkItem partial;
  bool is_one() const { return full.function == partial.function; }
};

/// On an alloca of a gang's function in which nothing outlives one instruction of the thread: no site comes in between.
inline constexpr char kScratch[] = "smelt.scratch";

/// Bytes before and behind a threadgroup's own memory that its threads may read and nobody has. Lanes that are off are
/// then read with the others where lane 0 is on and the rest lies near it; what is read for them means nothing.
inline constexpr uint32_t kRoundThreadgroupMemory = 16 << 10;

struct LaneOptions {
  llvm::TargetMachine* target = nullptr;
  bool native_gather = false;  ///< hardware gather is worth using (x86-64-v4)
  bool fast_math = false;      ///< the module allows rounding half and bfloat once per expression
  bool verify = false;
  bool threadgroup_memory_has_room = false;  ///< kRoundThreadgroupMemory
  /// Instructions of a thread from which on a layout is one function: code and the time that it takes to make are
  /// halved then, for a test of whether all lanes exist where memory is accessed.
  size_t one_function_from = 600;
  /// The same without loops: what runs once gains little from code of its own.
  size_t one_straight_function_from = 200;
  /// A thread's first accesses to textures that have code of their own, and call no function: a tenth of a second each.
  unsigned inline_texels = 16;
  /// One layout, whatever the group's shape: row32 where no gang waits for another, else linear32.
  bool one_layout = false;
};

/// Functions of gangs from a function of a thread: row32, row16 and linear32 as docs/design/cpu-lanes.md 2 says
/// (grid_only: row32 alone; without positions in the group or grid: linear32 alone). `scalar.function` is left as it
/// was. The error says why the kernel cannot be vectorised; the module is then as before. Never aborts. Implemented in
/// lanes/.
Result<std::vector<GangVariant>> vectorise_lanes(llvm::Module& module, const WorkItem& scalar,
                                                 const LaneOptions& options);

}  // namespace smelt::aot::cpu
