// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "material.hpp"

#include "smelt/metallib/reader.hpp"
#include "smelt/schema/cpu_slice.hpp"
#include "smelt/schema/package.hpp"

#include "join_parts.hpp"

#include <algorithm>

namespace smelt::test {
namespace {

std::string text_of(size_t kernel, double value) {
  return fmt::format(
      "target triple = \"spir64-unknown-unknown\"\n"
      "define spir_kernel void @{}(ptr addrspace(1) %x) {{\n"
      "  store float {:.1f}, ptr addrspace(1) %x, align 4\n  ret void\n}}\n",
      Material::name(kernel), value);
}

schema::Library compiled(const std::string& text, aot::CpuLevel level, bool checked) {
  service::Request request;
  request.sources.push_back({"kernel.ll", as_bytes(text)});
  request.levels = {level};
  request.checked = checked;
  const Bytes package = must(service::build_package(request, 1, {}));
  schema::Library library = must(must(schema::Package::open(package)).copy_library(0));
  library.source = {};
  return library;
}

const schema::Slice& slice_of(const schema::Library& library, schema::SliceKind kind) {
  return *std::find_if(library.slices.begin(), library.slices.end(),
                       [&](const schema::Slice& slice) { return slice.kind == kind; });
}

/// Digests of all functions' AIR, by their names.
Result<std::map<std::string, Digest>> airs_of(ByteView metallib) {
  SMELT_TRY(const metallib::Library library, metallib::read(metallib));
  std::map<std::string, Digest> airs;
  for (const metallib::Function& function : library.functions)
    airs[function.name] = sha256(library.modules[function.module].bitcode());
  return airs;
}

Result<std::map<std::string, Digest>> codes_of(ByteView slice) {
  SMELT_TRY(const schema::CpuSlice read, schema::read_cpu_slice(slice));
  std::map<std::string, Digest> codes;
  for (const schema::CpuKernel& kernel : read.kernels) codes[kernel.name] = kernel.code_digest;
  return codes;
}

}  // namespace

std::string Material::name(size_t kernel) {
  return fmt::format("kernel{}", kernel);
}

std::string Material::text(size_t kernel) {
  return text_of(kernel, static_cast<double>(kernel) + 1);
}

Material::Material() : level_(must(aot::host_cpu_level())) {
  for (size_t kernel = 0; kernel < kKernels; ++kernel)
    for (const bool strangers : {false, true})
      for (const bool checked : {false, true}) {
        Made& made = made_[kernel][strangers][checked];
        made.library =
            compiled(strangers ? text_of(kernel, 600 + static_cast<double>(kernel)) : text(kernel), level_, checked);
        made.air = must(airs_of(slice_of(made.library, schema::SliceKind::metallib).bytes)).at(name(kernel));
        made.code = must(codes_of(slice_of(made.library, schema::SliceKind::cpu).bytes)).at(name(kernel));
        airs_[made.air] = {kernel, strangers};
        codes_[made.code] = {kernel, strangers};
      }
}

schema::Library Material::library(size_t kernel, Whose whose, bool checked) const {
  schema::Library library = made(kernel, whose == Whose::strangers, checked).library;
  if (whose != Whose::planted) return library;
  for (schema::Slice& slice : library.slices)
    if (slice.kind == schema::SliceKind::cpu)
      slice.bytes = slice_of(made(kernel, true, checked).library, schema::SliceKind::cpu).bytes;
  return library;
}

Bytes Material::package(const std::vector<schema::Library>& parts, const Digest& source) const {
  std::vector<const schema::Library*> pointers;
  for (const schema::Library& part : parts) pointers.push_back(&part);
  schema::Library joined = must(service::join_parts({aot::default_target()}, pointers));
  joined.source = source;
  return must(schema::write_package(std::span(&joined, 1)));
}

Result<Bytes> Material::recompile(ByteView bytes, const std::optional<std::vector<service::CpuCode>>& codes) const {
  SMELT_TRY(const schema::Package package, schema::Package::open(bytes));
  SMELT_TRY(const schema::Library given, package.copy_library(0));
  bool checked = false;
  for (const schema::Slice& slice : given.slices) checked = checked || slice.checked;
  if (codes) checked = static_cast<bool>(codes->front().checked);
  const auto metallib = std::find_if(given.slices.begin(), given.slices.end(), [](const schema::Slice& slice) {
    return slice.kind == schema::SliceKind::metallib;
  });
  if (metallib == given.slices.end()) return fail(Errc::untrusted, "native code alone");
  SMELT_TRY(const auto airs, airs_of(metallib->bytes));
  std::vector<schema::Library> parts;
  for (const schema::Function& function : given.functions) {
    const auto air = airs.find(function.name);
    const auto known = air == airs.end() ? airs_.end() : airs_.find(air->second);
    if (known == airs_.end()) return fail(Errc::corrupt, "no AIR of '{}'", function.name);
    parts.push_back(made(known->second.first, known->second.second, checked).library);
  }
  if (parts.empty()) return fail(Errc::corrupt, "no functions");
  return this->package(parts, given.source);
}

service::MakeElsewhere Material::compiler(bool checked) const {
  return [this, checked](const aot::Plan& plan, size_t part) -> Result<std::optional<service::KeptKernel>> {
    const std::string wanted = plan.entry_names(part).front();
    for (size_t kernel = 0; kernel < kKernels; ++kernel) {
      if (name(kernel) != wanted) continue;
      service::KeptKernel made(signing::Provenance::made_here());
      made.library = library(kernel, Whose::users, checked);
      return std::optional(std::move(made));
    }
    return fail(Errc::compile_failed, "no kernel '{}'", wanted);
  };
}

Result<Seen> Material::look(ByteView bytes) const {
  SMELT_TRY(const schema::Package package, schema::Package::open(bytes));
  Seen seen;
  for (uint32_t i = 0; i < package.library_count(); ++i) {
    SMELT_TRY(const schema::Library library, package.copy_library(i));
    std::map<std::string, Digest> airs;
    for (const schema::Slice& slice : library.slices)
      if (slice.kind == schema::SliceKind::metallib) {
        SMELT_TRY(airs, airs_of(slice.bytes));
      }
    for (const auto& [name, air] : airs) {
      const auto known = airs_.find(air);
      seen.strangers_air = seen.strangers_air || known == airs_.end() || known->second.second;
    }
    for (const schema::Slice& slice : library.slices) {
      if (slice.kind != schema::SliceKind::cpu) continue;
      SMELT_TRY(const auto codes, codes_of(slice.bytes));
      for (const auto& [name, code] : codes) {
        const auto known = codes_.find(code);
        const auto air = airs.contains(name) ? airs_.find(airs.at(name)) : airs_.end();
        seen.planted_code =
            seen.planted_code || known == codes_.end() || air == airs_.end() || known->second != air->second;
      }
    }
  }
  return seen;
}

}  // namespace smelt::test
