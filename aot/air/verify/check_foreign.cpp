// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What AIR does not have at all, by the lists that stand in front of code generation.
#include "allow_list/allow_list.hpp"
#include "verify/checks.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::verify {
namespace {

constexpr size_t kMostBreaches = 32;

}  // namespace

void check_foreign(const llvm::Module& module, Findings& findings) {
  for (const allow_list::Breach& breach :
       allow_list::find_breaches(module, kMostBreaches, allow_list::spaces_of(module)))
    if (!breach.verify_knows) findings.error(Check::foreign, breach.place, "{}", breach.message);
}

}  // namespace smelt::aot::verify
