// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "settings.hpp"

#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <set>
#include <string_view>

namespace smelt::metal {

std::string setting(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : "";
}

std::optional<uint64_t> number_setting(const char* name, uint64_t least, uint64_t most) {
  const std::string text = setting(name);
  if (text.empty()) return std::nullopt;
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error == std::errc() && end == text.data() + text.size() && value >= least && value <= most) return value;
  static std::mutex lock;
  static std::set<std::string, std::less<>> told;
  const std::lock_guard guard(lock);
  if (told.insert(name).second)
    std::fprintf(stderr, "smelt: %s is '%s'; want a number from %llu to %llu. It is ignored\n", name, text.c_str(),
                 static_cast<unsigned long long>(least), static_cast<unsigned long long>(most));
  return std::nullopt;
}

bool flag_setting(const char* name) {
  const std::string text = setting(name);
  return !text.empty() && text != "0";
}

Checks checks_setting() {
  const std::string words = setting("SMELT_METAL_CHECKED");
  const auto checks = words.empty() ? Checks::of_environment() : Checks::parse(words);
  if (checks) return *checks;
  static std::once_flag told;
  std::call_once(told,
                 [&] { std::fprintf(stderr, "smelt: %s. It is taken for all\n", checks.error().message.c_str()); });
  return Checks::all();
}

}  // namespace smelt::metal
