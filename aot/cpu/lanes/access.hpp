// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What is known of one load or store of a gang, and what the files of Memory share; no other part includes this.
#pragma once

#include "lanes/context.hpp"
#include "lanes/moves.hpp"
#include "lanes/pieces.hpp"

#include <optional>

namespace smelt::aot::cpu::lanes {

struct Access {
  llvm::Value* pointer = nullptr;  // of the source
  llvm::Type* type = nullptr;      // of one lane's value
  LaneLayout layout;
  llvm::Align align;
  unsigned stride = 0;        // elements from one lane to the next, 0 if not a small whole number
  bool whole_blocks = false;  // the unused places between lanes may be read too
  Shape shape;
  bool is_own = false;      // private memory at one index for all lanes: the places of lanes that are off are there too
  bool is_private = false;  // of the kernel's own arrays

  // Lanes side by side, and what is between them may be read.
  bool is_block() const {
    const size_t count = layout.fields.size();
    return stride != 0 && (count == stride || (count < stride && whole_blocks));
  }
};

/// Where lanes' elements lie, for a loop over lanes: `table` holds a pointer for each lane, or, with `base`, bytes from
/// there.
struct LaneAddresses {
  llvm::Value* base = nullptr;
  llvm::Value* table = nullptr;
  llvm::Type* pointer_type = nullptr;
};

// memory.cpp
llvm::Value* load_wide(GangContext& gang, llvm::Type* type, llvm::Value* pointer, llvm::Align align, llvm::Value* on);
void store_wide(GangContext& gang, llvm::Value* value, llvm::Value* pointer, llvm::Align align, llvm::Value* on);
/// One pass of `body` for each lane that is on, lowest first. `stays_loop`: LLVM would else write it out for all lanes.
void each_lane(GangContext& gang, llvm::function_ref<void(llvm::Value*)> body, bool stays_loop = false);

// memory_calls.cpp: by what is in moves.hpp
bool is_called(const GangContext& gang, const Access& access);
bool is_called_as_block(const GangContext& gang, const Access& access);
bool asks_itself(const GangContext& gang, const Access& access);
Parts load_by_call(GangContext& gang, const Access& access, unsigned stride);
void store_by_call(GangContext& gang, const Access& access, const Parts& values, unsigned stride);

/// A row of memory_calls.cpp has one element of each lane. rows_of() is scratch memory for the rows of a move.
llvm::Align row_alignment(const Move& move);
llvm::AllocaInst* rows_of(GangContext& gang, const Move& move);
Parts load_moved_rows(GangContext& gang, const Access& access, const Move& move, llvm::Value* rows);
void store_rows(GangContext& gang, const Move& move, const Parts& values, llvm::Value* rows);

// memory_wraps.cpp: where a number that counts the lanes has wrapped round; cold code
Parts load_where_lanes_wrap(GangContext& gang, const Access& access, llvm::function_ref<Parts()> otherwise);
void store_where_lanes_wrap(GangContext& gang, const Access& access, const Parts& values,
                            llvm::function_ref<void()> otherwise);

// memory_pieces.cpp
/// What `access` moves when all lanes are on, if that is worth while here.
std::optional<Pieces> pieces_to_move(const GangContext& gang, const Access& access, bool loads);
Parts load_pieces(GangContext& gang, const Access& access, const Pieces& pieces);
void store_pieces(GangContext& gang, const Access& access, const Pieces& pieces, const Parts& values);
/// `fast` is made for no mask.
Parts where_all_are_on(GangContext& gang, llvm::function_ref<Parts()> fast, llvm::function_ref<Parts()> slow);

}  // namespace smelt::aot::cpu::lanes
