// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "breaker.hpp"

#include <algorithm>

namespace smelt::remote {
namespace {

constexpr int kFailures = 3;
constexpr std::chrono::milliseconds kShortest{20};
constexpr std::chrono::seconds kLongestRest{3600};  // whatever Retry-After says

}  // namespace

std::optional<Breaker::Milliseconds> Breaker::patience(Milliseconds usual) const {
  const std::lock_guard lock(mutex_);
  if (resting_) return std::nullopt;
  return std::clamp(budget_ - wasted_, kShortest, std::max(usual, kShortest));
}

bool Breaker::probe_due() {
  const std::lock_guard lock(mutex_);
  if (!resting_ || probing_ || Clock::now() < until_) return false;
  probing_ = true;
  return true;
}

void Breaker::succeeded() {
  const std::lock_guard lock(mutex_);
  failures_ = 0;
}

bool Breaker::failed(Milliseconds cost, bool at_once, std::optional<std::chrono::seconds> retry_after) {
  const std::lock_guard lock(mutex_);
  wasted_ += cost;
  ++failures_;
  if (resting_ || (!at_once && failures_ < kFailures && wasted_ < budget_)) return false;
  return begin_rest(retry_after);
}

bool Breaker::wasted(Milliseconds cost) {
  const std::lock_guard lock(mutex_);
  wasted_ += cost;
  return !resting_ && wasted_ >= budget_ && begin_rest({});
}

bool Breaker::begin_rest(std::optional<std::chrono::seconds> retry_after) {
  resting_ = true;
  const auto asked = std::min(retry_after.value_or(std::chrono::seconds(0)), kLongestRest);
  until_ = Clock::now() + (asked.count() > 0 ? std::chrono::duration_cast<Milliseconds>(asked) : rest_);
  return true;
}

void Breaker::probed(bool answers) {
  const std::lock_guard lock(mutex_);
  if (!probing_) return;
  probing_ = false;
  failures_ = 0;
  if (!answers) {
    begin_rest({});
    return;
  }
  resting_ = false;
  wasted_ = Milliseconds(0);
}

bool Breaker::resting() const {
  const std::lock_guard lock(mutex_);
  return resting_;
}

}  // namespace smelt::remote
