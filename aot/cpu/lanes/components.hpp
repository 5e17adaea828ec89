// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Instructions on the components of a thread's vectors and structures: arithmetic.cpp alone calls these.
#pragma once

#include "lanes/context.hpp"

namespace smelt::aot::cpu::lanes {

Parts vectorise_bitcast(GangContext& gang, llvm::Instruction& instruction);
/// extractelement, insertelement and shufflevector.
Parts vectorise_elements(GangContext& gang, llvm::Instruction& instruction);
/// extractvalue and insertvalue.
Parts vectorise_members(GangContext& gang, llvm::Instruction& instruction);
Parts reduce_components(GangContext& gang, llvm::IntrinsicInst& call);

}  // namespace smelt::aot::cpu::lanes
