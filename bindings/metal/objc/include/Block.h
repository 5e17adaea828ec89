/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Blocks, as Clang's document "Block Implementation Specification" says. */
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/** The block on the heap, one reference more; free of charge for a block that captures nothing. */
__attribute__((visibility("default"))) void* _Block_copy(const void* block);
__attribute__((visibility("default"))) void _Block_release(const void* block);

#ifdef __cplusplus
}
#endif

#define Block_copy(...) ((__typeof(__VA_ARGS__))_Block_copy((const void*)(__VA_ARGS__)))
#define Block_release(...) _Block_release((const void*)(__VA_ARGS__))
