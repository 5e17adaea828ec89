// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// libcurl's handles with owners, and the settings that every connection shares. Private to remote.
#pragma once

#include "smelt/remote/transport.hpp"

#include "curl_library.hpp"

#include <memory>

namespace smelt::remote {

using Easy = std::unique_ptr<CURL, decltype(&curl_easy_cleanup)>;
using Multi = std::unique_ptr<CURLM, decltype(&curl_multi_cleanup)>;
using HeaderList = std::unique_ptr<curl_slist, decltype(&curl_slist_free_all)>;

/// A fresh handle.
Easy make_easy();

/// Certificates, proxy, patience while connecting: the same for HTTP and for what else goes through a socket of curl's.
void set_connection(CURL* easy, const Address& address, const Patience& patience);

/// "could not connect to HOST within 300 ms: ..." and the like.
Error curl_error(const Address& address, CURLcode code, const char* detail, const Patience& patience);

}  // namespace smelt::remote
