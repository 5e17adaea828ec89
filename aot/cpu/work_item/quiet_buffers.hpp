// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that need no books of races while nothing else that is bound shares their bytes: those that the kernel only
// reads, and those of which each thread touches one place of its own.
#pragma once

#include "work_item/work_item.hpp"

#include "llvm/IR/IRBuilder.h"

#include <array>
#include <cstdint>
#include <map>

namespace smelt::aot::cpu {

class QuietBuffers {
 public:
  /// Looks at all accesses of the work item, before anything is put between them.
  QuietBuffers(const WorkItem& item, const llvm::Argument* dispatch);

  /// Asks about the launch, at the begin of the work item.
  void ask(llvm::IRBuilderBase& builder, llvm::Value* dispatch);

  /// i1: whether accesses through `pointer` race with none in this launch; null: nothing says so. After ask().
  llvm::Value* is_quiet(const llvm::Value* pointer) const;

 private:
  /// The position in the grid as one number: x, or x + y * `row` in 32 bits.
  struct Place {
    const llvm::Value* index = nullptr;  ///< behind casts
    uint64_t row = 0;                    ///< 0: x alone
    uint64_t bytes = 0;                  ///< from one place to the next
    bool operator==(const Place&) const = default;
  };
  struct Buffer {
    bool is_written = false;
    bool is_apart = true;  ///< every access is inside of its thread's place
    Place place;
    llvm::Value* is_quiet = nullptr;
  };

  bool is_position(const llvm::Value* value, uint8_t axis) const;
  bool find_row(const llvm::Value* index, uint64_t& row) const;
  bool find_place(const llvm::Value* pointer, uint64_t bytes, Place& place) const;
  /// `bytes` 0: how many is not known.
  void learn(const llvm::Value* pointer, uint64_t bytes, bool is_write);
  void learn_call(const llvm::CallInst& call);

  const WorkItem& item_;
  const llvm::Argument* dispatch_;
  std::map<const llvm::Argument*, Buffer> buffers_;
  bool reads_anywhere_ = false, writes_anywhere_ = false;  ///< through pointers of unknown origin
};

}  // namespace smelt::aot::cpu
