// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libcurl, opened when the first remote is named: it and what it needs would add a quarter to the time that a command
// which has no remote takes to start. Private to remote.
#pragma once

#include "smelt/base/result.hpp"
#include "smelt/base/shared_library.hpp"

#include <curl/curl.h>

#define SMELT_CURL_FUNCTIONS(X) \
  X(easy_cleanup)               \
  X(easy_getinfo)               \
  X(easy_init)                  \
  X(easy_perform)               \
  X(easy_recv)                  \
  X(easy_send)                  \
  X(easy_setopt)                \
  X(easy_strerror)              \
  X(easy_unescape)              \
  X(free)                       \
  X(getdate)                    \
  X(global_init)                \
  X(multi_add_handle)           \
  X(multi_cleanup)              \
  X(multi_info_read)            \
  X(multi_init)                 \
  X(multi_perform)              \
  X(multi_poll)                 \
  X(multi_remove_handle)        \
  X(multi_setopt)               \
  X(slist_append)               \
  X(slist_free_all)             \
  X(strnequal)                  \
  X(url)                        \
  X(url_cleanup)                \
  X(url_get)                    \
  X(url_set)

namespace smelt::remote {

/// Functions of libcurl under their names without "curl_"; null when it is not there.
struct CurlLibrary : SharedLibrary {
  using SharedLibrary::SharedLibrary;
#define SMELT_MEMBER(name) decltype(&::curl_##name) name = find<decltype(&::curl_##name)>("curl_" #name);
  SMELT_CURL_FUNCTIONS(SMELT_MEMBER)
#undef SMELT_MEMBER
};

/// Opened by the first call, from any thread.
const CurlLibrary& curl();

/// `toolchain_missing` when libcurl cannot be had. Looked at before the first call of any of its functions.
Result<void> curl_available();

}  // namespace smelt::remote
