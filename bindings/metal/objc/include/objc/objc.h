/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* The types of Objective-C, for Clang's gnustep-2.0 ABI. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define OBJC_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define OBJC_EXPORT extern __attribute__((visibility("default")))
#endif

typedef struct objc_class* Class;
typedef struct objc_object {
  Class isa;
}* id;
/** A selector. Two of one name may be different pointers in different libraries: compare with sel_isEqual. */
typedef const struct objc_selector* SEL;
typedef signed char BOOL;
/** Cast to the type of the method: (id self, SEL selector, its arguments). */
typedef void (*IMP)(void);

#define OBJC_BOOL_IS_CHAR 1
#define YES ((BOOL)1)
#define NO ((BOOL)0)
#ifdef __cplusplus
#define Nil nullptr
#define nil nullptr
#else
#define Nil ((Class)0)
#define nil ((id)0)
#endif
#ifndef __OBJC__ /* there the compiler has them */
#define __strong
#define __weak
#define __unsafe_unretained
#define __autoreleasing
#endif

struct objc_super {
  id receiver;
  Class super_class;
};

OBJC_EXPORT SEL sel_registerName(const char* name);
OBJC_EXPORT SEL sel_getUid(const char* name);
OBJC_EXPORT const char* sel_getName(SEL selector);
OBJC_EXPORT BOOL sel_isEqual(SEL left, SEL right);
OBJC_EXPORT const char* object_getClassName(id object);
