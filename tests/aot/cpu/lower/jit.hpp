// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tiny AIR modules as text, lowered as for a CPU slice, optimised for x86-64-v3 and run in this process.
#pragma once

#include "lower/lower.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace smelt::test {

/// Parses `air` (LLVM text), lowers, optimises, compiles; throws the reason on any error. Owns the code: function
/// pointers are good as long as it lives.
class Jit {
 public:
  explicit Jit(const std::string& air, const aot::cpu::LowerOptions& options = {});
  ~Jit();
  template <class Function>
  Function* function(const std::string& name) const {
    return reinterpret_cast<Function*>(address(name));
  }

 private:
  void* address(const std::string& name) const;
  struct State;
  std::unique_ptr<State> state_;
};

/// The error of lowering `air`, or "" when it lowers.
std::string lowering_error(const std::string& air);

struct Compiled {
  std::string error;                   ///< of parsing, lowering or verifying; then the rest is empty
  std::string ir;                      ///< after lowering and -O3
  std::vector<std::string> undefined;  ///< symbols that the object file wants from elsewhere
};
/// Through the whole pipeline to an object file for `processor`.
Compiled compile(const std::string& air, const std::string& processor = "x86-64-v3",
                 const aot::cpu::LowerOptions& options = {});

/// "define void @name(i64 n, ptr out, ptr a, ptr b, ptr c)": out[i] = call(a[i], ...) for i < n, with the declaration
/// of the operation. `operands` are LLVM types; an operand "=text" is passed as it stands, e.g. "=i1 false".
std::string loop_over(const std::string& name, const std::string& operation, const std::string& result,
                      const std::vector<std::string>& operands, const std::string& flags = "");

}  // namespace smelt::test
