/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Sending messages by hand. Cast these to the type of the method that is called. */
#pragma once

#include <objc/objc.h>

/** A receiver of nil gives zero. _stret is for results that come back through memory on x86-64, _fpret for long double
 * there; on aarch64 both are objc_msgSend. */
OBJC_EXPORT id objc_msgSend(id receiver, SEL selector, ...);
OBJC_EXPORT void objc_msgSend_stret(id receiver, SEL selector, ...);
OBJC_EXPORT long double objc_msgSend_fpret(id receiver, SEL selector, ...);
/** The method that the receiver (which forwarding may replace) has for the selector; never NULL. */
OBJC_EXPORT IMP objc_msg_lookup(id receiver, SEL selector);
/** The same, beginning at a class. */
OBJC_EXPORT IMP objc_msg_lookup_super(struct objc_super* super, SEL selector);
