// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of one thread that stayed functions (work_item/lane_functions.hpp), as functions of a gang. Each is made
// once, however many calls there are, and once more for calls under a mask.
//
//   thread   <4 x float> (<4 x float> %a, i32 %lane)
//   gang     void (ptr %result, ptr %a)            %lane the same constants in every call
//            void (ptr %result, ptr %a, i32 %on)   under a mask
//
// A value is rows of lanes in memory, one for each scalar. Lanes' numbers are constants: what shuffles compute of them
// must be known, so integers that calls say by constants are part of the function.
#pragma once

#include "smelt/base/result.hpp"

#include "lanes/context.hpp"

#include <map>
#include <tuple>
#include <vector>

namespace smelt::aot::cpu::lanes {

inline constexpr uint64_t kRowAlignment = 64;
/// Bytes of one row of lanes, `vector`, in memory.
uint64_t row_bytes(llvm::Type* vector, const llvm::DataLayout& layout);

class LaneFunctions {
 public:
  LaneFunctions() = default;
  LaneFunctions(const LaneFunctions&) = delete;

  /// Whether lanes can do what `function` does; of each function once.
  Result<void> check(llvm::Function& function);

  /// `known` has the lanes' values of each argument that is constant, null for those that come in memory.
  llvm::Function* get(llvm::Function& function, llvm::ArrayRef<llvm::Constant*> known, bool masked,
                      const EmitOptions& options);

  /// Removes all that were made; nothing calls them any more.
  void forget();

 private:
  using Key = std::tuple<llvm::Function*, bool, std::vector<llvm::Constant*>>;
  std::map<Key, llvm::Function*> made_;
  std::map<llvm::Function*, Result<void>> checked_;
};

}  // namespace smelt::aot::cpu::lanes
