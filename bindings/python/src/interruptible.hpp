// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Work of seconds that Ctrl-C may end: it runs on a thread of its own, while the calling one asks for signals.
#pragma once

#include "smelt/base/result.hpp"

#include "signals.hpp"

#include <atomic>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace smelt::python {

/// One piece of work on its thread. `cancel` is what the work looks at.
class BackgroundWork {
 public:
  explicit BackgroundWork(std::function<void()> work, std::shared_ptr<std::atomic<bool>> cancel);
  ~BackgroundWork();  // waits
  BackgroundWork(const BackgroundWork&) = delete;
  BackgroundWork& operator=(const BackgroundWork&) = delete;

  bool wait_for(std::chrono::milliseconds time);
  void cancel() { cancel_->store(true); }

 private:
  std::shared_ptr<std::atomic<bool>> cancel_;
  std::mutex mutex_;
  std::condition_variable ended_;
  bool done_ = false;
  std::thread thread_;
};

/// Waits for the work, asking for signals; false when one raised and the work did not end within 50 ms of being asked
/// to. Then it goes on by itself, and end_works() waits for it. Called without the GIL.
/// `waited_for`: of the caller's thread, at the interpreter's end.
bool wait_interruptibly(std::unique_ptr<BackgroundWork> work, bool waited_for);

/// At the interpreter's end, without the GIL: nothing of ours may run after it. Work that daemon threads still wait for
/// is told to end, and they do not come back from it: what they would say, nobody has asked for. Where a compile that
/// nobody waits for goes on (it is in the middle of Clang's front end) the process ends, when it does, without what
/// would be taken down under it.
void end_works();

/// `work` holds all that it needs, since it may outlive the call. The GIL is held by the caller and given up meanwhile;
/// afterwards rethrow_signals() throws what a handler raised.
template <class T>
Result<T> run_interruptibly(std::function<Result<T>()> work, std::shared_ptr<std::atomic<bool>> cancel) {
  const bool waited_for = is_waited_for();
  const GilReleased released;
  const auto result = std::make_shared<std::optional<Result<T>>>();
  auto running = std::make_unique<BackgroundWork>([result, work = std::move(work)] { result->emplace(work()); },
                                                  std::move(cancel));
  if (!wait_interruptibly(std::move(running), waited_for)) return fail(Errc::cancelled, "interrupted");
  return std::move(**result);
}

}  // namespace smelt::python
