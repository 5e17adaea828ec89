// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The functions that rows of ops/ops.def name. Each is defined beside its neighbours in this folder: math.cpp,
// integer.cpp, data.cpp, atomic.cpp, convert.cpp, texture.cpp.
#pragma once

#include "lower/operation.hpp"

namespace smelt::aot::cpu::lowering {

#define SMELT_DECLARED_LOWERED(function) Result<llvm::Value*> function(Call& call);
#define SMELT_DECLARED_EXACT(function) Result<llvm::Value*> function(Call& call);
#define SMELT_DECLARED_COLLECTIVE(kind)
#define SMELT_DECLARED_AHEAD(pass)
#define SMELT_DECLARED_PIPELINE
#define SMELT_DECLARED_REFUSED(words)
#define SMELT_OPERATION(name, suffix, signature, effect, evidence, variants, versions, stages, cpu) SMELT_DECLARED_##cpu
#include "ops/ops.def"
#undef SMELT_DECLARED_LOWERED
#undef SMELT_DECLARED_EXACT
#undef SMELT_DECLARED_COLLECTIVE
#undef SMELT_DECLARED_AHEAD
#undef SMELT_DECLARED_PIPELINE
#undef SMELT_DECLARED_REFUSED

}  // namespace smelt::aot::cpu::lowering
