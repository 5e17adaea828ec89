// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/base/trace.hpp"

#include "smelt/base/platform.hpp"
#include "smelt/base/text.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>

namespace smelt {
namespace {

constexpr std::string_view kEnd = "\n]\n";
constexpr std::string_view kProcess = "[\n{\"name\":\"process_name\",\"ph\":\"M\",\"pid\":";

/// What the environment names, with the process's number for %p; empty: no trace.
std::string wanted_path() {
  const char* const named = std::getenv("SMELT_TRACE");
  std::string path = named != nullptr ? named : "";
  for (size_t at = 0; (at = path.find("%p", at)) != std::string::npos;) path.replace(at, 2, std::to_string(::getpid()));
  return path;
}

/// One file, locked while it is written, so that all who add to it leave it whole.
class TraceFile {
 public:
  TraceFile() { open(); }

  bool is_open() const { return fd_ >= 0; }

  void write(std::string_view event) {
    const std::lock_guard guard(mutex_);
    // A child of fork() opens the file anew: what it inherited shares its parent's lock, and %p is another file now.
    if (pid_ != ::getpid()) open();
    if (fd_ < 0) return;
    ::flock(fd_, LOCK_EX);
    const off_t size = ::lseek(fd_, 0, SEEK_END);
    const auto end = static_cast<off_t>(kEnd.size());
    put(fmt::format(",\n{}{}", event, kEnd), std::max<off_t>(size - end, 0));
    ::flock(fd_, LOCK_UN);
  }

 private:
  void open() {
    if (fd_ >= 0) ::close(fd_);
    pid_ = ::getpid();
    const std::string path = wanted_path();
    fd_ = path.empty() ? -1 : ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (path.empty()) return;
    struct stat found{};
    if (fd_ < 0 || ::fstat(fd_, &found) != 0) return refuse(path, std::strerror(errno));
    if (!S_ISREG(found.st_mode)) return refuse(path, "it is not a regular file");
    ::flock(fd_, LOCK_EX);
    if (!is_of_living_process() && ::ftruncate(fd_, 0) == 0)
      put(fmt::format("{}{},\"args\":{{\"name\":\"smelt\"}}}}{}", kProcess, pid_, kEnd), 0);
    ::flock(fd_, LOCK_UN);
  }

  void refuse(const std::string& path, const char* why) {
    std::fprintf(stderr, "smelt: SMELT_TRACE: cannot write '%s': %s\n", printable(path).c_str(), why);
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

  /// Whether the file is a trace that a process began which is still there. (Its number may be another's by now: then
  /// an old trace is added to.)
  bool is_of_living_process() const {
    char head[kProcess.size() + 24] = {};
    if (::pread(fd_, head, sizeof(head) - 1, 0) <= 0 || !std::string_view(head).starts_with(kProcess)) return false;
    const long began = std::strtol(head + kProcess.size(), nullptr, 10);
    return began > 0 && (::kill(static_cast<pid_t>(began), 0) == 0 || errno == EPERM);
  }

  void put(std::string_view text, off_t at) const {
    while (!text.empty()) {
      const ssize_t done = ::pwrite(fd_, text.data(), text.size(), at);
      if (done <= 0) return;  // a full disk ends no program that is only looked at
      text.remove_prefix(static_cast<size_t>(done));
      at += done;
    }
  }

  std::mutex mutex_;
  int fd_ = -1;
  pid_t pid_ = 0;
};

TraceFile& trace_file() {
  static TraceFile& file = *new TraceFile;  // threads may write while statics go
  return file;
}

/// What all events begin with.
std::string event_head(std::string_view name, char phase) {
  return fmt::format("{{\"name\":{},\"ph\":\"{}\",\"pid\":{},\"tid\":{}", json_quoted(name), phase, ::getpid(),
                     platform::thread_id());
}

double microseconds(TraceClock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

bool tracing() {
  static const bool on = [] {
    const char* const named = std::getenv("SMELT_TRACE");
    return named != nullptr && *named != '\0' && trace_file().is_open();
  }();
  return on;
}

void trace_event(std::string_view name, std::string_view category, TraceClock::time_point start,
                 TraceClock::time_point end, const TraceFacts& facts) {
  if (!tracing()) return;
  std::string event = event_head(name, 'X');
  auto out = std::back_inserter(event);
  fmt::format_to(out, ",\"cat\":{},\"ts\":{:.3f},\"dur\":{:.3f},\"args\":{{", json_quoted(category),
                 microseconds(start.time_since_epoch()), microseconds(end - start));
  for (size_t i = 0; i < facts.size(); ++i)
    fmt::format_to(out, "{}{}:{}", i == 0 ? "" : ",", json_quoted(facts[i].first), json_quoted(facts[i].second));
  event += "}}";
  trace_file().write(event);
}

void trace_thread(std::string_view name) {
  if (!tracing()) return;
  trace_file().write(fmt::format("{},\"args\":{{\"name\":{}}}}}", event_head("thread_name", 'M'), json_quoted(name)));
}

}  // namespace smelt
