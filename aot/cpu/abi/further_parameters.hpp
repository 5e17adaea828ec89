// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A function cannot be given parameters: another takes its body, and its calls are made anew.
#pragma once

#include "llvm/ADT/ArrayRef.h"

namespace llvm {
class CallInst;
class Function;
class Twine;
class Type;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu {

/// An internal function without body or attributes, with the parameters of `old` and those of `types` after them.
llvm::Function* with_parameters(llvm::Function& old, llvm::ArrayRef<llvm::Type*> types, const llvm::Twine& name);

/// Moves the body and the names of the parameters of `old`, which keeps its callers and nothing else.
void take_body(llvm::Function& made, llvm::Function& old);

/// Replaces a call by one of `to`, which has `further` after its arguments. Fast-math flags stay; the calling
/// convention and the attributes of the call returned are the caller's to set.
llvm::CallInst* call_instead(llvm::CallInst& call, llvm::Function& to, llvm::ArrayRef<llvm::Value*> further);

}  // namespace smelt::aot::cpu
