// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Standard error in Clang's form: "file:line:column: error: ...", the source line, a caret, and a count at the end, so
// that editors and build systems read it.
#pragma once

#include "smelt/aot/serialized_diagnostics.hpp"
#include "smelt/base/result.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace smelt::toolchain {

class Messages {
 public:
  /// `tool` stands where there is no file to name. Colours: when standard error is a terminal.
  explicit Messages(std::string_view tool);
  void set_colour(bool colour) { colour_ = colour; }

  void warning(std::string_view text);
  void error(std::string_view text);
  /// The driver's own, or the compiler's with places of their own.
  void error(const Error& error);
  /// A warning as the compiler gives it, with its place and lines below.
  void compiler_warning(std::string_view text);
  void note(std::string_view line);

  /// "1 warning and 2 errors generated."; call once, at the end.
  void finish();
  bool has_errors() const { return errors_ != 0; }
  /// What was told, message by message.
  const std::vector<aot::DiagnosticLine>& told() const { return told_; }

 private:
  void print(std::string_view text);
  std::string tool_;
  std::vector<aot::DiagnosticLine> told_;
  bool colour_ = false;
  size_t warnings_ = 0, errors_ = 0;
  bool from_compiler_ = false;  ///< the driver's own are not counted aloud
};

}  // namespace smelt::toolchain
