// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "curl_library.hpp"

namespace smelt::remote {
namespace {

// The number is that of libcurl's interface since 2006.
#ifdef __APPLE__
constexpr const char* kLibrary = "libcurl.4.dylib";
#else
constexpr const char* kLibrary = "libcurl.so.4";
#endif

}  // namespace

const CurlLibrary& curl() {
  static const CurlLibrary library = [] {
    CurlLibrary opened(kLibrary);
    if (opened.trouble().empty()) opened.global_init(CURL_GLOBAL_DEFAULT);
    return opened;
  }();
  return library;
}

Result<void> curl_available() {
  if (curl().trouble().empty()) return {};
  return fail(Errc::toolchain_missing, "remotes cannot be used here: {} (Debian: libcurl4)", curl().trouble());
}

}  // namespace smelt::remote
