// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What Clang 19 writes into a program for -fobjc-runtime=gnustep-2.0, as `clang -S -emit-llvm` shows it, and what the
// runtime keeps beside it. A library hands all of its own to __objc_load in one objc_init.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>

namespace smelt::objc {
struct ClassState;
}

extern "C" {

struct objc_class;
struct objc_object;
using Class = objc_class*;
using id = objc_object*;
using IMP = void (*)();

struct objc_object {
  Class isa;
};

// `name` is a C string of the program until the selector is registered, then the one interned string of that name.
struct objc_selector {
  const char* name;
  const char* types;
};
using SEL = const objc_selector*;

struct objc_method {
  IMP implementation;
  objc_selector* selector;
  const char* types;
};
struct objc_method_list {
  objc_method_list* next;
  int32_t count;
  int64_t size;  // of one method
  objc_method methods[];
};

// Its offset is counted from where the superclass ends, until the class is resolved.
struct objc_ivar {
  const char* name;
  const char* type;
  int32_t* offset;
  uint32_t size;
  uint32_t flags;  // two bits of ownership, one of the encoding, then the alignment's logarithm
  size_t alignment() const { return size_t{1} << (flags >> 3); }
};
struct objc_ivar_list {
  int32_t count;
  int64_t size;
  objc_ivar ivars[];
};

struct objc_property {
  const char* name;
  const char* attributes;
  const char* type;
  objc_selector* getter;
  objc_selector* setter;
};
struct objc_property_list {
  int32_t count;
  int32_t size;
  objc_property_list* next;
  objc_property properties[];
};

struct objc_protocol;
struct objc_protocol_list {
  objc_protocol_list* next;
  int64_t count;
  objc_protocol* protocols[];
};
struct ProtocolMethod {
  objc_selector* selector;
  const char* types;
};
struct ProtocolMethodList {
  int32_t count;
  int32_t size;
  ProtocolMethod methods[];
};
struct objc_protocol {
  Class isa;  // the compiler's mark of the layout, until loaded
  const char* name;
  objc_protocol_list* protocols;
  ProtocolMethodList* methods[4];  // instance, class, optional instance, optional class
  objc_property_list* properties[4];
};

struct MethodCache;
struct objc_class {
  Class isa;
  Class super_class;
  const char* name;
  int64_t version;
  uint64_t info;
  int64_t instance_size;  // negative: what the class adds to its superclass
  objc_ivar_list* ivars;
  objc_method_list* methods;
  std::atomic<MethodCache*> cache;  // never null once the class is loaded; objc_msgSend reads it
  IMP cxx_construct;
  IMP cxx_destruct;
  Class subclass_list;  // these two are not used
  Class sibling_class;
  objc_protocol_list* protocols;
  smelt::objc::ClassState* state;
  int64_t abi_version;
  objc_property_list* properties;
};
static_assert(offsetof(objc_class, cache) == 64, "msgsend.S reads the cache there");

struct objc_category {
  const char* name;
  const char* class_name;
  objc_method_list* instance_methods;
  objc_method_list* class_methods;
  objc_protocol_list* protocols;
  objc_property_list* properties;
  objc_property_list* class_properties;
};

struct objc_alias {
  const char* name;
  Class* alias;
};

struct ConstantString {
  Class isa;
  uint32_t flags, length, size, hash;
  const char* data;
};

struct objc_init {
  uint64_t version;
  objc_selector *selectors, *selectors_end;
  Class *classes, *classes_end;
  Class *class_refs, *class_refs_end;
  objc_category *categories, *categories_end;
  objc_protocol *protocols, *protocols_end;
  objc_protocol **protocol_refs, **protocol_refs_end;
  objc_alias *aliases, *aliases_end;
  ConstantString *strings, *strings_end;
};
}

namespace smelt::objc {

// Bits of objc_class::info. The first is the compiler's.
enum : uint64_t {
  kMeta = 1,
  kResolved = 1 << 8,  // superclass, offsets, size and selectors are final
  kCounts = 1 << 9,    // has its own -retain, -release or -autorelease: ARC has to send messages
  kBlockClass = 1 << 10,
  kBuilding = 1 << 11,  // objc_allocateClassPair made it, and it is not registered yet
};

}  // namespace smelt::objc
