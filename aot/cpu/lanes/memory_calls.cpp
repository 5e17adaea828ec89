// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of a gang by what is in moves.hpp.
#include "lanes/access.hpp"
#include "lanes/moves.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu::lanes {
namespace {

Move move_of(const GangContext& gang, const Access& access, unsigned stride) {
  return {static_cast<unsigned>(8 * access.layout.element_bytes), static_cast<unsigned>(access.layout.fields.size()),
          stride, gang.options.lanes, gang.options.narrow_masked_moves};  // AVX2 has too few registers to save
}

// What `memory` and `on` are for a function that moves what the access says.
llvm::SmallVector<llvm::Value*, 3> move_arguments(GangContext& gang, const Access& access, const Move& move,
                                                  llvm::Value* rows) {
  llvm::IRBuilder<>& builder = gang.builder;
  llvm::Value* memory = nullptr;
  if (move.stride == 0) {
    memory = gang.scratch(0, sizeof(uint64_t) * gang.options.lanes);
    builder.CreateAlignedStore(gang.part(access.pointer), memory, llvm::Align(64));
  } else {
    memory = builder.CreateAddrSpaceCast(gang.scalar(access.pointer), builder.getPtrTy());
  }
  return {memory, rows, builder.CreateZExt(gang.bits(gang.mask()), builder.getInt32Ty())};
}

llvm::Value* row_place(GangContext& gang, const Move& move, llvm::Value* rows, unsigned number) {
  return gang.builder.CreateConstInBoundsGEP1_64(gang.builder.getInt8Ty(), rows,
                                                 uint64_t{number} * move.lanes * move.bits / 8);
}

}  // namespace

llvm::Align row_alignment(const Move& move) {
  return llvm::commonAlignment(llvm::Align(64), uint64_t{move.lanes} * move.bits / 8);
}

llvm::AllocaInst* rows_of(GangContext& gang, const Move& move) {
  return gang.scratch(1, uint64_t{move.bits} / 8 * move.count * move.lanes);
}

bool is_called(const GangContext& gang, const Access& access) {
  return gang.options.calls && access.layout.is_array && !access.layout.fields.front().type->isIntegerTy(1);
}

// Where all lanes are on, arrays of the kernel's own are moved in place: they may become registers yet.
bool is_called_as_block(const GangContext& gang, const Access& access) {
  return is_called(gang, access) && (gang.mask() != nullptr || !access.is_private);
}

// A function that looks whether all lanes are on.
bool asks_itself(const GangContext& gang, const Access& access) {
  const size_t count = access.layout.fields.size();
  const bool native =
      gang.options.native_gather && access.stride == 0 && count == 1 && access.layout.element_bytes >= 4;
  return is_called(gang, access) && !native && !(access.stride == 1 && count == 1);
}

Parts load_by_call(GangContext& gang, const Access& access, unsigned stride) {
  const Move move = move_of(gang, access, stride);
  llvm::AllocaInst* rows = rows_of(gang, move);
  call_load(gang.builder, move, move_arguments(gang, access, move, rows));
  return load_moved_rows(gang, access, move, rows);
}

Parts load_moved_rows(GangContext& gang, const Access& access, const Move& move, llvm::Value* rows) {
  // One load, taken apart, and not one for each row: LLVM orders sums by where their operands come from, and results
  // are to have the bits that they have when this is written in place.
  llvm::Type* element = access.layout.fields.front().type;
  auto* type = llvm::FixedVectorType::get(element, move.lanes * move.count);
  llvm::Value* all = gang.builder.CreateAlignedLoad(type, rows, row_alignment(move));
  if (move.count == 1) return {all};
  Parts result;
  for (unsigned i = 0; i < move.count; ++i)
    result.push_back(gang.shuffle(all, [&](unsigned lane) { return static_cast<int>(i * move.lanes + lane); }));
  return result;
}

void store_by_call(GangContext& gang, const Access& access, const Parts& values, unsigned stride) {
  const Move move = move_of(gang, access, stride);
  llvm::AllocaInst* rows = rows_of(gang, move);
  store_rows(gang, move, values, rows);
  call_store(gang.builder, move, move_arguments(gang, access, move, rows));
}

void store_rows(GangContext& gang, const Move& move, const Parts& values, llvm::Value* rows) {
  for (unsigned i = 0; i < move.count; ++i)
    gang.builder.CreateAlignedStore(values[i], row_place(gang, move, rows, i), row_alignment(move));
}

}  // namespace smelt::aot::cpu::lanes
