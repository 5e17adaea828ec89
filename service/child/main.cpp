// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt-compile-child: waits on descriptor 3 for sockets, and forks a child for each, which compiles what it reads
// there. The child may compute, have memory and threads, and use its socket; nothing else. Starting the program takes
// LLVM's libraries tens of milliseconds to load, a fork less than one: therefore it waits.
#include "smelt/aot/cpu.hpp"
#include "smelt/aot/limits.hpp"
#include "smelt/base/platform.hpp"
#include "smelt/schema/package.hpp"

#include "child_protocol.hpp"
#include "confined.hpp"

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
constexpr int kIdleTurns = static_cast<int>(kMostIdle / std::chrono::milliseconds(kTurn));

bool read_all(int from, Bytes& bytes) {
  std::vector<std::byte> part(1 << 16);
  for (;;) {
    const ssize_t got = ::recv(from, part.data(), part.size(), 0);
    if (got == 0) return true;
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return false;
    bytes.insert(bytes.end(), part.begin(), part.begin() + got);
  }
}

Result<Built> compile(const ChildJob& job) {
  const aot::Limited limited({.time = job.time, .memory_bytes = 0, .cancel = nullptr});
  if (job.request) return build_package(*job.request, job.threads, {}, KernelStore());
  if (!job.package) return fail(Errc::invalid_argument, "nothing to compile");
  Built built;
  SMELT_TRY(built.package, remake_package(*job.package, job.wanted));
  return built;
}

Result<Built> compile_within(const ChildJob& job) {
  auto built = compile(job);
  // LLVM reports some shortages by itself, and a fault in it that was contained may have been one.
  if (!built && (built.error().code == Errc::out_of_memory || is_memory_used_up())) give_up();
  return built;
}

/// The child's whole life. Its descriptors are the socket and nothing else; limits and filter are there before a byte
/// of the input is looked at.
[[noreturn]] void serve(int socket, uint64_t mapped, scmp_filter_ctx filter) {
  keep_only(socket);
  Bytes message;
  if (!read_all(0, message)) ::_exit(kNoMessage);
  const auto job = read_job(message);
  if (!job) answer_and_end(write_outcome(tl::unexpected(job.error())));
  if (job->nice != 0) ::setpriority(PRIO_PROCESS, 0, static_cast<int>(job->nice));
  confine({.time = job->time,
           .threads = job->threads,
           .mapped = mapped,
           .memory_bytes = job->memory_bytes,
           .shortage = write_outcome(
               fail(Errc::cancelled, "compiling took more memory than the limit of {} MB", job->memory_bytes >> 20))},
          filter);
  answer_and_end(write_outcome(compile_within(*job)));
}

/// Children at work. What they send goes to whoever asked; how they ended is said after it, on the same socket.
class Children {
 public:
  bool empty() const { return at_work_.empty(); }

  void start(int socket, uint64_t mapped, scmp_filter_ctx filter) {
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
      at_work_.emplace(child, AtWork{socket, ProcessorWatch(child)});
    }
  }

  void reap() {
    int status = 0;
    for (pid_t child = 0; (child = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto found = at_work_.find(child);
      if (found == at_work_.end()) continue;
      say(found->second.socket, found->second.idle >= kIdleTurns ? SIGALRM : status);
      ::close(found->second.socket);
      at_work_.erase(found);
    }
  }

  /// Nobody waits for these any more.
  void add_to(std::vector<pollfd>& wanted) const {
    for (const auto& [child, work] : at_work_) wanted.push_back({work.socket, 0, 0});
  }
  void kill_abandoned(const std::vector<pollfd>& found) {
    for (const pollfd& one : found) {
      if ((one.revents & (POLLHUP | POLLERR)) == 0) continue;
      for (const auto& [child, work] : at_work_)
        if (work.socket == one.fd) ::kill(child, SIGKILL);
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

/// The socket in the next message; -1 when the other side has gone.
int next_socket() {
  char byte = 0;
  iovec data{&byte, 1};
  alignas(cmsghdr) char space[CMSG_SPACE(sizeof(int))];
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = space;
  message.msg_controllen = sizeof space;
  if (::recvmsg(kControl, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
  const cmsghdr* header = CMSG_FIRSTHDR(&message);
  if (header == nullptr || header->cmsg_type != SCM_RIGHTS) return -1;
  int socket = -1;
  std::memcpy(&socket, CMSG_DATA(header), sizeof socket);
  return socket;
}

/// What LLVM sets up at its first use is then done once, here, and not in each child: a kernel of our own is compiled.
void warm_up() {
  constexpr std::string_view kKernel = R"(
target datalayout = "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32"
target triple = "air64_v27-apple-macosx15.0.0"
define void @warm(ptr addrspace(1) %x, i32 %i) {
entry:
  %wide = zext i32 %i to i64
  %p = getelementptr float, ptr addrspace(1) %x, i64 %wide
  br label %loop
loop:
  %k = phi i32 [ 0, %entry ], [ %next, %loop ]
  %v = load float, ptr addrspace(1) %p, align 4
  %w = fmul float %v, 2.0
  store float %w, ptr addrspace(1) %p, align 4
  %next = add i32 %k, 1
  %more = icmp ult i32 %next, %i
  br i1 %more, label %loop, label %done
done:
  ret void
}
!air.kernel = !{!0}
!0 = !{ptr @warm, !1, !2}
!1 = !{}
!2 = !{!3, !4}
!3 = !{i32 0, !"air.buffer", !"air.location_index", i32 0, i32 1, !"air.read_write", !"air.address_space", i32 1}
!4 = !{i32 1, !"air.thread_position_in_grid"}
)";
  Request request;
  request.sources.push_back({"warm", as_bytes(kKernel)});
  const auto built = build_package(request, 1, {}, KernelStore());
  if (!built) return;
  Request again;
  const auto package = schema::Package::open(built->package);
  if (package && package->library_count() != 0) {
    again.sources.push_back({"warm", package->slice(package->library(0).slices.first).part.bytes});
    (void)build_package(again, 1, {}, KernelStore());
  }
}

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
  bool served = false, warm = false;
  auto looked = std::chrono::steady_clock::now();
  Children at_work;
  if (::send(kControl, "", 1, MSG_NOSIGNAL) != 1) return 1;  // ready
  for (;;) {
    std::vector<pollfd> wanted{{kControl, POLLIN, 0}, {signals, POLLIN, 0}};
    at_work.add_to(wanted);
    // The first job does not wait for that. A library's kernels follow each other without a pause, so that the second
    // one does when there was none.
    const bool warms_up = served && !warm;
    const int found = ::poll(wanted.data(), wanted.size(), warms_up ? 2 : at_work.empty() ? -1 : kTurn);
    if (found < 0 && errno != EINTR) break;
    if (const auto now = std::chrono::steady_clock::now(); now - looked >= std::chrono::milliseconds(kTurn)) {
      at_work.kill_idle();
      looked = now;
    }
    const bool is_asked = (wanted[0].revents & POLLIN) != 0;
    if (warms_up && (found == 0 || is_asked)) {
      warm_up();
      mapped = platform::memory_use().mapped;
      warm = true;
    }
    if ((wanted[1].revents & POLLIN) != 0) {
      signalfd_siginfo ignored;
      while (::read(signals, &ignored, sizeof ignored) > 0) {
      }
      at_work.reap();
    }
    at_work.kill_abandoned({wanted.begin() + 2, wanted.end()});
    if (is_asked) {
      const int socket = next_socket();
      if (socket < 0) break;
      at_work.start(socket, mapped, *filter);
      served = true;
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
