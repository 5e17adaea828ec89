// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hiredis_library.hpp"

#include "smelt/base/shared_library.hpp"

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

HiredisLibrary open_hiredis() {
  SharedLibrary library(kHiredis);
  HiredisLibrary result;
#define SMELT_FIND(name) result.name = library.find<decltype(result.name)>("redis" #name);
  SMELT_HIREDIS_FUNCTIONS(SMELT_FIND)
#undef SMELT_FIND
  result.trouble = library.trouble();
  return result;
}

}  // namespace

const HiredisLibrary& hiredis() {
  static const HiredisLibrary library = open_hiredis();
  return library;
}

Result<void> hiredis_available() {
  if (hiredis().trouble.empty()) return {};
  return fail(Errc::toolchain_missing,
              "Redis remotes cannot be used here: {} (Debian: libhiredis" SMELT_TEXT(HIREDIS_SONAME) ")",
              hiredis().trouble);
}

}  // namespace smelt::remote
