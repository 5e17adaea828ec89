// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Every pointer of a kernel gets a shadow: in which object it points where, computed beside it. Shadows follow address
// arithmetic, casts, selects and phis, and wait beside the thread's own arrays that pointers are put into; where a
// pointer comes out of other memory or of an integer, the objects of the launch are searched for it.
#pragma once

#include "work_item/checked.hpp"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/Operator.h"

#include <map>
#include <vector>

namespace smelt::aot::cpu {

struct Shadow {
  llvm::Value* offset = nullptr;  ///< i64: bytes from the object's start; from address 0 where there is no object
  llvm::Value* bytes = nullptr;   ///< i64: what the object has; 0 where there is none
  llvm::Value* object = nullptr;  ///< i32: smelt_cpu_fault::buffer
  bool is_ours = false;  ///< the dispatch block and what hangs on it: not the kernel's to touch, and not looked at
};

class PointerShadows {
 public:
  /// Of a function that calls itself, or (with `item`) of a work item.
  PointerShadows(llvm::Function& function, llvm::Value* dispatch, const WorkItem* item,
                 llvm::ArrayRef<ThreadgroupObject> objects);

  /// Its values dominate every use of `pointer`. The reference is good for good.
  const Shadow& of(llvm::Value* pointer);

  /// Call for each store before it is guarded: if it puts a pointer into an array of the thread's own, its shadow is
  /// put beside it.
  void keep(llvm::StoreInst& store);

  /// `pointer` has become `now` for all that use it, also for what computes its shadow.
  void replaced(llvm::Value* pointer, llvm::Value* now);

 private:
  struct Known {
    llvm::Value* start;  // i64
    Shadow shadow;       // of its start
  };

  llvm::Instruction& entry_point() { return *function_.getEntryBlock().getFirstNonPHIOrDbgOrAlloca(); }
  Shadow make(llvm::Value* pointer);
  Shadow of_gep(llvm::GEPOperator& gep);
  Shadow of_select(llvm::SelectInst& select);
  Shadow of_load(llvm::LoadInst& load);
  const Shadow& of_phi(llvm::PHINode& phi);
  Shadow of_argument(llvm::Argument& argument);
  Shadow of_global(llvm::GlobalVariable& global);
  Shadow of_threadgroup(uint64_t offset);
  Shadow of_variable(const ThreadgroupObject& object);
  Shadow of_stray(llvm::Value* pointer);
  Shadow of_ours();
  Shadow fixed(uint64_t bytes, uint32_t object);
  Shadow look_up_buffer(llvm::IRBuilder<>& builder, llvm::Value* address);
  std::vector<Known> known_in(unsigned address_space);
  void collect_kept_addresses();
  void add_arrays_of_shadows();
  llvm::Value* kept_shadow(llvm::IRBuilder<>& builder, llvm::Value* place);

  llvm::Function& function_;
  const llvm::DataLayout& data_layout_;
  llvm::Type* i32_;
  llvm::Type* i64_;
  llvm::Value* dispatch_;
  llvm::Value* threadgroup_memory_ = nullptr;
  const WorkItem* item_;
  llvm::ArrayRef<ThreadgroupObject> objects_;
  std::vector<llvm::Value*> kept_;  // private arrays and constant tables whose address a kernel puts away
  std::map<llvm::Value*, llvm::AllocaInst*> arrays_of_shadows_;  // of arrays of the thread's own that hold pointers
  std::map<llvm::Value*, Shadow> shadows_;
};

}  // namespace smelt::aot::cpu
