// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the gang's function: the same blocks as the thread's function, every value in the form its shape asks for
// (context.hpp).
//
// The emitter goes through the blocks and gives each instruction to the part that can do it: control flow, memory,
// arithmetic or collectives. It calls the parts; they call the context, and neither each other nor the emitter.
//
// The function must have passed structurise() and check_supported() (legal.hpp).
#pragma once

#include "lanes/arithmetic.hpp"
#include "lanes/collectives.hpp"
#include "lanes/context.hpp"
#include "lanes/control_flow.hpp"
#include "lanes/memory.hpp"

namespace smelt::aot::cpu::lanes {

class GangEmitter {
 public:
  /// `target` is empty but for its parameters. Everything is referred to, not copied.
  GangEmitter(llvm::Function& source, llvm::Function& target, const Analysis& analysis, const EmitOptions& options)
      : gang_(source, target, analysis, options) {}

  llvm::IRBuilder<>& builder() { return gang_.builder; }
  llvm::Value* step_vector(llvm::Type* type, int64_t step) { return gang_.step_vector(type, step); }
  /// Before run(): forms of the arguments, in the entry block where builder() stands. Linear ones need only the scalar.
  void set_scalar(const llvm::Value* value, llvm::Value* form) { gang_.set_scalar(value, form); }
  void set_parts(const llvm::Value* value, Parts form) { gang_.set_parts(value, std::move(form)); }
  /// Before run(): the lanes that exist; null if all do. `whole` (i1, or null) says whether all do after all: accesses
  /// to memory ask for it.
  void set_entry_mask(llvm::Value* mask, llvm::Value* whole) { gang_.set_entry_mask(mask, whole); }
  /// Before run(): an argument that is rows in memory at `pointer`.
  void set_rows(const llvm::Value* value, llvm::Value* pointer) { collectives_.set_rows(value, pointer); }
  /// Before run(): where what the function returns goes, as rows.
  void set_result(llvm::Value* pointer) { result_ = pointer; }
  void run();

 private:
  void emit_block(llvm::BasicBlock* block);
  void emit(llvm::Instruction& instruction);
  void emit_call(llvm::CallInst& call);

  GangContext gang_;
  ControlFlow control_flow_{gang_};
  Memory memory_{gang_};
  Arithmetic arithmetic_{gang_};
  Collectives collectives_{gang_};
  llvm::Value* result_ = nullptr;
};

}  // namespace smelt::aot::cpu::lanes
