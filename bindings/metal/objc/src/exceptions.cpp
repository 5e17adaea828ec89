// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions. An Objective-C object is thrown as a C++ exception whose type is `id`, a pointer. So C++ frames on its
// way run their destructors, and `catch (...)` sees it. Objective-C++ asks with type_info objects that the compiler
// makes of the class named below; its personality is the one of C++. Objective-C asks with the names of classes, and
// brings its own begin and end of a catch (personality.cpp looks for the handler).
#include "exceptions.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <typeinfo>

extern "C" {
id objc_retain(id object);
void objc_release(id object);
}

namespace gnustep::libobjc {

// The name in its vtable's symbol is part of the ABI. An instance names a class.
struct __attribute__((visibility("default"))) __objc_class_type_info : std::type_info {
  explicit __objc_class_type_info(const char* name) : std::type_info(name) {}
  ~__objc_class_type_info() override;
  bool __do_catch(const std::type_info* thrown, void** object, unsigned outer) const override;
};

// What is thrown: `id`, which also catches every object.
struct __attribute__((visibility("default"))) __objc_id_type_info : std::type_info {
  __objc_id_type_info() : std::type_info("@id") {}
  ~__objc_id_type_info() override;
  bool __is_pointer_p() const override { return true; }
  bool __do_catch(const std::type_info* thrown, void** object, unsigned outer) const override;
};

__objc_class_type_info::~__objc_class_type_info() = default;
__objc_id_type_info::~__objc_id_type_info() = default;

}  // namespace gnustep::libobjc

__attribute__((visibility("default"))) gnustep::libobjc::__objc_id_type_info objc_id_type_info asm(
    "__objc_id_type_info");

namespace gnustep::libobjc {
bool __objc_class_type_info::__do_catch(const std::type_info* thrown, void** object, unsigned) const {
  return thrown == &objc_id_type_info && smelt::objc::is_kind_of(static_cast<id>(*object), name());
}
bool __objc_id_type_info::__do_catch(const std::type_info* thrown, void**, unsigned) const {
  return thrown == &objc_id_type_info;
}
}  // namespace gnustep::libobjc

namespace smelt::objc {

bool is_kind_of(id object, const char* name) {
  for (Class of = object != nullptr ? class_of(object) : nullptr; of != nullptr; of = of->super_class)
    if (strcmp(of->name, name) == 0) return true;
  return false;
}

namespace {

// The header of a C++ exception, as the Itanium C++ ABI (Exception Handling, 2.2.1) draws it and libstdc++ has it: the
// type first, the unwinder's part last, the object behind it.
struct CxxException {
  std::type_info* type;  // of a rethrown std::exception_ptr: the first exception's object
  void (*destructor)(void*);
  void (*unexpected)();
  void (*terminate)();
  CxxException* next;
  int handler_count, handler_switch;
  const char *action_record, *language_data;
  void* catch_temporary;
  void* adjusted;
  _Unwind_Exception unwind;
};
CxxException* header_of(_Unwind_Exception* exception) {
  return reinterpret_cast<CxxException*>(reinterpret_cast<char*>(exception) - offsetof(CxxException, unwind));
}

constexpr uint64_t kCxxClass = 0x474e5543432b2b00;  // "GNUCC++\0", the last byte 1 for a rethrown pointer

std::atomic<void (*)(id)> uncaught_handler{nullptr};
std::terminate_handler before_us = nullptr;

[[noreturn]] void on_terminate() {
  if (std::type_info* type = abi::__cxa_current_exception_type(); type == &objc_id_type_info) {
    // In a terminate handler the exception counts as caught: its object is what a pointer to it points to.
    const std::exception_ptr current = std::current_exception();
    id object = nullptr;
    static_assert(sizeof current == sizeof(void*));
    const void* thrown = nullptr;
    memcpy(&thrown, static_cast<const void*>(&current), sizeof thrown);
    object = *static_cast<id const*>(thrown);
    if (auto* handler = uncaught_handler.load()) handler(object);
    static const NamedSelector description("description"), text("UTF8String");
    fprintf(stderr, "uncaught Objective-C exception of class %s", object != nullptr ? class_of(object)->name : "nil");
    if (object != nullptr && responds(class_of(object), description.selector.name))
      if (const id said = message<id>(object, description); said != nullptr)
        if (responds(class_of(said), text.selector.name)) fprintf(stderr, ": %s", message<const char*>(said, text));
    fputc('\n', stderr);
    abort();
  }
  if (before_us != nullptr) before_us();
  abort();
}

}  // namespace

bool thrown_object(_Unwind_Exception* exception, id* object) {
  if ((exception->exception_class & ~uint64_t{0xff}) != kCxxClass) return false;
  const CxxException* header = header_of(exception);
  const void* thrown = exception + 1;
  const std::type_info* type = header->type;
  if (exception->exception_class & 1) {
    thrown = header->type;
    type = header_of(static_cast<_Unwind_Exception*>(const_cast<void*>(thrown)) - 1)->type;
  }
  if (type != &objc_id_type_info) return false;
  *object = *static_cast<id const*>(thrown);
  return true;
}

}  // namespace smelt::objc

using namespace smelt::objc;

SMELT_OBJC_EXPORT void objc_exception_throw(id object) {
  static const bool installed = [] {
    before_us = std::set_terminate(on_terminate);
    return true;
  }();
  static_cast<void>(installed);
  void* memory = abi::__cxa_allocate_exception(sizeof(id));
  *static_cast<id*>(memory) = objc_retain(object);
  abi::__cxa_throw(memory, &objc_id_type_info, [](void* thrown) { objc_release(*static_cast<id*>(thrown)); });
}

/** The object; nil for an exception of another language. */
SMELT_OBJC_EXPORT id objc_begin_catch(_Unwind_Exception* exception) {
  id object = nullptr;
  thrown_object(exception, &object);
  abi::__cxa_begin_catch(exception);
  return object;
}
SMELT_OBJC_EXPORT void objc_end_catch() {
  abi::__cxa_end_catch();
}
/** The exception that is being caught goes on. */
SMELT_OBJC_EXPORT void objc_exception_rethrow(void*) {
  abi::__cxa_rethrow();
}

SMELT_OBJC_EXPORT void (*objc_setUncaughtExceptionHandler(void (*handler)(id)))(id) {
  return uncaught_handler.exchange(handler);
}
