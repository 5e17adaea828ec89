// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report on a package: its manifest, the hash of every part, and how large each kernel's CPU code is.
#include "smelt/aot/instruction_count.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/schema/cpu_slice.hpp"
#include "smelt/schema/package.hpp"

#include "inspect_report.hpp"

#include <map>

namespace smelt::cli {
namespace {

/// Instructions of AIR by function, from the library's Metal slices; the first that has a function counts. A module
/// that cannot be read has none, nor is any read for a library without CPU code.
using Instructions = std::map<std::string, uint64_t, std::less<>>;

Instructions instructions_of(const schema::Package& package, const schema::LibraryView& library) {
  Instructions found;
  bool has_code = false;
  for (uint32_t i = 0; i < library.slices.count; ++i)
    has_code |= package.slice(library.slices.first + i).kind == schema::SliceKind::cpu;
  if (!has_code) return found;
  for (uint32_t i = 0; i < library.slices.count; ++i) {
    const schema::SliceView slice = package.slice(library.slices.first + i);
    if (slice.kind != schema::SliceKind::metallib) continue;
    const auto read = metallib::read(slice.part.bytes, {.check_hashes = false});
    if (!read) continue;
    for (const metallib::Function& function : read->functions) {
      if (found.contains(function.name)) continue;
      if (const auto count = aot::instruction_count(read->module_of(function).bitcode(), function.name))
        found.emplace(function.name, *count);
    }
  }
  return found;
}

Json code_json(const schema::CpuSlice& slice, const Instructions& instructions) {
  Json rows = Json::array();
  for (const schema::CpuKernel& kernel : slice.kernels) {
    Json row = {{"name", kernel.name}, {"bytes", kernel.code_bytes}, {"method", kernel.method}};
    if (const auto count = instructions.find(kernel.name); count != instructions.end() && count->second != 0) {
      row["air_instructions"] = count->second;
      row["bytes_per_instruction"] = static_cast<double>(kernel.code_bytes) / static_cast<double>(count->second);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Json member_json(const schema::MemberView& member) {
  return {{"id", member.id},
          {"kind", to_string(member.kind)},
          {"type_name", member.type_name},
          {"name", member.name},
          {"count", member.count},
          {"offset", member.offset},
          {"size", member.size},
          {"access", to_string(member.access)}};
}

Json package_argument_json(const schema::ArgumentView& argument) {
  Json json = {{"index", argument.index},
               {"kind", to_string(argument.kind)},
               {"type_name", argument.type_name},
               {"name", argument.name},
               {"location", argument.location},
               {"count", argument.array_size},
               {"access", to_string(argument.access)},
               {"address_space", argument.address_space},
               {"size", argument.size},
               {"align", argument.align},
               {"unused", argument.unused},
               {"conditional", argument.conditional}};
  for (const schema::MemberView& member : argument.members) json["members"].push_back(member_json(member));
  return json;
}

Json package_function_json(const schema::Package& package, const schema::LibraryView& library, uint32_t index) {
  const schema::FunctionView function = package.function(library.functions.first + index);
  Json json = {{"name", function.name},
               {"type", to_string(function.kind)},
               {"library", library.name},
               {"arguments", Json::array()},
               {"constants", Json::array()},
               {"max_threads", function.max_threads},
               {"threadgroup_bytes", function.threadgroup_bytes}};
  if (function.grid_rank != 0) json["grid_rank"] = function.grid_rank;
  if (function.required_group[0] != 0) json["required_group"] = function.required_group;
  for (uint32_t i = 0; i < function.arguments.count; ++i)
    json["arguments"].push_back(package_argument_json(package.argument(function.arguments.first + i)));
  for (uint32_t i = 0; i < function.constants.count; ++i) {
    const schema::ConstantView constant = package.constant(function.constants.first + i);
    json["constants"].push_back({{"index", constant.index},
                                 {"name", constant.name},
                                 {"type_name", constant.type_name},
                                 {"required", constant.required}});
  }
  return json;
}

Json slice_json(const schema::Package& package, const schema::LibraryView& library, uint32_t index,
                const Instructions& instructions) {
  const schema::SliceView slice = package.slice(library.slices.first + index);
  Json json = {{"target", slice.target},
               {"bytes", slice.part.bytes.size()},
               {"sha256", to_hex(slice.part.hash)},
               {"hash_matches", schema::check_part(slice.part, slice.target).has_value()},
               {"library", library.name},
               {"kind", slice.kind == schema::SliceKind::cpu ? "cpu" : "metallib"},
               {"functions", Json::array()},
               {"missing", Json::array()}};
  if (slice.kind == schema::SliceKind::metallib) {
    json["os"] = to_string(slice.os);
    json["metal"] = to_string(slice.metal);
    json["air"] = to_string(slice.air);
  }
  if (slice.checked) json["checked"] = true;
  if (slice.kind == schema::SliceKind::cpu)
    if (const auto code = schema::read_cpu_slice(slice.part.bytes)) json["code"] = code_json(*code, instructions);
  for (uint32_t i = 0; i < library.functions.count; ++i) {
    const schema::PresenceView presence = package.presence(slice.first_presence + i);
    const std::string_view name = package.function(library.functions.first + i).name;
    if (presence.missing)
      json["missing"].push_back({{"name", name}, {"reason", presence.reason}});
    else
      json["functions"].push_back(name);
  }
  return json;
}

Json library_json(const schema::Package& package, const schema::LibraryView& library) {
  Json json = {{"name", library.name},         {"version", library.version},
               {"compiler", library.compiler}, {"source_sha256", to_hex(library.source)},
               {"tags", Json::array()},        {"attachments", Json::array()}};
  for (uint32_t i = 0; i < library.tags.count; ++i) json["tags"].push_back(package.tag(library.tags.first + i));
  for (uint32_t i = 0; i < library.attachments.count; ++i) {
    const schema::AttachmentView attachment = package.attachment(library.attachments.first + i);
    json["attachments"].push_back({{"name", attachment.name}, {"bytes", attachment.part.bytes.size()}});
  }
  return json;
}

}  // namespace

Result<Json> report_package(ByteView file) {
  SMELT_TRY(const schema::Package package, schema::Package::open(file));
  Json report = {{"kind", "package"},
                 {"bytes", file.size()},
                 {"digest", to_hex(package.digest())},
                 {"format", package.format()},
                 {"functions", Json::array()},
                 {"slices", Json::array()},
                 {"libraries", Json::array()},
                 {"signatures", package.signatures()}};
  for (uint32_t l = 0; l < package.library_count(); ++l) {
    const schema::LibraryView library = package.library(l);
    report["libraries"].push_back(library_json(package, library));
    for (uint32_t i = 0; i < library.functions.count; ++i)
      report["functions"].push_back(package_function_json(package, library, i));
    const Instructions instructions = instructions_of(package, library);
    for (uint32_t i = 0; i < library.slices.count; ++i)
      report["slices"].push_back(slice_json(package, library, i, instructions));
  }
  return report;
}

}  // namespace smelt::cli
