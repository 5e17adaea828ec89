// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "library_images.hpp"

#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"
#include "smelt/schema/package.hpp"

namespace smelt::cli {
namespace {

Result<LibraryImage> read_image(ByteView bytes) {
  LibraryImage image;
  image.bytes = bytes;
  SMELT_TRY(image.contents, metallib::read(bytes, {.check_hashes = false}));
  SMELT_TRY(image.facts, metallib::inspect(image.contents));
  image.target = target_name(image.facts);
  return image;
}

Result<std::vector<LibraryImage>> images_of_package(ByteView file) {
  SMELT_TRY(const schema::Package package, schema::Package::open(file));
  std::vector<LibraryImage> images;
  for (uint32_t l = 0; l < package.library_count(); ++l) {
    const schema::LibraryView library = package.library(l);
    for (uint32_t i = 0; i < library.slices.count; ++i) {
      const schema::SliceView slice = package.slice(library.slices.first + i);
      if (slice.kind != schema::SliceKind::metallib) continue;
      SMELT_TRY_VOID(schema::check_part(slice.part, slice.target));
      auto image = read_image(slice.part.bytes);
      if (!image) return tl::unexpected(std::move(image).error().in(slice.target));
      image->library = library.name;
      image->target = slice.target;
      images.push_back(std::move(*image));
    }
  }
  if (images.empty()) return fail(Errc::empty_library, "the package has no Metal library, so it has no AIR");
  return images;
}

}  // namespace

std::string target_name(const metallib::LibraryFacts& facts) {
  if (facts.platform == "none") return facts.built_for_macos ? "macos" : "unknown";
  constexpr std::string_view kSimulator = "_simulator";
  const bool simulator = facts.platform.ends_with(kSimulator);
  const std::string_view platform =
      std::string_view(facts.platform).substr(0, facts.platform.size() - (simulator ? kSimulator.size() : 0));
  return fmt::format("{}{}{}", platform, facts.os_major, simulator ? "-simulator" : "");
}

Result<std::vector<LibraryImage>> library_images(ByteView file) {
  if (schema::Package::looks_like(file)) return images_of_package(file);
  SMELT_TRY(const std::vector<metallib::Image> found, metallib::find_images(file));
  std::vector<LibraryImage> images;
  for (const metallib::Image& one : found) {
    auto image = read_image(one.bytes);
    if (!image && !one.where.empty()) return tl::unexpected(std::move(image).error().in(one.where));
    if (!image) return tl::unexpected(std::move(image).error());
    if (!one.where.empty()) image->target += ", " + one.where;
    images.push_back(std::move(*image));
  }
  return images;
}

}  // namespace smelt::cli
