// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Writes the gang's function: the same blocks as the thread's function, every value in the form its shape asks for.
//
//   uniform, matrix   one scalar (or one row-major `<64 x T>`) for the gang: the instruction is copied
//   linear, spread    the value of lane 0, scalar; as a vector, lane 0 + each lane's offset, made where it is needed
//   varying           *parts*: one `<lanes x T>` per scalar in the thread's type, so `<4 x float>` is four vectors
//
// Masks. Every block has one; null means that all lanes are on. A block is only entered with some lane on, which is why
// scalar loads, barriers and atomics need no further care. Lanes that are off hold anything, poison included: masks are
// combined by select, never by and. docs/design/cpu-lanes.md 3.
//
// The function must have passed structurise() and check_supported() (legal.hpp).
#pragma once

#include "lanes/moves.hpp"
#include "lanes/pieces.hpp"
#include "lanes/structure.hpp"
#include "lower/collectives.hpp"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/IRBuilder.h"

#include <map>
#include <optional>
#include <vector>

namespace smelt::aot::cpu::lanes {

using Parts = llvm::SmallVector<llvm::Value*, 1>;

class LaneFunctions;

struct EmitOptions {
  unsigned lanes = 32;
  bool native_gather = false;          ///< use gather and scatter instructions; else one lane after another
  bool narrow_masked_moves = false;    ///< the target has masked loads and stores of 8 and 16 bits
  bool calls = false;                  ///< what moves.hpp does is called, not written in place
  LaneFunctions* functions = nullptr;  ///< what is called of functions.hpp
};

/// Where the scalars inside a thread's type lie in memory, and how many parts it has.
struct LaneLayout {
  struct Field {
    llvm::Type* type = nullptr;
    uint64_t offset = 0;
  };
  llvm::SmallVector<Field, 4> fields;
  /// Fields of one type, one after another without gaps: an array of `fields.size()` elements of `element_bytes`.
  bool is_array = false;
  uint64_t element_bytes = 0;
};
LaneLayout layout_of(llvm::Type* type, const llvm::DataLayout& layout);

/// A call of what the runtime has for one thread's texels.
bool is_texture_call(const llvm::Function& callee);

/// llvm.vector.reduce.* of a thread's own vector.
bool is_component_reduction(unsigned intrinsic);

class Emitter {
 public:
  /// `target` is empty but for its parameters. Everything is referred to, not copied.
  Emitter(llvm::Function& source, llvm::Function& target, const Analysis& analysis, const EmitOptions& options);

  llvm::IRBuilder<>& builder() { return builder_; }
  /// Before run(): forms of the arguments, in the entry block where builder() stands. Linear ones need only the scalar.
  void set_scalar(const llvm::Value* value, llvm::Value* form) { scalars_[value] = form; }
  void set_parts(const llvm::Value* value, Parts form) { parts_[value] = std::move(form); }
  /// Before run(): the lanes that exist; null if all do. `whole` (i1, or null) says whether all do after all: accesses
  /// to memory ask for it.
  void set_entry_mask(llvm::Value* mask, llvm::Value* whole) {
    entry_mask_ = mask;
    whole_ = whole;
  }
  /// Before run(): an argument that is rows in memory at `pointer`.
  void set_rows(const llvm::Value* value, llvm::Value* pointer);
  /// Before run(): where what the function returns goes, as rows.
  void set_result(llvm::Value* pointer) { result_ = pointer; }
  void run();

  llvm::Value* step_vector(llvm::Type* type, int64_t step);

 private:
  // emit.cpp: blocks, phis, terminators
  void emit_block(llvm::BasicBlock* block);
  void open_divergent_loop(llvm::Loop* loop);
  void create_phis(llvm::BasicBlock* block);
  void emit_terminator(llvm::BasicBlock* block);
  void emit_divergent_branch(llvm::BasicBlock* block, llvm::BranchInst* branch);
  void close_divergent_loop(llvm::Loop* loop, llvm::BranchInst* branch);
  void connect_phis(llvm::BasicBlock* block);
  Parts incoming_parts(llvm::PHINode& phi, llvm::BasicBlock* from);
  llvm::Value* incoming_matrix(llvm::PHINode& phi, llvm::BasicBlock* from);
  llvm::SmallVector<llvm::BasicBlock*, 4> ways_in(llvm::BasicBlock* block, llvm::BasicBlock* from) const;
  llvm::Value* mask_of(llvm::BasicBlock* block);
  llvm::Loop* divergent_loop_left_at(llvm::BasicBlock* block) const;

  // masks.cpp
  llvm::Value* mask() const { return here_ == Here::all ? nullptr : mask_.lookup(block_); }
  llvm::Value* all_on();
  llvm::Value* bits(llvm::Value* mask);
  llvm::Value* any(llvm::Value* mask);
  llvm::Value* every(llvm::Value* mask);
  llvm::Value* narrow(llvm::Value* mask, llvm::Value* condition);
  llvm::Value* blend(llvm::Value* mask, llvm::Value* on, llvm::Value* off);
  llvm::Value* blend_matrix(llvm::Value* mask, llvm::Value* on, llvm::Value* off);
  llvm::Value* first_lane(llvm::Value* mask);
  llvm::Value* last_lane(llvm::Value* mask);
  /// `access` under the mask; where that is the entry's, once more for the case that all lanes exist.
  Parts by_wholeness(llvm::function_ref<Parts()> access);
  /// `stays_loop`: LLVM would else write out a loop over all lanes.
  void each_lane(llvm::Value* mask, llvm::function_ref<void(llvm::Value*)> body, bool stays_loop = false);
  /// Two ways to the same value (null for none); `likely` is the chance of the first being taken.
  Parts choose(llvm::Value* condition, bool first_is_likely, llvm::function_ref<Parts()> first,
               llvm::function_ref<Parts()> second);

  // values.cpp
  Shape shape(const llvm::Value* value) const { return analysis_.shapes->of(value); }
  llvm::Type* wide(llvm::Type* type) const { return llvm::FixedVectorType::get(type, options_.lanes); }
  llvm::Value* offset_vector(llvm::Type* type, const Shape& form);
  llvm::Value* splat(llvm::Value* scalar);
  llvm::Value* scalar(llvm::Value* value);
  Parts parts(llvm::Value* value);
  llvm::Value* part(llvm::Value* value) { return parts(value).front(); }
  Parts constant_parts(llvm::Constant* constant);
  /// One scalar for the gang whatever the shape: of the lowest lane that is on.
  llvm::Value* of_first_lane(llvm::Value* value);
  llvm::Value* matrix(llvm::Value* value);
  llvm::Value* shuffle(llvm::Value* vector, llvm::function_ref<int(unsigned)> source);
  llvm::Value* interleave(const Parts& parts, unsigned stride);
  Parts deinterleave(llvm::Value* wide, unsigned stride, unsigned count);

  // instructions.cpp
  void emit(llvm::Instruction& instruction);
  void emit_copy(llvm::Instruction& instruction);
  void emit_matrix(llvm::Instruction& instruction);
  void add_wrap_guards(llvm::Instruction& instruction);
  Parts vectorise(llvm::Instruction& instruction);
  Parts vectorise_call(llvm::CallInst& call);
  Parts vectorise_address(llvm::GetElementPtrInst& address);
  Parts vectorise_bitcast(llvm::Instruction& instruction);
  Parts taken_apart(llvm::Value* word, llvm::ArrayRef<LaneLayout::Field> fields);
  llvm::Value* put_together(const Parts& from, llvm::Type* word);
  Parts vectorise_elements(llvm::Instruction& instruction);
  Parts one_by_one(llvm::CallInst& call);
  Parts reduce_components(llvm::IntrinsicInst& call);

  // memory.cpp, memory_calls.cpp
  struct Access;
  void emit_alloca(llvm::AllocaInst& memory);
  void emit_load(llvm::LoadInst& load);
  Parts load_otherwise(const Access& access);
  void store_otherwise(const Access& access, const Parts& values);
  void emit_store(llvm::StoreInst& store);
  Access access_of(llvm::Instruction& instruction, llvm::Value* pointer, llvm::Type* type);
  Parts load(const Access& access);
  Parts load_adjacent(const Access& access);
  Parts load_one_by_one(const Access& access);
  /// Where lanes' elements lie, for a loop over lanes: `table` holds a pointer for each lane, or, with `base`, bytes
  /// from there.
  struct LaneAddresses {
    llvm::Value* base = nullptr;
    llvm::Value* table = nullptr;
    llvm::Type* pointer_type = nullptr;
  };
  LaneAddresses lane_addresses(const Access& access);
  llvm::Value* lane_address(const LaneAddresses& addresses, llvm::Value* lane);
  void store(const Access& access, const Parts& values);
  void store_adjacent(const Access& access, const Parts& values);
  void store_one_by_one(const Access& access, const Parts& values);
  void store_own(const Access& access, llvm::Value* value);
  void store_uniform(llvm::StoreInst& store);
  bool is_called(const Access& access) const;
  bool is_called_as_block(const Access& access) const;
  bool asks_itself(const Access& access) const;
  Move move_of(const Access& access, unsigned stride) const;
  llvm::SmallVector<llvm::Value*, 3> move_arguments(const Access& access, const Move& move, llvm::Value* rows);
  llvm::AllocaInst* rows_of(const Move& move);
  llvm::Value* row(const Move& move, llvm::Value* rows, unsigned number);
  Parts load_by_call(const Access& access, unsigned stride);
  void store_by_call(const Access& access, const Parts& values, unsigned stride);
  // memory_pieces.cpp
  /// What `access` moves when all lanes are on, if that is worth while here.
  std::optional<Pieces> pieces_to_move(const Access& access, bool loads) const;
  bool uses_window(const Pieces& pieces, unsigned count) const;
  Parts load_pieces(const Access& access, const Pieces& pieces);
  Parts load_window(const Access& access, const Pieces& pieces);
  void store_pieces(const Access& access, const Pieces& pieces, const Parts& values);
  /// `fast` is made for no mask.
  Parts where_all_are_on(llvm::function_ref<Parts()> fast, llvm::function_ref<Parts()> slow);

  Parts guarded(llvm::Value* pointer, llvm::function_ref<Parts()> fast, llvm::function_ref<Parts()> slow);
  llvm::Value* load_wide(llvm::Type* type, llvm::Value* pointer, llvm::Align align, llvm::Value* mask);
  void store_wide(llvm::Value* value, llvm::Value* pointer, llvm::Align align, llvm::Value* mask);
  llvm::Value* spread_mask(unsigned stride, unsigned used);
  /// Memory for the gang, in the entry block. Scratch of one size is shared: nothing in it outlives one instruction.
  llvm::AllocaInst* memory(uint64_t bytes);
  llvm::AllocaInst* scratch(unsigned number, uint64_t bytes);

  // atomics.cpp
  void emit_atomic(llvm::AtomicRMWInst& atomic);
  void emit_compare_exchange(llvm::AtomicCmpXchgInst& exchange);

  // collectives.cpp
  void emit_collective(llvm::CallInst& call, const Collective& collective);
  llvm::Value* active_or(llvm::Value* value, llvm::Value* neutral);
  llvm::Value* reduce(const Collective& collective, llvm::Value* widened);
  llvm::Value* reduce_quads(const Collective& collective, llvm::Value* widened);
  llvm::Value* prefix(const Collective& collective, llvm::Value* widened);
  Parts move_lanes(llvm::CallInst& call, const Collective& collective);
  llvm::Value* pick_lanes(llvm::Value* values, llvm::Value* sources);
  void emit_vote(llvm::CallInst& call, const Collective& collective);
  void emit_matrix_operation(llvm::CallInst& call, const Collective& collective);
  llvm::Value* load_matrix(llvm::Type* type, const Collective& collective, llvm::ArrayRef<llvm::Value*> operands);
  void drop_unused_matrix_loads();
  llvm::Value* multiply(llvm::Type* type, const Collective& collective, llvm::ArrayRef<llvm::Value*> matrices);
  /// Where all operands are put together from elements and the result is taken apart: no matrix is ever made.
  bool multiply_elements(llvm::CallInst& call, const Collective& collective);
  /// Where a matrix of the gang's function lies in memory: put there where it is made, once.
  llvm::AllocaInst* in_memory(llvm::Value* matrix);
  llvm::AllocaInst* floats_in_memory(llvm::Value* matrix);
  void set_insert_point_behind(llvm::IRBuilder<>& builder, llvm::Value* made);

  // texture_calls.cpp
  void emit_texture_call(llvm::CallInst& call);
  void texture_call_by_lane(llvm::CallInst& call);
  llvm::Value* texture_row(llvm::Value* operand);

  // functions.cpp
  void emit_lane_call(llvm::CallInst& call);
  Parts load_rows(llvm::Type* type, llvm::Value* pointer);
  llvm::Value* rows_in_memory(const Parts& all);
  void store_result(llvm::Value* value);
  llvm::Value* broadcast_from_row(llvm::Value* values, llvm::ArrayRef<int> sources);

  struct MatrixLoad {
    llvm::LoadInst* value = nullptr;  ///< of the copy that `call` makes
    llvm::CallInst* call = nullptr;
    Collective collective;
    llvm::SmallVector<llvm::Value*, 5> operands;
  };

  struct LoopState {
    llvm::PHINode* mask = nullptr;
    /// Values that leave the loop: what each lane had when it left.
    struct Leaving {
      llvm::PHINode* exit_phi = nullptr;
      llvm::Value* value = nullptr;
      llvm::PHINode* header_phi = nullptr;  ///< keeps the value itself, if its next value is the one that leaves
      llvm::SmallVector<llvm::PHINode*, 1> kept;
    };
    llvm::SmallVector<Leaving, 4> leaving;
  };

  llvm::Function& source_;
  llvm::Function& target_;
  const Analysis& analysis_;
  EmitOptions options_;
  const llvm::DataLayout& layout_;
  llvm::LLVMContext& context_;
  llvm::IRBuilder<> builder_;
  llvm::Value* entry_mask_ = nullptr;
  llvm::Value* whole_ = nullptr;
  llvm::Value* result_ = nullptr;
  enum class Here : uint8_t { anything, all, not_all };
  unsigned inline_texels_ = 0;         // reads and writes of textures that are code of their own
  Here here_ = Here::anything;         // what is known of the lanes in the code being made, besides the block's mask
  llvm::BasicBlock* block_ = nullptr;  // of the source, being emitted

  llvm::DenseMap<const llvm::Value*, llvm::Value*> scalars_;
  llvm::DenseMap<const llvm::Value*, Parts> parts_;
  llvm::DenseMap<const llvm::Value*, Parts> made_here_;  // vector forms made in the current target block
  llvm::BasicBlock* made_in_ = nullptr;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::BasicBlock*> first_, last_;
  llvm::DenseMap<const llvm::BasicBlock*, llvm::Value*> mask_, arm_mask_;
  llvm::DenseMap<const llvm::Loop*, LoopState> divergent_loops_;
  llvm::DenseMap<const llvm::PHINode*, Parts> blended_next_;  // header phis that keep their value when a lane leaves
  llvm::DenseMap<const llvm::Value*, llvm::SmallVector<llvm::Value*, 2>> guards_;
  llvm::DenseMap<uint64_t, llvm::AllocaInst*> scratch_;
  llvm::DenseMap<llvm::Constant*, llvm::GlobalVariable*> offset_tables_;
  llvm::DenseMap<llvm::Value*, llvm::AllocaInst*> in_memory_, floats_in_memory_;
  std::map<std::vector<llvm::Value*>, llvm::AllocaInst*> rows_;
  llvm::DenseMap<const llvm::Value*, llvm::Value*> row_of_;  // of arguments that are rows: where each one lies
  std::vector<MatrixLoad> matrix_loads_;                     // of small floats
  llvm::DenseMap<const llvm::Value*, Parts> slots_;  // of products by multiply_elements: what lanes hold at 0 and 1
};

}  // namespace smelt::aot::cpu::lanes
