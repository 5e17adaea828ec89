// Buffers that a kernel touches only by atomics of one order-insensitive kind whose results nobody uses: the loader may
// give each worker a copy of its own and merge (docs/host-vectorizer.md 4, "hist").
#pragma once

#include "smelt/schema/cpu_slice.hpp"

#include "cpu/work_item.hpp"

namespace smelt::aot::cpu {

/// Asked of a scalar work item, whose device atomics are plain atomicrmw.
std::vector<schema::CpuPrivateBuffer> find_private_buffers(const WorkItem& item);

}  // namespace smelt::aot::cpu
