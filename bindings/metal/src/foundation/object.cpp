// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Owners are counted in the object; pools are a stack of each thread.
#include "Foundation/Foundation.hpp"
#include "foundation/nil.hpp"

#include <cxxabi.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <utility>
#include <vector>

extern "C" void* __dso_handle;  // this library, by the C++ ABI

namespace NS {
namespace {

/// The pools of one thread, outermost first: places in one list of objects, so that an object costs one pointer.
struct PoolStack {
  std::vector<Object*> objects;
  std::vector<size_t> starts;  // of each pool but the thread's own

  /// Releases what was added since; also what the releases themselves add.
  void release_from(size_t start) {
    while (objects.size() > start) {
      Object* const last = objects.back();
      objects.pop_back();
      last->release();
    }
  }
};

bool is_main_thread() {
  return ::gettid() == ::getpid();
}

/// Of this thread. A program's own thread-local objects may be destroyed after it and use pools in that: then there is
/// a new one, which is emptied in turn. A thread_local object would be made once alone.
PoolStack& pools() {
  thread_local PoolStack* stack = nullptr;
  if (stack == nullptr) {
    stack = new PoolStack;
    // As on a Mac, the main thread's own pool is never drained: a program that releases such an object itself, once
    // too often, then still ends well.
    if (is_main_thread()) return *stack;
    const auto end = [](void* place) {
      auto*& ending = *static_cast<PoolStack**>(place);
      ending->release_from(0);
      delete std::exchange(ending, nullptr);
    };
    abi::__cxa_thread_atexit(end, &stack, &__dso_handle);
  }
  return *stack;
}

class PoolObject final : public AutoreleasePool {
 public:
  PoolObject() : depth_(pools().starts.size()) { pools().starts.push_back(pools().objects.size()); }
  ~PoolObject() override {
    // Pools that were opened inside and never closed go with it.
    PoolStack& stack = pools();
    if (stack.starts.size() <= depth_) return;
    const size_t start = stack.starts[depth_];
    stack.release_from(start);
    stack.starts.resize(depth_);
  }
  std::string_view class_name() const override { return "NSAutoreleasePool"; }

 private:
  const size_t depth_;
};

}  // namespace

Object::~Object() {
  if (const auto dropped = dropped_.load(std::memory_order_acquire))
    dropped(companion_.load(std::memory_order_acquire));
}

Object* Object::retain() {
  if (smelt::metal::is_nil(this)) return nullptr;
  owners_.fetch_add(1, std::memory_order_relaxed);
  return this;
}

void Object::release() {
  if (smelt::metal::is_nil(this)) return;
  if (owners_.fetch_sub(1, std::memory_order_acq_rel) == 1) delete this;
}

Object* Object::autorelease() {
  if (smelt::metal::is_nil(this)) return nullptr;
  pools().objects.push_back(this);
  return this;
}

bool Object::retain_if_alive() {
  UInteger owners = owners_.load(std::memory_order_relaxed);
  while (owners != 0)
    if (owners_.compare_exchange_weak(owners, owners + 1, std::memory_order_relaxed)) return true;
  return false;
}

UInteger Object::retainCount() const {
  if (smelt::metal::is_nil(this)) return 0;
  return owners_.load(std::memory_order_relaxed);
}

void* Object::set_companion(void* value, void (*dropped)(void*)) {
  void* none = nullptr;
  if (!companion_.compare_exchange_strong(none, value, std::memory_order_acq_rel)) return none;
  dropped_.store(dropped, std::memory_order_release);
  return value;
}

UInteger Object::hash_value() const {
  return reinterpret_cast<UInteger>(this) >> 4;
}
bool Object::equals(const Object&) const {
  return false;
}
String* Object::describe() const {
  return String::string(fmt::format("<{}: {}>", class_name(), static_cast<const void*>(this)).c_str(),
                        UTF8StringEncoding);
}
String* Object::description() const {
  return describe();
}
String* Object::debugDescription() const {
  return describe();
}

AutoreleasePool* AutoreleasePool::alloc() {
  return new PoolObject;
}
AutoreleasePool* AutoreleasePool::init() {
  return this;
}
void AutoreleasePool::drain() {
  release();
}
void AutoreleasePool::addObject(Object* object) {
  if (object != nullptr) object->autorelease();
}
void AutoreleasePool::showPools() {
  const PoolStack& stack = pools();
  size_t from = 0;
  for (size_t i = 0; i <= stack.starts.size(); ++i) {
    const size_t to = i < stack.starts.size() ? stack.starts[i] : stack.objects.size();
    std::fprintf(stderr, "smelt: autorelease pool %zu: %zu objects\n", i, to - from);
    from = to;
  }
}

}  // namespace NS
