// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

namespace smelt::metal {

#if __has_attribute(noipa)
#define SMELT_OPAQUE __attribute__((noipa))
#else
#define SMELT_OPAQUE __attribute__((noinline))
#endif

/// Whether a member function was called without an object. In metal-cpp that is a message to nil, which Objective-C
/// answers with 0, and programs count on it where something may be missing: they ask the length of no buffer, and
/// release it.
SMELT_OPAQUE bool is_nil(const void* object);

}  // namespace smelt::metal
