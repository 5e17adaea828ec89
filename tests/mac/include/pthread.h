/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What macOS adds that is used. */
#pragma once
#include_next <pthread.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
int pthread_threadid_np(pthread_t thread, uint64_t* number);
#ifdef __cplusplus
}
#endif
