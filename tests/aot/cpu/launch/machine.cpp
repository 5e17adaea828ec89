// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs CPU code that a test of another architecture sends it: jobs on the standard input, outcomes on the standard
// output. Built for aarch64 and started under QEMU's user mode (launch.cpp).
#include "job.hpp"

#include <unistd.h>

#include <cstdio>
#include <exception>

int main() {
  std::vector<std::byte> message;
  while (smelt::test::receive(STDIN_FILENO, message)) {
    try {
      if (!smelt::test::send(STDOUT_FILENO, smelt::test::run_packed(message))) return 1;
    } catch (const std::exception& error) {
      std::fprintf(stderr, "%s\n", error.what());
      return 1;
    }
  }
  return 0;
}
