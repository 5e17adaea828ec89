// Pipelines of the whole process by content: docs/loader-api.md 3.4.
#pragma once

#include "smelt/loader/library.hpp"

#include <mutex>
#include <string>
#include <unordered_map>

namespace smelt::loader {

/// Holds pipelines weakly: they live as long as a library or a caller wants them. Thread-safe; nothing is built under
/// its lock.
class PipelineCache {
 public:
  static PipelineCache& of_process();

  /// The live pipeline of this key, or null.
  PipelineRef find(const std::string& key);
  /// Files the pipeline, unless another thread was first: then that one is returned, so that all get the same.
  PipelineRef add(const std::string& key, PipelineRef pipeline);

 private:
  std::mutex mutex_;
  std::unordered_map<std::string, std::weak_ptr<const PipelineState>> pipelines_;
  size_t sweep_at_ = 64;
};

}  // namespace smelt::loader
