// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Private copies of buffers that a kernel only feeds by atomics: each worker counts for itself, without locks, and the
// sums are joined at the end (docs/design/cpu-code.md 4).
#pragma once

#include "smelt/schema/cpu_slice.hpp"

#include <cstddef>
#include <span>

namespace smelt::loader {

/// What changes nothing when it is merged: 0, the largest, the smallest, all ones.
void fill_neutral(schema::CpuPrivateBuffer::Operation operation, std::span<std::byte> copy);

/// into[i] = into[i] op from[i], in elements of 4 bytes; a tail of fewer is left alone. `into` is aligned to 4 and is
/// changed by atomic operations: another launch may be at it too.
void merge_private(schema::CpuPrivateBuffer::Operation operation, std::span<std::byte> into,
                   std::span<const std::byte> from);

}  // namespace smelt::loader
