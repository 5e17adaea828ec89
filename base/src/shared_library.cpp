// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/shared_library.hpp"

#include <dlfcn.h>

namespace smelt {

SharedLibrary::SharedLibrary(const char* name) : handle_(::dlopen(name, RTLD_NOW | RTLD_LOCAL)) {
  if (handle_ != nullptr) return;
  const char* const said = ::dlerror();
  trouble_ = said ? said : name;
}

void* SharedLibrary::find_address(const char* name) {
  if (handle_ == nullptr) return nullptr;
  void* const address = ::dlsym(handle_, name);
  if (address != nullptr || !trouble_.empty()) return address;
  const char* const said = ::dlerror();
  trouble_ = said ? said : name;
  return nullptr;
}

}  // namespace smelt
