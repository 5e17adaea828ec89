/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* dispatch_data_create(3), what is used of it. */
#pragma once
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif
@protocol OS_dispatch_queue
@end
@protocol OS_dispatch_data
@end
typedef id<OS_dispatch_queue> dispatch_queue_t;
typedef id<OS_dispatch_data> dispatch_data_t;
typedef void (^dispatch_block_t)(void);
__attribute__((ns_returns_retained)) dispatch_data_t dispatch_data_create(const void* buffer, size_t size,
                                                                          dispatch_queue_t queue,
                                                                          dispatch_block_t destructor);
#ifdef __cplusplus
}
#endif
