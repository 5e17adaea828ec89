// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifdef __linux__

#include "seccomp_library.hpp"

#include "smelt/base/shared_library.hpp"

namespace smelt::service {
namespace {

// The number is that of libseccomp 2's interface.
SeccompLibrary opened() {
  SharedLibrary library("libseccomp.so.2");
  SeccompLibrary result;
#define SMELT_FIND(name) result.name = library.find<decltype(result.name)>("seccomp_" #name);
  SMELT_SECCOMP_FUNCTIONS(SMELT_FIND)
#undef SMELT_FIND
  result.trouble = library.trouble();
  return result;
}

}  // namespace

Result<const SeccompLibrary*> seccomp_library() {
  static const SeccompLibrary library = opened();
  if (library.trouble.empty()) return &library;
  return fail(Errc::toolchain_missing, "no child can be sandboxed here: {} (Debian: libseccomp2)", library.trouble);
}

}  // namespace smelt::service

#endif
