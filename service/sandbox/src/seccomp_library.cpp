// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifdef __linux__

#include "seccomp_library.hpp"

namespace smelt::service {
Result<const SeccompLibrary*> seccomp_library() {
  // The number is that of libseccomp 2's interface.
  static const SeccompLibrary library("libseccomp.so.2");
  if (library.trouble().empty()) return &library;
  return fail(Errc::toolchain_missing, "no child can be sandboxed here: {} (Debian: libseccomp2)", library.trouble());
}

}  // namespace smelt::service

#endif
