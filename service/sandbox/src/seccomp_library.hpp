// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libseccomp, opened when the first child is sandboxed: most commands have none. Private to sandbox.
#pragma once

#include "smelt/base/result.hpp"
#include "smelt/base/shared_library.hpp"

#include <seccomp.h>

#define SMELT_SECCOMP_FUNCTIONS(X) \
  X(init)                          \
  X(load)                          \
  X(rule_add)

namespace smelt::service {

/// Functions of libseccomp under their names without "seccomp_"; null when it is not there.
struct SeccompLibrary : SharedLibrary {
  using SharedLibrary::SharedLibrary;
#define SMELT_MEMBER(name) decltype(&::seccomp_##name) name = find<decltype(&::seccomp_##name)>("seccomp_" #name);
  SMELT_SECCOMP_FUNCTIONS(SMELT_MEMBER)
#undef SMELT_MEMBER
};

/// Opened by the first call, from any thread: not in a child, which can open nothing. `toolchain_missing` when it
/// cannot be had.
Result<const SeccompLibrary*> seccomp_library();

}  // namespace smelt::service
