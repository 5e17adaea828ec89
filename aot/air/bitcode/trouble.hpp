// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The first thing that went wrong while a module is lowered. Lowering goes on with a harmless placeholder, so that
// helpers need not return a Result each; the caller looks once, at the end of each function.
#pragma once

#include "smelt/base/result.hpp"

#include <optional>
#include <string>

namespace llvm {
class Function;
class Instruction;
class Value;
}  // namespace llvm

namespace smelt::aot::bitcode {

class Trouble {
 public:
  /// Where lowering is; named in the message.
  void enter(const llvm::Function* function) { function_ = function, instruction_ = nullptr; }
  void at(const llvm::Instruction* instruction) { instruction_ = instruction; }

  /// "function 'f', instruction '%x = ...': <what>". Only the first report is kept.
  void report(Errc code, std::string_view what);
  explicit operator bool() const { return first_.has_value(); }
  Error take() { return std::move(*first_); }

 private:
  const llvm::Function* function_ = nullptr;
  const llvm::Instruction* instruction_ = nullptr;
  std::optional<Error> first_;
};

/// One line of IR, cut at 160 characters: for messages.
std::string shown(const llvm::Value& value);

}  // namespace smelt::aot::bitcode
