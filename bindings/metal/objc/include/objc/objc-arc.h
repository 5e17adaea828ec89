/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What Clang calls for reference counting, as its document "Objective-C Automatic Reference Counting" (Runtime support)
 * says; and what the root class of a program counts with. */
#pragma once

#include <objc/objc.h>

OBJC_EXPORT id objc_retain(id object);
OBJC_EXPORT void objc_release(id object);
OBJC_EXPORT id objc_autorelease(id object);
OBJC_EXPORT id objc_autoreleaseReturnValue(id object);
OBJC_EXPORT id objc_retainAutorelease(id object);
OBJC_EXPORT id objc_retainAutoreleaseReturnValue(id object);
OBJC_EXPORT id objc_retainAutoreleasedReturnValue(id object);
OBJC_EXPORT id objc_unsafeClaimAutoreleasedReturnValue(id object);
OBJC_EXPORT id objc_retainBlock(id block);
OBJC_EXPORT void objc_storeStrong(id* at, id value);
OBJC_EXPORT id objc_initWeak(id* at, id value);
OBJC_EXPORT id objc_storeWeak(id* at, id value);
OBJC_EXPORT id objc_loadWeak(id* at);
OBJC_EXPORT id objc_loadWeakRetained(id* at);
OBJC_EXPORT void objc_copyWeak(id* to, id* from);
OBJC_EXPORT void objc_moveWeak(id* to, id* from);
OBJC_EXPORT void objc_destroyWeak(id* at);
OBJC_EXPORT void* objc_autoreleasePoolPush(void);
OBJC_EXPORT void objc_autoreleasePoolPop(void* pool);
OBJC_EXPORT id objc_alloc(Class of);
OBJC_EXPORT id objc_allocWithZone(Class of);
OBJC_EXPORT id objc_alloc_init(Class of);

/* The count before the object's first word, for a root class whose -retain, -release and -retainCount call these and
 * which has a method -_ARCCompliantRetainRelease to say so; then ARC counts without sending messages. */
OBJC_EXPORT id objc_retain_fast_np(id object);
OBJC_EXPORT void objc_release_fast_np(id object);
OBJC_EXPORT size_t object_getRetainCount_np(id object);
/** Makes pointers whose low three bits are the mask objects of the class. Returns NO if the mask is taken. */
OBJC_EXPORT BOOL objc_registerSmallObjectClass_np(Class of, uintptr_t mask);
/** Blocks become objects of subclasses of this class, which answers -retain, -release and -copy. */
OBJC_EXPORT BOOL objc_create_block_classes_as_subclasses_of(Class superclass);
