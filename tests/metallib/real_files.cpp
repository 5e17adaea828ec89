// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "real_files.hpp"

#include "skips.hpp"

#include <doctest/doctest.h>

namespace smelt::test {

std::vector<std::filesystem::path> fixtures() {
  if (const auto folder = shared("data/metallibs")) return files_below(*folder, ".metallib");
  smelt::test::skipped("tests/data/metallibs is absent");
  return {};
}

std::vector<std::filesystem::path> corpus_files() {
  std::vector<std::filesystem::path> files;
  for (const char* package : {"llama.rn", "whisper.rn"}) {
    const auto folder = corpus(package);
    if (!folder) {
      smelt::test::skipped(std::string("build/corpus/") + package + " is absent; scripts/fetch-corpus makes it");
      continue;
    }
    for (auto& file : files_below(*folder, ".metallib")) files.push_back(std::move(file));
  }
  return files;
}

std::vector<std::filesystem::path> real_files() {
  std::vector<std::filesystem::path> files = fixtures();
  for (auto& file : corpus_files()) files.push_back(std::move(file));
  return files;
}

}  // namespace smelt::test
