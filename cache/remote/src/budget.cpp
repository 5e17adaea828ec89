// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/remote/budget.hpp"

#include "smelt/remote/address.hpp"

#include "environment.hpp"

#include <algorithm>

namespace smelt::remote {
namespace {

thread_local Budget* budget_of_thread = nullptr;
std::atomic<uint64_t> claimed_bytes{0};

}  // namespace

Result<Allowance> Allowance::from_environment() {
  Allowance allowance;
  if (const std::string text = environment("SMELT_REMOTE_WAIT"); !text.empty()) {
    auto waiting = parse_duration(text);
    if (!waiting) return tl::unexpected(std::move(waiting).error().in("SMELT_REMOTE_WAIT"));
    allowance.waiting = *waiting;
  }
  return allowance;
}

std::chrono::milliseconds Budget::left() const {
  const auto waited = std::chrono::microseconds(waited_us_.load(std::memory_order_relaxed));
  return std::chrono::duration_cast<std::chrono::milliseconds>(allowance_.waiting - waited);
}

void Budget::charge(std::chrono::microseconds waited, unsigned round_trips, size_t found, size_t asked) {
  if (asked == 0) return;
  const double lost = static_cast<double>(asked - std::min(found, asked)) / static_cast<double>(asked);
  waited_us_ += static_cast<int64_t>(static_cast<double>(waited.count()) * lost);
  round_trips_ += static_cast<uint64_t>(static_cast<double>(round_trips) * lost);
}

BudgetScope::BudgetScope(const Allowance& allowance, Budget::MayGoOn may_go_on)
    : own_(allowance, std::move(may_go_on)), outer_(budget_of_thread) {
  if (!outer_) budget_of_thread = &own_;
}

BudgetScope::~BudgetScope() {
  budget_of_thread = outer_;
}

Budget* BudgetScope::current() {
  return budget_of_thread;
}

std::shared_ptr<const Claim> Claim::of(uint64_t bytes, uint64_t most) {
  const uint64_t before = claimed_bytes.fetch_add(bytes);
  auto claim = std::shared_ptr<const Claim>(new Claim(bytes));
  return before <= most && bytes <= most - before ? claim : nullptr;
}

Claim::~Claim() {
  claimed_bytes.fetch_sub(bytes_);
}

}  // namespace smelt::remote
