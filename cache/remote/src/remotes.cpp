// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/remote/remotes.hpp"

#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>

namespace smelt::remote {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr uint64_t kWaitingBytes = uint64_t{256} << 20;
constexpr milliseconds kLastWords{1000};  // what a process may take to end
constexpr milliseconds kLeaseLasts{1500}, kLeaseRenewed{500}, kLeaseAsked{50};

struct Job {
  std::vector<Outgoing> entries;
  uint64_t bytes = 0;
  std::shared_ptr<LeaseHold> hold;
};

std::string random_holder() {
  static const uint64_t start = static_cast<uint64_t>(std::chrono::system_clock::now().time_since_epoch().count());
  static std::atomic<uint64_t> count{0};
  Hasher hasher;
  hasher.field(start);
  hasher.field(count.fetch_add(1));
  hasher.field(static_cast<uint64_t>(::getpid()));
  hasher.field(static_cast<uint64_t>(::gethostid()));
  return to_hex(hasher.finish()).substr(0, 32);
}

class RenewedLease : public LeaseHold {
 public:
  RenewedLease(std::shared_ptr<Remote> remote, Lease lease)
      : remote_(std::move(remote)), lease_(std::move(lease)), thread_([this](std::stop_token stop) { renew(stop); }) {}
  ~RenewedLease() override {
    ending_ = true;
    thread_.request_stop();
    thread_.join();
    remote_->give_back(lease_);
  }

 private:
  void renew(const std::stop_token& stop) {
    std::mutex mutex;
    std::unique_lock lock(mutex);
    std::condition_variable_any wake;
    // Lost or not, the compile goes on: somebody else may do it too, and both make the same.
    while (!wake.wait_for(lock, stop, kLeaseRenewed, [&] { return stop.stop_requested(); }))
      (void)remote_->take(lease_, &ending_);
  }

  std::atomic<bool> ending_{false};

  std::shared_ptr<Remote> remote_;
  Lease lease_;
  std::jthread thread_;
};

}  // namespace

struct Remotes::State {
  std::vector<std::shared_ptr<Remote>> remotes;
  Allowance allowance;

  std::mutex mutex;  // of what follows
  std::condition_variable wake, idle;
  std::deque<Job> jobs;
  uint64_t waiting = 0;
  bool busy = false, ending = false, probing = false;
  std::atomic<bool> cancel{false};
  std::thread thread;  // begun with the first job
  Remote::Warn warn;
  uint64_t unsent = 0;  // when it was broken off; that thread's until it ends

  void begin_thread() {
    if (!thread.joinable()) thread = std::thread([this] { work(); });
  }

  void work() {
    std::unique_lock lock(mutex);
    for (;;) {
      wake.wait(lock, [this] { return ending || probing || !jobs.empty(); });
      if (cancel || (ending && jobs.empty())) break;
      busy = true;
      const bool probe = std::exchange(probing, false);
      std::optional<Job> job;
      if (!jobs.empty()) {
        job = std::move(jobs.front());
        jobs.pop_front();
        waiting -= job->bytes;
      }
      lock.unlock();
      if (probe)
        for (const auto& remote : remotes) remote->probe(&cancel);
      if (job) send(*job);
      job.reset();  // gives a lease back, outside the lock
      lock.lock();
      busy = false;
      if (jobs.empty()) idle.notify_all();
    }
    busy = false;
    idle.notify_all();
  }

  void send(const Job& job) {
    for (const auto& remote : remotes) {
      if (remote->address().read_only) continue;
      size_t sent = 0;
      if (remote->takes_puts() && remote->put(job.entries, &cancel, &sent)) continue;
      remote->count_dropped(job.entries.size() - sent);
      if (cancel) unsent = std::max<uint64_t>(unsent, job.entries.size() - sent);
    }
  }

  void look_for_probes() {
    bool due = false;
    for (const auto& remote : remotes) due = remote->probe_due() || due;
    if (!due) return;
    const std::lock_guard lock(mutex);
    if (ending) return;
    probing = true;
    begin_thread();
    wake.notify_one();
  }
};

Remotes::Remotes(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::shared_ptr<Remotes>> Remotes::open(const std::vector<Address>& addresses, Remote::Warn warn,
                                               const Allowance& allowance) {
  auto state = std::make_unique<State>();
  state->allowance = allowance;
  state->warn = warn;
  for (const Address& address : addresses) {
    SMELT_TRY(state->remotes.emplace_back(), Remote::open(address, warn));
  }
  return std::shared_ptr<Remotes>(new Remotes(std::move(state)));
}

Remotes::~Remotes() {
  end();
}

void Remotes::end() {
  if (!state_->thread.joinable()) {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    return;
  }
  drain(kLastWords);
  std::deque<Job> left;
  {
    const std::lock_guard lock(state_->mutex);
    state_->ending = true;
    state_->cancel = true;
    left.swap(state_->jobs);
  }
  state_->wake.notify_all();
  for (const Job& job : left)
    for (const auto& remote : state_->remotes)
      if (!remote->address().read_only) remote->count_dropped(job.entries.size());
  state_->thread.join();
  for (const Job& job : left) state_->unsent += job.entries.size();
  if (state_->unsent != 0 && state_->warn)
    state_->warn(fmt::format(
        "{} entries were not sent to the remotes before the program ended; they are only in this machine's store",
        state_->unsent));
}

const Allowance& Remotes::allowance() const {
  return state_->allowance;
}

bool Remotes::empty() const {
  return state_->remotes.empty();
}

std::vector<std::optional<Arrived>> Remotes::find(std::span<const Digest> keys, bool fresh, Budget* budget) {
  Budget of_call(state_->allowance);
  if (!budget) budget = BudgetScope::current();
  if (!budget) budget = &of_call;
  std::vector<std::optional<Arrived>> found(keys.size());
  std::vector<Digest> open(keys.begin(), keys.end());
  std::vector<size_t> places(keys.size());
  for (size_t i = 0; i < places.size(); ++i) places[i] = i;
  state_->look_for_probes();
  for (const auto& remote : state_->remotes) {
    if (open.empty()) break;
    auto arrived = remote->find(open, fresh, budget);
    std::vector<Digest> still;
    std::vector<size_t> still_places;
    for (size_t i = 0; i < open.size(); ++i) {
      if (arrived[i]) {
        found[places[i]] = std::move(arrived[i]);
      } else {
        still.push_back(open[i]);
        still_places.push_back(places[i]);
      }
    }
    open = std::move(still);
    places = std::move(still_places);
  }
  return found;
}

void Remotes::put_later(std::vector<Outgoing> entries, std::shared_ptr<LeaseHold> hold) {
  Job job{std::move(entries), 0, std::move(hold)};
  for (const Outgoing& entry : job.entries)
    for (const Part& part : entry.parts) job.bytes += part.bytes.size();
  std::unique_lock lock(state_->mutex);
  if (state_->ending || state_->waiting + job.bytes > kWaitingBytes) {
    lock.unlock();
    for (const auto& remote : state_->remotes)
      if (!remote->address().read_only) remote->count_dropped(job.entries.size());
    return;
  }
  state_->waiting += job.bytes;
  state_->jobs.push_back(std::move(job));
  state_->begin_thread();
  lock.unlock();
  state_->wake.notify_one();
}

Result<void> Remotes::put_now(std::span<const Outgoing> entries) {
  bool any = false;
  for (const auto& remote : state_->remotes) {
    if (remote->address().read_only) continue;
    SMELT_TRY_VOID(remote->put(entries));
    any = true;
  }
  if (!any)
    return fail(Errc::invalid_argument, "no remote that may be written: name one in SMELT_REMOTE, without read-only");
  return {};
}

bool Remotes::takes_puts() const {
  for (const auto& remote : state_->remotes)
    if (remote->takes_puts()) return true;
  return false;
}

bool Remotes::drain(milliseconds most) {
  std::unique_lock lock(state_->mutex);
  return state_->idle.wait_for(lock, most, [this] { return state_->jobs.empty() && !state_->busy; });
}

Leased Remotes::lease(const Digest& key, milliseconds timeout, const std::function<bool(Budget&)>& ready) {
  Leased leased;
  for (const auto& remote : state_->remotes) {
    if (!remote->has_leases()) continue;
    const Lease lease{to_hex(key), random_holder(), kLeaseLasts};
    const auto began = Clock::now();
    // Somebody who renews it is at work, and that wait may lead to something. What is asked between two renewals has
    // one budget, so that a slow server does not make the wait long.
    std::optional<Budget> budget;
    auto renewed = began;
    milliseconds left{0};
    const auto in_vain = [&](std::string_view why) {
      if (Budget* const of_compile = BudgetScope::current())
        of_compile->charge(std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - began), 0, 0, 1);
      remote->rest_leases(why);
      return leased;
    };
    for (;;) {
      const auto answer = remote->take(lease);
      if (!answer) break;  // the next remote's, or none: two compiles are no harm
      if (answer->held) {
        leased.hold = std::make_shared<RenewedLease>(remote, lease);
        return leased;
      }
      leased.waited = true;
      if (!budget || answer->left > left) {
        renewed = Clock::now();
        budget.emplace(state_->allowance);
      }
      left = answer->left;
      if (timeout.count() == 0 || (ready && ready(*budget))) return leased;
      if (Clock::now() - began > timeout) return in_vain("the holder of a lease takes too long");
      if (Clock::now() - renewed > 2 * kLeaseLasts) return in_vain("nobody renews a lease that has not ended");
      if (budget->spent()) return in_vain("it answers too slowly while this process waits for a lease");
      std::this_thread::sleep_for(kLeaseAsked);
    }
  }
  return leased;
}

std::vector<RemoteCount> Remotes::statistics() const {
  std::vector<RemoteCount> counts;
  for (const auto& remote : state_->remotes) counts.push_back({remote->address().shown, remote->statistics()});
  return counts;
}

void Remotes::count_damaged(std::string_view from) {
  for (const auto& remote : state_->remotes)
    if (remote->address().shown == from) return remote->count_damaged();
}

}  // namespace smelt::remote
