// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pipelines of the whole process by content: docs/design/loader.md 3.4.
#pragma once

#include "smelt/loader/library.hpp"

#include <mutex>
#include <string>
#include <unordered_map>

namespace smelt::loader {

/// The pipelines of one library's content on one device. All libraries of that content share it, so the same bytes
/// loaded twice share their pipelines; they live as long as one of those libraries. Thread-safe; nothing is built under
/// its lock.
class PipelineScope {
 public:
  explicit PipelineScope(size_t functions) : plain_(functions) {}

  /// Of function `index` with these constants (append_key; empty: none). Null when it was not built yet.
  PipelineRef find(uint32_t index, const std::string& constants) const;
  /// Files the pipeline, unless another thread was first: then that one is returned, so that all get the same.
  PipelineRef add(uint32_t index, const std::string& constants, PipelineRef pipeline);

 private:
  mutable std::mutex mutex_;
  std::vector<PipelineRef> plain_;  // by index, without constants
  std::unordered_map<std::string, PipelineRef> with_constants_;
};

/// The scope of a content key, shared while anybody holds it. `functions` is how many the content has.
std::shared_ptr<PipelineScope> scope_of(const std::string& key, size_t functions);

}  // namespace smelt::loader
