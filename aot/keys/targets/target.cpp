// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The versions that Apple's tools stamp for a deployment target. Evidence: docs/formats/air.md 1.2 (triples, AIR and
// language) and docs/formats/metallib.md 12 (containers). The iOS rows of a year are the macOS rows of that year, but
// for the container of iOS 18, which was seen as 1.2.7 where macOS 15 has 1.2.8. tvOS has iOS's numbers of systems and
// languages; the rest of its rows is taken from iOS (metallib.md 2.1 has its platform number).
#include "smelt/aot/simulators.hpp"

#include <charconv>

namespace smelt::aot {
namespace {

Target row(Platform platform, uint16_t os, uint16_t air_minor, Version language, uint16_t container_patch) {
  const std::string_view word = target_word(platform);
  return {.name = fmt::format("{}{}", word, os),
          .platform = platform,
          .os = {os, 0, 0},
          .air = {2, air_minor, 0},
          .language = language,
          .container_patch = container_patch,
          // Plain "air64", as Xcode up to 16 writes for every target and every runtime accepts; Xcode 26 itself
          // writes the versioned architecture, and from 26 on we follow it.
          .triple = fmt::format("{}-apple-{}{}.0.0", os >= 26 ? fmt::format("air64_v2{}", air_minor) : "air64",
                                platform == Platform::macos ? "macosx" : word, os)};
}

constexpr std::string_view kSimulator = "-simulator";

const std::vector<Target>& rows() {
  // Threads may read it while statics go.
  static const auto& all = *new std::vector<Target>([] {
    std::vector<Target> made = {
        row(Platform::macos, 12, 4, {2, 4}, 6), row(Platform::macos, 13, 5, {3, 0}, 7),
        row(Platform::macos, 14, 6, {3, 1}, 7), row(Platform::macos, 15, 7, {3, 2}, 8),
        row(Platform::macos, 26, 8, {4, 0}, 9), row(Platform::macos, 27, 9, {4, 1}, 9),
    };
    for (const Platform platform : {Platform::ios, Platform::tvos})
      made.insert(made.end(),
                  {row(platform, 15, 4, {2, 4}, 6), row(platform, 16, 5, {3, 0}, 7), row(platform, 17, 6, {3, 1}, 7),
                   row(platform, 18, 7, {3, 2}, 7), row(platform, 26, 8, {4, 0}, 9), row(platform, 27, 9, {4, 1}, 9)});
    return made;
  }());
  return all;
}

}  // namespace

std::span<const Target> known_targets() {
  return rows();
}

const Target& default_target() {
  return rows()[2];
}

const Target& newest_target() {
  const Target* newest = &default_target();
  for (const Target& one : rows())
    if (one.platform == Platform::macos && one.os > newest->os) newest = &one;
  return *newest;
}

Result<Target> parse_target(std::string_view name) {
  for (const Target& target : rows()) {
    if (!name.starts_with(target.name)) continue;
    const std::string_view rest = name.substr(target.name.size());
    if (rest.empty()) return target;
    uint16_t minor = 0;
    const auto parsed = std::from_chars(rest.data() + 1, rest.data() + rest.size(), minor);
    if (rest.size() < 2 || rest[0] != '.' || parsed.ec != std::errc() || parsed.ptr != rest.data() + rest.size() ||
        minor > 255)
      continue;
    Target result = target;
    result.name = std::string(name);
    result.os.minor = minor;
    const std::string os = fmt::format("{}.0.0", target.os.major);
    result.triple.replace(result.triple.size() - os.size(), os.size(), fmt::format("{}.{}.0", target.os.major, minor));
    return result;
  }
  std::string known;
  for (const Target& target : rows()) known += (known.empty() ? "" : ", ") + target.name;
  return fail(Errc::invalid_argument,
              "target '{}' is not known; the targets are {} (and minor versions, as in macos14.2)", name, known);
}

Target simulator_of(Target target) {
  target.name += kSimulator;
  target.triple += kSimulator;
  return target;
}

bool is_simulator(const Target& target) {
  return target.triple.ends_with(kSimulator);
}

std::string_view air_data_layout() {
  return "e-p:64:64:64-i1:8:8-i8:8:8-i16:16:16-i32:32:32-i64:64:64-f32:32:32-f64:64:64-v16:16:16-v24:32:32-v32:32:32-"
         "v48:64:64-v64:64:64-v96:128:128-v128:128:128-v192:256:256-v256:256:256-v512:512:512-v1024:1024:1024-n8:16:32";
}

}  // namespace smelt::aot
