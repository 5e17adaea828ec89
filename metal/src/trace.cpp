// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "trace.hpp"

#include "settings.hpp"

#include <nlohmann/json.hpp>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>

namespace smelt::metal {
namespace {

class TraceFile {
 public:
  explicit TraceFile(const std::string& path) {
    if (path.empty()) return;
    file_ = std::fopen(path.c_str(), "we");
    if (file_ == nullptr)
      std::fprintf(stderr, "smelt: SMELT_TRACE: cannot write '%s': %s\n", path.c_str(), std::strerror(errno));
  }
  bool open() const { return file_ != nullptr; }
  void write(const nlohmann::json& event) {
    // Names come from programs and may be no UTF-8.
    const std::string text = event.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    const std::lock_guard guard(mutex_);
    if (file_ == nullptr) return;
    std::fprintf(file_, "%s%s", first_ ? "[\n" : ",\n", text.c_str());
    first_ = false;
    std::fflush(file_);
  }
  void close() {
    const std::lock_guard guard(mutex_);
    if (file_ == nullptr) return;
    std::fputs(first_ ? "[]\n" : "\n]\n", file_);
    std::fclose(file_);
    file_ = nullptr;
  }

 private:
  std::mutex mutex_;
  std::FILE* file_ = nullptr;
  bool first_ = true;
};

TraceFile& trace_file() {
  static TraceFile& file = *[] {
    auto* made = new TraceFile(setting("SMELT_TRACE"));
    std::atexit([] { trace_file().close(); });
    return made;
  }();
  return file;
}

nlohmann::json event_of(const std::string& name, const char* phase) {
  return {{"name", name}, {"ph", phase}, {"pid", ::getpid()}, {"tid", ::syscall(SYS_gettid)}};
}

double microseconds(TraceClock::duration time) {
  return std::chrono::duration<double, std::micro>(time).count();
}

}  // namespace

bool tracing() {
  static const bool on = trace_file().open();
  return on;
}

void trace_event(const std::string& name, const char* category, TraceClock::time_point start,
                 TraceClock::time_point end, const TraceFacts& facts) {
  nlohmann::json event = event_of(name, "X");
  event["cat"] = category;
  event["ts"] = microseconds(start.time_since_epoch());
  event["dur"] = microseconds(end - start);
  for (const auto& [key, value] : facts) event["args"][key] = value;
  trace_file().write(event);
}

void trace_thread(const std::string& name) {
  if (!tracing()) return;
  nlohmann::json event = event_of("thread_name", "M");
  event["args"]["name"] = name;
  trace_file().write(event);
}

}  // namespace smelt::metal
