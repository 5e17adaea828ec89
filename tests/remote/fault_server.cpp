// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "fault_server.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <utility>

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

FaultServer::FaultServer(Answer answer)
    : server_([answer = std::move(answer)](int fd, const std::atomic<bool>& ending) {
        Connection connection{fd, &ending, std::string(65536, '\0')};
        const ssize_t count = ::recv(fd, connection.request.data(), connection.request.size(), 0);
        connection.request.resize(count > 0 ? static_cast<size_t>(count) : 0);
        answer(connection);
        ::shutdown(fd, SHUT_RDWR);
        ::close(fd);
      }) {}

std::string FaultServer::url(const std::string& scheme) const {
  return scheme + "://127.0.0.1:" + std::to_string(port());
}

}  // namespace smelt::test
