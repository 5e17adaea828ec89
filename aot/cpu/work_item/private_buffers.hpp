// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Buffers that a kernel touches only by atomics of one order-insensitive kind whose results nobody uses: the loader may
// give each worker a copy of its own and merge (docs/design/cpu-code.md 4). On a copy of its own the code needs
// no locked instructions, which cost twenty times as much as plain ones.
#pragma once

#include "smelt/schema/cpu_slice.hpp"

#include "work_item/work_item.hpp"

namespace smelt::aot::cpu {

/// The buffers of a scalar work item, whose device atomics are plain atomicrmw. Each of their atomics becomes
/// `if (the buffer is private in this dispatch) atomic of syncscope("singlethread"); else atomic`.
std::vector<schema::CpuPrivateBuffer> split_private_atomics(const WorkItem& item);

}  // namespace smelt::aot::cpu
