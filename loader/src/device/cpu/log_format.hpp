// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines of os_log in kernels: the format is the program's, the operands lie packed as the kernel stored them.
#pragma once

#include "smelt/base/bytes.hpp"

#include <string>

namespace smelt::loader {

/// printf's conversions d i u o x X c f F e E g G a A p s %, with flags, width, precision, and length hh h l ll z j t.
/// Operands are taken in order, each aligned to its own size, after C's promotions of variadic arguments: 4 bytes for
/// integers, 8 with l, ll, z, j, t, for reals (doubles) and for p and s (printed as addresses). Metal's vector forms
/// "%v4hlf" print their components with commas: of 1 byte with hh, 2 with h, 4 with hl, 8 with l; one of three
/// components has the size of four (docs/formats/metal-language.md 3.13).
/// Bounded: a conversion without an operand left prints as "<?>", an unknown one as it is written.
std::string format_log(std::string_view format, ByteView operands);

}  // namespace smelt::loader
