// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A descriptor sent over a socket of messages (SOCK_SEQPACKET). Linux.
#pragma once

namespace smelt::service {

/// The sender keeps its own. False, with errno: nobody listens; EAGAIN: nobody has taken those before it yet.
bool send_socket(int channel, int socket);
/// The next message's descriptor, which the caller closes; -1: the other side has gone, or sent none.
int receive_socket(int channel);

}  // namespace smelt::service
