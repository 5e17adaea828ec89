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

/// What kind of failure; says who should react. The names are part of the C API and the Python exceptions
/// (errc.def, docs/reference/errors.md), so add, never rename.
enum class Errc : int {
  ok = 0,
#define SMELT_ERRC(name, c_name, number) name = number,
#include "smelt/base/errc.def"
#undef SMELT_ERRC
};

/// The enumerator's own spelling, e.g. "truncated".
std::string_view to_string(Errc code);

/// One failure. Message form: what was asked; what was found, and where; what would satisfy it.
struct Error {
  Errc code = Errc::invalid_argument;
  std::string message;
  std::string subject;  ///< what it is about: a file, a function, a key; may be empty

  /// The same failure with `where: ` in front, e.g. the file name that an inner parser cannot know. Once: who opened
  /// the file has named it already.
  Error in(std::string_view where) && {
    if (const std::string front = printable(where) + ": "; !message.starts_with(front)) message = front + message;
    if (subject.empty()) subject = where;
    return std::move(*this);
  }
};

template <class T>
using Result = tl::expected<T, Error>;

// One function makes the text of all failures and one hands them on: inlined where things may fail they would be most
// of a parser's code. "cold" is to the compiler that what leads there is seldom taken.
[[gnu::cold]] tl::unexpected<Error> failure(Errc code, fmt::string_view format, fmt::format_args args);
[[gnu::cold]] tl::unexpected<Error> passed_on(Error&& error);

/// What the message quotes is made printable: names and paths may hold anything.
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

/// The same for a result whose value is not wanted.
#define SMELT_TRY_VOID(...) SMELT_TRY_VOID_(SMELT_CONCAT(smelt_try_, __COUNTER__), __VA_ARGS__)
#define SMELT_TRY_VOID_(name, ...)                                                            \
  do {                                                                                        \
    if (auto name = (__VA_ARGS__); !name) return ::smelt::passed_on(std::move(name).error()); \
  } while (false)

}  // namespace smelt
