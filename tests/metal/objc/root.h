/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A root class for the tests of the runtime alone, without Foundation. */
#pragma once
#include <objc/objc-arc.h>
#include <objc/runtime.h>

@protocol Counted
- (id)retain;
- (oneway void)release;
- (id)autorelease;
- (size_t)retainCount;
@end

__attribute__((objc_root_class))
@interface Root<Counted> {
  Class isa;
}
+ (id)alloc;
+ (id)new;
+ (Class)class;
- (id)init;
- (void)dealloc;
- (Class)class;
@end

extern int roots_alive;  // objects, atomically
