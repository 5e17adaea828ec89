// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Groups, semaphores, once.
#include <utility>
#include <vector>

#include "dispatch_objects.hpp"

using namespace smelt::dispatch;

@interface OS_dispatch_group : OS_dispatch_object <OS_dispatch_group> {
 @public
  std::mutex lock_;
  std::condition_variable changed_;
  std::vector<Work> notices_;
  size_t members_;
}
@end
@implementation OS_dispatch_group
@end
@interface OS_dispatch_semaphore : OS_dispatch_object <OS_dispatch_semaphore> {
 @public
  std::mutex lock_;
  std::condition_variable changed_;
  intptr_t value_;
}
@end
@implementation OS_dispatch_semaphore
@end

namespace {
void leave(dispatch_group_t in) {
  auto* group = static_cast<OS_dispatch_group*>(in);
  std::vector<Work> notices;
  {
    std::lock_guard guard(group->lock_);
    if (group->members_ == 0) fatal("dispatch_group_leave without an enter");
    if (--group->members_ != 0) return;
    notices.swap(group->notices_);
    group->changed_.notify_all();
  }
  for (const Work& notice : notices) notice();
}
}  // namespace

dispatch_group_t dispatch_group_create(void) { return [OS_dispatch_group new]; }
void dispatch_group_enter(dispatch_group_t in) {
  auto* group = static_cast<OS_dispatch_group*>(in);
  std::lock_guard guard(group->lock_);
  ++group->members_;
}
void dispatch_group_leave(dispatch_group_t group) { leave(group); }
intptr_t dispatch_group_wait(dispatch_group_t in, dispatch_time_t until) {
  auto* group = static_cast<OS_dispatch_group*>(in);
  std::unique_lock guard(group->lock_);
  return wait_until(guard, group->changed_, until, [&] { return group->members_ == 0; }) ? 0 : 1;
}
void dispatch_group_async(dispatch_group_t group, dispatch_queue_t queue, dispatch_block_t block) {
  dispatch_group_enter([group retain]);
  add(queue, [group, work = from_block(block)] {
    work();
    leave(group);
    [group release];
  }, false);
}
void dispatch_group_async_f(dispatch_group_t group, dispatch_queue_t queue, void* context, dispatch_function_t work) {
  dispatch_group_async(group, queue, ^{
    work(context);
  });
}
void dispatch_group_notify(dispatch_group_t in, dispatch_queue_t queue, dispatch_block_t block) {
  auto* group = static_cast<OS_dispatch_group*>(in);
  [queue retain];
  Work notice = [queue, work = from_block(block)] {
    add(queue, work, false);
    [queue release];
  };
  {
    std::lock_guard guard(group->lock_);
    if (group->members_ != 0) {
      group->notices_.push_back(std::move(notice));
      return;
    }
  }
  notice();
}

dispatch_semaphore_t dispatch_semaphore_create(intptr_t value) {
  if (value < 0) return nil;
  OS_dispatch_semaphore* made = [OS_dispatch_semaphore new];
  made->value_ = value;
  return made;
}
intptr_t dispatch_semaphore_wait(dispatch_semaphore_t of, dispatch_time_t until) {
  auto* semaphore = static_cast<OS_dispatch_semaphore*>(of);
  std::unique_lock guard(semaphore->lock_);
  if (!wait_until(guard, semaphore->changed_, until, [&] { return semaphore->value_ > 0; })) return 1;
  --semaphore->value_;
  return 0;
}
intptr_t dispatch_semaphore_signal(dispatch_semaphore_t of) {
  auto* semaphore = static_cast<OS_dispatch_semaphore*>(of);
  std::lock_guard guard(semaphore->lock_);
  ++semaphore->value_;
  semaphore->changed_.notify_one();
  return 0;
}

namespace {
// 0: not run, 1: running, ~0: done.
void once(dispatch_once_t* state, const Work& work) {
  if (__atomic_load_n(state, __ATOMIC_ACQUIRE) == -1) return;
  static auto* lock = new std::mutex;
  static auto* changed = new std::condition_variable;
  std::unique_lock guard(*lock);
  changed->wait(guard, [&] { return __atomic_load_n(state, __ATOMIC_RELAXED) != 1; });
  if (__atomic_load_n(state, __ATOMIC_RELAXED) == -1) return;
  __atomic_store_n(state, 1, __ATOMIC_RELAXED);
  guard.unlock();
  work();
  guard.lock();
  __atomic_store_n(state, -1, __ATOMIC_RELEASE);
  changed->notify_all();
}
}  // namespace
void dispatch_once(dispatch_once_t* state, NS_NOESCAPE dispatch_block_t block) { once(state, [&] { block(); }); }
void dispatch_once_f(dispatch_once_t* state, void* context, dispatch_function_t work) {
  once(state, [&] { work(context); });
}
