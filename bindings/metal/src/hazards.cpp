// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "hazards.hpp"

#include <algorithm>

namespace smelt::metal {

void HazardTable::use(const Scheduler::Lock& lock, const NodeRef& node, uint64_t pass, ResourceUse use) {
  State& state = states_[use.resource];
  if (state.pass != pass) {
    if (!state.now.writers.empty())
      state.before = std::move(state.now);
    else
      state.before.readers.insert(state.before.readers.end(), state.now.readers.begin(), state.now.readers.end());
    state.now = {};
    state.pass = pass;
    std::erase_if(state.before.readers, [&](const NodeRef& one) { return scheduler_.is_done(lock, one); });
    std::erase_if(state.before.writers, [&](const NodeRef& one) { return scheduler_.is_done(lock, one); });
  }
  for (const NodeRef& writer : state.before.writers) scheduler_.follow(lock, node, writer);
  if (use.writes)
    for (const NodeRef& reader : state.before.readers) scheduler_.follow(lock, node, reader);
  std::vector<NodeRef>& mine = use.writes ? state.now.writers : state.now.readers;
  if (mine.empty() || mine.back() != node) mine.push_back(node);
}

void HazardTable::prune(const Scheduler::Lock& lock) {
  if (states_.size() < prune_at_) return;
  const auto idle = [&](const std::vector<NodeRef>& nodes) {
    return std::all_of(nodes.begin(), nodes.end(), [&](const NodeRef& one) { return scheduler_.is_done(lock, one); });
  };
  std::erase_if(states_, [&](const auto& item) {
    const State& state = item.second;
    return idle(state.now.readers) && idle(state.now.writers) && idle(state.before.readers) &&
           idle(state.before.writers);
  });
  prune_at_ = std::max<size_t>(256, 2 * states_.size());
}

}  // namespace smelt::metal
