// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A server that does wrong on purpose: one thread, loopback, a script of what to answer each connection.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>
#include <vector>

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
  ~FaultServer();
  FaultServer(const FaultServer&) = delete;
  FaultServer& operator=(const FaultServer&) = delete;
  uint16_t port() const { return port_; }
  std::string url(const std::string& scheme = "http") const;
  int connections() const { return connections_; }

 private:
  void serve();
  Answer answer_;
  int listening_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> ending_{false};
  std::atomic<int> connections_{0};
  std::vector<std::thread> threads_;
  std::thread thread_;
};

}  // namespace smelt::test
