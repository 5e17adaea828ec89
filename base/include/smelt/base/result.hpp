// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Errors are values: Result<T> inside, exceptions only at the Python edge.
#pragma once

#include "smelt/base/text.hpp"

#include <fmt/format.h>
#include <tl/expected.hpp>

#include <string>
#include <string_view>
#include <utility>

namespace smelt {

/// The kind of a failure, one of the codes in docs/reference/errors.md. The C API and the Python exceptions share the
/// names (errc.def), so add, never rename.
enum class Errc : int {
  ok = 0,
#define SMELT_ERRC(name, c_name, number) name = number,
#include "smelt/base/errc.def"
#undef SMELT_ERRC
};

/// The enumerator's own spelling, e.g. "truncated".
std::string_view to_string(Errc code);

/// One failure.
struct Error {
  Errc code = Errc::invalid_argument;  ///< the kind, for programs
  std::string message;                 ///< for people: what was requested; what was found, and where; what would work
  std::string subject;                 ///< the file, function or key that it concerns; may be empty

  /// Puts `where: ` in front of the message, for example a file name that an inner parser cannot know. Does nothing if
  /// it is already there.
  Error in(std::string_view where) && {
    if (const std::string front = printable(where) + ": "; !message.starts_with(front)) message = front + message;
    if (subject.empty()) subject = where;
    return std::move(*this);
  }
};

/// A value, or the Error that says why there is none. No function of smelt throws.
template <class T>
using Result = tl::expected<T, Error>;

// One function makes the text of all failures and one hands them on: inlined where things may fail they would be most
// of a parser's code. "cold" is to the compiler that what leads there is seldom taken.
/// Makes an error with a formatted message; fail() calls it.
[[gnu::cold]] tl::unexpected<Error> failure(Errc code, fmt::string_view format, fmt::format_args args);
/// Passes an error on; SMELT_TRY calls it.
[[gnu::cold]] tl::unexpected<Error> passed_on(Error&& error);

/// Returns an error with a formatted message, whose arguments are made printable: names and paths may hold anything.
template <class... Args>
tl::unexpected<Error> fail(Errc code, fmt::format_string<Args...> format, Args&&... args) {
  return failure(code, format, fmt::make_format_args(args...));
}

#define SMELT_CONCAT_(a, b) a##b
#define SMELT_CONCAT(a, b) SMELT_CONCAT_(a, b)

/// SMELT_TRY(auto x, expression): x is the value, or the enclosing function returns the error.
/// The counter keeps names apart when the expression holds a lambda that uses the macro too.
#define SMELT_TRY(declaration, ...) SMELT_TRY_(SMELT_CONCAT(smelt_try_, __COUNTER__), declaration, __VA_ARGS__)
#define SMELT_TRY_(name, declaration, ...)                       \
  auto name = (__VA_ARGS__);                                     \
  if (!name) return ::smelt::passed_on(std::move(name).error()); \
  declaration = std::move(*name)

/// SMELT_TRY_VOID(expression): the same for a result whose value is not needed.
#define SMELT_TRY_VOID(...) SMELT_TRY_VOID_(SMELT_CONCAT(smelt_try_, __COUNTER__), __VA_ARGS__)
#define SMELT_TRY_VOID_(name, ...)                                                            \
  do {                                                                                        \
    if (auto name = (__VA_ARGS__); !name) return ::smelt::passed_on(std::move(name).error()); \
  } while (false)

}  // namespace smelt
