// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "smelt/aot/editor.hpp"

#include "inputs/headers.hpp"
#include "msl/frontend.hpp"

#include <fmt/format.h>

namespace smelt::aot {

std::vector<EditorHeader> editor_headers() {
  std::vector<EditorHeader> headers;
  for (unsigned long i = 0; i < msl::smelt_embedded_header_count; ++i) {
    const msl::EmbeddedHeader& header = msl::smelt_embedded_headers[i];
    headers.push_back({header.name, std::string_view(header.text, header.size)});
  }
  return headers;
}

std::vector<std::string> editor_flags(const Target& target, const std::string& folder) {
  std::vector<std::string> flags = {
      "-xc++",
      "-std=c++23",
      "--target=x86_64-unknown-linux-gnu",  // has half and bfloat, which Clang lets few targets have
      "-mavx512fp16",
      "-nostdinc",
      "-ffreestanding",
      "-fno-rtti",
      "-fno-exceptions",
      "-fdeclspec",       // the headers' swizzles
      "-fms-extensions",  // the word that stands for threadgroup
      "-ferror-limit=0",  // the false alarms count
      "-Xclang",
      "-cl-single-precision-constant",  // 0.5 is a float
      "-Wno-everything",                // of function constants, which have no value here, much would be said
      "-D__METAL__=1",
      "-D__SMELT__=1",
      "-D__SMELT_EDITOR__=1",
      fmt::format("-D__METAL_VERSION__={}", msl::metal_version_number(target.language)),
      target.platform == Platform::macos ? "-D__METAL_MACOS__=1" : "-D__METAL_IOS__=1",
  };
  if (target.language >= Version{3, 1}) flags.emplace_back("-D__HAVE_BFLOAT__=1");
  flags.insert(flags.end(), {"-isystem", folder, "-include", folder + "/smelt_language.h"});
  return flags;
}

std::span<const std::string_view> editor_false_alarms() {
  static constexpr std::string_view kNames[] = {
      "attributes_not_allowed",  // template [[host_name("k")]] kernel void k<float>(...)
      "default_init_const",      // constant int n [[function_constant(0)]];
      "redefinition",            // of functions that differ in their pointers' spaces
  };
  return kNames;
}

}  // namespace smelt::aot
