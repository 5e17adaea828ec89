// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/result.hpp"

namespace smelt {

std::string_view to_string(Errc code) {
  switch (code) {
    case Errc::ok:
      return "ok";
#define SMELT_ERRC(name, c_name, number) \
  case Errc::name:                       \
    return #name;
#include "smelt/base/errc.def"
#undef SMELT_ERRC
  }
  return "unknown";
}

}  // namespace smelt
