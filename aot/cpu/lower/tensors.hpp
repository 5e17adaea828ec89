// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tensors and their products -> calls of the runtime (runtime/tensor.c). Internal to cpu.
#pragma once

#include "smelt/base/result.hpp"

#include <cstdint>

namespace llvm {
class Module;
}

namespace smelt::aot::cpu {

/// i32 (): which thread of the threadgroup runs; make_work_item replaces its calls.
inline constexpr char kTensorThread[] = "smelt.tensor.thread";
/// i32 (): smelt_cpu_dispatch::tensor_layout; likewise.
inline constexpr char kTensorLayout[] = "smelt.tensor.layout";

/// Runtime functions that checked code gives what it knows (work_item/checked.cpp): (tensor, rank, data, extents,
/// strides, type, i64 offset in the data's object, i64 its bytes, i32 object), and i32 (tensor, rows, columns, deep,
/// is_write), after which the fault lies in the tensor, whose other bytes are the runtime's.
/// And (tensor, handle, origin, count): the handle is what Metal's interface binds.
inline constexpr char kTensorInit[] = "tensor_init", kTensorLeaves[] = "tensor_leaves", kTensorBound[] = "tensor_bound";
inline constexpr uint64_t kTensorStrayAt = 96, kTensorObjectAt = 104;

/// Whether the module works on tensors.
bool has_tensors(const llvm::Module& module);

/// Part of lower_air_operations. Thread memory of tensors gets a size that is known. Errors: unsupported for what of
/// tensors is not on the CPU, by name.
/// `wide_vectors`: the processor has vectors of 64 bytes. `checked`: what products touch is looked at before.
Result<void> lower_tensors(llvm::Module& module, bool wide_vectors, bool checked);

}  // namespace smelt::aot::cpu
