// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// split_values' machine: each value that AIR has no type for is a list of pieces that it has types for.
#pragma once

#include "legalise/support.hpp"

#include "llvm/ADT/DenseMap.h"

namespace smelt::aot::air {

/// One lane of a vector piece, or (lane < 0) a scalar.
struct Lane {
  llvm::Value* value = nullptr;  ///< null: any value will do
  int lane = -1;
};

/// A piece of a type and where it lies in memory.
struct Piece {
  llvm::Type* type;
  uint64_t offset;
};

/// What a type is made of, in order: vectors of 2 to 4, scalars, pointers, i64 words. One piece: the type itself,
/// legal.
llvm::SmallVector<Piece, 8> pieces_of(llvm::Type* type, const llvm::DataLayout& layout);
bool must_split(llvm::Type* type);

/// i128 and wider, a multiple of 64.
bool is_wide_integer(const llvm::Type* type);

class Splitter {
 public:
  using Pieces = llvm::SmallVector<llvm::Value*, 8>;
  using Builder = llvm::IRBuilder<>;

  explicit Splitter(llvm::Function& function) : function_(function), layout_(function.getDataLayout()) {}
  Result<void> run();

 private:
  /// The pieces that stand for a value; the value itself when it is legal.
  Pieces pieces(llvm::Value* value);
  Pieces constant_pieces(llvm::Constant* constant);

  // Lanes.
  Lane lane_of(llvm::Value* vector, unsigned index);
  llvm::Value* scalar(Builder& builder, const Lane& lane);
  llvm::Value* build(Builder& builder, llvm::ArrayRef<Lane> lanes, llvm::Type* type);
  Pieces build_all(Builder& builder, llvm::ArrayRef<Lane> lanes, llvm::Type* vector_type);

  // Instructions (split_values.cpp); by subject in the other files.
  Result<Pieces> rewrite(Builder& builder, llvm::Instruction& instruction);
  Result<Pieces> elementwise(Builder& builder, llvm::Instruction& instruction);
  Result<Pieces> piecewise(Builder& builder, llvm::Instruction& instruction);
  llvm::Instruction* same_operation(llvm::Instruction& instruction, llvm::ArrayRef<llvm::Value*> operands,
                                    llvm::Type* type);
  Pieces load(Builder& builder, llvm::LoadInst& load);
  void store(Builder& builder, llvm::StoreInst& store);
  Pieces extract_value(llvm::ExtractValueInst& extract);
  Pieces insert_value(llvm::InsertValueInst& insert);
  Result<Pieces> call(Builder& builder, llvm::CallInst& call);
  void give_back(Builder& builder, llvm::ReturnInst& instruction);
  Pieces members(Builder& builder, llvm::Value* aggregate);

  // Vectors (split_vectors.cpp).
  Pieces shuffle(Builder& builder, llvm::ShuffleVectorInst& shuffle);
  Pieces extract_element(Builder& builder, llvm::ExtractElementInst& extract);
  Pieces insert_element(Builder& builder, llvm::InsertElementInst& insert);
  Result<Pieces> bitcast(Builder& builder, llvm::BitCastInst& cast);

  // Wide integers (split_wide_integers.cpp).
  Result<Pieces> wide_integer(Builder& builder, llvm::Instruction& instruction);

  llvm::Function& function_;
  const llvm::DataLayout& layout_;
  llvm::DenseMap<llvm::Value*, Pieces> pieces_;
  std::vector<llvm::PHINode*> phis_;
};

}  // namespace smelt::aot::air
