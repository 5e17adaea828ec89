// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#import "root.h"

int roots_alive = 0;
extern id objc_autorelease_fast_np(id object);

@implementation Root
+ (id)alloc {
  __atomic_add_fetch(&roots_alive, 1, __ATOMIC_RELAXED);
  return class_createInstance(self, 0);
}
+ (id)new {
  return [[self alloc] init];
}
+ (Class)class {
  return self;
}
- (id)init {
  return self;
}
- (void)dealloc {
  __atomic_sub_fetch(&roots_alive, 1, __ATOMIC_RELAXED);
  object_dispose(self);
}
- (Class)class {
  return object_getClass(self);
}
- (void)_ARCCompliantRetainRelease {
}
- (id)retain {
  return objc_retain_fast_np(self);
}
- (oneway void)release {
  objc_release_fast_np(self);
}
- (id)autorelease {
  return objc_autorelease_fast_np(self);
}
- (size_t)retainCount {
  return object_getRetainCount_np(self);
}
@end
