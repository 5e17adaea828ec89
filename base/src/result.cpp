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

tl::unexpected<Error> failure(Errc code, fmt::string_view format, fmt::format_args args) {
  return tl::unexpected(Error{code, printable(fmt::vformat(format, args)), {}});
}

tl::unexpected<Error> passed_on(Error&& error) {
  return tl::unexpected(std::move(error));
}

}  // namespace smelt
