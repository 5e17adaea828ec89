// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <condition_variable>
#include <mutex>

#include "internal.hpp"

@implementation NSLock {
  std::mutex mutex_;
}
@synthesize name = name_;
- (void)lock {
  mutex_.lock();
}
- (void)unlock {
  mutex_.unlock();
}
- (BOOL)tryLock {
  return mutex_.try_lock();
}
- (void)dealloc {
  [name_ release];
  [super dealloc];
}
@end
@implementation NSRecursiveLock {
  std::recursive_mutex mutex_;
}
@synthesize name = name_;
- (void)lock {
  mutex_.lock();
}
- (void)unlock {
  mutex_.unlock();
}
- (BOOL)tryLock {
  return mutex_.try_lock();
}
- (void)dealloc {
  [name_ release];
  [super dealloc];
}
@end
@implementation NSCondition {
  std::mutex mutex_;
  std::condition_variable changed_;
}
@synthesize name = name_;
- (void)lock {
  mutex_.lock();
}
- (void)unlock {
  mutex_.unlock();
}
- (void)wait {
  std::unique_lock held(mutex_, std::adopt_lock);
  changed_.wait(held);
  held.release();
}
- (void)signal {
  changed_.notify_one();
}
- (void)broadcast {
  changed_.notify_all();
}
- (void)dealloc {
  [name_ release];
  [super dealloc];
}
@end
