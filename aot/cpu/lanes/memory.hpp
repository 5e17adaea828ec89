// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads, stores, atomics, private memory and texels of a gang. Calls the context alone. The files of this part share
// access.hpp, which no other part includes.
#pragma once

#include "lanes/context.hpp"

namespace smelt::aot::cpu::lanes {

/// A call of what the runtime has for one thread's texels.
bool is_texture_call(const llvm::Function& callee);

struct Access;         // access.hpp
struct LaneAddresses;  // access.hpp

class Memory {
 public:
  explicit Memory(GangContext& gang) : gang_(gang), builder_(gang.builder) {}

  void emit_alloca(llvm::AllocaInst& alloca);
  /// Of addresses that differ between lanes.
  void emit_load(llvm::LoadInst& load);
  void emit_store(llvm::StoreInst& store);
  void emit_atomic(llvm::AtomicRMWInst& atomic);
  void emit_compare_exchange(llvm::AtomicCmpXchgInst& exchange);
  /// Of a texture or coordinates that differ between lanes, or without result.
  void emit_texture_call(llvm::CallInst& call);

 private:
  Parts load(const Access& access);
  Parts load_otherwise(const Access& access);
  Parts load_adjacent(const Access& access);
  Parts load_one_by_one(const Access& access);
  void store(const Access& access, const Parts& values);
  void store_otherwise(const Access& access, const Parts& values);
  void store_adjacent(const Access& access, const Parts& values);
  void store_one_by_one(const Access& access, const Parts& values);
  LaneAddresses lane_addresses(const Access& access);

  GangContext& gang_;
  llvm::IRBuilder<>& builder_;
  llvm::DenseMap<llvm::Constant*, llvm::GlobalVariable*> offset_tables_;
  unsigned inline_texels_ = 0;  // reads and writes of textures that are code of their own
};

}  // namespace smelt::aot::cpu::lanes
