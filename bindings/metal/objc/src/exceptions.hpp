// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once
#include "runtime.hpp"

#include <unwind.h>

namespace smelt::objc {

/** Whether the object's class, or one above it, has the name. */
bool is_kind_of(id object, const char* name);

/** False: not thrown by objc_exception_throw. Through a rethrown std::exception_ptr too. */
bool thrown_object(_Unwind_Exception* exception, id* object);

}  // namespace smelt::objc
