/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Everything that is declared is there; the system calls itself macOS 15. */
#pragma once

#define __MAC_10_15 101500
#define __MAC_11_0 110000
#define __MAC_12_0 120000
#define __MAC_13_0 130000
#define __MAC_14_0 140000
#define __MAC_15_0 150000
#define __MAC_OS_X_VERSION_MAX_ALLOWED 150000
#define __MAC_OS_X_VERSION_MIN_REQUIRED 150000
#define MAC_OS_X_VERSION_MAX_ALLOWED 150000
#define MAC_OS_X_VERSION_MIN_REQUIRED 150000
#define MAC_OS_VERSION_11_0 110000
#define MAC_OS_VERSION_12_0 120000
#define MAC_OS_VERSION_13_0 130000
#define MAC_OS_VERSION_14_0 140000
#define MAC_OS_VERSION_15_0 150000
#define API_AVAILABLE(...)
#define API_UNAVAILABLE(...)
#define API_DEPRECATED(...)
#define API_DEPRECATED_WITH_REPLACEMENT(...)
#define NS_AVAILABLE(...)
#define NS_AVAILABLE_MAC(...)
#define NS_DEPRECATED(...)
