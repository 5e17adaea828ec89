// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "case_file.hpp"

#include "files.hpp"

#include <charconv>
#include <sstream>
#include <stdexcept>

namespace smelt::test {
namespace {

std::string trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return std::string(text);
}

uint32_t number_of(std::string_view option) {
  const std::string_view digits = option.substr(option.find('=') + 1);
  uint32_t value = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), value).ec != std::errc())
    throw std::runtime_error("no number in option " + std::string(option));
  return value;
}

void set_option(Case& one, std::string_view option) {
  if (option == "fast_math")
    one.options.math = aot::kFastMath;
  else if (option == "relaxed_atomics")
    one.options.relaxed_atomics = true;
  else if (option == "cpu_only")
    one.options.cpu_only = true;
  else if (option == "pack_scalars")
    one.options.pack_scalars = true;
  else if (option == "no_overlap")
    one.options.buffers_do_not_overlap = true;
  else if (option.starts_with("threadgroup_memory="))
    one.options.threadgroup_memory = number_of(option);
  else if (option.starts_with("threads="))
    one.options.threads_per_threadgroup = number_of(option);
  else
    throw std::runtime_error("unknown option " + std::string(option));
}

/// "; key: value"; false when the line is none.
bool read_directive(Case& one, std::string_view line) {
  if (!line.starts_with("; ")) return false;
  const size_t colon = line.find(": ");
  if (colon == std::string_view::npos) return false;
  const std::string_view key = line.substr(2, colon - 2);
  const std::string value = trimmed(line.substr(colon + 2));
  if (key == "target") {
    std::istringstream words(value);
    for (std::string word; words >> word;) one.targets.push_back(word);
  } else if (key == "stop") {
    one.stop = value;
  } else if (key == "option") {
    set_option(one, value);
  } else if (key == "expect") {
    one.expected.push_back(value);
  } else if (key == "never") {
    one.forbidden.push_back(value);
  } else if (key == "error") {
    one.errors.push_back(value);
  } else {
    throw std::runtime_error("unknown directive: " + std::string(line));
  }
  return true;
}

}  // namespace

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  for (const auto& path : files_below(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/aot/air/cases", ".ll")) {
    const Bytes bytes = must_read(path);
    std::istringstream lines{std::string(as_text(bytes))};
    for (std::string line; std::getline(lines, line);) {
      if (line.starts_with(";;; ")) {
        cases.push_back({.file = path.filename().string(), .name = trimmed(line.substr(4))});
        continue;
      }
      if (cases.empty() || cases.back().file != path.filename().string()) continue;  // the file's own head
      if (!read_directive(cases.back(), line)) cases.back().ir += line + "\n";
    }
  }
  for (Case& one : cases) {
    if (one.targets.empty()) one.targets = {"macos14"};
    one.options.stop_after = one.stop;
    one.options.verify_each = true;
  }
  return cases;
}

}  // namespace smelt::test
