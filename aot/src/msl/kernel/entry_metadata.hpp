// `!air.kernel` and `!air.function_constants` from the source's facts (docs/air.md 1.5 to 1.7).
#pragma once

#include "smelt/aot/target.hpp"

#include "msl/facts/kernel_facts.hpp"

#include <string>
#include <vector>

namespace llvm {
class Function;
class Module;
}  // namespace llvm

namespace smelt::aot::msl {

/// Adds the entry's node. Runs on optimised code, since the node says which parameters are not used.
void describe_entry(llvm::Function& entry, const KernelFact& kernel, const std::vector<ConstantFact>& constants,
                    const Target& target);

/// A node for each function constant that the module still has.
void describe_constants(llvm::Module& module, const std::vector<ConstantFact>& constants);

/// "_Z5scale.MTL_FC_INIT_3_f", as Apple's compiler names the variable that the API fills in.
std::string constant_storage_name(const ConstantFact& constant);

}  // namespace smelt::aot::msl
