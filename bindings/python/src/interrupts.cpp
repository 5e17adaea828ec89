// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "interrupts.hpp"

#include "smelt/loader/library.hpp"
#include "smelt/loader/running_launch.hpp"

#include "gil.hpp"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <pybind11/pybind11.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <csignal>
#include <memory>
#include <mutex>
#include <thread>

namespace smelt::python {
namespace {

namespace py = pybind11;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr auto kLook = 50ms;    // a launch that is seen at two looks is long
constexpr int kIdleLooks = 40;  // without a launch: then the watcher sleeps until there is one
constexpr auto kSleep = 2s;
constexpr auto kPatience = 1s;  // after Ctrl-C, before it is said that the kernel does not end

/// Hears of SIGINT while it lives: its handler says so in a pipe and calls the one that was there before, Python's. At
/// most one lives.
class SignalPipe {
 public:
  /// Null where nobody handles SIGINT: then it ends the process, or is not wanted.
  static std::unique_ptr<SignalPipe> open() {
    struct sigaction now{};
    if (::sigaction(SIGINT, nullptr, &now) != 0) return nullptr;
    if ((now.sa_flags & SA_SIGINFO) == 0 && (now.sa_handler == SIG_DFL || now.sa_handler == SIG_IGN)) return nullptr;
    int ends[2];
    if (::pipe(ends) != 0) return nullptr;
    for (const int end : ends) {
      ::fcntl(end, F_SETFL, O_NONBLOCK);
      ::fcntl(end, F_SETFD, FD_CLOEXEC);
    }
    return std::unique_ptr<SignalPipe>(new SignalPipe(ends[0], ends[1], now));
  }
  ~SignalPipe() {
    struct sigaction now{};
    ::sigaction(SIGINT, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == &handle) ::sigaction(SIGINT, &before_, nullptr);
    to_pipe_.store(-1);
    ::close(in_);
    ::close(out_);
  }
  SignalPipe(const SignalPipe&) = delete;
  SignalPipe& operator=(const SignalPipe&) = delete;

  /// Waits for at most so long; true when SIGINT has come.
  bool wait(std::chrono::milliseconds time) {
    pollfd ready{out_, POLLIN, 0};
    if (::poll(&ready, 1, static_cast<int>(time.count())) <= 0) return false;
    char byte = 0;
    while (::read(out_, &byte, 1) == 1) continue;
    return true;
  }

 private:
  SignalPipe(int out, int in, const struct sigaction& before) : out_(out), in_(in) {
    before_ = before;
    to_pipe_.store(in);
    struct sigaction ours{};
    ours.sa_sigaction = &handle;
    ours.sa_flags = before.sa_flags | SA_SIGINFO;
    ours.sa_mask = before.sa_mask;
    ::sigaction(SIGINT, &ours, nullptr);
  }

  static void handle(int number, siginfo_t* info, void* context) {
    const int error = errno;
    if (const int to = to_pipe_.load(); to >= 0) static_cast<void>(!::write(to, "!", 1));
    if ((before_.sa_flags & SA_SIGINFO) != 0)
      before_.sa_sigaction(number, info, context);
    else
      before_.sa_handler(number);
    errno = error;
  }

  static inline struct sigaction before_{};
  static inline std::atomic<int> to_pipe_{-1};
  const int out_, in_;
};

/// Whether Ctrl-C raises KeyboardInterrupt. Any other handler may want the kernel to go on. With the GIL.
bool raises() {
  try {
    const py::module_ signal = py::module_::import("signal");
    return signal.attr("getsignal")(static_cast<int>(SIGINT)).is(signal.attr("default_int_handler"));
  } catch (py::error_already_set&) {
    return false;
  }
}

class Watcher {
 public:
  static Watcher& of_process() {
    static auto* const first = (::pthread_atfork(nullptr, nullptr,
                                                 [] {
                                                   process_ = new Watcher;
                                                   watcher_is_awake.store(false);
                                                 }),
                                new Watcher);
    if (process_ == nullptr) process_ = first;
    return *process_;
  }

  void launch_begins() {
    if (is_main_thread()) wake();
  }

  void end() {
    {
      const std::lock_guard lock(mutex_);
      ends_ = true;
    }
    wake_.notify_one();
    const py::gil_scoped_release released;
    if (thread_.joinable()) thread_.join();
  }

 private:
  /// With the GIL, from the main thread.
  void wake() {
    const std::lock_guard lock(mutex_);
    if (ends_) return;
    watcher_is_awake.store(true, std::memory_order_relaxed);
    if (launch_ == nullptr) {
      launch_ = &loader::RunningLaunch::of_this_thread();
      // Nothing of ours may ask for the interpreter when it goes down.
      py::module_::import("atexit").attr("register")(py::cpp_function([] { Watcher::of_process().end(); }));
      thread_ = std::thread([this] { watch(); });
    }
    wake_.notify_one();
  }

  void watch() {
    std::unique_lock lock(mutex_);
    uint64_t seen = launch_->count();
    for (int idle = 0; !ends_;) {
      wake_.wait_for(lock, kLook, [this] { return ends_; });
      const uint64_t count = launch_->count();
      if (count == seen && launch_->active()) {
        lock.unlock();
        watch_launch(count);
        lock.lock();
        idle = 0;
      } else if (count != seen) {
        seen = count;
        idle = 0;
      } else if (++idle > kIdleLooks) {
        watcher_is_awake.store(false, std::memory_order_relaxed);
        // Not for ever: a launch may have begun in between, that found the watcher awake.
        wake_.wait_for(lock, kSleep, [this] { return ends_ || watcher_is_awake.load(std::memory_order_relaxed); });
        watcher_is_awake.store(true, std::memory_order_relaxed);
        idle = kIdleLooks - 2;
      }
    }
  }

  bool goes_on(uint64_t count) const { return launch_->count() == count && launch_->active(); }

  /// A launch that is long already, until it has ended.
  void watch_launch(uint64_t count) {
    const std::unique_ptr<SignalPipe> pipe = SignalPipe::open();
    if (!pipe) return wait_for_end(count);
    auto tell_at = Clock::time_point::max();  // when Ctrl-C has come
    while (goes_on(count)) {
      if (pipe->wait(kLook) && goes_on(count)) {
        const py::gil_scoped_acquire gil;
        tell_at = Clock::now() + kPatience;
        if (raises() && goes_on(count)) launch_->end();
      }
      if (Clock::now() < tell_at) continue;
      tell_at = Clock::time_point::max();
      if (const loader::PipelineState* const pipeline = launch_->pipeline()) tell(pipeline->name());
    }
  }

  void wait_for_end(uint64_t count) const {
    while (goes_on(count)) std::this_thread::sleep_for(kLook);
  }

  static void tell(std::string_view kernel) {
    fmt::print(stderr,
               "smelt: Ctrl-C does not stop kernel '{}': it is in a counted loop, which ends by itself, or the program "
               "has its own handler of SIGINT. Python sees the signal when the launch has ended. To end the process "
               "now: Ctrl-\\, or kill -QUIT {}\n",
               kernel, ::getpid());
  }

  static inline Watcher* process_ = nullptr;  // a forked child has its own, whose thread has not begun

  std::mutex mutex_;
  std::condition_variable wake_;
  bool ends_ = false;
  loader::RunningLaunch* launch_ = nullptr;  // the main thread's
  std::thread thread_;
};

}  // namespace

void wake_watcher() {
  Watcher::of_process().launch_begins();
}

}  // namespace smelt::python
