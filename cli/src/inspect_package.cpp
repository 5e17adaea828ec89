// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report on a package: its manifest, and the hash of every part.
#include "smelt/schema/package.hpp"

#include "inspect_report.hpp"

namespace smelt::cli {
namespace {

Json package_argument_json(const schema::ArgumentView& argument) {
  return {{"index", argument.index},
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

Json slice_json(const schema::Package& package, const schema::LibraryView& library, uint32_t index) {
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
  Json report = {{"kind", "package"},          {"bytes", file.size()},       {"digest", to_hex(package.digest())},
                 {"format", package.format()}, {"functions", Json::array()}, {"slices", Json::array()},
                 {"libraries", Json::array()}};
  for (uint32_t l = 0; l < package.library_count(); ++l) {
    const schema::LibraryView library = package.library(l);
    report["libraries"].push_back(library_json(package, library));
    for (uint32_t i = 0; i < library.functions.count; ++i)
      report["functions"].push_back(package_function_json(package, library, i));
    for (uint32_t i = 0; i < library.slices.count; ++i) report["slices"].push_back(slice_json(package, library, i));
  }
  return report;
}

}  // namespace smelt::cli
