// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A listening socket on a free port of the loopback address, and a thread for each connection.
#pragma once

#include <netinet/in.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <vector>

namespace smelt::test {

sockaddr_in loopback(uint16_t port);

class LoopbackServer {
 public:
  /// `serve` owns the connection for its time and closes it; it ends soon after `ending` is set.
  using Serve = std::function<void(int fd, const std::atomic<bool>& ending)>;

  explicit LoopbackServer(Serve serve);
  ~LoopbackServer();
  LoopbackServer(const LoopbackServer&) = delete;
  LoopbackServer& operator=(const LoopbackServer&) = delete;
  uint16_t port() const { return port_; }
  int connections() const { return connections_; }

 private:
  void accept();

  Serve serve_;
  int listening_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> ending_{false};
  std::atomic<int> connections_{0};
  std::vector<std::thread> threads_;
  std::thread thread_;
};

}  // namespace smelt::test
