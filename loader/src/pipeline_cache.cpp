#include "pipeline_cache.hpp"

#include <algorithm>

namespace smelt::loader {

PipelineCache& PipelineCache::of_process() {
  static auto* const cache = new PipelineCache;  // never destroyed: libraries may outlive static destruction
  return *cache;
}

PipelineRef PipelineCache::find(const std::string& key) {
  const std::lock_guard lock(mutex_);
  const auto at = pipelines_.find(key);
  return at == pipelines_.end() ? nullptr : at->second.lock();
}

PipelineRef PipelineCache::add(const std::string& key, PipelineRef pipeline) {
  const std::lock_guard lock(mutex_);
  if (pipelines_.size() >= sweep_at_) {
    std::erase_if(pipelines_, [](const auto& entry) { return entry.second.expired(); });
    sweep_at_ = std::max<size_t>(64, 2 * pipelines_.size());
  }
  auto& filed = pipelines_[key];
  if (PipelineRef first = filed.lock()) return first;
  filed = pipeline;
  return pipeline;
}

}  // namespace smelt::loader
