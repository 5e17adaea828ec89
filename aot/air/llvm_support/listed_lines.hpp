// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines of a module's own text as its debug info, so that what is made of an instruction can be led back to the line on
// which it stands.
#pragma once

#include "llvm/ADT/DenseMap.h"

#include <string>

namespace llvm {
class Instruction;
class Module;
}  // namespace llvm

namespace smelt::aot {

struct ListedModule {
  std::string text;
  llvm::DenseMap<const llvm::Instruction*, unsigned> lines;  ///< from 1, in `text`
};

/// The module as text. Its debug info must be gone.
ListedModule list_module(const llvm::Module& module);

/// Gives every instruction the location of its line. The module has no other debug info.
void locate_in_listing(llvm::Module& module, const ListedModule& listing);

/// Makes the locations agree with the functions in which the instructions stand by now, whoever cloned, moved or
/// inlined them: the line is kept, the way there is not. The code generator counts on that.
void adopt_locations(llvm::Module& module);

}  // namespace smelt::aot
