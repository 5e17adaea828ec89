// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Blocks by Clang's "Block Implementation Specification": copies, references, variables that blocks share.
#include "runtime.hpp"

#include <cstdlib>
#include <cstring>

extern "C" {

struct BlockDescriptor {
  unsigned long reserved, size;
  void (*copy)(void* to, const void* from);  // with kHasHelpers only
  void (*dispose)(const void* block);
};
struct Block {
  void* isa;
  std::atomic<int32_t> flags;
  int32_t reserved;
  void (*invoke)(void*, ...);
  const BlockDescriptor* descriptor;
};
struct SharedVariable {  // __block
  void* isa;
  SharedVariable* forwarding;
  std::atomic<int32_t> flags;
  int32_t size;
  void (*keep)(void* to, void* from);  // with kHasHelpers only
  void (*destroy)(void* variable);
};

__attribute__((visibility("default"))) objc_class _NSConcreteStackBlock, _NSConcreteMallocBlock, _NSConcreteGlobalBlock;
}

namespace smelt::objc {

namespace {
enum : int32_t {
  kGoing = 1,
  kReferences = 0xfffe,  // counted in twos
  kOnHeap = 1 << 24,
  kHasHelpers = 1 << 25,
  kGlobal = 1 << 28,
};
// What a field is, for the helpers that the compiler writes.
enum : int { kObject = 3, kBlock = 7, kShared = 8, kWeak = 16, kByHelper = 128 };

void add_reference(std::atomic<int32_t>& flags) {
  int32_t seen = flags.load(std::memory_order_relaxed);
  while ((seen & kReferences) != kReferences)  // as many as can be counted: it stays
    if (flags.compare_exchange_weak(seen, seen + 2, std::memory_order_relaxed)) return;
}
// Whether it was the last.
bool drop_reference(std::atomic<int32_t>& flags) {
  int32_t seen = flags.load(std::memory_order_relaxed);
  for (;;) {
    if ((seen & kReferences) == kReferences || (seen & kReferences) == 0) return false;
    const bool last = (seen & kReferences) == 2;
    if (flags.compare_exchange_weak(seen, last ? (seen - 2) | kGoing : seen - 2, std::memory_order_acq_rel))
      return last;
  }
}

SharedVariable* keep_shared(SharedVariable* variable) {
  SharedVariable* now = variable->forwarding;
  if (now->flags.load() & kOnHeap) {
    add_reference(now->flags);
    return now;
  }
  auto* made = static_cast<SharedVariable*>(malloc(static_cast<size_t>(variable->size)));
  if (made == nullptr) fatal("no memory for a __block variable");
  memcpy(static_cast<void*>(made), variable, static_cast<size_t>(variable->size));
  made->isa = nullptr;
  made->flags = (variable->flags.load() & ~kReferences) | kOnHeap | 4;  // the block's and the frame's
  made->forwarding = made;
  variable->forwarding = made;
  if (variable->flags.load() & kHasHelpers) variable->keep(made, variable);
  return made;
}
void drop_shared(SharedVariable* variable) {
  variable = variable->forwarding;
  if (!(variable->flags.load() & kOnHeap) || !drop_reference(variable->flags)) return;
  if (variable->flags.load() & kHasHelpers) variable->destroy(variable);
  free(variable);
}

void set_up(objc_class* made, const char* name, Class superclass) {
  auto* meta = new objc_class{};
  meta->info = kMeta;
  meta->name = made->name = name;
  made->isa = meta;
  made->super_class = superclass;
  made->info = kBlockClass;
  made->instance_size = -static_cast<int64_t>(sizeof(Block));
  add_class(made);
  set_state(made);
  resolve(made);
  made->info |= kBlockClass;
}
}  // namespace

bool try_retain_block(const void* block) {
  auto* of = static_cast<Block*>(const_cast<void*>(block));
  int32_t seen = of->flags.load(std::memory_order_relaxed);
  if (!(seen & kOnHeap)) return true;
  while ((seen & kReferences) != 0 && !(seen & kGoing)) {
    if ((seen & kReferences) == kReferences) return true;
    if (of->flags.compare_exchange_weak(seen, seen + 2, std::memory_order_relaxed)) return true;
  }
  return false;
}

}  // namespace smelt::objc

using namespace smelt::objc;

extern "C" {
id objc_retain(id object);
void objc_release(id object);
void objc_copyWeak(id* to, id* from);
void objc_destroyWeak(id* at);
}

SMELT_OBJC_EXPORT signed char objc_create_block_classes_as_subclasses_of(Class superclass) {
  std::lock_guard guard(runtime_lock());
  if (_NSConcreteStackBlock.isa != nullptr) return 0;
  set_up(&_NSConcreteStackBlock, "_NSConcreteStackBlock", superclass);
  set_up(&_NSConcreteMallocBlock, "_NSConcreteMallocBlock", superclass);
  set_up(&_NSConcreteGlobalBlock, "_NSConcreteGlobalBlock", superclass);
  return 1;
}

SMELT_OBJC_EXPORT void* _Block_copy(const void* argument) {
  auto* block = static_cast<Block*>(const_cast<void*>(argument));
  if (block == nullptr) return nullptr;
  const int32_t flags = block->flags.load();
  if (flags & kGlobal) return block;
  if (flags & kOnHeap) {
    add_reference(block->flags);
    return block;
  }
  auto* made = static_cast<Block*>(malloc(block->descriptor->size));
  if (made == nullptr) return nullptr;
  memcpy(static_cast<void*>(made), block, block->descriptor->size);
  made->isa = &_NSConcreteMallocBlock;
  made->flags = (flags & ~(kReferences | kGoing)) | kOnHeap | 2;
  if (flags & kHasHelpers) block->descriptor->copy(made, block);
  return made;
}

SMELT_OBJC_EXPORT void _Block_release(const void* argument) {
  auto* block = static_cast<Block*>(const_cast<void*>(argument));
  if (block == nullptr) return;
  const int32_t flags = block->flags.load();
  if ((flags & kGlobal) || !(flags & kOnHeap) || !drop_reference(block->flags)) return;
  if (block->isa == &_NSConcreteMallocBlock && _NSConcreteMallocBlock.isa != nullptr)
    clear_weak(reinterpret_cast<id>(block));
  if (flags & kHasHelpers) block->descriptor->dispose(block);
  free(block);
}

SMELT_OBJC_EXPORT void _Block_object_assign(void* to, const void* object, int kind) {
  void*& field = *static_cast<void**>(to);
  auto* from = const_cast<void*>(object);
  if (kind & kByHelper) {  // inside a shared variable: held without a reference, but for weak ones
    if (kind & kWeak) return objc_copyWeak(static_cast<id*>(to), reinterpret_cast<id*>(&from));
    field = from;
  } else if (kind & kShared) {
    field = keep_shared(static_cast<SharedVariable*>(from));
  } else if ((kind & kBlock) == kBlock) {
    field = _Block_copy(from);
  } else if ((kind & kObject) == kObject) {
    field = objc_retain(static_cast<id>(from));
  }
}

SMELT_OBJC_EXPORT void _Block_object_dispose(const void* object, int kind) {
  auto* held = const_cast<void*>(object);
  if (kind & kByHelper) return;
  if (kind & kShared) {
    if (held != nullptr) drop_shared(static_cast<SharedVariable*>(held));
  } else if ((kind & kBlock) == kBlock) {
    _Block_release(held);
  } else if ((kind & kObject) == kObject) {
    objc_release(static_cast<id>(held));
  }
}
