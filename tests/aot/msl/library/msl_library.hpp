// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal source, compiled to a Metal library, read back from it, compiled for the CPU and run: what a user's kernel goes
// through on a machine without Metal.
#pragma once

#include "smelt/aot/target.hpp"

#include "launch.hpp"

#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace smelt::test {

struct MslSettings {
  bool fast_math = false;
  std::string target = "macos15";
  std::optional<aot::Version> language;  ///< the target's when empty
  std::string name = "kernel.metal";     ///< of the source: its folder is where includes are looked up first
  std::vector<std::string> include_folders;
  std::vector<std::string> functions;  ///< empty: all
};

/// Throws the compiler's messages when `text` does not compile, or says which kernel did not become CPU code.
class MslLibrary {
 public:
  explicit MslLibrary(std::string_view text, const MslSettings& settings = {});
  void run(const std::string& kernel, const Launch& launch) const { slice_.run(kernel, launch); }
  /// Whole names of the air.* operations that the library calls.
  const std::set<std::string>& operations() const { return operations_; }

 private:
  std::set<std::string> operations_;  // filled while the slice is made
  LoadedSlice slice_;
};

/// The compiler's messages, or "" when `text` compiles.
std::string msl_errors(std::string_view text, const MslSettings& settings = {});

/// All operations that any library of this process has called: test_what_was_called.cpp judges them at the end.
std::set<std::string>& operations_seen();

/// Names with a parenthesis behind them in all Metal source that this process has run; `fast::f` and `precise::f` with
/// their namespace.
std::set<std::string>& calls_seen();

/// The whole sweep instead of a sample: SMELT_FULL=1.
bool full_sweep();

}  // namespace smelt::test
