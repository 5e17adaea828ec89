// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// With -fobjc-arc: strong, weak and autoreleased references, blocks, fast enumeration.
#include <pthread.h>
#include <stdlib.h>

#import <Foundation/Foundation.h>

#import "check.h"

static int alive = 0;

@interface Node : NSObject
@property(strong) Node* next;
@property(weak) Node* back;
@property(copy) int (^work)(int);
@property(readonly) int number;
- (instancetype)initWithNumber:(int)number;
@end
@implementation Node
- (instancetype)initWithNumber:(int)number {
  if ((self = [super init])) {
    _number = number;
    __atomic_add_fetch(&alive, 1, __ATOMIC_RELAXED);
  }
  return self;
}
- (void)dealloc {
  __atomic_sub_fetch(&alive, 1, __ATOMIC_RELAXED);
}
- (Node*)autoreleasedNext {
  return self.next;
}
@end

static void test_references(void) {
  __weak Node* gone;
  @autoreleasepool {
    Node* first = [[Node alloc] initWithNumber:1];
    first.next = [[Node alloc] initWithNumber:2];
    first.next.back = first;
    gone = first.next;
    CHECK(alive == 2 && gone.number == 2 && first.next.back == first);
    CHECK([first autoreleasedNext] == gone);
  }
  CHECK(alive == 0 && gone == nil);
}

static int (^adder(int by))(int) {
  return ^(int x) {
    return x + by;
  };
}
static void test_blocks(void) {
  @autoreleasepool {
    Node* node = [[Node alloc] initWithNumber:40];
    __weak Node* weak = node;
    __block int calls = 0;
    __block Node* held = [[Node alloc] initWithNumber:9];
    node.work = ^(int x) {
      ++calls;
      return weak.number + x + held.number;
    };
    CHECK(node.work(2) == 51 && node.work(3) == 52 && calls == 2);
    CHECK(adder(3)(4) == 7);
    held = nil;
    CHECK(node.work(2) == 42 && calls == 3);
    NSArray* blocks = @[ adder(1), adder(2), ^(int x) { return x * 10; } ];
    int sum = 0;
    for (int (^block)(int) in blocks) sum += block(5);
    CHECK(sum == 6 + 7 + 50);
    id object = node.work;
    CHECK([object isKindOfClass:[NSObject class]] && [object copy] == object);
    __weak id weak_block = object;
    CHECK(weak_block == object);
  }
  CHECK(alive == 0);
}

static void test_collections(void) {
  @autoreleasepool {
    NSMutableArray<Node*>* nodes = [NSMutableArray array];
    for (int i = 0; i < 100; ++i) [nodes addObject:[[Node alloc] initWithNumber:i]];
    int sum = 0;
    for (Node* node in nodes) sum += node.number;
    CHECK(sum == 4950 && alive == 100);
    [nodes removeObjectAtIndex:0];
    CHECK(alive == 99);
    NSDictionary* d = @{@"one" : @1, @"two" : nodes[1], @(3) : @"three"};
    CHECK([d[@"one"] intValue] == 1 && d[@"two"] == nodes[1] && [d[@3] isEqualToString:@"three"]);
    BOOL thrown = NO;
    @try {
      for (Node* node in nodes) [nodes addObject:node];
    } @catch (NSException* e) {
      thrown = [e.name isEqualToString:NSGenericException];
    }
    CHECK(thrown);
  }
  CHECK(alive == 0);
}

// Weak reads race with the last release: each sees the whole object or none.
static Node* shared_node;
static __weak Node* weak_node;
static void* read_weak(void* argument) {
  for (int i = 0; i < 20000; ++i)
    @autoreleasepool {
      Node* node = weak_node;
      if (node && node.number != 77) __atomic_add_fetch((int*)argument, 1, __ATOMIC_RELAXED);
    }
  return NULL;
}
static void test_weak_threads(void) {
  int wrong = 0;
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i) pthread_create(&threads[i], NULL, read_weak, &wrong);
  for (int i = 0; i < 2000; ++i)
    @autoreleasepool {
      shared_node = [[Node alloc] initWithNumber:77];
      weak_node = shared_node;
      shared_node = nil;
    }
  for (int i = 0; i < 2; ++i) pthread_join(threads[i], NULL);
  CHECK(wrong == 0 && alive == 0);
}

int main(void) {
  test_references();
  test_blocks();
  test_collections();
  test_weak_threads();
  return outcome();
}
