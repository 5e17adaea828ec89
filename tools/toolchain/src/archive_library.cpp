// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "archive_library.hpp"

#include "smelt/base/shared_library.hpp"

namespace smelt::toolchain {
namespace {

// The number is that of libarchive 3's interface.
#ifdef __APPLE__
constexpr const char* kLibrary = "libarchive.2.dylib";
#else
constexpr const char* kLibrary = "libarchive.so.13";
#endif

ArchiveLibrary opened() {
  SharedLibrary library(kLibrary);
  ArchiveLibrary result;
#define SMELT_FIND(name) result.name = library.find<decltype(result.name)>("archive_" #name);
  SMELT_ARCHIVE_FUNCTIONS(SMELT_FIND)
#undef SMELT_FIND
  result.trouble = library.trouble();
  return result;
}

}  // namespace

Result<const ArchiveLibrary*> archive_library() {
  static const ArchiveLibrary library = opened();
  if (library.trouble.empty()) return &library;
  return fail(Errc::toolchain_missing, "sources cannot be recorded here: {} (Debian: libarchive13)", library.trouble);
}

}  // namespace smelt::toolchain
