// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "recompile.hpp"

#include "smelt/aot/verify.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/schema/package.hpp"

#include "build_package.hpp"
#include "entry_parts.hpp"

#include <algorithm>

namespace smelt::service {

aot::CpuLevel level_of(const schema::Slice& slice) {
  return cpu_level_numbered(slice.arch, slice.level).value_or(aot::CpuLevel::x86_64_v3);
}

namespace {

Result<void> check_metallib(const schema::Library& library, const schema::Slice& slice) {
  for (const aot::Finding& finding : aot::verify_metallib(slice.bytes))
    if (finding.severity == aot::Finding::Severity::error)
      return fail(Errc::untrusted, "{}/{}: 'smelt verify' objects: {}", library.name, slice.target, finding.to_line());
  return {};
}

/// The functions of a Metal library, in the order of the package's, with what their AIR says about them.
Result<aot::CompiledTarget> read_functions(const schema::Library& library, const schema::Slice& slice) {
  SMELT_TRY(const metallib::Library read, metallib::read(slice.bytes));
  aot::CompiledTarget target;
  target.target.name = slice.target;
  target.target.air = {slice.air.major, slice.air.minor, slice.air.patch};
  for (const schema::Function& wanted : library.functions) {
    const auto found = std::find_if(read.functions.begin(), read.functions.end(),
                                    [&](const metallib::Function& one) { return one.name == wanted.name; });
    const bool is_missing = slice.functions[target.functions.size()].missing;
    if (found == read.functions.end() && is_missing)
      return fail(
          Errc::unsupported,
          "{}/{}: '{}' is for the CPU alone, so the package lacks what its code could be made from; compile the "
          "source again",
          library.name, slice.target, wanted.name);
    if (found == read.functions.end())
      return fail(Errc::corrupt, "{}/{}: the Metal library lacks the function '{}'", library.name, slice.target,
                  wanted.name);
    const ByteView bitcode = read.modules[found->module].bitcode();
    SMELT_TRY(const auto infos, aot::describe(bitcode, wanted.name));
    const auto info =
        std::find_if(infos.begin(), infos.end(), [&](const aot::KernelInfo& one) { return one.name == wanted.name; });
    if (info == infos.end())
      return fail(Errc::corrupt, "{}/{}: the module of '{}' has no such entry point", library.name, slice.target,
                  wanted.name);
    target.functions.push_back({*info, to_bytes(bitcode)});
  }
  return target;
}

Result<schema::Library> recompile_library(schema::Library library, const std::optional<std::vector<CpuCode>>& wanted) {
  std::vector<schema::Slice> metallibs;
  std::vector<CpuCode> codes;
  for (schema::Slice& slice : library.slices) {
    if (slice.kind == schema::SliceKind::cpu) {
      codes.push_back({level_of(slice), slice.checked});
      continue;
    }
    SMELT_TRY_VOID(check_metallib(library, slice));
    metallibs.push_back(std::move(slice));
  }
  if (metallibs.empty())
    return fail(Errc::untrusted, "{}: it holds only native code, and no Metal library to make it from", library.name);
  const auto newest =
      std::max_element(metallibs.begin(), metallibs.end(), [](const auto& a, const auto& b) { return a.air < b.air; });
  SMELT_TRY(const aot::CompiledTarget target, read_functions(library, *newest));
  for (size_t i = 0; i < library.functions.size(); ++i)
    library.functions[i] = manifest_function(target.functions[i].info);
  library.slices = std::move(metallibs);
  if (wanted) codes = *wanted;
  for (const CpuCode& code : codes) {
    SMELT_TRY(auto made, cpu_slice(target, code, target.functions));
    library.slices.push_back(std::move(made));
  }
  return library;
}

}  // namespace

Result<Bytes> recompile_package(ByteView bytes, const std::optional<std::vector<CpuCode>>& wanted) {
  SMELT_TRY(const schema::Package package, schema::Package::open(bytes));
  std::vector<schema::Library> libraries;
  for (uint32_t i = 0; i < package.library_count(); ++i) {
    SMELT_TRY(auto library, package.copy_library(i));
    SMELT_TRY(libraries.emplace_back(), recompile_library(std::move(library), wanted));
  }
  return schema::write_package(libraries);
}

Result<std::optional<std::vector<remote::Part>>> recompile_entry(
    const std::vector<cache::Entry::Part>& parts, const std::function<Result<Bytes>(ByteView)>& recompile) {
  std::optional<std::vector<remote::Part>> made;
  for (const cache::Entry::Part& part : parts) {
    if (part.name == kPackagePart || part.name == kKernelPart) {
      SMELT_TRY(Bytes package, recompile(part.bytes));
      if (!made) made.emplace();
      made->push_back({std::string(part.name), std::move(package)});
    } else if (part.name != kWarningsPart && part.name != signing::kSourcePart) {
      return std::optional<std::vector<remote::Part>>();  // not ours: who knows what would be run of it
    }
  }
  if (!made) return made;
  for (const cache::Entry::Part& part : parts)
    if (part.name == kWarningsPart || part.name == signing::kSourcePart)
      made->push_back({std::string(part.name), to_bytes(part.bytes)});
  return made;
}

std::string made_from(const std::vector<cache::Entry::Part>& parts) {
  for (const cache::Entry::Part& part : parts) {
    if (part.name != kPackagePart && part.name != kKernelPart) continue;
    const auto package = schema::Package::open(part.bytes);
    if (!package || package->library_count() == 0) return {};
    const schema::LibraryView library = package->library(0);
    return fmt::format("{}; source {}", library.compiler, to_hex(library.source));
  }
  return {};
}

}  // namespace smelt::service
