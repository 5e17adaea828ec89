// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/amdgcn/site.hpp"

namespace smelt::aot::input::amdgcn {

std::string Site::line() const {
  return origin_.line_of(fmt::format("llvm.amdgcn.{}", name_));
}

std::optional<uint64_t> Site::constant(unsigned index) {
  const auto* value = llvm::dyn_cast<llvm::ConstantInt>(argument(index));
  if (!value || value->getBitWidth() > 64) return std::nullopt;
  return value->getZExtValue();
}

llvm::Value* Site::lane_id() {
  return hardware("thread_index_in_simdgroup", 0, ir().getInt32Ty());
}

llvm::Value* Site::math(std::string_view operation, llvm::ArrayRef<llvm::Value*> operands) {
  llvm::Type* const result = operands[0]->getType();
  return air(fmt::format("air.{}.{}", operation, air_suffix(result, false, false)), result, operands, false);
}

}  // namespace smelt::aot::input::amdgcn
