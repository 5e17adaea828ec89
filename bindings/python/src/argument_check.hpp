// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a call binds against what the kernel declares. docs/design/loader.md 3.6.
#pragma once

#include "arguments.hpp"

#include <span>
#include <string>
#include <string_view>

namespace smelt::python {

/// Whether arguments are compared with what the kernel declares.
enum class Check : uint8_t { off, warn, error };

/// Views that outlive it. Its errors name the argument, what the kernel wants, and what to pass instead.
class ArgumentCheck {
 public:
  ArgumentCheck(std::string_view kernel, std::span<const Parameter> declared, const Arguments& arguments)
      : kernel_(kernel), declared_(declared), arguments_(arguments), bound_(arguments.bound()) {}

  /// Throws for what is wrong whatever `how` says (memory that is not there or may not be written, numbers that Metal
  /// has not); unless it is off for what would be read as something else or lost; and warns or throws for another
  /// count of arguments and for what loader::misfit says.
  void run(Check how);
  /// After run(): throws when an argument in constant memory has no bytes at all, which only an empty grid makes no
  /// difference to.
  void want_bytes() const;

 private:
  /// An array or a number of exactly what the kernel declares: what most calls pass.
  bool fits(size_t i) const;
  void memory_is_there(size_t i) const;
  void may_be_written(size_t i) const;
  void no_double(size_t i) const;
  void result_is_kept(size_t i) const;
  void is_no_list_of_arrays(size_t i) const;
  void lies_in_order(size_t i) const;
  void is_same_structure(size_t i) const;
  std::string mismatch() const;
  std::string mismatch(size_t i) const;
  /// The advice for numbers of another type: how to convert them.
  std::string conversion(size_t i, const loader::Misfit& misfit) const;

  /// "kernel 'saxpy', argument 2 'a': expects float (4 bytes)".
  std::string wants(size_t i) const;

  std::string_view kernel_;
  std::span<const Parameter> declared_;
  const Arguments& arguments_;
  std::span<const Bound> bound_;
  bool some_are_empty_ = false;
};

}  // namespace smelt::python
