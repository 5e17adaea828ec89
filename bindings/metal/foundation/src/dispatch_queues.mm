// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queues: a queue hands its next work to the threads when its order allows; a serial one has one work at a time, a
// barrier has the queue for itself.
#include <atomic>
#include <deque>
#include <memory>
#include <string>
#include <thread>
#include <utility>

#include "dispatch_objects.hpp"

using namespace smelt::dispatch;

namespace {
struct Entry {
  Work work;
  bool barrier = false;
};
}  // namespace
@interface OS_dispatch_queue : OS_dispatch_object <OS_dispatch_queue> {
 @public
  std::mutex lock_;
  std::condition_variable changed_;
  std::deque<Entry> waiting_;
  std::string label_;
  bool concurrent_, main_, alone_;  // alone_: a barrier, or a serial queue's work, is running
  size_t running_;
}
@end
@implementation OS_dispatch_queue
@end
namespace {

OS_dispatch_queue* object(dispatch_queue_t queue) { return static_cast<OS_dispatch_queue*>(queue); }
thread_local OS_dispatch_queue* queue_of_thread = nil;

OS_dispatch_queue* make_queue(const char* label, bool concurrent) {
  OS_dispatch_queue* made = [OS_dispatch_queue new];
  made->label_ = label ? label : "";
  made->concurrent_ = concurrent;
  return made;
}

void advance(OS_dispatch_queue* queue);

void run_entry(OS_dispatch_queue* queue, const Work& work, bool alone) {
  struct Scope {  // an exception out of the work leaves the queue as it should be
    OS_dispatch_queue *queue, *before;
    bool alone;
    ~Scope() {
      queue_of_thread = before;
      {
        std::lock_guard guard(queue->lock_);
        --queue->running_;
        if (alone) queue->alone_ = false;
        queue->changed_.notify_all();
      }
      advance(queue);
    }
  } scope{queue, std::exchange(queue_of_thread, queue), alone};
  work();
}

// Starts what the queue's order allows now.
void advance(OS_dispatch_queue* queue) {
  if (queue->main_) return;
  for (;;) {
    Entry entry;
    bool alone = false;
    {
      std::lock_guard guard(queue->lock_);
      if (queue->waiting_.empty() || queue->alone_) return;
      alone = !queue->concurrent_ || queue->waiting_.front().barrier;
      if (alone && queue->running_ != 0) return;
      entry = std::move(queue->waiting_.front());
      queue->waiting_.pop_front();
      ++queue->running_;
      queue->alone_ = alone;
    }
    [queue retain];
    run_on_pool([queue, alone, work = std::move(entry.work)] {
      run_entry(queue, work, alone);
      [queue release];
    });
  }
}

}  // namespace

namespace smelt::dispatch {
void add(dispatch_queue_t to, Work work, bool barrier) {
  OS_dispatch_queue* queue = object(to ? to : dispatch_get_global_queue(0, 0));
  {
    std::lock_guard guard(queue->lock_);
    queue->waiting_.push_back({std::move(work), barrier});
    queue->changed_.notify_all();
  }
  advance(queue);
}
}  // namespace smelt::dispatch

namespace {

// Runs here when the queue is free: the thread that waits may as well work.
void add_and_wait(dispatch_queue_t to, const Work& work, bool barrier) {
  OS_dispatch_queue* queue = object(to ? to : dispatch_get_global_queue(0, 0));
  const bool alone = !queue->concurrent_ || barrier;
  if (queue_of_thread == queue && alone)
    fatal("dispatch_sync on the queue that this thread works for", queue->label_.c_str());
  {
    std::lock_guard guard(queue->lock_);
    if (!queue->main_ && queue->waiting_.empty() && !queue->alone_ && !(alone && queue->running_ != 0)) {
      ++queue->running_;
      queue->alone_ = alone;
    } else {
      queue = nil;
    }
  }
  if (queue) return run_entry(queue, work, alone);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  add(to, [&work, done] {
    work();
    dispatch_semaphore_signal(done);
  }, barrier);
  dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER);
  dispatch_release(done);
}

// Indexes are taken one by one by this thread and by some of the pool.
void apply(size_t iterations, dispatch_queue_t queue, const std::function<void(size_t)>& body) {
  if (queue && !object(queue)->concurrent_) {
    for (size_t i = 0; i < iterations; ++i) add_and_wait(queue, [&] { body(i); }, false);
    return;
  }
  struct Shared {
    std::atomic<size_t> next{0}, helpers{0};
    std::mutex lock;
    std::condition_variable changed;
  };
  const auto shared = std::make_shared<Shared>();
  const auto work = [shared, iterations, &body] {
    for (size_t i; (i = shared->next.fetch_add(1)) < iterations;) body(i);
  };
  const size_t helpers = iterations < 2 ? 0 : std::min<size_t>(iterations - 1, std::max(1u, std::thread::hardware_concurrency()) - 1);
  shared->helpers = helpers;
  for (size_t i = 0; i < helpers; ++i)
    run_on_pool([shared, work] {
      work();
      std::lock_guard guard(shared->lock);
      if (--shared->helpers == 0) shared->changed.notify_all();
    });
  work();
  std::unique_lock guard(shared->lock);
  shared->changed.wait(guard, [&] { return shared->helpers == 0; });
}

}  // namespace

struct dispatch_queue_attr_s {
  bool concurrent;
};
const dispatch_queue_attr_s dispatch_queue_attr_concurrent_ = {true};
dispatch_queue_attr_t dispatch_queue_attr_make_with_qos_class(dispatch_queue_attr_t attribute, dispatch_qos_class_t, int) {
  return attribute;
}
void dispatch_retain(dispatch_object_t object) { [object retain]; }
void dispatch_release(dispatch_object_t object) { [object release]; }
dispatch_time_t dispatch_time(dispatch_time_t when, int64_t nanoseconds) {
  if (when == DISPATCH_TIME_FOREVER || nanoseconds == INT64_MAX) return DISPATCH_TIME_FOREVER;
  return static_cast<dispatch_time_t>(time_point(when).time_since_epoch().count() + nanoseconds);
}
dispatch_queue_t dispatch_queue_create(const char* label, dispatch_queue_attr_t attribute) {
  return make_queue(label, attribute && attribute->concurrent);
}
dispatch_queue_t dispatch_get_global_queue(intptr_t, uintptr_t) {
  static OS_dispatch_queue* one = make_queue("com.apple.root.default-qos", true);
  return one;
}
dispatch_queue_t dispatch_get_main_queue(void) {
  static OS_dispatch_queue* one = [] {
    OS_dispatch_queue* made = make_queue("com.apple.main-thread", false);
    made->main_ = true;
    return made;
  }();
  return one;
}
void dispatch_main(void) {
  OS_dispatch_queue* queue = object(dispatch_get_main_queue());
  queue_of_thread = queue;
  for (;;) {
    std::unique_lock guard(queue->lock_);
    queue->changed_.wait(guard, [&] { return !queue->waiting_.empty(); });
    const Work work = std::move(queue->waiting_.front().work);
    queue->waiting_.pop_front();
    guard.unlock();
    @autoreleasepool {
      work();
    }
  }
}
const char* dispatch_queue_get_label(dispatch_queue_t queue) {
  const OS_dispatch_queue* of = queue ? object(queue) : queue_of_thread;
  return of ? of->label_.c_str() : "";
}

void dispatch_async(dispatch_queue_t queue, dispatch_block_t block) { add(queue, from_block(block), false); }
void dispatch_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  add(queue, [=] { work(context); }, false);
}
void dispatch_sync(dispatch_queue_t queue, NS_NOESCAPE dispatch_block_t block) { add_and_wait(queue, [&] { block(); }, false); }
void dispatch_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  add_and_wait(queue, [=] { work(context); }, false);
}
void dispatch_async_and_wait(dispatch_queue_t queue, NS_NOESCAPE dispatch_block_t block) { dispatch_sync(queue, block); }
void dispatch_barrier_async(dispatch_queue_t queue, dispatch_block_t block) { add(queue, from_block(block), true); }
void dispatch_barrier_async_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  add(queue, [=] { work(context); }, true);
}
void dispatch_barrier_sync(dispatch_queue_t queue, NS_NOESCAPE dispatch_block_t block) { add_and_wait(queue, [&] { block(); }, true); }
void dispatch_barrier_sync_f(dispatch_queue_t queue, void* context, dispatch_function_t work) {
  add_and_wait(queue, [=] { work(context); }, true);
}
void dispatch_after_f(dispatch_time_t when, dispatch_queue_t queue, void* context, dispatch_function_t work) {
  [queue retain];
  run_at(time_point(when), [=] {
    dispatch_async_f(queue, context, work);
    [queue release];
  });
}
void dispatch_after(dispatch_time_t when, dispatch_queue_t queue, dispatch_block_t block) {
  [queue retain];
  run_at(time_point(when), [queue, work = from_block(block)] {
    add(queue, work, false);
    [queue release];
  });
}
void dispatch_apply(size_t iterations, dispatch_queue_t queue, NS_NOESCAPE void (^block)(size_t)) {
  apply(iterations, queue, [&](size_t i) { block(i); });
}
void dispatch_apply_f(size_t iterations, dispatch_queue_t queue, void* context, void (*work)(void*, size_t)) {
  apply(iterations, queue, [&](size_t i) { work(context, i); });
}
