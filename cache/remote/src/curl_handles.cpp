// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "curl_handles.hpp"

#include "smelt/base/foreign_text.hpp"

namespace smelt::remote {

Easy make_easy() {
  return Easy(curl().easy_init(), curl().easy_cleanup);
}

void set_connection(CURL* easy, const Address& address, const Patience& patience) {
  curl().easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  // A thread that still asks for a name is left behind: waiting for it would be the very stall that we avoid.
  curl().easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  curl().easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, static_cast<long>(patience.connect.count()));
  curl().easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  if (!address.ca_file.empty()) curl().easy_setopt(easy, CURLOPT_CAINFO, address.ca_file.c_str());
  if (!address.cert_file.empty()) {
    curl().easy_setopt(easy, CURLOPT_SSLCERT, address.cert_file.c_str());
    curl().easy_setopt(easy, CURLOPT_SSLKEY, address.key_file.c_str());
  }
  if (!address.proxy.empty()) curl().easy_setopt(easy, CURLOPT_PROXY, address.proxy.c_str());
}

Error curl_error(const Address& address, CURLcode code, const char* detail, const Patience& patience) {
  // It may name what the server said: a line of its, a name in its certificate.
  std::string text = one_line(detail && *detail ? detail : curl().easy_strerror(code));
  if (code == CURLE_OPERATION_TIMEDOUT) text += fmt::format(" (connect={}ms)", patience.connect.count());
  return {Errc::io, fmt::format("{}: {}", address.shown, text), address.shown};
}

}  // namespace smelt::remote
