// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A server that does wrong on purpose: one thread, loopback, a script of what to answer each connection.
#pragma once

#include "loopback_server.hpp"

#include <string>

namespace smelt::test {

class FaultServer {
 public:
  /// One connection: `send` writes text, `stall` waits until the client is gone or the server ends.
  struct Connection {
    int fd = -1;
    const std::atomic<bool>* ending = nullptr;
    std::string request;  ///< the first piece that the client sent

    void send(const std::string& text) const;
    void stall() const;
  };
  using Answer = std::function<void(Connection&)>;

  /// `answer` is called for each connection, after its first piece has arrived; then the connection is closed.
  explicit FaultServer(Answer answer);
  uint16_t port() const { return server_.port(); }
  std::string url(const std::string& scheme = "http") const;
  int connections() const { return server_.connections(); }

 private:
  LoopbackServer server_;
};

}  // namespace smelt::test
