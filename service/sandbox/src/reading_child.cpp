// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/service/reading_child.hpp"

#ifdef __linux__
#include "smelt/base/platform.hpp"
#include "smelt/base/text.hpp"

#include "sandboxed.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <thread>
#endif

namespace smelt::service {

#ifdef __linux__
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kMostTime{std::chrono::hours(1)};
constexpr uint64_t kMostMemory = uint64_t{8} << 30;
constexpr int kTurn = 50;  // milliseconds
// Turns, and no clock: while this process is stopped, with its child, it counts none.
constexpr int kIdleTurns = static_cast<int>(kMostIdle / std::chrono::milliseconds(kTurn));

Bytes encode(const Result<Bytes>& outcome) {
  ByteWriter out;
  out.put(static_cast<uint32_t>(outcome ? Errc::ok : outcome.error().code));
  const ByteView first = outcome ? ByteView(*outcome) : as_bytes(outcome.error().message);
  out.put(uint64_t{first.size()});
  out.put_bytes(first);
  if (!outcome) out.put_text(outcome.error().subject);
  return out.take();
}

Result<Bytes> decode(ByteView bytes) {
  Cursor in(bytes, "the reading child's answer");
  SMELT_TRY(const auto code, in.read<uint32_t>());
  SMELT_TRY(const auto size, in.read<uint64_t>());
  SMELT_TRY(const ByteView first, in.take(size));
  if (code == 0) return to_bytes(first);
  Error error{static_cast<Errc>(code), printable(as_text(first)), printable(as_text(in.rest()))};
  if (to_string(error.code) == to_string(Errc(-1))) error.code = Errc::corrupt;
  return tl::unexpected(std::move(error));
}

tl::unexpected<Error> over_time(const ReadingBounds& bounds) {
  return fail(Errc::cancelled, "not read within the limit of {:.3g} s",
              std::chrono::duration<double>(bounds.time).count());
}

/// The parent's side of one child. However this ends, the child has ended too.
class ReadingChild {
 public:
  ReadingChild(pid_t child, int socket, const ReadingBounds& bounds)
      : child_(child), socket_(socket), bounds_(bounds), until_(Clock::now() + bounds.time), processor_(child) {}
  ~ReadingChild() {
    (void)end();
    ::close(socket_);
  }
  ReadingChild(const ReadingChild&) = delete;
  ReadingChild& operator=(const ReadingChild&) = delete;

  Result<Bytes> answer() {
    Bytes answer;
    for (int idle = 0; idle < kIdleTurns;) {
      pollfd wanted{socket_, POLLIN, 0};
      const int ready = ::poll(&wanted, 1, kTurn);
      if (ready < 0 && errno != EINTR) return fail(Errc::io, "waiting for a reading child: {}", std::strerror(errno));
      if (Clock::now() > until_) return over_time(bounds_);
      if (ready <= 0) {
        idle = processor_.works() ? 0 : idle + 1;
        continue;
      }
      idle = 0;
      std::array<std::byte, 65536> part;
      const ssize_t got = ::recv(socket_, part.data(), part.size(), MSG_DONTWAIT);
      if (got < 0 && (errno == EAGAIN || errno == EINTR)) continue;
      if (got <= 0) return ended(answer);
      if (answer.size() + static_cast<size_t>(got) > bounds_.memory_bytes)
        return fail(Errc::corrupt, "a reading child did not end its answer");
      answer.insert(answer.end(), part.begin(), part.begin() + got);
    }
    return fail(Errc::corrupt,
                "the reading child deadlocked: the input damaged its memory, so the input is damaged or malicious");
  }

 private:
  /// Its wait status. It is on its way out, or must be made to go.
  int end() {
    if (!status_) {
      ::kill(child_, SIGKILL);  // changes nothing of one that has begun to exit
      int status = 0;
      while (::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
      }
      status_ = status;
    }
    return *status_;
  }

  Result<Bytes> ended(ByteView answer) {
    const int status = end();
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return decode(answer);
    if (WIFEXITED(status) && (WEXITSTATUS(status) == kNoFilter || WEXITSTATUS(status) == kNoDescriptors))
      return fail(Errc::toolchain_missing, "a reading child cannot be sandboxed (status {})", WEXITSTATUS(status));
    if (WIFEXITED(status))
      return fail(Errc::corrupt, "the reading child ended with status {} and no result", WEXITSTATUS(status));
    if (WTERMSIG(status) == SIGXCPU) return over_time(bounds_);
    if (WTERMSIG(status) == SIGKILL)
      return fail(Errc::cancelled,
                  "the reading child was killed: it, or the system, was out of memory (its limit is {} MB)",
                  bounds_.memory_bytes >> 20);
    return fail(Errc::corrupt, "the reading child died of signal {} ({}): the input is damaged or malicious",
                WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }

  const pid_t child_;
  const int socket_;
  const ReadingBounds bounds_;
  const Clock::time_point until_;
  ProcessorWatch processor_;
  std::optional<int> status_;
};

/// `filter`: null for a child that reads files.
[[noreturn]] void read_sandboxed(int socket, const ReadingBounds& bounds, scmp_filter_ctx filter, pid_t parent,
                                 const std::function<Result<Bytes>()>& work) {
  keep_only(socket);
  if (::getppid() != parent) ::_exit(kNoMessage);
  ChildBounds sandboxed{.time = bounds.time,
                        .threads = std::max(1u, std::thread::hardware_concurrency()),
                        .mapped = platform::memory_use().mapped,
                        .memory_bytes = bounds.memory_bytes};
  sandboxed.shortage =
      encode(fail(Errc::cancelled, "reading took more memory than the limit of {} MB", bounds.memory_bytes >> 20));
  if (bounds.files)
    watch(std::move(sandboxed), encode(over_time(bounds)));
  else
    enter_sandbox(std::move(sandboxed), filter);
  const auto outcome = work();
  if (!outcome && (outcome.error().code == Errc::out_of_memory || is_memory_used_up())) give_up();
  answer_and_end(encode(outcome));
}

}  // namespace

Result<Bytes> read_in_child(const ReadingBounds& asked, const std::function<Result<Bytes>()>& work) {
  ReadingBounds bounds = asked;
  if (bounds.time.count() == 0) bounds.time = kMostTime;
  if (bounds.memory_bytes == 0) bounds.memory_bytes = kMostMemory;
  const auto none = [](std::string_view why) {
    return fail(Errc::toolchain_missing, "no child process to read in: {}", why);
  };
  scmp_filter_ctx used = nullptr;
  if (!bounds.files) {
    static const Result<scmp_filter_ctx> filter = make_filter();
    if (!filter) return none(filter.error().message);
    used = *filter;
  }
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return none(std::strerror(errno));
  const pid_t parent = ::getpid();
  const pid_t child = ::fork();
  if (child == 0) read_sandboxed(ends[1], bounds, used, parent, work);
  const int failed = errno;
  ::close(ends[1]);
  if (child < 0) {
    ::close(ends[0]);
    return none(std::strerror(failed));
  }
  return ReadingChild(child, ends[0], bounds).answer();
}

#else

Result<Bytes> read_in_child(const ReadingBounds&, const std::function<Result<Bytes>()>&) {
  return fail(Errc::toolchain_missing, "reading in a child process works only on Linux");
}

#endif

Result<Bytes> read_in_child_if_there_is_one(const ReadingBounds& bounds, const std::function<Result<Bytes>()>& work,
                                            const std::function<void(std::string_view)>& warn) {
  auto result = read_in_child(bounds, work);
  if (result || result.error().code != Errc::toolchain_missing) return result;
  warn(result.error().message + "; reading without a child process");
  return work();
}

std::string plain_lines(ByteView bytes) {
  return printable(as_text(bytes));
}

}  // namespace smelt::service
