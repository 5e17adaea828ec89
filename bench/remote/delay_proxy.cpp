// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "delay_proxy.hpp"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <deque>
#include <stdexcept>

namespace smelt::bench {
namespace {

using Clock = std::chrono::steady_clock;

sockaddr_in loopback(uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

/// A piece on its way.
struct Piece {
  Clock::time_point due;
  std::vector<char> bytes;
};

}  // namespace

DelayProxy::DelayProxy(uint16_t to, std::chrono::milliseconds round_trip) : to_(to), late_(round_trip / 2) {
  listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = loopback(0);
  socklen_t size = sizeof(address);
  if (::bind(listening_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listening_, 64) != 0 ||
      ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("the delaying proxy cannot listen");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

DelayProxy::~DelayProxy() {
  ending_ = true;
  thread_.join();
  for (std::thread& thread : threads_) thread.join();
  ::close(listening_);
}

void DelayProxy::serve() {
  while (!ending_) {
    pollfd waiting{listening_, POLLIN, 0};
    if (::poll(&waiting, 1, 20) <= 0) continue;
    const int client = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) continue;
    threads_.emplace_back([this, client] {
      // The connection itself costs a round trip too: the kernel has answered at once, so the first piece waits longer.
      std::this_thread::sleep_for(late_ * 2);
      const int server = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
      const sockaddr_in address = loopback(to_);
      const int one = 1;
      ::setsockopt(server, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
      ::setsockopt(client, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
      if (::connect(server, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0) {
        std::thread back([&] { forward(server, client); });
        forward(client, server);
        back.join();
      }
      ::close(server);
      ::close(client);
    });
  }
}

void DelayProxy::forward(int from, int to) {
  std::deque<Piece> pieces;
  bool open = true;
  while (!ending_ && (open || !pieces.empty())) {
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
