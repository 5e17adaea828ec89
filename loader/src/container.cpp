// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "container.hpp"

#include "smelt/metallib/metadata.hpp"
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/reader.hpp"

#include <algorithm>

namespace smelt::loader {
namespace {

Platform to_platform(const metallib::Library& library) {
  switch (metallib::Platform(library.platform)) {
    case metallib::Platform::none:  // containers through 1.2.5 only say whether they are for macOS
      return library.built_for_macos ? Platform::macos : Platform::ios;
    case metallib::Platform::macos:
    case metallib::Platform::mac_catalyst:
      return Platform::macos;
    case metallib::Platform::tvos:
    case metallib::Platform::tvos_simulator:
      return Platform::tvos;
    case metallib::Platform::watchos:
    case metallib::Platform::watchos_simulator:
      return Platform::watchos;
    case metallib::Platform::visionos:
    case metallib::Platform::visionos_simulator:
      return Platform::visionos;
    default:
      return Platform::ios;
  }
}

}  // namespace

Result<ContainerInfo> read_container(ByteView bytes, Verify verify) {
  metallib::ReadOptions options;
  options.check_hashes = verify == Verify::digest || verify == Verify::full;
  options.allow_newer = verify == Verify::none;
  auto read = metallib::read(bytes, options);
  if (!read && read.error().code == Errc::not_metallib)
    read.error().message += ", or a package, which starts with 'SMLT'";
  SMELT_TRY(const metallib::Library library, std::move(read));
  ContainerInfo info;
  info.target.platform = to_platform(library);
  info.target.min_os = {library.os_major, library.os_minor, library.os_patch};
  info.target.name = fmt::format("{} {}", to_string(info.target.platform), to_string(info.target.min_os));
  for (const metallib::Function& function : library.functions) {
    ContainerFunction& row = info.functions.emplace_back();
    row.name = function.name;
    row.kind = metallib::kind_of(function);
    row.metal = {function.versions.language_major, function.versions.language_minor};
    row.air = {function.versions.air_major, function.versions.air_minor};
    if (const auto constants = metallib::constants_of(library.public_of(function)))
      for (const metallib::Constant& constant : *constants)
        row.constants.push_back({constant.name, metallib::data_type_name(constant.type), constant.index});
    // The library loads when one of its functions does; each is asked again for itself.
    const bool first = info.functions.size() == 1;
    info.target.metal = first ? row.metal : std::min(info.target.metal, row.metal);
    info.target.air = first ? row.air : std::min(info.target.air, row.air);
  }
  return info;
}

}  // namespace smelt::loader
