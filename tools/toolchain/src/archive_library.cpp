// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "archive_library.hpp"

namespace smelt::toolchain {
namespace {

// The number is that of libarchive 3's interface.
#ifdef __APPLE__
constexpr const char* kLibrary = "libarchive.2.dylib";
#else
constexpr const char* kLibrary = "libarchive.so.13";
#endif

}  // namespace

Result<const ArchiveLibrary*> archive_library() {
  static const ArchiveLibrary library(kLibrary);
  if (library.trouble().empty()) return &library;
  return fail(Errc::toolchain_missing, "sources cannot be recorded here: {} (Debian: libarchive13)", library.trouble());
}

}  // namespace smelt::toolchain
