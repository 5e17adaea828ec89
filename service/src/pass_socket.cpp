// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifdef __linux__

#include "pass_socket.hpp"

#include <sys/socket.h>

#include <cstring>

namespace smelt::service {

bool send_socket(int channel, int socket) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))] = {};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  cmsghdr* header = CMSG_FIRSTHDR(&message);
  header->cmsg_level = SOL_SOCKET;
  header->cmsg_type = SCM_RIGHTS;
  header->cmsg_len = CMSG_LEN(sizeof(int));
  std::memcpy(CMSG_DATA(header), &socket, sizeof socket);
  return ::sendmsg(channel, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == 1;
}

int receive_socket(int channel) {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  if (::recvmsg(channel, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int socket = -1;
  std::memcpy(&socket, CMSG_DATA(header), sizeof socket);
  return socket;
}

}  // namespace smelt::service

#endif
