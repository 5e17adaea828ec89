// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One connection to a Redis or Valkey server: commands out, replies in. Bytes travel over libcurl's sockets, so TLS,
// certificates, names and proxies are as for HTTP (Debian 12's hiredis has no TLS); hiredis spells and reads the
// protocol. Private to remote.
#pragma once

#include "curl_handles.hpp"
#include "waiting.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace smelt::remote {

struct Reply {
  enum class Type : uint8_t { nil, text, status, error, integer, array } type = Type::nil;
  Bytes bytes;  ///< of text, status and error
  long long integer = 0;
  std::vector<Reply> elements;
  std::string_view text() const { return as_text(bytes); }
};

using Command = std::vector<std::string_view>;

/// Commands, one after the other, as they go over the wire.
void append_command(std::string& wire, const Command& command);

class RedisConnection {
 public:
  explicit RedisConnection(const Address& address) : address_(address), easy_(nullptr, curl().easy_cleanup) {}

  bool connected() const { return easy_ != nullptr; }
  void close();
  Result<void> connect(const Patience& patience);
  /// Sends the wire bytes and waits for `count` replies of at most `most` bytes in all. After an error the connection
  /// is closed: what is still on its way belongs to nobody.
  Result<std::vector<Reply>> exchange(std::string_view wire, size_t count, uint64_t most, const Patience& patience);

 private:
  Result<void> send(std::string_view wire, Waiting& waiting, const Patience& patience);
  Result<void> receive(std::vector<Reply>& replies, size_t count, uint64_t most, Waiting& waiting,
                       const Patience& patience);
  Result<void> wait(bool to_write, const Waiting& waiting, const Patience& patience);

  Address address_;
  Easy easy_;
};

}  // namespace smelt::remote
