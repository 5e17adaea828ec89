// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "msl/safely.hpp"

#include "llvm_support/guard.hpp"

namespace smelt::aot::msl {

Result<void> run_safely(std::string_view what, const std::function<void()>& work) {
  Result<void> contained;
  if (!contain_crashes([&] { contained = contain_fatal_errors(work); }))
    return fail(Errc::compile_failed,
                "{}: the compiler crashed on this source; please report it with the source that does it", what);
  if (!contained) return tl::unexpected(std::move(contained).error().in(what));
  return {};
}

}  // namespace smelt::aot::msl
