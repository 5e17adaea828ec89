// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Versions that are said several times must agree: container, VERS, triple, !air.version, !air.language_version
// (docs/formats/air.md 1.1, 1.2).
#include "interface/module_metadata.hpp"
#include "verify/checks.hpp"

#include "llvm/IR/Module.h"

namespace smelt::aot::verify {
namespace {

std::string text(Version version) {
  return fmt::format("{}.{}", version.major, version.minor);
}

bool same(Version a, Version b) {
  return a.major == b.major && a.minor == b.minor;
}

/// The oldest AIR that carries a Metal language version.
Version oldest_air_for(Version language) {
  if (language >= Version{4, 1}) return {2, 9};
  if (language >= Version{4, 0}) return {2, 8};
  if (language >= Version{3, 2}) return {2, 7};
  if (language >= Version{3, 1}) return {2, 6};
  if (language >= Version{3, 0}) return {2, 5};
  return {0, 0};
}

std::string_view platform_name(Platform platform) {
  return platform == Platform::macos ? "macOS" : "iOS";
}

void check_triple(const llvm::Module& module, const ModuleContext& context, std::optional<Version> air,
                  Findings& findings) {
  const std::string& triple = module.getTargetTriple();
  const auto parts = air::parse_triple(triple);
  if (!parts) {
    if (triple.starts_with("air64"))
      findings.note(Check::versions, "triple", "'{}' is for a platform that is not checked", triple);
    else
      findings.error(Check::versions, "triple", "'{}' is not an AIR triple; want air64-apple-macosxN.N.N or -iosN.N.N",
                     triple);
    return;
  }
  if (parts->arch_air && air && !same(*parts->arch_air, *air))
    findings.error(Check::versions, "triple", "'{}' says AIR {}, !air.version says {}", triple, text(*parts->arch_air),
                   text(*air));
  if (context.platform && *context.platform != parts->platform)
    findings.error(Check::versions, "triple", "'{}' is for {}, the container is for {}", triple,
                   platform_name(parts->platform), platform_name(*context.platform));
  if (context.os && context.os->major != 0 && !same(*context.os, parts->os))
    findings.error(Check::versions, "triple", "'{}' is for version {}, the container's deployment target is {}", triple,
                   text(parts->os), text(*context.os));
}

void check_stamp_against_container(std::string_view what, std::optional<Version> module,
                                   std::optional<Version> container, Findings& findings) {
  if (module && container && !same(*module, *container))
    findings.error(Check::versions, "", "VERS says {} {}, its module says {}", what, text(*container), text(*module));
}

/// Some of Apple's compilers up to AIR 2.1 list a float of 80 bits as well, which no module has.
std::string without_f80(std::string layout) {
  constexpr std::string_view kF80 = "f80:128:128-";
  for (size_t at = layout.find(kF80); at != std::string::npos; at = layout.find(kF80)) layout.erase(at, kF80.size());
  return layout;
}

}  // namespace

void check_module_metadata(const llvm::Module& module, const ModuleContext& context, Findings& findings) {
  const auto air = air::air_version(module);
  const auto language = air::language_version(module);
  if (!air) findings.error(Check::versions, "", "no !air.version; want {{ i32 major, i32 minor, i32 patch }}");
  if (!language)
    findings.error(Check::versions, "",
                   "no !air.language_version; want {{ \"Metal\", i32 major, i32 minor, i32 patch }}");
  check_stamp_against_container("AIR", air, context.air, findings);
  check_stamp_against_container("Metal", language, context.language, findings);
  if (air && language && *air < oldest_air_for(*language))
    findings.error(Check::versions, "", "Metal {} needs AIR {}, the module says {}", text(*language),
                   text(oldest_air_for(*language)), text(*air));
  check_triple(module, context, air, findings);
  const std::string& layout = module.getDataLayoutStr();
  const bool is_first = air && *air < Version{2, 1};
  const bool lists_f80 = air && *air < Version{2, 2} && without_f80(layout) == air_data_layout();
  if (layout != air_data_layout() && !is_first && !lists_f80)
    findings.error(Check::versions, "data layout", "'{}' is not AIR's", layout);
  for (const char* list : {"air.compile_options", "llvm.ident"})
    if (!module.getNamedMetadata(list)) findings.note(Check::versions, "", "no !{}, which Apple always writes", list);
}

}  // namespace smelt::aot::verify
