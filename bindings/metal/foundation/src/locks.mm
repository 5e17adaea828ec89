// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <condition_variable>
#include <mutex>

#include "internal.hpp"

// Of a lock whose mutex is mutex_.
#define SMELT_LOCK             \
  @synthesize name = name_;    \
  -(void)lock {                \
    mutex_.lock();             \
  }                            \
  -(void)unlock {              \
    mutex_.unlock();           \
  }                            \
  -(void)dealloc {             \
    [name_ release];           \
    [super dealloc];           \
  }
#define SMELT_TRY_LOCK         \
  -(BOOL)tryLock {             \
    return mutex_.try_lock();  \
  }

@implementation NSLock {
  std::mutex mutex_;
}
SMELT_LOCK
SMELT_TRY_LOCK
@end
@implementation NSRecursiveLock {
  std::recursive_mutex mutex_;
}
SMELT_LOCK
SMELT_TRY_LOCK
@end
@implementation NSCondition {
  std::mutex mutex_;
  std::condition_variable changed_;
}
SMELT_LOCK
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
@end
