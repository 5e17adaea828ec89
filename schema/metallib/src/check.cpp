// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Rules beyond what read() needs to be safe. Their evidence: docs/formats/metallib.md 2.1, 3, 4, 12, 13.
#include "smelt/metallib/check.hpp"

#include "smelt/metallib/names.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"

#include "patches.hpp"
#include "read_functions.hpp"

#include <set>

namespace smelt::metallib {
namespace {

/// The newest AIR that a container of that version carries, by patch 1.2.2 ... 1.2.9 (docs/formats/metallib.md 12).
constexpr std::pair<uint16_t, uint16_t> kNewestAir[] = {{2, 0}, {2, 2}, {2, 2}, {2, 3}, {2, 4}, {2, 7}, {2, 7}, {2, 9}};

class Checker {
 public:
  explicit Checker(const Library& library) : library_(library) {}

  std::vector<Finding> check() {
    check_header();
    std::set<std::string_view> names;
    for (size_t i = 0; i < library_.functions.size(); ++i) {
      const Function& function = library_.functions[i];
      check_function(function, describe(function, i));
      if (!names.insert(function.name).second) error(describe(function, i), "another function has the same name");
    }
    return std::move(findings_);
  }

 private:
  template <class... Args>
  void error(std::string place, fmt::format_string<Args...> format, Args&&... args) {
    findings_.push_back({Severity::error, std::move(place), fmt::format(format, std::forward<Args>(args)...)});
  }
  template <class... Args>
  void note(std::string place, fmt::format_string<Args...> format, Args&&... args) {
    findings_.push_back({Severity::note, std::move(place), fmt::format(format, std::forward<Args>(args)...)});
  }

  void check_header();
  void check_function(const Function& function, const std::string& place);

  const Library& library_;
  std::vector<Finding> findings_;
};

void Checker::check_header() {
  const bool macos = library_.platform == static_cast<uint8_t>(Platform::macos);
  // Xcode makes such a library of a target whose sources have no function.
  if (library_.functions.empty()) note("function list", "no functions: an empty library");
  if (library_.patch >= kFirstPatchWithPlatform) {
    if (library_.platform == 0 || library_.platform > static_cast<uint8_t>(Platform::visionos_simulator))
      error("header", "platform {}; want 1 to 12 from container 1.2.{} on", library_.platform, kFirstPatchWithPlatform);
    else if (macos != library_.built_for_macos)
      error("header", "platform {}, and the macOS bit is {}", platform_name(library_.platform),
            library_.built_for_macos ? "set" : "not set");
    if (library_.os_major == 0) note("header", "no OS version, in container 1.2.{}", library_.patch);
  } else if (library_.platform != 0 || library_.os_major != 0 || library_.is_64bit) {
    note("header", "platform or OS version, which containers before 1.2.{} leave at zero", kFirstPatchWithPlatform);
  }
  if (library_.file_type > static_cast<uint8_t>(FileType::symbol_companion))
    error("header", "file type {}; want 0 to 3", library_.file_type);
  if (library_.patch >= kFirstPatchWithExtension && !library_.extension)
    note("header extension", "absent; containers from 1.2.{} on have one", kFirstPatchWithExtension);
  if (library_.patch < kFirstPatchWithExtension && library_.extension)
    note("header extension", "present in container 1.2.{}, where Apple's files have none", library_.patch);
  if (!library_.order.empty() || library_.padding_after != 0)
    note("", "sections are not in Apple's order, or have padding between them");
}

void Checker::check_function(const Function& function, const std::string& place) {
  const Module& module = library_.module_of(function);
  if (const Digest digest = sha256(module.blob); digest != function.hash)
    error(place, "HASH is {}, its module hashes to {}", to_hex(function.hash), to_hex(digest));
  if (module.blob.size() % kBlobAlignment != 0)
    note(place, "module of {} bytes is not padded to a multiple of {}", module.blob.size(), kBlobAlignment);
  if (module.blob.size() == module.bitcode().size()) note(place, "bitcode without its wrapper");
  if (!function.type)
    note(place, "no TYPE");
  else if (*function.type > static_cast<uint8_t>(FunctionType::object))
    error(place, "TYPE {}; want 0 to 8", *function.type);
  const bool early = function.versions.air_major < 2;
  if (!early && !find_tag(function.tags, tag::module_size)) note(place, "no MDSZ, with AIR 2.0 or later");

  const std::pair air{function.versions.air_major, function.versions.air_minor};
  const size_t row = library_.patch - kOldestPatch;
  if (row < std::size(kNewestAir) && air > kNewestAir[row])
    note(place, "VERS says AIR {}.{}; container 1.2.{} carries at most {}.{}", air.first, air.second, library_.patch,
         kNewestAir[row].first, kNewestAir[row].second);
  for (const Tag& tag : library_.public_of(function).tags)
    if ((tag.name == tag::vertex_attributes || tag.name == tag::vertex_types) && tag.payload.size() == 2)
      error(place, "{} with no attribute; pipelines fail to build, leave it out", tag.name.text());
}

}  // namespace

std::vector<Finding> check_library(const Library& library) {
  return Checker(library).check();
}

std::vector<Finding> check_file(ByteView bytes) {
  const auto images = find_images(bytes);
  if (!images) return {{Severity::error, "", images.error().message}};
  std::vector<Finding> findings;
  for (const Image& image : *images) {
    const auto library = read(image.bytes, {.check_hashes = false});
    if (!library) {
      findings.push_back({Severity::error, image.where, library.error().message});
      continue;
    }
    for (Finding& finding : check_library(*library)) {
      if (!image.where.empty())
        finding.place = finding.place.empty() ? image.where : fmt::format("{}, {}", image.where, finding.place);
      findings.push_back(std::move(finding));
    }
  }
  return findings;
}

}  // namespace smelt::metallib
