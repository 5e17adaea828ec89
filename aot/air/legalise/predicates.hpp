// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Conditions of arguments that are computed from function constants (kernel_ir/predicates.hpp), as Apple's compiler has
// them (docs/formats/air.md 1.7): a variable each in space 2, which a static constructor sets, and a row
// {VARIABLE, "bool", "name"} that the argument's node names.
#pragma once

#include "legalise/support.hpp"

#include <map>
#include <string>

namespace smelt::aot::air {

/// The row of each predicate, by the name of its function; the calls are gone. Errors: compile_failed for a value that
/// depends on more than function constants.
Result<std::map<std::string, llvm::MDNode*, std::less<>>> make_predicates(PassContext& context);

}  // namespace smelt::aot::air
