// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Metal source compiled and run in one go.
#pragma once

#include "smelt/aot/compile.hpp"

#include "launch.hpp"

#include <memory>
#include <string>
#include <string_view>

namespace smelt::test {

/// Compile options of the tests: one target, headers precompiled once for the whole program.
aot::CompileOptions msl_options();

Result<aot::Compiled> compile_msl(std::string_view text, const aot::CompileOptions& options = msl_options());

/// The error's message; empty, with a failed check, when it compiles.
std::string msl_error(std::string_view text, const aot::CompileOptions& options = msl_options());

/// A compiled source; throws with the message when it does not compile.
class Msl {
 public:
  explicit Msl(std::string_view text, const aot::CompileOptions& options = msl_options(), aot::CpuOptions cpu = {});
  const aot::KernelInfo& info(const std::string& kernel) const;
  const std::vector<std::string>& warnings() const { return compiled_.warnings; }
  const aot::Compiled& compiled() const { return compiled_; }
  void run(const std::string& kernel, const Launch& launch) const;

 private:
  aot::Compiled compiled_;
  std::unique_ptr<LoadedSlice> slice_;
};

}  // namespace smelt::test
