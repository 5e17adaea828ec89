// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "delay_proxy.hpp"

#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>

namespace smelt::bench {
namespace {

using Clock = std::chrono::steady_clock;

/// A piece on its way.
struct Piece {
  Clock::time_point due;
  std::vector<char> bytes;
};

}  // namespace

DelayProxy::DelayProxy(uint16_t to, std::chrono::milliseconds round_trip)
    : to_(to),
      late_(round_trip / 2),
      server_([this](int client, const std::atomic<bool>& ending) { serve(client, ending); }) {}

void DelayProxy::serve(int client, const std::atomic<bool>& ending) const {
  // The connection itself costs a round trip too: the kernel has answered at once, so the first piece waits longer.
  std::this_thread::sleep_for(late_ * 2);
  const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = test::loopback(to_);
  const int one = 1;
  ::setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
  if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
    std::thread back([&] { forward(server, client, ending); });
    forward(client, server, ending);
    back.join();
  }
  ::close(server);
  ::close(client);
}

void DelayProxy::forward(int from, int to, const std::atomic<bool>& ending) const {
  std::deque<Piece> pieces;
  bool open = true;
  while (!ending && (open || !pieces.empty())) {
    int wait = 20;
    if (!pieces.empty()) {
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(pieces.front().due - Clock::now());
      wait = static_cast<int>(std::max<int64_t>(left.count(), 0));
    }
    pollfd ready{from, POLLIN, 0};
    if (open && ::poll(&ready, 1, wait) > 0) {
      std::vector<char> bytes(1 << 18);
      const ssize_t count = ::recv(from, bytes.data(), bytes.size(), 0);
      if (count <= 0) {
        open = false;
      } else {
        bytes.resize(static_cast<size_t>(count));
        pieces.push_back({Clock::now() + late_, std::move(bytes)});
      }
    } else if (!open) {
      std::this_thread::sleep_for(std::chrono::milliseconds(wait));
    }
    while (!pieces.empty() && pieces.front().due <= Clock::now()) {
      const std::vector<char>& bytes = pieces.front().bytes;
      for (size_t sent = 0; sent < bytes.size();) {
        const ssize_t count = ::send(to, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
        if (count <= 0) return;
        sent += static_cast<size_t>(count);
      }
      pieces.pop_front();
    }
  }
  ::shutdown(to, SHUT_WR);
}

}  // namespace smelt::bench
