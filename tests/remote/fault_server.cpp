// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fault_server.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <stdexcept>

namespace smelt::test {

void FaultServer::Connection::send(const std::string& text) const {
  size_t sent = 0;
  while (sent < text.size()) {
    const ssize_t count = ::send(fd, text.data() + sent, text.size() - sent, MSG_NOSIGNAL);
    if (count <= 0) return;
    sent += static_cast<size_t>(count);
  }
}

void FaultServer::Connection::stall() const {
  while (!*ending) {
    pollfd gone{fd, POLLIN, 0};
    if (::poll(&gone, 1, 20) <= 0) continue;
    char byte = 0;
    if (::recv(fd, &byte, 1, 0) <= 0) return;
  }
}

FaultServer::FaultServer(Answer answer) : answer_(std::move(answer)) {
  listening_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  if (::bind(listening_, reinterpret_cast<sockaddr*>(&address), size) != 0 || ::listen(listening_, 64) != 0 ||
      ::getsockname(listening_, reinterpret_cast<sockaddr*>(&address), &size) != 0)
    throw std::runtime_error("cannot listen");
  port_ = ntohs(address.sin_port);
  thread_ = std::thread([this] { serve(); });
}

FaultServer::~FaultServer() {
  ending_ = true;
  thread_.join();
  for (std::thread& thread : threads_) thread.join();
  ::close(listening_);
}

std::string FaultServer::url(const std::string& scheme) const {
  return scheme + "://127.0.0.1:" + std::to_string(port_);
}

void FaultServer::serve() {
  while (!ending_) {
    pollfd waiting{listening_, POLLIN, 0};
    if (::poll(&waiting, 1, 20) <= 0) continue;
    const int fd = ::accept4(listening_, nullptr, nullptr, SOCK_CLOEXEC);
    if (fd < 0) continue;
    ++connections_;
    threads_.emplace_back([this, fd] {
      Connection connection{fd, &ending_, std::string(65536, '\0')};
      const ssize_t count = ::recv(fd, connection.request.data(), connection.request.size(), 0);
      connection.request.resize(count > 0 ? static_cast<size_t>(count) : 0);
      answer_(connection);
      ::shutdown(fd, SHUT_RDWR);
      ::close(fd);
    });
  }
}

}  // namespace smelt::test
