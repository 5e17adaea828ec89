// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions of the library that work element by element: many of them are put into one kernel each, in a scalar form
// and in vector forms, run over inputs that include every special value, and compared with a reference.
#pragma once

#include "msl_library.hpp"

#include <functional>
#include <string>
#include <vector>

namespace smelt::test {

/// Types of elements, in the order of kKinds.
enum class Kind { f32, f16, bf16, i8, u8, i16, u16, i32, u32, i64, u64, boolean };

const char* metal_name(Kind kind);  ///< "float"
size_t bytes_of(Kind kind);
bool is_float(Kind kind);
bool is_signed(Kind kind);
unsigned bits_of(Kind kind);

using Whole = __int128;

/// An element: the number of a float in `real`, of an integer or bool in `whole`.
struct Element {
  long double real = 0;
  Whole whole = 0;
};
inline Element real(long double value) {
  return {value, 0};
}
inline Element whole(Whole value) {
  return {0, value};
}

/// Reads and writes elements in memory; writing rounds to nearest even and wraps integers.
Element load_element(Kind kind, const std::byte* at);
void store_element(Kind kind, std::byte* at, const Element& value);

struct FunctionCase {
  std::string name;  ///< for messages
  std::string call;  ///< MSL, of the variables a, b, c
  Kind result = Kind::f32;
  std::vector<Kind> operands;  ///< of a, b, c
  std::function<Element(const Element*)> reference;
  double ulps = 0;                                                       ///< of a float result; 0: exact
  std::function<bool(const Element*)> defined = nullptr;                 ///< inputs on which the result is defined
  std::function<double(const Element*)> absolute = nullptr;              ///< an absolute error that is enough
  std::function<bool(const Element*, const Element&)> accept = nullptr;  ///< instead of a comparison
  bool vectors = true;                                                   ///< has vector forms too
};

/// Compiles, runs and checks all of them; every mismatch is a failed CHECK that shows the inputs.
void check_functions(const std::vector<FunctionCase>& cases, const MslSettings& settings = {}, size_t per_kernel = 8);

}  // namespace smelt::test
