// Private copies of buffers that a kernel only feeds by atomics: each worker counts for itself, the sums are joined at
// the end. Contended atomics cost 15 times a plain loop (docs/host-backend.md 6), private bins 1.4 times.
#pragma once

#include "smelt/schema/cpu_slice.hpp"

#include <cstddef>
#include <span>

namespace smelt::loader {

/// What changes nothing when it is merged: 0, the largest, the smallest, all ones.
void fill_neutral(schema::CpuPrivateBuffer::Operation operation, std::span<std::byte> copy);

/// into[i] = into[i] op from[i], in elements of 4 bytes; a tail of fewer is left alone.
void merge_private(schema::CpuPrivateBuffer::Operation operation, std::span<std::byte> into,
                   std::span<const std::byte> from);

}  // namespace smelt::loader
