// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "preforked.hpp"

#include "smelt/base/platform.hpp"

#include "pass_socket.hpp"
#include "serve.hpp"

#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>

namespace smelt::service {
namespace {

/// The preforked child's life until it has a job. It has seen nothing but the kernel of our own by then.
[[noreturn]] void wait_for_job(int channel, pid_t parent, const WarmUp& warm_up, scmp_filter_ctx filter) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(0);
  // Not the helper's own socket: whoever asks shall see when the helper has gone.
  if (::dup2(channel, 0) < 0 || ::close_range(1, ~0u, 0) != 0) ::_exit(1);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  // As a kernel is compiled that somebody waits for.
  warm_up.run_again(aot::CpuEffort::fast);
  const uint64_t mapped = platform::memory_use().mapped;
  if (::send(0, "", 1, MSG_NOSIGNAL) != 1) ::_exit(0);  // ready
  const int socket = receive_socket(0);
  if (socket < 0) ::_exit(0);
  serve(socket, mapped, filter);
}

}  // namespace

void PreforkedChild::make(const WarmUp& warm_up, scmp_filter_ctx filter) {
  if (exists()) return;
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return;
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) wait_for_job(ends[1], parent, warm_up, filter);
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return;
  }
  process_ = child;
  channel_ = ends[0];
}

pid_t PreforkedChild::serve(int socket) {
  char word = 0;
  if (!exists() || ::recv(channel_, &word, 1, MSG_DONTWAIT) != 1) return 0;
  if (!send_socket(channel_, socket)) {
    drop();
    return 0;
  }
  const pid_t served = process_;
  forget();
  return served;
}

bool PreforkedChild::ended(pid_t child) {
  if (!exists() || child != process_) return false;
  forget();
  return true;
}

void PreforkedChild::drop() {
  if (!exists()) return;
  ::kill(process_, SIGKILL);
  while (::waitpid(process_, nullptr, 0) < 0 && errno == EINTR) {
  }
  forget();
}

void PreforkedChild::forget() {
  ::close(channel_);
  process_ = 0;
  channel_ = -1;
}

}  // namespace smelt::service
