// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "target.hpp"

#include "smelt/aot/languages.hpp"
#include "smelt/aot/object.hpp"
#include "smelt/aot/simulators.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <filesystem>

namespace smelt::toolchain {
namespace {

struct Parts {
  System system;
  std::string version;  ///< "14.0"; empty: that of the SDK
};

/// What the systems are called on command lines.
struct Names {
  System system;
  std::string_view sdk, folder;
  const char* variable;
};
constexpr Names kSystemNames[] = {
    {{Platform::macos, false}, "macosx", "MacOSX", "MACOSX_DEPLOYMENT_TARGET"},
    {{Platform::ios, false}, "iphoneos", "iPhoneOS", "IPHONEOS_DEPLOYMENT_TARGET"},
    {{Platform::tvos, false}, "appletvos", "AppleTVOS", "TVOS_DEPLOYMENT_TARGET"},
    {{Platform::ios, true}, "iphonesimulator", "iPhoneSimulator", "IPHONEOS_DEPLOYMENT_TARGET"},
    {{Platform::tvos, true}, "appletvsimulator", "AppleTVSimulator", "TVOS_DEPLOYMENT_TARGET"}};

const Names& names_of(const System& system) {
  return *std::find_if(std::begin(kSystemNames), std::end(kSystemNames) - 1,
                       [&](const Names& names) { return names.system == system; });
}

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string() : std::string(value);
}

/// "14", "14.0", "14.2.1".
std::optional<Version> parse_version(std::string_view text) {
  Version version;
  uint16_t* parts[] = {&version.major, &version.minor, &version.patch};
  for (size_t i = 0; i < 3; ++i) {
    const auto read = std::from_chars(text.data(), text.data() + text.size(), *parts[i]);
    if (read.ec != std::errc()) return std::nullopt;
    text.remove_prefix(static_cast<size_t>(read.ptr - text.data()));
    if (text.empty()) return version;
    if (text[0] != '.') return std::nullopt;
    text.remove_prefix(1);
  }
  return std::nullopt;
}

const aot::Target& oldest(Platform platform) {
  const auto rows = aot::known_targets();
  return *std::min_element(rows.begin(), rows.end(), [&](const aot::Target& a, const aot::Target& b) {
    return std::pair(a.platform != platform, a.os) < std::pair(b.platform != platform, b.os);
  });
}

/// The same year's system as the default target: iOS 17 goes with macOS 14.
const aot::Target& default_for(Platform platform) {
  for (const aot::Target& target : aot::known_targets())
    if (target.platform == platform && target.air == aot::default_target().air) return target;
  return aot::default_target();
}

/// As `target`, for the system's simulator if it is one.
aot::Target on(const System& system, const aot::Target& target) {
  return system.simulator ? aot::simulator_of(target) : target;
}

/// The version of the SDK that these tools claim to have, where somebody says it.
std::string asked_sdk_version() {
  std::string asked = environment("SMELT_SDK_VERSION");
  return parse_version(asked) ? asked : std::string();
}

Result<aot::Target> target_of(const Parts& parts, std::vector<std::string>& warnings) {
  const Platform platform = parts.system.platform;
  if (parts.version.empty()) {
    const std::string asked = asked_sdk_version();
    if (asked.empty()) return on(parts.system, default_for(platform));
    auto target = target_of({parts.system, asked}, warnings);
    return target ? std::move(target) : tl::unexpected(std::move(target).error().in("SMELT_SDK_VERSION"));
  }
  const auto version = parse_version(parts.version);
  if (!version)
    return fail(Errc::invalid_argument, "invalid version number '{}' of {}", parts.version, to_string(platform));
  const aot::Target& first = oldest(platform);
  if (version->major < first.os.major) {
    warnings.push_back(fmt::format("{0} {1} is older than any that smelt supports; the result is for {0} {2}",
                                   to_string(platform), parts.version, to_string(first.os)));
    return on(parts.system, first);
  }
  std::string name = fmt::format("{}{}", target_word(platform), version->major);
  if (version->minor != 0) name += fmt::format(".{}", version->minor);
  SMELT_TRY(const aot::Target target, aot::parse_target(name));
  return on(parts.system, target);
}

/// What triples and SDKs may name and is no target, with the reason.
constexpr std::pair<std::string_view, std::string_view> kNoTargets[] = {
    {"macabi", "Mac Catalyst is not a target: no public text says how its libraries are marked"},
    {"watch", "watchOS has no Metal"},
    {"xros", "visionOS is not a target: no public document says which versions Apple's tools write for it"},
    {"visionos", "visionOS is not a target: no public document says which versions Apple's tools write for it"},
    {"xrsimulator", "visionOS is not a target: no public document says which versions Apple's tools write for it"},
    {"driverkit", "DriverKit has no Metal"},
};

Result<Parts> parts_of_triple(std::string_view triple, std::vector<std::string>& warnings) {
  const auto bad = [&](std::string_view why) {
    return fail(Errc::invalid_argument, "unknown target triple '{}': {}", triple, why);
  };
  constexpr std::string_view kWant = "want air64-apple-macosx14.0, air64-apple-ios17.0 or the like";
  std::string_view rest = triple;
  for (const auto& [word, why] : kNoTargets)
    if (rest.find(word) != std::string_view::npos) return bad(why);
  if (!rest.starts_with("air64")) return bad(kWant);
  rest.remove_prefix(std::min(rest.find('-'), rest.size()));
  Parts parts;
  // SwiftPM names the machine that it runs on.
  if (rest.starts_with("-unknown-linux")) {
    SMELT_TRY(const aot::Target target, target_of(parts, warnings));
    warnings.push_back(fmt::format("target triple '{}' names no system with Metal; the result is for {} {}", triple,
                                   to_string(target.platform), to_string(target.os)));
    return parts;
  }
  if (!rest.starts_with("-apple-")) return bad(kWant);
  rest.remove_prefix(std::string_view("-apple-").size());
  constexpr std::string_view kSimulator = "-simulator";
  if (rest.ends_with(kSimulator)) {
    parts.system.simulator = true;
    rest.remove_suffix(kSimulator.size());
  }
  if (rest.starts_with("macosx") || rest.starts_with("macos")) {
    if (parts.system.simulator) return bad("macOS has no simulator");
    rest.remove_prefix(rest.starts_with("macosx") ? 6 : 5);
  } else if (rest.starts_with("ios")) {
    parts.system.platform = Platform::ios;
    rest.remove_prefix(3);
  } else if (rest.starts_with("tvos")) {
    parts.system.platform = Platform::tvos;
    rest.remove_prefix(4);
  } else if (rest.starts_with("darwin") && !parts.system.simulator) {
    rest = {};  // Darwin's own numbers are none of macOS
  } else {
    return bad("only macOS, iOS, tvOS and the simulators of the last two are targets");
  }
  parts.version = rest;
  return parts;
}

struct Language {
  Version version;
  std::optional<Platform> platform;
};

Result<Language> parse_language(std::string_view text) {
  Language language;
  std::string_view rest = text;
  constexpr std::pair<std::string_view, Platform> kFronts[] = {
      {"macos-", Platform::macos}, {"osx-", Platform::macos}, {"ios-", Platform::ios}};
  for (const auto& [front, platform] : kFronts)
    if (rest.starts_with(front)) {
      language.platform = platform;
      rest.remove_prefix(front.size());
      break;
    }
  if (rest.starts_with("metal")) {
    const auto version = parse_version(rest.substr(5));
    if (version && std::find(aot::kLanguages.begin(), aot::kLanguages.end(), *version) != aot::kLanguages.end()) {
      language.version = *version;
      return language;
    }
  }
  return fail(Errc::invalid_argument,
              "invalid value '{}' in '-std={}'; use metal1.0 to metal1.2, metal2.0 to metal2.4, metal3.0, metal3.1, "
              "metal3.2, metal4.0 or metal4.1, with macos-, osx- or ios- in front or without",
              text, text);
}

/// What the command line says, taken together.
struct Said {
  std::optional<Parts> triple, minimum;
  std::optional<Language> language;
  std::optional<System> sdk;
};

Result<Said> read_said(std::span<const Argument> arguments, std::vector<std::string>& warnings) {
  Said said;
  for (const Argument& argument : arguments) {
    switch (argument.use) {
      case Use::target: {
        SMELT_TRY(said.triple, parts_of_triple(argument.value, warnings));
        break;
      }
      case Use::min_macos:
        said.minimum = {{Platform::macos, false}, argument.value};
        break;
      case Use::min_ios:
      case Use::min_ios_simulator:
        said.minimum = {{Platform::ios, argument.use == Use::min_ios_simulator}, argument.value};
        break;
      case Use::min_tvos:
      case Use::min_tvos_simulator:
        said.minimum = {{Platform::tvos, argument.use == Use::min_tvos_simulator}, argument.value};
        break;
      case Use::std: {
        SMELT_TRY(said.language, parse_language(argument.value));
        break;
      }
      case Use::sysroot: {
        SMELT_TRY(said.sdk, system_of_sdk(argument.value));
        break;
      }
      case Use::arch:
        if (!argument.value.starts_with("air64"))
          return fail(Errc::invalid_argument,
                      "unsupported option '-arch {}': binaries of one GPU need Apple's back ends", argument.value);
        break;
      default:
        break;
    }
  }
  if (!said.sdk)
    if (const std::string root = environment("SDKROOT"); !root.empty()) {
      // A root that is not Apple's has another meaning to somebody else.
      if (const auto system = system_of_sdk(root)) said.sdk = *system;
    }
  return said;
}

}  // namespace

Result<System> system_of_sdk(std::string_view sdk) {
  std::string name = std::filesystem::path(sdk).filename().string();
  if (name.empty()) name = std::filesystem::path(sdk).parent_path().filename().string();
  std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
  const std::string_view text = name;
  const auto rest_is_version = [&](size_t front) {
    return text.size() == front || (text[front] >= '0' && text[front] <= '9') || text[front] == '.';
  };
  for (const Names& names : kSystemNames)
    if (text.starts_with(names.sdk) && rest_is_version(names.sdk.size())) return names.system;
  for (const auto& [word, why] : kNoTargets)
    if (text.find(word) != std::string_view::npos)
      return fail(Errc::invalid_argument, "SDK \"{}\" cannot be located: {}", sdk, why);
  return fail(Errc::invalid_argument,
              "SDK \"{}\" cannot be located: only macosx, iphoneos, appletvos, iphonesimulator and appletvsimulator "
              "belong to systems that are targets",
              sdk);
}

std::span<const System> systems() {
  constexpr static auto kSystems = [] {
    std::array<System, std::size(kSystemNames)> systems;
    for (size_t i = 0; i < systems.size(); ++i) systems[i] = kSystemNames[i].system;
    return systems;
  }();
  return kSystems;
}

std::string_view sdk_name(const System& system) {
  return names_of(system).sdk;
}

std::string sdk_version(const System& system) {
  if (std::string asked = asked_sdk_version(); !asked.empty()) return asked;
  const Version version = default_for(system.platform).os;
  return fmt::format("{}.{}", version.major, version.minor);
}

std::string sdk_folder(const System& system) {
  return fmt::format("{}{}.sdk", names_of(system).folder, sdk_version(system));
}

Result<Wanted> choose_target(std::span<const Argument> arguments) {
  Wanted wanted;
  SMELT_TRY(Said said, read_said(arguments, wanted.warnings));
  if (said.language) wanted.language = said.language->version;
  Parts parts;
  if (said.sdk) parts.system = *said.sdk;
  // iOS's language is that of tvOS and of simulators too.
  if (said.language && said.language->platform) {
    const Platform named = *said.language->platform;
    if ((named == Platform::macos) != (parts.system.platform == Platform::macos)) parts.system = {named, false};
  }
  if (said.triple) {
    parts = *said.triple;
    if (parts.version.empty() && said.minimum && said.minimum->system == parts.system) parts = *said.minimum;
  } else if (said.minimum) {
    parts = *said.minimum;
  } else {
    parts.version = environment(names_of(parts.system).variable);
  }
  wanted.is_explicit = !parts.version.empty();
  SMELT_TRY(wanted.target, target_of(parts, wanted.warnings));
  if (!wanted.language || *wanted.language <= wanted.target.language) return wanted;
  for (const aot::Target& newer : aot::known_targets()) {
    if (newer.platform != wanted.target.platform || newer.language < *wanted.language) continue;
    if (wanted.is_explicit)
      return fail(Errc::invalid_argument, "'-std=metal{}' needs {} {} or newer, and the target is {} {}",
                  to_string(*wanted.language), to_string(newer.platform), newer.os.major,
                  to_string(wanted.target.platform), to_string(wanted.target.os));
    wanted.target = on(parts.system, newer);
    return wanted;
  }
  return wanted;
}

aot::Target target_of_ir(const Wanted& wanted, ByteView text) {
  const std::string_view triple = wanted.is_explicit ? std::string_view() : aot::ir_triple(text);
  if (triple.empty()) return wanted.target;
  std::vector<std::string> warnings;
  const auto parts = parts_of_triple(triple, warnings);
  if (!parts || parts->version.empty()) return wanted.target;  // another machine's IR
  auto target = target_of(*parts, warnings);
  return target ? std::move(*target) : wanted.target;
}

}  // namespace smelt::toolchain
