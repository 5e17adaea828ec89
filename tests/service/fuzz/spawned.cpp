// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "spawned.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>

extern char** environ;

namespace smelt::test {

Spawned spawn(const std::vector<std::string>& words, double seconds) {
  constexpr size_t kMostWords = 4096;
  Spawned result;
  int said[2];
  if (::pipe2(said, O_CLOEXEC) != 0) return result;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, said[1], 2);
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  const int failed = ::posix_spawn(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  ::close(said[1]);
  const auto until = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  while (failed == 0) {
    pollfd wanted{said[0], POLLIN, 0};
    const int ready = ::poll(&wanted, 1, 1000);
    if (std::chrono::steady_clock::now() > until) {
      ::kill(child, SIGKILL);
      break;
    }
    if (ready <= 0) continue;
    std::array<char, 1024> part;
    const ssize_t got = ::read(said[0], part.data(), part.size());
    if (got <= 0) break;
    result.words.append(part.data(), std::min<size_t>(static_cast<size_t>(got), kMostWords - result.words.size()));
  }
  ::close(said[0]);
  if (failed != 0) {
    result.words = "the program does not start";
    return result;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  result.was_killed = WIFSIGNALED(status);
  result.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return result;
}

}  // namespace smelt::test
