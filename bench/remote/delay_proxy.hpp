// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A proxy on the loopback address that lets every byte arrive later, without making the line narrower: what a server in
// another city looks like. `tc netem` does the same for those who may use it.
#pragma once

#include "loopback_server.hpp"

#include <chrono>

namespace smelt::bench {

class DelayProxy {
 public:
  /// Forwards connections to 127.0.0.1:`to`; each direction is late by half of `round_trip`.
  DelayProxy(uint16_t to, std::chrono::milliseconds round_trip);
  uint16_t port() const { return server_.port(); }

 private:
  void serve(int client, const std::atomic<bool>& ending) const;
  void forward(int from, int to, const std::atomic<bool>& ending) const;

  uint16_t to_;
  std::chrono::milliseconds late_;
  test::LoopbackServer server_;
};

}  // namespace smelt::bench
