// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Autorelease pools: one stack of objects a thread. A pool is a height of the stack; what was put on it without a pool
// goes when the thread ends.
#include "runtime.hpp"

SMELT_OBJC_EXPORT id objc_retain(id object);
SMELT_OBJC_EXPORT void objc_release(id object);

namespace {

struct Stack {
  std::vector<id> objects;
};
thread_local Stack* stack_of_thread = nullptr;

void empty_to(Stack* stack, size_t height) {
  while (stack->objects.size() > height) {
    const id object = stack->objects.back();
    stack->objects.pop_back();
    objc_release(object);
  }
}

void end_of_thread(void* argument) {
  auto* stack = static_cast<Stack*>(argument);
  empty_to(stack, 0);
  stack_of_thread = nullptr;
  delete stack;
}

Stack* stack() {
  if (stack_of_thread == nullptr) {
    static const pthread_key_t key = [] {
      pthread_key_t made;
      if (pthread_key_create(&made, end_of_thread) != 0) smelt::objc::fatal("no key for autorelease pools");
      return made;
    }();
    stack_of_thread = new Stack;
    pthread_setspecific(key, stack_of_thread);
  }
  return stack_of_thread;
}

const smelt::objc::NamedSelector& autorelease_selector() {
  static const smelt::objc::NamedSelector name("autorelease");
  return name;
}

}  // namespace

SMELT_OBJC_EXPORT id objc_autorelease(id object) {
  using namespace smelt::objc;
  if (object == nullptr || is_small(object) || (object->isa->info & kMeta)) return object;
  if (object->isa->info & kCounts) return message<id>(object, autorelease_selector());
  stack()->objects.push_back(object);
  return object;
}

/** For a root class's own -autorelease. */
SMELT_OBJC_EXPORT id objc_autorelease_fast_np(id object) {
  if (object != nullptr) stack()->objects.push_back(object);
  return object;
}

// The height, and one, as a pool is never null.
SMELT_OBJC_EXPORT void* objc_autoreleasePoolPush() {
  return reinterpret_cast<void*>(stack()->objects.size() + 1);
}
SMELT_OBJC_EXPORT void objc_autoreleasePoolPop(void* pool) {
  if (pool != nullptr) empty_to(stack(), reinterpret_cast<size_t>(pool) - 1);
}

SMELT_OBJC_EXPORT id objc_autoreleaseReturnValue(id object) {
  return objc_autorelease(object);
}
SMELT_OBJC_EXPORT id objc_retainAutorelease(id object) {
  return objc_autorelease(objc_retain(object));
}
SMELT_OBJC_EXPORT id objc_retainAutoreleaseReturnValue(id object) {
  return objc_retainAutorelease(object);
}

// A callee has just put the object on top: taking it off there is a reference as good as a new one.
SMELT_OBJC_EXPORT id objc_retainAutoreleasedReturnValue(id object) {
  if (object != nullptr && stack_of_thread != nullptr && !stack_of_thread->objects.empty() &&
      stack_of_thread->objects.back() == object) {
    stack_of_thread->objects.pop_back();
    return object;
  }
  return objc_retain(object);
}
SMELT_OBJC_EXPORT id objc_unsafeClaimAutoreleasedReturnValue(id object) {
  return object;
}
