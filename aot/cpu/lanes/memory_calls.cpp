// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Loads and stores of a gang by what is in moves.hpp.
#include "lanes/access.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

namespace smelt::aot::cpu::lanes {
namespace {

llvm::Align row_alignment(const Move& move) {
  return llvm::commonAlignment(llvm::Align(64), uint64_t{move.lanes} * move.bits / 8);
}

}  // namespace

bool Emitter::is_called(const Access& access) const {
  return options_.calls && access.layout.is_array && !access.layout.fields.front().type->isIntegerTy(1);
}

// Where all lanes are on, arrays of the kernel's own are moved in place: they may become registers yet.
bool Emitter::is_called_as_block(const Access& access) const {
  return is_called(access) && (mask() != nullptr || !access.is_private);
}

// A function that looks whether all lanes are on.
bool Emitter::asks_itself(const Access& access) const {
  const size_t count = access.layout.fields.size();
  const bool native = options_.native_gather && access.stride == 0 && count == 1 && access.layout.element_bytes >= 4;
  return is_called(access) && !native && !(access.stride == 1 && count == 1);
}

Move Emitter::move_of(const Access& access, unsigned stride) const {
  return {static_cast<unsigned>(8 * access.layout.element_bytes), static_cast<unsigned>(access.layout.fields.size()),
          stride, options_.lanes, options_.narrow_masked_moves};  // AVX2 has too few registers to save
}

// What `memory` and `on` are for a function that moves what the access says.
llvm::SmallVector<llvm::Value*, 3> Emitter::move_arguments(const Access& access, const Move& move, llvm::Value* rows) {
  llvm::Value* memory = nullptr;
  if (move.stride == 0) {
    memory = scratch(0, sizeof(uint64_t) * options_.lanes);
    builder_.CreateAlignedStore(part(access.pointer), memory, llvm::Align(64));
  } else {
    memory = builder_.CreateAddrSpaceCast(scalar(access.pointer), builder_.getPtrTy());
  }
  return {memory, rows, builder_.CreateZExt(bits(mask()), builder_.getInt32Ty())};
}

llvm::AllocaInst* Emitter::rows_of(const Move& move) {
  return scratch(1, uint64_t{move.bits} / 8 * move.count * move.lanes);
}

llvm::Value* Emitter::row(const Move& move, llvm::Value* rows, unsigned number) {
  return builder_.CreateConstInBoundsGEP1_64(builder_.getInt8Ty(), rows, uint64_t{number} * move.lanes * move.bits / 8);
}

Parts Emitter::load_by_call(const Access& access, unsigned stride) {
  const Move move = move_of(access, stride);
  llvm::AllocaInst* rows = rows_of(move);
  call_load(builder_, move, move_arguments(access, move, rows));
  // One load, taken apart, and not one for each row: LLVM orders sums by where their operands come from, and results
  // are to have the bits that they have when this is written in place.
  llvm::Type* element = access.layout.fields.front().type;
  auto* type = llvm::FixedVectorType::get(element, move.lanes * move.count);
  llvm::Value* all = builder_.CreateAlignedLoad(type, rows, row_alignment(move));
  if (move.count == 1) return {all};
  Parts result;
  for (unsigned i = 0; i < move.count; ++i)
    result.push_back(shuffle(all, [&](unsigned lane) { return static_cast<int>(i * move.lanes + lane); }));
  return result;
}

void Emitter::store_by_call(const Access& access, const Parts& values, unsigned stride) {
  const Move move = move_of(access, stride);
  llvm::AllocaInst* rows = rows_of(move);
  for (unsigned i = 0; i < move.count; ++i)
    builder_.CreateAlignedStore(values[i], row(move, rows, i), row_alignment(move));
  call_store(builder_, move, move_arguments(access, move, rows));
}

}  // namespace smelt::aot::cpu::lanes
