// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A proxy on the loopback address that lets every byte arrive later, without making the line narrower: what a server in
// another city looks like. `tc netem` does the same for those who may use it.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <thread>
#include <vector>

namespace smelt::bench {

class DelayProxy {
 public:
  /// Forwards connections to 127.0.0.1:`to`; each direction is late by half of `round_trip`.
  DelayProxy(uint16_t to, std::chrono::milliseconds round_trip);
  ~DelayProxy();
  DelayProxy(const DelayProxy&) = delete;
  DelayProxy& operator=(const DelayProxy&) = delete;
  uint16_t port() const { return port_; }

 private:
  void serve();
  void forward(int from, int to);

  uint16_t to_;
  std::chrono::milliseconds late_;
  int listening_ = -1;
  uint16_t port_ = 0;
  std::atomic<bool> ending_{false};
  std::vector<std::thread> threads_;
  std::thread thread_;
};

}  // namespace smelt::bench
