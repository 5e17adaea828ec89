// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Queues, groups, semaphores, once, apply, after, data.
#include <signal.h>
#include <sys/wait.h>

#import <Foundation/Foundation.h>

#import "check.h"

static void count_up(void* context) { __atomic_add_fetch((int*)context, 1, __ATOMIC_RELAXED); }

static void test_queues(void) {
  dispatch_queue_t serial = dispatch_queue_create("serial", DISPATCH_QUEUE_SERIAL);
  __block int last = -1, in_order = 1;
  for (int i = 0; i < 1000; ++i)
    dispatch_async(serial, ^{
      if (last != i - 1) in_order = 0;
      last = i;
    });
  __block int seen = 0;
  dispatch_sync(serial, ^{
    seen = last;
  });
  CHECK(seen == 999 && in_order);
  CHECK(strcmp(dispatch_queue_get_label(serial), "serial") == 0);
  dispatch_release(serial);  // with work still in it
  dispatch_queue_t gone = dispatch_queue_create(NULL, NULL);
  dispatch_semaphore_t done = dispatch_semaphore_create(0);
  dispatch_async(gone, ^{
    usleep(10000);
    dispatch_semaphore_signal(done);
  });
  [gone release];
  CHECK(dispatch_semaphore_wait(done, DISPATCH_TIME_FOREVER) == 0);
  CHECK(dispatch_semaphore_wait(done, dispatch_time(DISPATCH_TIME_NOW, 5 * NSEC_PER_MSEC)) != 0);
  dispatch_release(done);

  dispatch_queue_t wide = dispatch_queue_create("wide", DISPATCH_QUEUE_CONCURRENT);
  __block int before = 0, wrong = 0;
  for (int i = 0; i < 64; ++i) dispatch_async(wide, ^{ usleep(500); __atomic_add_fetch(&before, 1, __ATOMIC_RELAXED); });
  dispatch_barrier_async(wide, ^{ if (before != 64) wrong = 1; before = 1000; });
  for (int i = 0; i < 64; ++i) dispatch_async(wide, ^{ if (before < 1000) wrong = 1; });
  dispatch_barrier_sync(wide, ^{ before = 2000; });
  CHECK(!wrong && before == 2000);
  // Two works that wait for each other need two threads.
  dispatch_semaphore_t a = dispatch_semaphore_create(0), b = dispatch_semaphore_create(0);
  dispatch_group_t group = dispatch_group_create();
  dispatch_group_async(group, wide, ^{ dispatch_semaphore_signal(a); dispatch_semaphore_wait(b, DISPATCH_TIME_FOREVER); });
  dispatch_group_async(group, wide, ^{ dispatch_semaphore_wait(a, DISPATCH_TIME_FOREVER); dispatch_semaphore_signal(b); });
  CHECK(dispatch_group_wait(group, dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_SEC)) == 0);
  dispatch_release(group);
  dispatch_release(a);
  dispatch_release(b);
  dispatch_release(wide);
}

static void test_groups(void) {
  dispatch_group_t group = dispatch_group_create();
  dispatch_queue_t queue = dispatch_get_global_queue(QOS_CLASS_DEFAULT, 0);
  __block int count = 0, at_notice = -1;
  dispatch_semaphore_t noticed = dispatch_semaphore_create(0);
  dispatch_group_enter(group);
  for (int i = 0; i < 100; ++i) dispatch_group_async(group, queue, ^{ __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED); });
  dispatch_group_notify(group, queue, ^{
    at_notice = count;
    dispatch_semaphore_signal(noticed);
  });
  CHECK(dispatch_group_wait(group, dispatch_time(DISPATCH_TIME_NOW, NSEC_PER_MSEC)) != 0 && at_notice == -1);
  dispatch_group_leave(group);
  CHECK(dispatch_group_wait(group, DISPATCH_TIME_FOREVER) == 0 && count == 100);
  dispatch_semaphore_wait(noticed, DISPATCH_TIME_FOREVER);
  CHECK(at_notice == 100);
  dispatch_release(noticed);
  dispatch_release(group);
}

static void test_rest(void) {
  static dispatch_once_t token;
  __block int runs = 0;
  dispatch_apply(200, dispatch_get_global_queue(0, 0), ^(size_t i) {
    dispatch_once(&token, ^{
      usleep(2000);
      ++runs;
    });
    if (runs != 1) __atomic_add_fetch(&runs, 100, __ATOMIC_RELAXED);
  });
  CHECK(runs == 1);
  int* sums = calloc(1000, sizeof(int));
  dispatch_apply(1000, DISPATCH_APPLY_AUTO, ^(size_t i) {
    sums[i] += (int)i;
  });
  int total = 0;
  for (int i = 0; i < 1000; ++i) total += sums[i];
  CHECK(total == 499500);
  free(sums);
  int counter = 0;
  dispatch_queue_t queue = dispatch_queue_create("f", NULL);
  for (int i = 0; i < 10; ++i) dispatch_async_f(queue, &counter, count_up);
  dispatch_sync_f(queue, &counter, count_up);
  CHECK(counter == 11);
  dispatch_semaphore_t late = dispatch_semaphore_create(0);
  NSDate* start = [NSDate date];
  dispatch_after(dispatch_time(DISPATCH_TIME_NOW, 20 * NSEC_PER_MSEC), queue, ^{ dispatch_semaphore_signal(late); });
  dispatch_semaphore_wait(late, DISPATCH_TIME_FOREVER);
  CHECK(-start.timeIntervalSinceNow >= 0.02);
  dispatch_release(late);

  __block int destroyed = 0;
  dispatch_data_t data = dispatch_data_create("abc", 3, NULL, ^{ ++destroyed; });
  const void* bytes = NULL;
  size_t size = 0;
  dispatch_data_t mapped = dispatch_data_create_map(data, &bytes, &size);
  CHECK(size == 3 && memcmp(bytes, "abc", 3) == 0 && dispatch_data_get_size(data) == 3);
  dispatch_release(data);
  CHECK(destroyed == 0);
  dispatch_release(mapped);
  CHECK(destroyed == 1);
  char* mine = strdup("xyz");
  data = dispatch_data_create(mine, 3, NULL, DISPATCH_DATA_DESTRUCTOR_DEFAULT);
  free(mine);
  __block int regions = 0;
  CHECK(dispatch_data_apply(data, ^bool(dispatch_data_t region, size_t offset, const void* at, size_t length) {
    regions += offset == 0 && length == 3 && memcmp(at, "xyz", 3) == 0;
    return true;
  }));
  CHECK(regions == 1);
  dispatch_release(data);
  dispatch_release(queue);
}

static void test_deadlock(void) {
  const pid_t child = fork();
  if (child == 0) {
    fclose(stderr);
    dispatch_queue_t queue = dispatch_queue_create("itself", NULL);
    dispatch_sync(queue, ^{
      dispatch_sync(queue, ^{
      });
    });
    _exit(0);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

int main(void) {
  @autoreleasepool {
    test_deadlock();  // first: a child has none of the threads
    test_queues();
    test_groups();
    test_rest();
  }
  return outcome();
}
