// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// From what a launch found to what its caller is told.
#pragma once

#include "smelt/loader/findings.hpp"

namespace smelt::loader {

/// Leaves out what $SMELT_CHECK_SUPPRESSIONS names, adds the rest to $SMELT_CHECK_REPORT, keeps it for last_findings(),
/// and gives the launch's error: nothing where there are but notes, or $SMELT_CHECK_CONTINUE is set.
Result<void> tell(std::string_view kernel, std::vector<Finding> findings);

/// A launch of checked code begins: last_findings() is empty.
void forget_findings();

}  // namespace smelt::loader
