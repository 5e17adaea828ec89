// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt-compile-child: waits on descriptor 3 for sockets, and forks a child for each, which compiles what it reads
// there. The child may compute, have memory and threads, and use its socket; nothing else. Starting the program takes
// LLVM's libraries tens of milliseconds to load, a fork less than one: therefore it waits. Each child has one job, the
// one that was forked beforehand too: no child that read one input compiles another.
#include "smelt/aot/cpu.hpp"
#include "smelt/base/platform.hpp"

#include "child_protocol.hpp"
#include "pass_socket.hpp"
#include "preforked.hpp"
#include "sandboxed.hpp"
#include "serve.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <map>
#include <vector>

namespace smelt::service {
namespace {

constexpr int kControl = 3;
constexpr int kTurn = 500;  // milliseconds
constexpr int kPause = 2;   // after so many milliseconds nobody waits
constexpr int kIdleTurns = static_cast<int>(kMostIdle / std::chrono::milliseconds(kTurn));

/// Children at work. What they send goes to whoever asked; how they ended is said after it, on the same socket.
class Children {
 public:
  bool empty() const { return at_work_.empty(); }

  /// `preforked` serves it when it is ready, else a fork that begins now.
  void start(int socket, PreforkedChild& preforked, uint64_t mapped, scmp_filter_ctx filter) {
    if (const pid_t ready = preforked.serve(socket)) {
      at_work_.emplace(ready, AtWork{.socket = socket, .processor = ProcessorWatch(ready)});
      return;
    }
    const pid_t child = ::fork();
    if (child == 0) {
      sigset_t none;
      sigemptyset(&none);
      ::sigprocmask(SIG_SETMASK, &none, nullptr);
      serve(socket, mapped, filter);
    }
    if (child < 0) {
      say(socket, kNoFork << 8);
      ::close(socket);
    } else {
      at_work_.emplace(child, AtWork{.socket = socket, .processor = ProcessorWatch(child)});
    }
  }

  void reap(PreforkedChild& preforked) {
    int status = 0;
    for (pid_t child = 0; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      if (preforked.ended(child)) continue;
      const auto found = at_work_.find(child);
      if (found == at_work_.end()) continue;
      say(found->second.socket, found->second.idle >= kIdleTurns ? SIGALRM : status);
      ::close(found->second.socket);
      at_work_.erase(found);
    }
  }

  void add_to(std::vector<pollfd>& wanted) const {
    for (const auto& [child, work] : at_work_)
      if (!work.abandoned) wanted.push_back({work.socket, 0, 0});
  }
  /// Nobody waits for these any more, some because they have their answer.
  void kill_abandoned(const std::vector<pollfd>& found) {
    for (const pollfd& one : found) {
      if ((one.revents & (POLLHUP | POLLERR)) == 0) continue;
      for (auto& [child, work] : at_work_) {
        if (work.socket != one.fd) continue;
        ::kill(child, SIGKILL);
        work.abandoned = true;
      }
    }
  }
  void kill_all() {
    for (const auto& [child, work] : at_work_) ::kill(child, SIGKILL);
  }

  /// To be called every kTurn: ends those that wait for themselves, after a fault for a lock that nobody gives back.
  void kill_idle() {
    for (auto& [child, work] : at_work_) {
      if (work.processor.works() || waits_for_parent(work.socket))
        work.idle = 0;
      else if (++work.idle == kIdleTurns)
        ::kill(child, SIGKILL);
    }
  }

 private:
  struct AtWork {
    int socket;
    ProcessorWatch processor;
    int idle = 0;
    bool abandoned = false;  // ends, and is waited for alone
  };

  /// For the rest of the job, or for its answer to be read.
  static bool waits_for_parent(int socket) {
    int unread = 0;
    pollfd told{socket, POLLRDHUP, 0};
    return (::ioctl(socket, SIOCOUTQ, &unread) == 0 && unread != 0) || ::poll(&told, 1, 0) != 1;
  }
  static void say(int socket, int status) {
    std::array<std::byte, kStatusBytes> bytes;
    store_le(bytes.data(), static_cast<uint32_t>(status));
    write_all(socket, bytes);
  }
  std::map<pid_t, AtWork> at_work_;
};

int run() {
  sigset_t children;
  sigemptyset(&children);
  sigaddset(&children, SIGCHLD);
  ::sigprocmask(SIG_BLOCK, &children, nullptr);
  const int signals = ::signalfd(-1, &children, SFD_CLOEXEC | SFD_NONBLOCK);
  const auto filter = make_filter();
  if (!filter) fmt::print(stderr, "smelt-compile-child: {}\n", filter.error().message);
  if (signals < 0 || !filter) return 1;
  // LLVM's tables of targets, and this compiler's name, are made once, and not in each child.
  (void)aot::compile_cpu({}, {});
  (void)write_job({});
  // The address space that the program has already: what the libraries map is not the job's.
  uint64_t mapped = platform::memory_use().mapped;
  // A preforked child is made once after each job, so that one that dies is not made over and over.
  bool served = false, warm = false, wants_spare = false;
  WarmUp warm_up;
  PreforkedChild preforked;
  auto looked = std::chrono::steady_clock::now();
  Children at_work;
  if (::send(kControl, "", 1, MSG_NOSIGNAL) != 1) return 1;  // ready
  for (;;) {
    std::vector<pollfd> wanted{{kControl, POLLIN, 0}, {signals, POLLIN, 0}};
    at_work.add_to(wanted);
    // The first job does not wait for that. A library's kernels follow each other without a pause, so that the second
    // one does when there was none.
    const bool warms_up = served && !warm;
    const bool makes_spare = warm && wants_spare && at_work.empty();
    const int turn = at_work.empty() ? -1 : kTurn;
    const int found = ::poll(wanted.data(), wanted.size(), warms_up || makes_spare ? kPause : turn);
    if (found < 0 && errno != EINTR) break;
    if (const auto now = std::chrono::steady_clock::now(); now - looked >= std::chrono::milliseconds(kTurn)) {
      at_work.kill_idle();
      looked = now;
    }
    const bool is_asked = (wanted[0].revents & POLLIN) != 0;
    if (warms_up && (found == 0 || is_asked)) {
      warm_up.run();
      mapped = platform::memory_use().mapped;
      warm = true;
    } else if (makes_spare && found == 0) {
      preforked.make(warm_up, *filter);
      wants_spare = false;
    }
    if ((wanted[1].revents & POLLIN) != 0) {
      signalfd_siginfo ignored;
      while (::read(signals, &ignored, sizeof ignored) > 0) {
      }
      at_work.reap(preforked);
    }
    at_work.kill_abandoned({wanted.begin() + 2, wanted.end()});
    if (is_asked) {
      const int socket = receive_socket(kControl);
      if (socket < 0) break;
      at_work.start(socket, preforked, mapped, *filter);
      served = wants_spare = true;
    } else if (wanted[0].revents != 0) {
      break;
    }
  }
  at_work.kill_all();
  return 0;
}

}  // namespace
}  // namespace smelt::service

int main() {
  return smelt::service::run();
}
