// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Messages: results of every shape, super, nil, categories, properties, protocols, methods that come and go, forwarding,
// +load and +initialize, threads.
#include <complex.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>

#import "check.h"
#import "root.h"

struct pair {
  double real;
  long whole;
};
struct words {
  long w[5];
};
struct floats {
  float x, y, z, w;
};

@protocol Named
- (int)number;
@optional
- (int)absent;
@property int width;
@end
@protocol Sized <Named>
+ (int)sizes;
@end

@interface Shape : Root <Sized> {
 @public
  char tag_;
  int number_;
}
@property int width;
@property(nonatomic, retain) Root* part;
@property(retain) Root* shared;
@property struct words block;
- (struct pair)pair;
- (struct words)words:(long)first with:(double)scale;
- (struct floats)floats;
- (float)half:(float)x;
- (double)sum:(int)count of:(double)a, ...;
- (long double)precise;
- (char)ninth:(long)a :(long)b :(long)c :(long)d :(long)e :(long)f :(double)x :(char)g;
@end
@interface Circle : Shape {
  double radius_;
  char last_;
}
@end

static int loads[4], load_count = 0, initialised = 0;

@implementation Shape
@synthesize width, part, shared, block;
+ (void)load {
  loads[load_count++] = 1;
}
+ (void)initialize {
  if (self == objc_getClass("Shape")) __atomic_add_fetch(&initialised, 1, __ATOMIC_RELAXED);
}
+ (int)sizes {
  return 7;
}
- (int)number {
  return number_;
}
- (struct pair)pair {
  return (struct pair){1.5, 42};
}
- (struct words)words:(long)first with:(double)scale {
  struct words w;
  for (int i = 0; i < 5; ++i) w.w[i] = first + (long)(scale * i);
  return w;
}
- (struct floats)floats {
  return (struct floats){1, 2, 3, 4};
}
- (float)half:(float)x {
  return x / 2;
}
- (double)sum:(int)count of:(double)a, ... {
  __builtin_va_list list;
  __builtin_va_start(list, a);
  double total = a;
  for (int i = 1; i < count; ++i) total += __builtin_va_arg(list, double);
  __builtin_va_end(list);
  return total;
}
- (long double)precise {
  return 1.0L / 3;
}
- (char)ninth:(long)a :(long)b :(long)c :(long)d :(long)e :(long)f :(double)x :(char)g {
  return (char)(a + b + c + d + e + f + (long)x + g);
}
- (void)dealloc {
  [part release];
  [shared release];
  [super dealloc];
}
@end

@implementation Circle
+ (void)load {
  loads[load_count++] = 2;
}
- (int)number {
  return [super number] + 100;
}
+ (int)sizes {
  return [super sizes] + 1;
}
@end

@interface Shape (Later)
- (int)area;
@end
@implementation Shape (Later)
+ (void)load {
  loads[load_count++] = 3;
}
- (int)area {
  return self.width * 2;
}
- (int)number {  // takes the place of the class's own
  return number_ + 1000;
}
@end

static void test_results(void) {
  Circle* circle = [Circle new];
  circle->number_ = 5;
  CHECK([circle pair].real == 1.5 && [circle pair].whole == 42);
  const struct words w = [circle words:10 with:2];
  CHECK(w.w[0] == 10 && w.w[4] == 18);
  CHECK([circle floats].w == 4);
  CHECK([circle half:3] == 1.5f);
  CHECK(([circle sum:4 of:1.0, 2.0, 3.0, 4.0] == 10));
  CHECK([circle precise] == 1.0L / 3);
  CHECK([circle ninth:1:2:3:4:5:6:7.0:8] == 36);
  CHECK([circle number] == 1105);
  CHECK([Circle sizes] == 8);
  [circle release];

  Circle* none = nil;
  CHECK([none number] == 0 && [none pair].whole == 0 && [none words:1 with:1].w[3] == 0);
  CHECK([none half:8] == 0 && [none precise] == 0 && [none part] == nil && [none floats].x == 0);
}

static void test_members(void) {
  CHECK(class_getInstanceSize([Shape class]) >= sizeof(void*) + 1 + 4 + 4 + 2 * sizeof(void*) + sizeof(struct words));
  CHECK(ivar_getOffset(class_getInstanceVariable([Circle class], "radius_")) % 8 == 0);
  CHECK((size_t)ivar_getOffset(class_getInstanceVariable([Circle class], "radius_")) >= class_getInstanceSize([Shape class]));
  Shape* shape = [Shape new];
  shape->number_ = 3;
  CHECK((char*)&shape->number_ - (char*)shape == ivar_getOffset(class_getInstanceVariable([Shape class], "number_")));
  shape.width = 21;
  CHECK(shape.area == 42);
  Root* part = [Root new];
  shape.part = part;
  shape.shared = part;
  CHECK([part retainCount] == 3);
  void* pool = objc_autoreleasePoolPush();
  CHECK(shape.part == part && shape.shared == part);
  objc_autoreleasePoolPop(pool);
  shape.part = nil;
  CHECK([part retainCount] == 2);
  shape.block = (struct words){{1, 2, 3, 4, 5}};
  CHECK(shape.block.w[4] == 5);
  objc_property_t width = class_getProperty([Circle class], "width");
  CHECK(width && strncmp(property_getAttributes(width), "Ti", 2) == 0);
  [shape release];
  CHECK([part retainCount] == 1);
  [part release];
}

static void test_protocols(void) {
  CHECK(class_conformsToProtocol([Shape class], @protocol(Sized)));
  CHECK(class_conformsToProtocol([Shape class], @protocol(Named)));
  CHECK(!class_conformsToProtocol([Circle class], @protocol(Sized)));
  CHECK(!class_conformsToProtocol([Root class], @protocol(Named)));
  CHECK(objc_getProtocol("Named") == @protocol(Named));
  CHECK(objc_getProtocol("Nobody") == nil);
  CHECK(protocol_getMethodDescription(@protocol(Sized), @selector(number), YES, YES).types);
  CHECK(!protocol_getMethodDescription(@protocol(Sized), @selector(absent), YES, YES).types);
  CHECK(protocol_getMethodDescription(@protocol(Sized), @selector(absent), NO, YES).types);
}

static int added(id self, SEL selector, int x) {
  return x + (int)strlen(sel_getName(selector));
}
static int replaced(id self, SEL selector) {
  return -1;
}
@interface Shape (Unwritten)
- (int)twice:(int)x;
@end

static void test_methods(void) {
  Circle* circle = [Circle new];
  CHECK(!class_respondsToSelector([Circle class], @selector(twice:)));
  CHECK(class_addMethod([Shape class], @selector(twice:), (IMP)added, "i@:i"));
  CHECK(!class_addMethod([Shape class], @selector(twice:), (IMP)added, "i@:i"));
  CHECK([circle twice:1] == 7);
  CHECK([circle area] == 0);
  IMP before = class_replaceMethod([Shape class], @selector(area), (IMP)replaced, "i@:");
  CHECK([circle area] == -1);
  method_setImplementation(class_getInstanceMethod([Circle class], @selector(area)), before);
  CHECK([circle area] == 0);
  CHECK(sel_isEqual(sel_registerName("twice:"), @selector(twice:)));
  CHECK(((int (*)(id, SEL, int))objc_msgSend)(circle, sel_registerName("twice:"), 3) == 9);
  [circle release];

  Class made = objc_allocateClassPair([Shape class], "Made", 0);
  CHECK(made && class_addIvar(made, "mine", 8, 3, "q") && class_addMethod(made, @selector(number), (IMP)replaced, "i@:"));
  CHECK(objc_lookUpClass("Made") == Nil);
  objc_registerClassPair(made);
  CHECK(objc_lookUpClass("Made") == made && objc_allocateClassPair(Nil, "Made", 0) == Nil);
  Shape* one = [made new];
  CHECK([one number] == -1 && [one pair].whole == 42 && [[one class] sizes] == 7);
  CHECK(class_getInstanceSize(made) == (size_t)ivar_getOffset(class_getInstanceVariable(made, "mine")) + 8);
  [one release];
}

@interface Forwarder : Root {
 @public
  id to_;
}
@end
@implementation Forwarder
+ (BOOL)resolveInstanceMethod:(SEL)selector {
  if (!sel_isEqual(selector, @selector(twice:))) return NO;
  return class_addMethod(self, selector, (IMP)added, "i@:i");
}
- (id)forwardingTargetForSelector:(SEL)selector {
  return to_;
}
- (void)doesNotRecognizeSelector:(SEL)selector {
  printf("'%s' is not recognised\n", sel_getName(selector));
  fflush(stdout);
  _exit(outcome());
}
@end

static void test_forwarding(void) {
  Forwarder* forwarder = [Forwarder new];
  Shape* shape = [Shape new];
  shape->number_ = 8;
  forwarder->to_ = shape;
  CHECK([(Shape*)forwarder twice:2] == 8);
  for (int i = 0; i < 3; ++i) CHECK([(Shape*)forwarder number] == 1008);
  CHECK([(Shape*)forwarder words:1 with:1].w[4] == 5);
  [shape release];
  [forwarder release];
}

// One class that nobody has sent a message to, and a hundred that are made meanwhile.
@interface Slow : Root
+ (int)value;
@end
static int slow_value = 0;
@implementation Slow
+ (void)initialize {
  usleep(20000);
  slow_value = 11;
}
+ (int)value {
  return slow_value;
}
@end
static void* send_many(void* argument) {
  Shape* shape = argument;
  long sum = [Slow value];
  for (int i = 0; i < 20000; ++i) {
    sum += [shape number] + [shape area] + [shape words:i with:1].w[0];
    if (i % 1000 == 0) {
      shape.shared = [[Root new] autorelease];
      [shape.shared retainCount];
    }
  }
  return (void*)sum;
}
static void* change_many(void* argument) {
  char name[32];
  for (int i = 0; i < 200; ++i) {
    snprintf(name, sizeof name, "method%d", i);
    class_addMethod([Shape class], sel_registerName(name), (IMP)replaced, "i@:");
    snprintf(name, sizeof name, "Class%d", i);
    objc_registerClassPair(objc_allocateClassPair([Circle class], name, 0));
  }
  return argument;
}
static void test_threads(void) {
  Shape* shape = [Shape new];
  pthread_t threads[5];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, send_many, shape);
  pthread_create(&threads[4], NULL, change_many, NULL);
  const long want = 11 + 20000L * 1000 + 20000L * 19999 / 2;
  for (int i = 0; i < 4; ++i) {
    void* sum;
    pthread_join(threads[i], &sum);
    CHECK((long)sum == want);
  }
  pthread_join(threads[4], NULL);
  CHECK(objc_lookUpClass("Class199") && class_respondsToSelector([Circle class], sel_registerName("method199")));
  [shape release];
}

static void* lock_many(void* argument) {
  Root* object = argument;
  extern long locked;
  for (int i = 0; i < 5000; ++i)
    @synchronized(object) {
      @synchronized(object) {
        ++locked;
      }
    }
  return NULL;
}
long locked = 0;
static void test_synchronized(void) {
  Root* object = [Root new];
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i) pthread_create(&threads[i], NULL, lock_many, object);
  for (int i = 0; i < 4; ++i) pthread_join(threads[i], NULL);
  CHECK(locked == 20000);
  [object release];
}

static void test_pools_and_associations(void) {
  static char key;
  static Root* kept[100];
  const int alive = roots_alive;
  Root* object = [Root new];
  objc_setAssociatedObject(object, &key, [[Root new] autorelease], OBJC_ASSOCIATION_RETAIN);
  @autoreleasepool {
    for (int i = 0; i < 100; ++i) {
      @autoreleasepool {
        [[Root new] autorelease];
      }
      kept[i] = [[Root new] retain];
      [kept[i] autorelease];
    }
    CHECK(roots_alive > alive + 100);
    CHECK(objc_getAssociatedObject(object, &key) != nil);
  }
  objc_setAssociatedObject(object, &key, nil, OBJC_ASSOCIATION_RETAIN);
  CHECK(objc_getAssociatedObject(object, &key) == nil);
  objc_setAssociatedObject(object, &key, [Root new], OBJC_ASSOCIATION_ASSIGN);
  [objc_getAssociatedObject(object, &key) release];
  [object release];
  CHECK(roots_alive >= 100);  // the pools took one reference of each
  for (int i = 0; i < 100; ++i) [kept[i] release];
}

int main(void) {
  @autoreleasepool {
    CHECK(load_count == 3 && loads[0] == 1 && loads[1] == 2 && loads[2] == 3);
    CHECK(initialised == 0);
    test_results();
    CHECK(initialised == 1);
    test_members();
    test_protocols();
    test_methods();
    test_forwarding();
    test_threads();
    test_synchronized();
    test_pools_and_associations();
  }
  CHECK(roots_alive == 0);
  [(Shape*)[Forwarder new] number];  // ends in doesNotRecognizeSelector:
  return 1;
}
