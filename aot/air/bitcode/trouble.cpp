// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "bitcode/trouble.hpp"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"
#include "llvm/Support/raw_ostream.h"

namespace smelt::aot::bitcode {

std::string shown(const llvm::Value& value) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (llvm::isa<llvm::Instruction>(value)) {
    value.print(out);
  } else {
    value.printAsOperand(out);
  }
  out.flush();
  const size_t first = text.find_first_not_of(' ');
  text.erase(0, std::min(first, text.size()));
  constexpr size_t kLimit = 160;
  if (text.size() > kLimit) text = text.substr(0, kLimit) + "...";
  return text;
}

void Trouble::report(Errc code, std::string_view what) {
  if (first_) return;
  std::string place;
  if (function_) place = fmt::format("function '{}': ", function_->getName().str());
  if (function_ && instruction_) {
    place = fmt::format("function '{}', instruction '{}': ", function_->getName().str(), shown(*instruction_));
  }
  first_ = Error{code, place + std::string(what), function_ ? function_->getName().str() : std::string()};
}

}  // namespace smelt::aot::bitcode
