// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "astc_library.hpp"

#include "smelt/base/shared_library.hpp"

namespace smelt::loader {
namespace {

AstcLibrary found_in(const char* name) {
  SharedLibrary library(name);
  AstcLibrary result;
#define SMELT_FIND(name) result.name = library.find<decltype(result.name)>("astcenc_" #name);
  SMELT_FIND(config_init)
  SMELT_FIND(context_alloc)
  SMELT_FIND(decompress_image)
  SMELT_FIND(decompress_reset)
  SMELT_FIND(context_free)
  SMELT_FIND(get_error_string)
#undef SMELT_FIND
  result.trouble = library.trouble();
  return result;
}

// The letter is Debian's: upstream gives its library no number. A library of another name may have other structures.
#ifdef __APPLE__
constexpr const char* kNames[] = {"libastcenc.5d.dylib", "libastcenc.3d.dylib"};
#else
constexpr const char* kNames[] = {"libastcenc.so.5d", "libastcenc.so.3d"};
#endif

AstcLibrary open_astc_library() {
  AstcLibrary newer = found_in(kNames[0]);
  if (newer.trouble.empty()) return newer;
  AstcLibrary older = found_in(kNames[1]);
  if (!older.trouble.empty()) older.trouble = newer.trouble + "; " + older.trouble;
  return older;
}

}  // namespace

Result<const AstcLibrary*> astc_library() {
  static const AstcLibrary library = open_astc_library();
  if (library.trouble.empty()) return &library;
  return fail(Errc::toolchain_missing,
              "ASTC blocks cannot be decoded here: {} (Debian 13: libastcenc5d, Debian 12: libastcenc3d)",
              library.trouble);
}

}  // namespace smelt::loader
