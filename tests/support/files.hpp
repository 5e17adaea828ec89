// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What tests share: where real inputs are, and temporary folders.
#pragma once

#include "smelt/base/bytes.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace smelt::test {

/// Real inputs of tests/data, e.g. shared("data/metallibs"), else of ../shared (SMELT_SHARED overrides); empty when
/// absent, and then the caller says that it skips.
std::optional<std::filesystem::path> shared(const std::filesystem::path& below);

/// Public packages fetched by scripts/fetch-corpus (SMELT_CORPUS overrides), e.g. corpus("llama.rn"); empty when
/// absent.
std::optional<std::filesystem::path> corpus(const std::filesystem::path& below);

/// Files below `folder` with this extension (with the dot), sorted.
std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder, const std::string& extension);

/// Bytes of a file that must exist; throws otherwise.
Bytes must_read(const std::filesystem::path& path);

/// A fresh folder, removed at the end of its scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

}  // namespace smelt::test
