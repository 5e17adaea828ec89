// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "files.hpp"

#include "smelt/base/files.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <stdexcept>

namespace smelt::test {
namespace {

std::optional<std::filesystem::path> existing(const char* variable, const std::filesystem::path& fallback,
                                              const std::filesystem::path& below) {
  const char* named = std::getenv(variable);
  std::filesystem::path path = (named ? std::filesystem::path(named) : fallback) / below;
  if (std::filesystem::exists(path)) return path;
  return std::nullopt;
}

/// Tests that say so (SMELT_TEST_MEMORY) wait for no disk: what they kill is processes, not machines.
std::filesystem::path folder_for_temporaries() {
  constexpr uint64_t kEnough = uint64_t{2} << 30;  // containers often have 64 MB there
  const std::filesystem::path memory("/dev/shm");
  std::error_code error;
  if (std::getenv("SMELT_TEST_MEMORY") != nullptr && std::getenv("TMPDIR") == nullptr) {
    const auto space = std::filesystem::space(memory, error);
    if (!error && space.available >= kEnough && ::access(memory.c_str(), W_OK) == 0) return memory;
  }
  return std::filesystem::temp_directory_path();
}

}  // namespace

std::optional<std::filesystem::path> shared(const std::filesystem::path& below) {
  const std::filesystem::path own = std::filesystem::path(SMELT_SOURCE_DIR) / "tests" / below;
  if (std::filesystem::exists(own)) return own;
  return existing("SMELT_SHARED", std::filesystem::path(SMELT_SOURCE_DIR) / ".." / "shared", below);
}

std::optional<std::filesystem::path> corpus(const std::filesystem::path& below) {
  return existing("SMELT_CORPUS", std::filesystem::path(SMELT_SOURCE_DIR) / "build" / "corpus", below);
}

std::vector<std::filesystem::path> files_below(const std::filesystem::path& folder, const std::string& extension) {
  std::vector<std::filesystem::path> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder))
    if (entry.is_regular_file() && entry.path().extension() == extension) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

Bytes must_read(const std::filesystem::path& path) {
  auto bytes = read_file(path);
  if (!bytes) throw std::runtime_error(bytes.error().message);
  return std::move(*bytes);
}

TemporaryFolder::TemporaryFolder() {
  std::string name = (folder_for_temporaries() / "smelt-test-XXXXXX").string();
  if (!::mkdtemp(name.data())) throw std::runtime_error("cannot make a temporary folder");
  path_ = name;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace smelt::test
