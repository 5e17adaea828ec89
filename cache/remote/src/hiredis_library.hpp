// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// hiredis, opened when the first Redis remote is named: no other command waits for it when it starts. Private to
// remote.
#pragma once

#include "smelt/base/result.hpp"
#include "smelt/base/shared_library.hpp"

#include <hiredis/hiredis.h>

#define SMELT_HIREDIS_FUNCTIONS(X) \
  X(FormatCommandArgv)             \
  X(FreeCommand)                   \
  X(ReaderCreateWithFunctions)     \
  X(ReaderFeed)                    \
  X(ReaderFree)                    \
  X(ReaderGetReply)

namespace smelt::remote {

/// Functions of hiredis under their names without "redis"; null when it is not there.
struct HiredisLibrary : SharedLibrary {
  using SharedLibrary::SharedLibrary;
#define SMELT_MEMBER(name) decltype(&::redis##name) name = find<decltype(&::redis##name)>("redis" #name);
  SMELT_HIREDIS_FUNCTIONS(SMELT_MEMBER)
#undef SMELT_MEMBER
};

/// Opened by the first call, from any thread.
const HiredisLibrary& hiredis();

/// `toolchain_missing` when hiredis cannot be had. Looked at before the first call of any of its functions.
Result<void> hiredis_available();

}  // namespace smelt::remote
