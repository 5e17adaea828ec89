// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The attributes by which kernel IR describes its entry points (kernel_module.hpp). Front ends set them, air/ turns
// them into metadata and takes them off.
#pragma once

#include "llvm/IR/Function.h"

#include <string>

namespace smelt::aot::kernel_ir {

/// All of ours begin so.
inline constexpr const char* kPrefix = "smelt.";

// Of a function.
inline constexpr const char* kKernel = "smelt.kernel";           ///< an entry point
inline constexpr const char* kStage = "smelt.stage";             ///< "vertex", "fragment", ...; without it a kernel
inline constexpr const char* kResults = "smelt.results";         ///< what it returns (stage_values.hpp)
inline constexpr const char* kEntryExtra = "smelt.entry_extra";  ///< words of a node behind its inputs
inline constexpr const char* kStitching = "smelt.stitching";     ///< of a stitchable function (stitching.hpp)
inline constexpr const char* kEarlyTests = "smelt.early_fragment_tests";
inline constexpr const char* kMaxThreads = "smelt.max_threads_per_threadgroup";  ///< "N"
inline constexpr const char* kThreadgroupMemory = "smelt.threadgroup_memory";    ///< "BYTES" of the unsized array
inline constexpr const char* kSimplified = "smelt.simplified";  ///< the front end has run LLVM's passes on it already

// Of a function that is declared alone.
inline constexpr const char* kUndefined = "smelt.undefined";  ///< the whole error of calling it, with its place

// Of an entry point's parameter.
inline constexpr const char* kBuiltin = "smelt.builtin";                 ///< it is this hardware value (builtins.hpp)
inline constexpr const char* kStageInput = "smelt.stage_input";          ///< words of a StageValue (stage_values.hpp)
inline constexpr const char* kRasterOrder = "smelt.raster_order_group";  ///< "N", of what is bound
inline constexpr const char* kHandle = "smelt.handle";                   ///< "texture" or "sampler": not a buffer
inline constexpr const char* kLocationIndex = "smelt.location_index";    ///< "N", where the slot is not the next one
inline constexpr const char* kLocationCount = "smelt.location_count";    ///< "N" slots, of an array of handles
inline constexpr const char* kAccess = "smelt.access";                   ///< "read", "write", "read_write" or "sample"
inline constexpr const char* kArgName = "smelt.arg_name";                ///< when not the parameter's own
inline constexpr const char* kArgTypeName = "smelt.arg_type_name";       ///< of the pointee: "float"; "char" without it
inline constexpr const char* kArgTypeSize = "smelt.arg_type_size";       ///< "N" bytes of the pointee; 1 without it
inline constexpr const char* kArgTypeAlign = "smelt.arg_type_align";     ///< "N"; 1 without it. 0: size is not known
inline constexpr const char* kArgStructType = "smelt.arg_struct_type";   ///< the pointee's members (struct_fields.hpp)
/// "true" or "false": whether the source uses it. Without it, whether the finished code does.
inline constexpr const char* kArgUnused = "smelt.arg_unused";
/// "N": it exists only when the function constant of this index (a row of !air.function_constants) is true.
inline constexpr const char* kFunctionConstant = "smelt.function_constant";

// What AIR says too.
inline constexpr const char* kBufferNoAlias = "air-buffer-no-alias";  ///< of a buffer: no other one overlaps it

/// A helper that stays a function: what its pointers of no space point to is the thread's memory.
inline constexpr const char* kKept = "smelt.kept";

/// Metadata of an entry point: for each parameter a poison value of the type that it points to in the source, or null.
/// Only the bitcode writer spells it, as the type of the parameter.
inline constexpr const char* kPointees = "smelt.pointees";

inline constexpr const char* kParameterAttributes[] = {
    kBuiltin,     kHandle,       kLocationIndex, kLocationCount, kAccess,           kArgName,    kArgTypeName,
    kArgTypeSize, kArgTypeAlign, kArgStructType, kArgUnused,     kFunctionConstant, kStageInput, kRasterOrder};
inline constexpr const char* kFunctionAttributes[] = {
    kKernel, kStage, kResults, kEarlyTests, kMaxThreads, kSimplified, kThreadgroupMemory, kStitching, kEntryExtra};

/// Whether the function is marked as an entry point, and there.
inline bool is_kernel(const llvm::Function& function) {
  return function.hasFnAttribute(kKernel) && !function.isDeclaration();
}

/// Of an entry point: "kernel", "vertex", "fragment", ...
inline std::string stage_of(const llvm::Function& function) {
  const llvm::Attribute stage = function.getFnAttribute(kStage);
  return stage.isValid() ? stage.getValueAsString().str() : "kernel";
}

inline void set_max_threads(llvm::Function& kernel, uint64_t threads) {
  kernel.addFnAttr(kMaxThreads, std::to_string(threads));
}

inline void set_parameter(llvm::Function& kernel, unsigned index, const char* key, llvm::StringRef value) {
  kernel.addParamAttr(index, llvm::Attribute::get(kernel.getContext(), key, value));
}

}  // namespace smelt::aot::kernel_ir
