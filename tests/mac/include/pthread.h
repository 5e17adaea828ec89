/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What macOS adds that is used. */
#pragma once
#include_next <pthread.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif
int pthread_threadid_np(pthread_t thread, uint64_t* number);
typedef enum { QOS_CLASS_BACKGROUND = 0x09 } qos_class_t;
int pthread_set_qos_class_self_np(qos_class_t quality, int relative_priority);
#ifdef __cplusplus
}
#endif
