/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
// <TargetConditionals.h>: which system the kernels are for.
#ifndef __TARGETCONDITIONALS_H
#define __TARGETCONDITIONALS_H
#define TARGET_OS_MAC 1
#if defined(__METAL_IOS__)
#define TARGET_OS_IPHONE 1
#define TARGET_OS_OSX 0
#else
#define TARGET_OS_IPHONE 0
#define TARGET_OS_OSX 1
#endif
#if defined(__SMELT_TVOS__)
#define TARGET_OS_TV 1
#define TARGET_OS_IOS 0
#else
#define TARGET_OS_TV 0
#define TARGET_OS_IOS TARGET_OS_IPHONE
#endif
#if defined(__SMELT_SIMULATOR__)
#define TARGET_OS_SIMULATOR 1
#else
#define TARGET_OS_SIMULATOR 0
#endif
#endif
