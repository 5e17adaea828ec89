// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a stranger says, in a message of ours: a server's error, a name in a certificate, a child's answer.
#pragma once

#include <string>
#include <string_view>

namespace smelt {

/// On one line, with nothing in it that steers a terminal (`printable`), and cut after `most` of its bytes.
std::string one_line(std::string_view text, size_t most = 300);

}  // namespace smelt
