// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Child processes for tests: each opens the store itself (a store is not used across fork).
#pragma once

#include <doctest/doctest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <vector>

namespace smelt::test {

/// Runs `body` in a child; its value is the exit status.
inline pid_t spawn(const std::function<int()>& body) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    int status = 99;
    try {
      status = body();
    } catch (...) {
    }
    ::_exit(status);
  }
  return child;
}

/// Exit status, or 1000 + signal.
inline int wait_for(pid_t child) {
  int status = 0;
  while (::waitpid(child, &status, 0) < 0) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace smelt::test
