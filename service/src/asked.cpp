// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "asked.hpp"

#include "smelt/aot/fingerprint.hpp"
#include "smelt/schema/cpu_slice.hpp"
#include "smelt/schema/package.hpp"

#include "build_package.hpp"

#include <algorithm>
#include <set>

namespace smelt::service {
namespace {

using Names = std::vector<std::string>;

tl::unexpected<Error> differs(std::string_view what) {
  return fail(Errc::corrupt, "the package has {}", what);
}

std::vector<CpuCode> codes_of(const Request& request, const std::vector<aot::CpuLevel>& levels) {
  std::vector<CpuCode> codes;
  for (const aot::CpuLevel level : levels) codes.push_back({level, request.checked, request.effort});
  return codes;
}

std::set<std::string> sorted(const Names& names) {
  return {names.begin(), names.end()};
}

/// One library of a package.
class Look {
 public:
  Look(const schema::Package& package, uint32_t index) : package_(package), library_(package.library(index)) {
    for (uint32_t i = 0; i < library_.functions.count; ++i)
      functions_.emplace_back(package.function(library_.functions.first + i).name);
  }

  Result<void> at(const Asked& asked, bool arrived) const {
    if (asked.this_compiler && library_.compiler != aot::compiler_identity()) return differs("another compiler");
    if (!asked.name.empty() && library_.name != asked.name) return differs("another library");
    if (asked.version && library_.version != *asked.version) return differs("another version");
    if (asked.source && library_.source != *asked.source) return differs("another source");
    SMELT_TRY_VOID(at_functions(asked));
    SMELT_TRY_VOID(at_metallibs(asked));
    return at_code(asked, arrived);
  }

 private:
  Result<void> at_functions(const Asked& asked) const {
    if (functions_.empty()) return asked.may_be_empty ? Result<void>() : differs("no functions");
    if (asked.functions.empty()) return {};
    const std::set<std::string> wanted = sorted(asked.functions);
    const bool known = std::all_of(functions_.begin(), functions_.end(),
                                   [&](const std::string& name) { return wanted.contains(name); });
    if (!known || (asked.all_functions && sorted(functions_) != wanted)) return differs("other functions");
    return {};
  }

  Names metallibs() const {
    Names targets;
    for (uint32_t i = 0; i < library_.slices.count; ++i)
      if (const auto slice = this->slice(i); slice.kind == schema::SliceKind::metallib)
        targets.emplace_back(slice.target);
    return targets;
  }

  Result<void> at_metallibs(const Asked& asked) const {
    const Names found = metallibs();
    if (asked.targets.empty() ? found.empty() : sorted(found) != sorted(asked.targets))
      return differs("Metal libraries for other targets");
    if (!asked.is_part) return {};
    for (size_t i = 0; i < asked.targets.size(); ++i)
      if (slice(static_cast<uint32_t>(i)).target != asked.targets[i] || found.size() != asked.targets.size())
        return differs("Metal libraries in another order");
    return {};
  }

  Result<void> at_code(const Asked& asked, bool arrived) const {
    size_t next = 0;
    for (uint32_t i = 0; i < library_.slices.count; ++i) {
      const schema::SliceView slice = this->slice(i);
      if (slice.kind != schema::SliceKind::cpu) continue;
      if (next == asked.codes.size() || functions_.empty()) return differs("CPU code that nobody asked for");
      SMELT_TRY_VOID(at_slice(slice, asked.codes[next++], arrived || asked.is_part));
    }
    const bool is_all = next == asked.codes.size() || functions_.empty();
    return is_all ? Result<void>() : differs("less CPU code than was asked for");
  }

  Result<void> at_slice(const schema::SliceView& slice, const CpuCode& asked, bool whole) const {
    if (slice.checked != asked.checked)
      return differs(asked.checked ? "CPU code without checks" : "checked CPU code that nobody asked for");
    const CpuArch arch = row_of(asked.level).arch;
    const uint32_t level = row_of(asked.level).number;
    if (slice.arch != static_cast<uint32_t>(arch) || slice.level != level) return differs("CPU code of another level");
    if (!whole) return {};
    SMELT_TRY(const schema::CpuSlice code, schema::read_cpu_slice(slice.part.bytes));
    if (code.arch != arch || code.level != level) return differs("CPU code of another level");
    std::set<std::string> there, wanted;
    for (const schema::CpuKernel& kernel : code.kernels) {
      if (kernel.checked != asked.checked) return differs("CPU code that is checked in part");
      there.insert(kernel.name);
    }
    for (size_t i = 0; i < functions_.size(); ++i)
      if (!package_.presence(slice.first_presence + static_cast<uint32_t>(i)).missing) wanted.insert(functions_[i]);
    return there == wanted && there.size() == code.kernels.size() ? Result<void>() : differs("CPU code of others");
  }

  schema::SliceView slice(uint32_t i) const { return package_.slice(library_.slices.first + i); }

  const schema::Package& package_;
  const schema::LibraryView library_;
  Names functions_;
};

bool same_but_code(const schema::Library& a, const schema::Library& b) {
  const auto metallibs = [](const schema::Library& library) {
    std::vector<std::pair<std::string, Bytes>> all;
    for (const schema::Slice& slice : library.slices)
      if (slice.kind == schema::SliceKind::metallib) all.emplace_back(slice.target, slice.bytes);
    return all;
  };
  const auto attachments = [](const schema::Library& library) {
    std::vector<std::pair<std::string, Bytes>> all;
    for (const schema::Attachment& one : library.attachments) all.emplace_back(one.name, one.bytes);
    return all;
  };
  const auto names = [](const schema::Library& library) {
    Names all;
    for (const schema::Function& function : library.functions) all.push_back(function.name);
    return all;
  };
  return a.name == b.name && a.compiler == b.compiler && a.version == b.version && a.tags == b.tags &&
         a.source == b.source && names(a) == names(b) && metallibs(a) == metallibs(b) &&
         attachments(a) == attachments(b);
}

std::vector<CpuCode> codes_in(const schema::Library& library) {
  std::vector<CpuCode> codes;
  for (const schema::Slice& slice : library.slices)
    if (slice.kind == schema::SliceKind::cpu) codes.push_back({level_of(slice), slice.checked, {}});
  return codes;
}

bool same_code(const CpuCode& a, const CpuCode& b) {
  return a.level == b.level && a.checked == b.checked;
}

}  // namespace

Asked asked_of(const Request& request, const std::vector<aot::CpuLevel>& levels) {
  Asked asked;
  for (const aot::Target& target : request.options.targets) asked.targets.push_back(target.name);
  asked.codes = codes_of(request, levels);
  asked.functions = request.options.functions;
  asked.may_be_empty = asked.functions.empty();
  asked.name = request.name;
  asked.version = request.version;
  return asked;
}

Asked asked_of(const aot::Plan& plan, size_t part, const Request& request, const std::vector<aot::CpuLevel>& levels) {
  Asked asked;
  for (const aot::Target& target : plan.targets()) asked.targets.push_back(target.name);
  asked.codes = codes_of(request, levels);
  asked.functions = plan.entry_names(part);
  asked.all_functions = true;
  asked.is_part = true;
  return asked;
}

Asked asked_of(const CpuCode& code) {
  Asked asked;
  asked.codes = {code};
  asked.libraries.reset();
  asked.this_compiler = false;
  return asked;
}

Result<void> held_to(const Asked& asked, ByteView bytes, bool arrived) {
  SMELT_TRY(const schema::Package package, schema::Package::open(bytes));
  if (package.library_count() == 0 || (asked.libraries && package.library_count() != *asked.libraries))
    return differs("another number of libraries");
  for (uint32_t i = 0; i < package.library_count(); ++i) SMELT_TRY_VOID(Look(package, i).at(asked, arrived));
  return arrived ? schema::check_all_parts(package) : Result<void>();
}

Result<void> whole(ByteView bytes) {
  SMELT_TRY(const schema::Package package, schema::Package::open(bytes));
  SMELT_TRY_VOID(schema::check_all_parts(package));
  for (uint32_t i = 0; i < package.library_count(); ++i) {
    const schema::Range slices = package.library(i).slices;
    for (uint32_t k = 0; k < slices.count; ++k)
      if (const auto slice = package.slice(slices.first + k); slice.kind == schema::SliceKind::cpu)
        SMELT_TRY_VOID(schema::read_cpu_slice(slice.part.bytes));
  }
  return {};
}

Result<void> held_to_recompile(ByteView before, const std::optional<std::vector<CpuCode>>& wanted, ByteView after) {
  SMELT_TRY(const schema::Package old, schema::Package::open(before));
  SMELT_TRY(const schema::Package made, schema::Package::open(after));
  if (old.library_count() != made.library_count()) return differs("another number of libraries");
  for (uint32_t i = 0; i < old.library_count(); ++i) {
    SMELT_TRY(const schema::Library given, old.copy_library(i));
    SMELT_TRY(const schema::Library back, made.copy_library(i));
    if (!same_but_code(given, back)) return differs("other libraries");
    const std::vector<CpuCode> codes = wanted.value_or(codes_in(given)), found = codes_in(back);
    if (!std::equal(codes.begin(), codes.end(), found.begin(), found.end(), same_code))
      return differs("other CPU code than was asked for");
  }
  return {};
}

remote::Question question(std::string_view part, Asked asked, const Recompile& recompile) {
  using Parts = remote::Question::Parts;
  remote::Question made;
  if (recompile)
    made.recompile = [recompile, codes = asked.codes](const Parts& parts) {
      return recompile_entry(parts, [&](ByteView package) { return recompile(package, codes); });
    };
  made.check = [part = std::string(part), asked = std::move(asked)](const Parts& parts, bool arrived) -> Result<void> {
    for (const cache::Entry::Part& one : parts)
      if (one.name == part) return held_to(asked, one.bytes, arrived);
    return fail(Errc::corrupt, "it has no '{}'", part);
  };
  return made;
}

}  // namespace smelt::service
