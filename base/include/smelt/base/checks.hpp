// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What checked CPU code looks at, as a set of words: "memory,races,init,sync".
#pragma once

#include "smelt/base/result.hpp"

#include <array>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

namespace smelt {

enum class Check : uint8_t {
  memory = 1,  ///< every access lies in what its pointer was made from
  races = 2,   ///< what two threads do to the same bytes is ordered
  init = 4,    ///< nothing is decided by a value that nobody has written
  sync = 8,    ///< barriers and SIMD-group operations are reached by all who must reach them
};

/// A set of checks. `true` is `memory`: what checked code looked at before there were others.
class Checks {
 public:
  constexpr Checks() = default;
  constexpr Checks(bool memory) : bits_(memory ? 1 : 0) {}
  constexpr Checks(Check one) : bits_(static_cast<uint8_t>(one)) {}

  static constexpr uint8_t kAll = 15;
  static constexpr Checks all() { return from_bits(kAll); }
  /// Other bits than those of `Check` are left out. Whoever watches threads bounds their accesses too.
  static constexpr Checks from_bits(uint32_t bits) {
    Checks checks;
    checks.bits_ = static_cast<uint8_t>(bits & kAll);
    if (checks.bits_ != 0) checks.bits_ |= static_cast<uint8_t>(Check::memory);
    return checks;
  }

  constexpr uint8_t bits() const { return bits_; }
  constexpr bool has(Check one) const { return (bits_ & static_cast<uint8_t>(one)) != 0; }
  constexpr explicit operator bool() const { return bits_ != 0; }
  /// More than bounds: code that tells the loader what its threads do.
  constexpr bool watches() const { return (bits_ & ~static_cast<uint8_t>(Check::memory)) != 0; }
  constexpr bool operator==(const Checks&) const = default;

  /// "memory,races"; empty for none.
  std::string words(char between = ',') const {
    std::string text;
    for (const auto& [name, one] : kNames)
      if (has(one)) {
        if (!text.empty()) text += between;
        text += name;
      }
    return text;
  }

  /// What the name of a CPU slice says of them: "", "-checked", "-checked-memory-races".
  std::string suffix() const {
    if (bits_ == 0) return {};
    return watches() ? "-checked-" + words('-') : "-checked";
  }

  /// Words with commas between them, or "all" and "1", or "" and "none". An unknown word lists the known ones.
  static Result<Checks> parse(std::string_view text) {
    if (text.empty() || text == "none" || text == "0") return Checks();
    if (text == "all" || text == "1" || text == "true") return all();
    uint32_t bits = 0;
    for (std::string_view rest = text;;) {
      const size_t comma = rest.find(',');
      const std::string_view word = rest.substr(0, comma);
      uint32_t found = 0;
      for (const auto& [name, one] : kNames)
        if (name == word) found = static_cast<uint32_t>(one);
      if (found == 0)
        return fail(Errc::invalid_argument,
                    "checks '{}': '{}' is not a check; want memory, races, init, sync, all or none", text, word);
      bits |= found;
      if (comma == rest.npos) break;
      rest.remove_prefix(comma + 1);
    }
    return from_bits(bits);
  }

  /// What SMELT_CHECK says; none where it is not set.
  static Result<Checks> of_environment() {
    const char* const words = std::getenv("SMELT_CHECK");
    if (words == nullptr) return Checks();
    auto checks = parse(words);
    if (!checks) return fail(Errc::invalid_argument, "SMELT_CHECK: {}", checks.error().message);
    return checks;
  }

 private:
  struct Name {
    std::string_view name;
    Check one;
  };
  static constexpr std::array<Name, 4> kNames{
      {{"memory", Check::memory}, {"races", Check::races}, {"init", Check::init}, {"sync", Check::sync}}};

  uint8_t bits_ = 0;
};

}  // namespace smelt
