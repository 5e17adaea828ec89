// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Child processes for tests: each opens the store itself (a store is not used across fork).
#pragma once

#include <doctest/doctest.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
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

/// A child that holds the writer lock of the store and is stopped, as by a terminal. Kill it and wait for it.
inline pid_t spawn_stopped_writer(const std::filesystem::path& store) {
  int pipes[2];
  REQUIRE(::pipe(pipes) == 0);
  const pid_t holder = spawn([&] {
    const int fd = ::open((store / "locks").c_str(), O_RDWR | O_CLOEXEC);
    struct flock lock{};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    lock.l_start = 1 << 24;  // docs/formats/store.md
    lock.l_len = 1;
    if (::fcntl(fd, F_OFD_SETLK, &lock) != 0) return 1;
    (void)!::write(pipes[1], "x", 1);
    ::pause();
    return 0;
  });
  ::close(pipes[1]);
  char ready = 0;
  REQUIRE(::read(pipes[0], &ready, 1) == 1);
  ::close(pipes[0]);
  REQUIRE(::kill(holder, SIGSTOP) == 0);
  return holder;
}

}  // namespace smelt::test
