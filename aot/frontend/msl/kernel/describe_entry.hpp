// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What kernel IR says of an entry (kernel_ir/attributes.hpp) and of function constants (docs/formats/air.md 1.7), from
// the source's facts.
#pragma once

#include "msl/facts/kernel_facts.hpp"

#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::msl {

/// Describes the entry's parameters, one for each of the kernel's. Runs on optimised code: the source's word on which
/// of them are used is what Clang's optimiser finds.
void describe_entry(llvm::Function& entry, const KernelFact& kernel, const std::vector<ConstantFact>& constants);

/// A row of !air.function_constants for each constant that the module still has, or that decides whether a parameter of
/// the kernel exists.
void describe_constants(llvm::Module& module, const KernelFact& kernel, const std::vector<ConstantFact>& constants);

/// "_Z5scale.MTL_FC_INIT_3_f", as Apple's compiler names the variable that the API fills in.
std::string constant_storage_name(const ConstantFact& constant);

}  // namespace smelt::aot::msl
