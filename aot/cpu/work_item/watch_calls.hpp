// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// How code reaches the loader that watches it (smelt_cpu_watch), and how it names places of the source.
#pragma once

#include "work_item/work_item.hpp"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace llvm {
class CallInst;
class Function;
class IRBuilderBase;
class Instruction;
class Module;
class Type;
class Value;
}  // namespace llvm

namespace smelt::aot::cpu {

/// A field of smelt_cpu_watch, at `offset`, from the dispatch block: of `type`, or a pointer.
llvm::Value* load_watch_field(llvm::IRBuilderBase& builder, llvm::Value* dispatch, uint64_t offset,
                              llvm::Type* type = nullptr);

/// Of a field that changes while the code runs.
llvm::Value* watch_field_address(llvm::IRBuilderBase& builder, llvm::Value* dispatch, uint64_t offset);

/// Calls the function in that field; `operands` without the context.
llvm::CallInst* call_watch(llvm::IRBuilderBase& builder, llvm::Value* dispatch, uint64_t field, llvm::Type* result,
                           llvm::ArrayRef<llvm::Value*> operands);

/// The module's function `name` (dispatch, `parameters`), which does that. For code whose calls are looked through for
/// operations of a SIMD group: they know what to think of a direct call.
llvm::Function* watch_function(llvm::Module& module, llvm::StringRef name, uint64_t field, llvm::Type* result,
                               llvm::ArrayRef<llvm::Type*> parameters);

/// The thread's index in its group, i32, computed at the entry of the function.
llvm::Value* thread_index(const WorkItem& item);

/// "FILE:LINE:COLUMN", as a constant of the module that many places may share.
llvm::Value* place_text(llvm::Module& module, const std::string& text);
std::string place_of(const llvm::Instruction& instruction);

}  // namespace smelt::aot::cpu
