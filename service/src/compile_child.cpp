// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compile_child.hpp"

#include "smelt/aot/faults.hpp"
#include "smelt/aot/fingerprint.hpp"
#include "smelt/aot/limits.hpp"
#include "smelt/base/files.hpp"
#include "smelt/base/platform.hpp"
#include "smelt/base/trusted_files.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/session.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#ifdef __linux__
#include "pass_socket.hpp"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <mutex>
#endif

namespace smelt::service {

bool wants_child(Sandbox mode, const Request& request) {
  if (mode == Sandbox::never) return false;
  const auto& sources = request.sources;
  const bool is_ir =
      std::none_of(sources.begin(), sources.end(), [](const auto& one) { return aot::is_metal_source(one.bytes); }) &&
      !std::all_of(sources.begin(), sources.end(), [](const auto& one) { return aot::is_metal_library(one.bytes); });
  return is_ir && (mode == Sandbox::always || aot::had_fault());  // the last asks the compiler
}

Result<Sandbox> sandbox_or_default(std::optional<Sandbox> asked) {
  if (asked) return *asked;
  const char* const word = std::getenv("SMELT_SANDBOX");
  if (word == nullptr || *word == 0) return Sandbox::automatic;
  auto mode = parse_sandbox(word);
  if (!mode) return tl::unexpected(std::move(mode).error().in("SMELT_SANDBOX"));
  return *mode;
}

bool wants_limited_child(Sandbox mode, const Request& request) {
  const aot::Limits* const limits = aot::current_limits();
  if (mode == Sandbox::never || limits == nullptr || (limits->time.count() == 0 && limits->memory_bytes == 0))
    return false;
  return std::any_of(request.sources.begin(), request.sources.end(),
                     [](const auto& one) { return aot::is_metal_source(one.bytes); });
}

ChildJob limited_job(const Request& request, unsigned threads) {
  ChildJob job;
  job.request = request;
  if (job.request->options.cache_folder.empty()) job.request->options.cache_folder = precompiled_folder().string();
  job.threads = threads;
  std::error_code none;
  job.folder = std::filesystem::current_path(none).string();
  return job;
}

Result<void> read_within_limits(const Request& request, unsigned threads) {
  SMELT_TRY(const Sandbox mode, sandbox_or_default(request.sandbox));
  if (!wants_limited_child(mode, request)) return {};
  ChildJob job = limited_job(request, threads);
  job.only_read = true;
  if (const auto left = aot::time_left()) job.time = *left / 2;
  const auto read = run_in_child(std::move(job));
  if (!read && (mode == Sandbox::always || read.error().code != Errc::toolchain_missing))
    return tl::unexpected(read.error());
  return {};
}

MakeElsewhere make_in_children(const Request& request,
                               const std::function<Result<std::optional<Built>>(ChildJob)>& run) {
  return [&](const aot::Plan& plan, size_t part) -> Result<std::optional<KeptKernel>> {
    SMELT_TRY(const std::optional<Bytes> library, plan.part_as_library(part));
    if (!library) return std::optional<KeptKernel>();
    ChildJob job;
    job.request = request;
    job.request->sources = {{request.sources[plan.source_of(part)].name, *library}};
    job.request->options.targets = plan.targets();
    // The plan has looked for what the options name; the package gets the request's name and version.
    job.request->options.functions = plan.entry_names(part);
    job.request->options.kernels.clear();
    job.request->name.clear();
    job.request->version.clear();
    SMELT_TRY(auto built, run(std::move(job)));
    if (!built) return std::optional<KeptKernel>();
    SMELT_TRY(const std::vector<aot::CpuLevel> levels, cpu_levels(request));
    KeptKernel kernel(built->origin);
    SMELT_TRY(kernel.library, read_part(built->package, asked_of(plan, part, request, levels)));
    kernel.warnings = std::move(built->warnings);
    return std::optional(std::move(kernel));
  };
}

Result<void> from_child(Result<void> held, std::string_view input) {
  if (held) return held;
  return fail(Errc::corrupt, "the compiling child returned something else for '{}' ({}): the input is malicious", input,
              held.error().message);
}

Result<schema::Library> read_part(ByteView bytes, const Asked& asked) {
  const std::string& function = asked.functions.empty() ? asked.name : asked.functions.front();
  SMELT_TRY_VOID(from_child(held_to(asked, bytes, true), function));
  SMELT_TRY(const schema::Package package, schema::Package::open(bytes));
  SMELT_TRY(schema::Library library, package.copy_library(0));
  library.source = {};  // as of a part made here
  return library;
}

#ifdef __linux__
namespace {

constexpr std::chrono::milliseconds kMostTime{std::chrono::hours(1)};
constexpr uint64_t kMostMemory = uint64_t{8} << 30;
constexpr std::chrono::seconds kMostIdle{10};  // of the helper, where it should be at work

using Clock = std::chrono::steady_clock;

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  int get() const { return number_; }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }

 private:
  int number_;
};

Result<std::array<Descriptor, 2>> socket_pair(int type) {
  int ends[2];
  if (::socketpair(AF_UNIX, type | SOCK_CLOEXEC, 0, ends) != 0)
    return fail(Errc::io, "no pair of sockets for a compiling child: {}", std::strerror(errno));
  return std::array{Descriptor(ends[0]), Descriptor(ends[1])};
}

/// Beside the module that holds this code, or in the folders where a build or an installation has it. A library is in
/// lib or in a folder of that for the machine (lib/x86_64-linux-gnu), and libexec beside it: the program that links it
/// may be anywhere.
Result<std::string> child_program() {
  std::error_code ignored;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  auto found =
      find_beside(platform::folder_of_code(&kMostMemory),
                  {"_bin", "", "../_bin", "../bin", "../../bin", "../libexec", "../../libexec"}, kChildProgram);
  if (!found && found.error().code == Errc::file_not_found)
    found = find_beside(self, {"", "../libexec"}, kChildProgram);
  if (!found) return fail(Errc::toolchain_missing, "{}", found.error().message);
  return found->string();
}

/// The helper of this process; one at a time.
class Helper {
 public:
  /// Has it serve a job on the socket `end`.
  Result<void> serve(int end) {
    const std::lock_guard lock(mutex_);
    for (const bool again : {true, false}) {
      if (process_ != ::getpid()) {
        if (unavailable_) return tl::unexpected(*unavailable_);
        if (auto started = start(); !started) {
          if (started.error().code == Errc::toolchain_missing)
            unavailable_ = started.error();  // the next would wait too
          return started;
        }
      }
      if (send(end)) return {};
      drop();  // it has gone, or takes nothing any more: a new one, once
      if (!again) break;
    }
    return fail(Errc::toolchain_missing, "{} does not listen: {}", kChildProgram, std::strerror(errno));
  }

  /// Whether somebody has stopped it (SIGSTOP). Then nobody forks children, and nobody says how they ended.
  bool is_stopped() {
    const std::lock_guard lock(mutex_);
    if (process_ != ::getpid()) return false;
    const auto stat = read_file(fmt::format("/proc/{}/stat", program_));
    if (!stat) return false;
    const std::string_view text = as_text(*stat);  // NUMBER (NAME) STATE ...
    const size_t name_ends = text.rfind(')');
    return name_ends != text.npos && text.substr(name_ends).starts_with(") T");
  }

  /// Ends it; the next job gets another.
  void give_up() {
    const std::lock_guard lock(mutex_);
    if (process_ == ::getpid()) drop();
  }

 private:
  bool send(int end) {
    pollfd taken{control_.get(), POLLOUT, 0};
    for (const auto until = Clock::now() + kMostIdle; !send_socket(control_.get(), end);) {
      if (errno != EAGAIN || Clock::now() > until) return false;
      ::poll(&taken, 1, 100);
    }
    return true;
  }

  void drop() {
    if (program_ > 0) ::kill(program_, SIGKILL);
    process_ = program_ = 0;
  }

  Result<void> start() {
    SMELT_TRY(const std::string program, child_program());
    SMELT_TRY(auto ends, socket_pair(SOCK_SEQPACKET));
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, ends[1].get(), 3);
    posix_spawn_file_actions_addclosefrom_np(&actions, 4);
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none, all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    posix_spawnattr_setpgroup(&attributes, 0);  // Ctrl-C is ours; the socket's end ends it
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
    std::string name = kChildProgram;
    char* arguments[] = {name.data(), nullptr};
    char* environment[] = {nullptr};
    pid_t child = 0;
    const int failed = ::posix_spawn(&child, program.c_str(), &actions, &attributes, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    posix_spawnattr_destroy(&attributes);
    if (failed != 0) return fail(Errc::toolchain_missing, "{} does not start: {}", program, std::strerror(failed));
    ends[1].close();
    // It says when it is ready; one whose libraries are missing never does.
    pollfd ready{ends[0].get(), POLLIN, 0};
    char word = 0;
    while (::poll(&ready, 1, 30'000) < 0 && errno == EINTR) {
    }
    if (::recv(ends[0].get(), &word, 1, MSG_DONTWAIT) != 1)
      return fail(Errc::toolchain_missing, "{} started, but does not answer", program);
    control_ = std::move(ends[0]);
    process_ = ::getpid();
    program_ = child;
    return {};
  }

  std::mutex mutex_;
  std::optional<Error> unavailable_;
  pid_t process_ = 0;  // that started it: a forked child has a helper of its own
  pid_t program_ = 0;  // the helper itself
  Descriptor control_;
};

Helper& helper() {
  static auto* const one = new Helper;  // lives as long as the process
  return *one;
}

tl::unexpected<Error> over_time(const ChildJob& job) {
  const aot::Limits* limits = aot::current_limits();  // of which the job had what was left
  const auto limit = limits != nullptr && limits->time.count() != 0 ? limits->time : job.time;
  return fail(Errc::cancelled, "not compiled within the limit of {:.3g} s",
              std::chrono::duration<double>(limit).count());
}

tl::unexpected<Error> died(const ChildJob& job, int status) {
  if (WIFSIGNALED(status)) {
    switch (WTERMSIG(status)) {
      case SIGXCPU:
        return over_time(job);
      case SIGALRM:
        return fail(
            Errc::corrupt,
            "the compiling child deadlocked: the input damaged its memory, so the input is damaged or malicious");
      case SIGKILL:
        return fail(Errc::cancelled,
                    "the compiling child was killed: it, or the system, was out of memory (its limit is {} MB)",
                    job.memory_bytes >> 20);
      default:
        break;
    }
    return fail(Errc::corrupt, "the compiling child died of signal {} ({}): the input is damaged or malicious",
                WTERMSIG(status), ::strsignal(WTERMSIG(status)));
  }
  return fail(Errc::corrupt, "the compiling child ended with status {} and no result", WEXITSTATUS(status));
}

/// Sends `job`, then reads until the answer is complete, or the other side closes.
class Talk {
 public:
  Talk(int socket, const ChildJob& job)
      : socket_(socket), job_(job), until_(std::chrono::steady_clock::now() + job.time + std::chrono::seconds(1)) {}

  Result<Bytes> run(ByteView message) {
    Bytes answer;
    bool told = false;
    for (;;) {
      pollfd wanted{socket_, static_cast<short>(told ? POLLIN : POLLIN | POLLOUT), 0};
      const int ready = ::poll(&wanted, 1, 10);
      if (ready < 0 && errno != EINTR) return fail(Errc::io, "waiting for a child: {}", std::strerror(errno));
      SMELT_TRY_VOID(look());
      if (ready <= 0) continue;
      if (!told && (wanted.revents & POLLOUT) != 0) {
        const ssize_t sent = ::send(socket_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent > 0) message = message.subspan(static_cast<size_t>(sent));
        if (message.empty() || (sent < 0 && errno != EAGAIN && errno != EINTR)) {
          ::shutdown(socket_, SHUT_WR);
          told = true;
        }
      }
      if ((wanted.revents & (POLLIN | POLLHUP | POLLERR)) != 0) {
        std::array<std::byte, 65536> part;
        const ssize_t got = ::recv(socket_, part.data(), part.size(), MSG_DONTWAIT);
        if (got == 0) return answer;
        if (got < 0 && errno != EAGAIN && errno != EINTR)
          return fail(Errc::io, "reading from a child: {}", std::strerror(errno));
        if (got > 0) answer.insert(answer.end(), part.begin(), part.begin() + got);
        if (is_complete(answer)) return answer;
        SMELT_TRY_VOID(check_length(answer, job_.memory_bytes));
      }
    }
  }

 private:
  Result<void> look() {
    const aot::Limits* limits = aot::current_limits();
    if (limits != nullptr && limits->cancel && limits->cancel->load(std::memory_order_relaxed))
      return fail(Errc::cancelled, "cancelled");
    if (const auto now = Clock::now(); now >= next_look_) {
      next_look_ = now + std::chrono::seconds(1);
      if (!helper().is_stopped()) works_ = now;
      if (now - works_ > kMostIdle) {
        helper().give_up();
        return fail(Errc::compile_failed, "{} was stopped; smelt no longer waits for it", kChildProgram);
      }
    }
    if (std::chrono::steady_clock::now() > until_) return over_time(job_);
    return {};
  }

  const int socket_;
  const ChildJob& job_;
  const std::chrono::steady_clock::time_point until_;
  Clock::time_point works_ = Clock::now(), next_look_ = works_ + std::chrono::seconds(1);
};

}  // namespace

Result<Built> run_in_child(ChildJob job) {
  const aot::Limits* limits = aot::current_limits();
  const auto left = aot::time_left().value_or(kMostTime);
  job.time = job.time.count() != 0 ? std::min(job.time, left) : left;
  job.memory_bytes = limits != nullptr && limits->memory_bytes != 0 ? limits->memory_bytes : kMostMemory;
  job.nice = static_cast<unsigned>(std::max(0, ::getpriority(PRIO_PROCESS, 0)));  // on Linux the thread's
  SMELT_TRY(auto ends, socket_pair(SOCK_STREAM));
  SMELT_TRY_VOID(helper().serve(ends[1].get()));
  ends[1].close();
  const auto until = std::chrono::steady_clock::now() + job.time;
  SMELT_TRY(const Bytes answer, Talk(ends[0].get(), job).run(write_job(job)));
  if (!is_complete(answer)) {
    if (answer.size() < kStatusBytes) return fail(Errc::compile_failed, "{} ended before its child did", kChildProgram);
    return died(job, static_cast<int>(load_le<uint32_t>(answer.data() + answer.size() - kStatusBytes)));
  }
  auto outcome = read_outcome(unframed(answer));
  // The child knows of its own time alone.
  if (!outcome && outcome.error().code == Errc::cancelled && std::chrono::steady_clock::now() > until)
    return over_time(job);
  return outcome;
}

#else

Result<Built> run_in_child(ChildJob) {
  return fail(Errc::toolchain_missing, "compiling in a child process works only on Linux");
}

#endif

}  // namespace smelt::service
