// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Simulators of iOS and tvOS as targets. They are their platform's targets but for the end of the triple and the
// platform in the container (docs/formats/metallib.md 2.1).
#pragma once

#include "smelt/aot/target.hpp"

namespace smelt::aot {

/// `target`, of iOS or tvOS, for its simulator: "ios17-simulator".
Target simulator_of(Target target);
bool is_simulator(const Target& target);

}  // namespace smelt::aot
