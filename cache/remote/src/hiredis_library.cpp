// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hiredis_library.hpp"

namespace smelt::remote {
namespace {

// Its interface changes with its number, so it is the one whose headers this was compiled with.
#define SMELT_TEXT_(x) #x
#define SMELT_TEXT(x) SMELT_TEXT_(x)
#ifdef __APPLE__
constexpr const char* kHiredis = "libhiredis." SMELT_TEXT(HIREDIS_SONAME) ".dylib";
#else
constexpr const char* kHiredis = "libhiredis.so." SMELT_TEXT(HIREDIS_SONAME);
#endif

}  // namespace

const HiredisLibrary& hiredis() {
  static const HiredisLibrary library(kHiredis);
  return library;
}

Result<void> hiredis_available() {
  if (hiredis().trouble().empty()) return {};
  return fail(Errc::toolchain_missing,
              "Redis remotes cannot be used here: {} (Debian: libhiredis" SMELT_TEXT(HIREDIS_SONAME) ")",
              hiredis().trouble());
}

}  // namespace smelt::remote
