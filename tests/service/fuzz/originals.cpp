// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "originals.hpp"

#include "smelt/base/files.hpp"
#include "smelt/base/sort.hpp"
#include "smelt/metallib/reader.hpp"

#include <algorithm>
#include <filesystem>
#include <set>

namespace smelt::test {
namespace {

/// The library with one of its functions and all that the container says about it, without archived sources. Libraries
/// with parts that speak about other functions are made anew.
Result<Bytes> cut(const metallib::Library& library, const metallib::Function& function) {
  metallib::NewLibrary fresh;
  fresh.platform = static_cast<metallib::Platform>(library.platform);
  fresh.os_major = library.os_major;
  fresh.os_minor = library.os_minor;
  fresh.patch = library.patch;
  fresh.functions.push_back({.name = function.name,
                             .type = static_cast<metallib::FunctionType>(function.type.value_or(2)),
                             .bitcode = library.module_of(function).bitcode(),
                             .versions = function.versions});
  metallib::Library one = library;
  one.public_metadata = {library.public_of(function)};
  one.private_metadata = {library.private_of(function)};
  one.modules = {library.module_of(function)};
  one.functions = {function};
  metallib::Function& only = one.functions.front();
  only.public_group = only.private_group = only.module = 0;
  if (only.reflection && one.reflection) {
    one.reflection->entries = {library.reflection->entries[*only.reflection]};
    only.reflection = 0;
  }
  if (!library.sources && !only.source) {
    auto bytes = metallib::write(one);
    if (bytes && metallib::read(*bytes)) return bytes;
  }
  SMELT_TRY(const metallib::Library made, metallib::make_library(fresh));
  return metallib::write(made);
}

void add_functions(const std::filesystem::path& path, size_t most, std::set<Digest>& seen,
                   std::vector<Original>& originals) {
  const auto bytes = read_file(path);
  if (!bytes || !metallib::is_metallib(*bytes)) return;
  const auto library = metallib::read(*bytes);
  if (!library) return;
  for (const metallib::Function& function : library->functions) {
    const ByteView module = library->module_of(function).bitcode();
    if (module.size() > most || !seen.insert(sha256(module)).second) continue;
    auto file = cut(*library, function);
    if (!file) continue;
    auto one = metallib::read_owned(std::move(*file));
    if (!one || one->functions.size() != 1) continue;
    Original original{function.name, std::move(*one), {}};
    original.module = original.library.modules.front().bitcode();
    originals.push_back(std::move(original));
  }
}

}  // namespace

std::vector<Original> read_originals(const std::vector<std::string>& paths, size_t most) {
  std::vector<Original> originals;
  std::set<Digest> seen;
  for (const std::string& path : paths) {
    std::vector<std::filesystem::path> files;
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) {
      for (const auto& entry : std::filesystem::recursive_directory_iterator(path, error))
        if (entry.is_regular_file(error)) files.push_back(entry.path());
    } else {
      files.emplace_back(path);
    }
    std::sort(files.begin(), files.end());
    for (const auto& file : files) add_functions(file, most, seen, originals);
  }
  sort_stably(originals, [](const Original& a, const Original& b) { return a.module.size() < b.module.size(); });
  return originals;
}

const Original& draw(const std::vector<Original>& originals, std::mt19937_64& random) {
  // Time goes with the square of the size, or nearly so.
  const auto chances_of = [](const Original& original) {
    const uint64_t size = original.module.size();
    return (uint64_t{1} << 48) / (size * size);
  };
  uint64_t all = 0;
  for (const Original& original : originals) all += chances_of(original);
  uint64_t left = random() % all;
  for (const Original& original : originals) {
    if (left < chances_of(original)) return original;
    left -= chances_of(original);
  }
  return originals.back();
}

}  // namespace smelt::test
