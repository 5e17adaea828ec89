// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "pipeline_cache.hpp"

namespace smelt::loader {
namespace {

std::string full_key(uint32_t index, const std::string& constants) {
  std::string key(reinterpret_cast<const char*>(&index), sizeof(index));
  return key += constants;
}

}  // namespace

PipelineRef PipelineScope::find(uint32_t index, const std::string& constants) const {
  const std::lock_guard lock(mutex_);
  if (constants.empty()) return plain_[index];
  const auto at = with_constants_.find(full_key(index, constants));
  return at == with_constants_.end() ? nullptr : at->second;
}

PipelineRef PipelineScope::add(uint32_t index, const std::string& constants, PipelineRef pipeline) {
  const std::lock_guard lock(mutex_);
  PipelineRef& filed = constants.empty() ? plain_[index] : with_constants_[full_key(index, constants)];
  if (!filed) filed = std::move(pipeline);
  return filed;
}

std::shared_ptr<PipelineScope> scope_of(const std::string& key, size_t functions) {
  // Never destroyed: libraries may outlive static destruction.
  static auto* const mutex = new std::mutex;
  static auto* const scopes = new std::unordered_map<std::string, std::weak_ptr<PipelineScope>>;
  const std::lock_guard lock(*mutex);
  std::weak_ptr<PipelineScope>& filed = (*scopes)[key];
  std::shared_ptr<PipelineScope> scope = filed.lock();
  if (!scope) {
    std::erase_if(*scopes, [&](const auto& entry) { return entry.second.expired() && entry.first != key; });
    scope = std::make_shared<PipelineScope>(functions);
    (*scopes)[key] = scope;
  }
  return scope;
}

}  // namespace smelt::loader
