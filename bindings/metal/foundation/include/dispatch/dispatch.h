/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Queues of blocks and functions, from the public documentation of Grand Central Dispatch. Every function from any
 * thread. Objects are counted: dispatch_retain and dispatch_release, or as Objective-C objects (under ARC by the
 * compiler). */
#ifndef SMELT_DISPATCH_H
#define SMELT_DISPATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define DISPATCH_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define DISPATCH_EXPORT extern __attribute__((visibility("default")))
#endif

#if defined(__OBJC__)
#import <Foundation/NSObject.h>
#define OS_OBJECT_USE_OBJC 1
/* One protocol each, so that mixing them up is an error. */
@protocol OS_dispatch_object <NSObject>
@end
#define DISPATCH_DECLARE(name)    \
  @protocol OS_                   \
  ##name<OS_dispatch_object> @end \
  typedef NSObject<OS_##name>* name##_t
typedef NSObject<OS_dispatch_object>* dispatch_object_t;
#else
#define DISPATCH_DECLARE(name) typedef struct name##_s* name##_t
typedef void* dispatch_object_t;
#endif
DISPATCH_DECLARE(dispatch_queue);
DISPATCH_DECLARE(dispatch_group);
DISPATCH_DECLARE(dispatch_semaphore);
DISPATCH_DECLARE(dispatch_data);
typedef dispatch_queue_t dispatch_queue_global_t;
typedef dispatch_queue_t dispatch_queue_main_t;
typedef const struct dispatch_queue_attr_s* dispatch_queue_attr_t;

typedef void (*dispatch_function_t)(void* context);
#if defined(__BLOCKS__)
typedef void (^dispatch_block_t)(void);
#endif

/* Times: nanoseconds of the monotonic clock, or of the wall clock for what dispatch_walltime made. */
typedef uint64_t dispatch_time_t;
#define NSEC_PER_SEC 1000000000ull
#define NSEC_PER_MSEC 1000000ull
#define USEC_PER_SEC 1000000ull
#define NSEC_PER_USEC 1000ull
#define DISPATCH_TIME_NOW (0ull)
#define DISPATCH_TIME_FOREVER (~0ull)
DISPATCH_EXPORT dispatch_time_t dispatch_time(dispatch_time_t when, int64_t nanoseconds);

/* Priorities and classes of service are taken and make no difference. */
typedef unsigned int qos_class_t;
typedef qos_class_t dispatch_qos_class_t;
enum {
  QOS_CLASS_USER_INTERACTIVE = 0x21,
  QOS_CLASS_USER_INITIATED = 0x19,
  QOS_CLASS_DEFAULT = 0x15,
  QOS_CLASS_UTILITY = 0x11,
  QOS_CLASS_BACKGROUND = 0x09,
  QOS_CLASS_UNSPECIFIED = 0x00,
};
#define DISPATCH_QUEUE_PRIORITY_HIGH 2
#define DISPATCH_QUEUE_PRIORITY_DEFAULT 0
#define DISPATCH_QUEUE_PRIORITY_LOW (-2)
#define DISPATCH_QUEUE_PRIORITY_BACKGROUND (-32768)
#define DISPATCH_QUEUE_SERIAL ((dispatch_queue_attr_t)0)
DISPATCH_EXPORT const struct dispatch_queue_attr_s dispatch_queue_attr_concurrent_;
#define DISPATCH_QUEUE_CONCURRENT (&dispatch_queue_attr_concurrent_)
#define DISPATCH_APPLY_AUTO ((dispatch_queue_t)0)
#define DISPATCH_TARGET_QUEUE_DEFAULT ((dispatch_queue_t)0)

DISPATCH_EXPORT void dispatch_retain(dispatch_object_t object);
DISPATCH_EXPORT void dispatch_release(dispatch_object_t object);

DISPATCH_EXPORT dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(dispatch_queue_attr_t attribute,
                                                                              dispatch_qos_class_t qos, int priority);
DISPATCH_EXPORT dispatch_queue_t dispatch_queue_create(const char* label, dispatch_queue_attr_t attribute)
#if defined(__OBJC__)
    __attribute__((ns_returns_retained))
#endif
    ;
DISPATCH_EXPORT dispatch_queue_t dispatch_get_global_queue(intptr_t identifier, uintptr_t flags);
/** Runs what it is given in dispatch_main() alone. */
DISPATCH_EXPORT dispatch_queue_t dispatch_get_main_queue(void);
DISPATCH_EXPORT __attribute__((noreturn)) void dispatch_main(void);
DISPATCH_EXPORT const char* dispatch_queue_get_label(dispatch_queue_t queue);

DISPATCH_EXPORT void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_barrier_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_barrier_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work);
DISPATCH_EXPORT void dispatch_after_f(dispatch_time_t when, dispatch_queue_t queue, void* context,
                                      dispatch_function_t work);
DISPATCH_EXPORT void dispatch_apply_f(size_t iterations, dispatch_queue_t queue, void* context,
                                      void (*work)(void* context, size_t index));

DISPATCH_EXPORT dispatch_group_t dispatch_group_create(void)
#if defined(__OBJC__)
    __attribute__((ns_returns_retained))
#endif
    ;
DISPATCH_EXPORT void dispatch_group_enter(dispatch_group_t group);
DISPATCH_EXPORT void dispatch_group_leave(dispatch_group_t group);
DISPATCH_EXPORT intptr_t dispatch_group_wait(dispatch_group_t group, dispatch_time_t until); /* 0, or it was too late */
DISPATCH_EXPORT void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue, void* context,
                                            dispatch_function_t work);

DISPATCH_EXPORT dispatch_semaphore_t dispatch_semaphore_create(intptr_t value)
#if defined(__OBJC__)
    __attribute__((ns_returns_retained))
#endif
    ;
DISPATCH_EXPORT intptr_t dispatch_semaphore_wait(dispatch_semaphore_t semaphore, dispatch_time_t until);
DISPATCH_EXPORT intptr_t dispatch_semaphore_signal(dispatch_semaphore_t semaphore);

typedef intptr_t dispatch_once_t;
DISPATCH_EXPORT void dispatch_once_f(dispatch_once_t* once, void* context, dispatch_function_t work);

#if defined(__BLOCKS__)
DISPATCH_EXPORT void dispatch_async(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_sync(dispatch_queue_t queue, __attribute__((noescape)) dispatch_block_t block);
DISPATCH_EXPORT void dispatch_async_and_wait(dispatch_queue_t queue, __attribute__((noescape)) dispatch_block_t block);
DISPATCH_EXPORT void dispatch_barrier_async(dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_barrier_sync(dispatch_queue_t queue, __attribute__((noescape)) dispatch_block_t block);
DISPATCH_EXPORT void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_apply(size_t iterations, dispatch_queue_t queue,
                                    __attribute__((noescape)) void (^block)(size_t index));
DISPATCH_EXPORT void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_group_notify(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block);
DISPATCH_EXPORT void dispatch_once(dispatch_once_t* once, __attribute__((noescape)) dispatch_block_t block);

/** Bytes that do not change. DISPATCH_DATA_DESTRUCTOR_DEFAULT copies them, _FREE gives them to free() in the end;
 * another block is called in the end, on the queue if there is one. */
DISPATCH_EXPORT const dispatch_block_t dispatch_data_destructor_free_;
#define DISPATCH_DATA_DESTRUCTOR_DEFAULT ((dispatch_block_t)0)
#define DISPATCH_DATA_DESTRUCTOR_FREE (dispatch_data_destructor_free_)
DISPATCH_EXPORT dispatch_data_t dispatch_data_create(const void* bytes, size_t size, dispatch_queue_t queue,
                                                     dispatch_block_t destructor)
#if defined(__OBJC__)
    __attribute__((ns_returns_retained))
#endif
    ;
DISPATCH_EXPORT size_t dispatch_data_get_size(dispatch_data_t data);
/** The same bytes in one piece, which they are already. */
DISPATCH_EXPORT dispatch_data_t dispatch_data_create_map(dispatch_data_t data, const void** bytes, size_t* size)
#if defined(__OBJC__)
    __attribute__((ns_returns_retained))
#endif
    ;
DISPATCH_EXPORT bool dispatch_data_apply(dispatch_data_t data,
                                         __attribute__((noescape)) bool (^block)(dispatch_data_t region, size_t offset,
                                                                                 const void* bytes, size_t size));
#endif

#endif
