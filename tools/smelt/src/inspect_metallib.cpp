// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report on a Metal library: the container's facts from smelt::metallib, the arguments from each module's metadata.
#include "smelt/aot/stage_info.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/metallib/check.hpp"
#include "smelt/metallib/inspect.hpp"
#include "smelt/metallib/names.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"

#include "inspect_report.hpp"
#include "library_images.hpp"

#include <algorithm>

namespace smelt::cli {
namespace {

std::string version_text(uint16_t major, uint16_t minor) {
  return fmt::format("{}.{}", major, minor);
}

/// What a stage gets besides bindings, in its arguments, and what it returns.
void add_stage_info(Json& json, const metallib::Library& library, const metallib::Function& function) {
  const auto stages = aot::describe_stages(library.module_of(function).bitcode(), function.name);
  if (!stages) return;  // told already
  for (const aot::StageInfo& stage : *stages) {
    if (stage.name != function.name) continue;
    json["results"] = Json::array();
    for (Json& argument : json["arguments"])
      for (const aot::StageValueInfo& input : stage.inputs)
        if (argument["index"] == input.index) argument["detail"] = input.detail;
    for (const aot::StageValueInfo& result : stage.results)
      json["results"].push_back({{"air_kind", result.air_kind},
                                 {"detail", result.detail},
                                 {"type_name", result.type_name},
                                 {"name", result.name},
                                 {"conditional", result.conditional}});
  }
}

/// What the module says about the function; a module that cannot be read says so in place of its arguments.
void add_kernel_info(Json& json, const metallib::Library& library, const metallib::Function& function) {
  json["arguments"] = Json::array();
  json["constants"] = Json::array();
  const auto infos = aot::describe(library.module_of(function).bitcode(), function.name);
  if (!infos) {
    json["problem"] = infos.error().message;
    return;
  }
  const auto info =
      std::find_if(infos->begin(), infos->end(), [&](const aot::KernelInfo& i) { return i.name == function.name; });
  if (info == infos->end()) {
    json["problem"] = fmt::format("its module has no entry point '{}'", function.name);
    return;
  }
  for (const aot::ArgumentInfo& argument : info->arguments) json["arguments"].push_back(argument_json(argument));
  if (info->stage != "kernel") add_stage_info(json, library, function);
  for (const aot::ConstantInfo& constant : info->constants) json["constants"].push_back(constant_json(constant));
  json["max_threads"] = info->max_threads;
  json["threadgroup_bytes"] = info->threadgroup_bytes;
}

Json metallib_function_json(const metallib::Library& library, const metallib::Function& function,
                            const metallib::FunctionFacts& facts) {
  Json json = {{"name", facts.name},
               {"type", facts.type},
               {"air", version_text(facts.versions.air_major, facts.versions.air_minor)},
               {"metal", version_text(facts.versions.language_major, facts.versions.language_minor)},
               {"hash", facts.hash},
               {"hash_matches", facts.hash_matches},
               {"module_offset", facts.module_offset},
               {"module_bytes", facts.module_size},
               {"bitcode_bytes", facts.bitcode_size},
               {"tags", facts.tags}};
  add_kernel_info(json, library, function);
  for (const metallib::VertexAttribute& attribute : facts.vertex_attributes)
    json["vertex_attributes"].push_back({{"name", attribute.name},
                                         {"index", attribute.index},
                                         {"type_name", metallib::data_type_name(attribute.type)},
                                         {"use", attribute.use},
                                         {"active", attribute.active}});
  // Bits 0 and 1 are the patch, the others how many control points.
  if (const unsigned patch = function.tessellation.value_or(0) & 3; patch != 0)
    json["patch"] = {{"domain", patch == 1 ? "triangle" : "quad"},
                     {"control_points", unsigned{*function.tessellation} >> 2}};
  if (!facts.source_path.empty()) json["source"] = {{"path", facts.source_path}, {"line", facts.source_line}};
  if (!facts.air_path.empty()) json["air_path"] = facts.air_path;
  if (facts.source_archive) json["source_archive"] = *facts.source_archive;
  if (facts.reflection)
    json["reflection"] = {{"version", facts.reflection->version}, {"node_types", facts.reflection->node_types}};
  return json;
}

Json container_json(const metallib::LibraryFacts& facts) {
  Json json = {{"version", facts.container},
               {"dialect", facts.dialect},
               {"file_type", facts.file_type},
               {"platform", facts.platform},
               {"os", fmt::format("{}.{}.{}", facts.os_major, facts.os_minor, facts.os_patch)},
               {"built_for_macos", facts.built_for_macos},
               {"stub", facts.stub},
               {"64_bit", facts.is_64bit},
               {"uuid", facts.uuid},
               {"sections", Json::array()},
               {"extension", facts.extension_tags}};
  for (const metallib::SectionFacts& section : facts.sections)
    json["sections"].push_back({{"name", section.name}, {"offset", section.offset}, {"bytes", section.size}});
  if (!facts.source_archives.empty() || !facts.link_command.empty()) {
    Json archives = Json::array();
    for (const metallib::ArchiveFacts& archive : facts.source_archives)
      archives.push_back({{"id", archive.id}, {"compression", archive.compression}, {"bytes", archive.size}});
    json["sources"] = {
        {"command", facts.link_command}, {"directory", facts.link_directory}, {"archives", std::move(archives)}};
  }
  if (!facts.install_name.empty()) json["install_name"] = facts.install_name;
  if (!facts.linked_libraries.empty()) json["linked_libraries"] = facts.linked_libraries;
  return json;
}

Result<void> add_image(Json& report, const metallib::Image& image) {
  SMELT_TRY(const metallib::Library library, metallib::read(image.bytes, {.check_hashes = false}));
  SMELT_TRY(const metallib::LibraryFacts facts, metallib::inspect(library));
  Json slice = {{"target", target_name(facts)}, {"bytes", image.bytes.size()}, {"sha256", to_hex(sha256(image.bytes))},
                {"functions", Json::array()},   {"missing", Json::array()},    {"container", container_json(facts)}};
  if (!image.where.empty()) slice["place"] = image.where;
  for (size_t i = 0; i < facts.functions.size(); ++i) {
    slice["functions"].push_back(facts.functions[i].name);
    // A function that several slices hold is shown once, as the first has it.
    const auto known = std::any_of(report["functions"].begin(), report["functions"].end(),
                                   [&](const Json& f) { return f["name"] == facts.functions[i].name; });
    if (!known)
      report["functions"].push_back(metallib_function_json(library, library.functions[i], facts.functions[i]));
  }
  report["slices"].push_back(std::move(slice));
  return {};
}

}  // namespace

Json argument_json(const aot::ArgumentInfo& argument) {
  return {{"index", argument.index},
          {"kind", aot::to_string(argument.kind)},
          {"type_name", argument.type_name},
          {"name", argument.name},
          {"location", argument.location},
          {"count", argument.count},
          {"access", aot::to_string(argument.access)},
          {"address_space", argument.address_space},
          {"size", argument.size},
          {"align", argument.align},
          {"unused", argument.unused},
          {"conditional", argument.conditional},
          {"air_kind", argument.air_kind}};
}

Json constant_json(const aot::ConstantInfo& constant) {
  return {{"index", constant.index},
          {"name", constant.name},
          {"type_name", constant.type_name},
          {"required", constant.required}};
}

Result<Json> report_metallib(ByteView file) {
  SMELT_TRY(const std::vector<metallib::Image> images, metallib::find_images(file));
  Json report = {{"kind", "metallib"},         {"bytes", file.size()},    {"sha256", to_hex(sha256(file))},
                 {"functions", Json::array()}, {"slices", Json::array()}, {"findings", Json::array()}};
  for (const metallib::Image& image : images) {
    auto added = add_image(report, image);
    if (!added && !image.where.empty()) return tl::unexpected(std::move(added).error().in(image.where));
    if (!added) return tl::unexpected(std::move(added).error());
  }
  for (const metallib::Finding& finding : metallib::check_file(file))
    report["findings"].push_back({{"severity", finding.severity == metallib::Severity::error ? "error" : "note"},
                                  {"place", finding.place},
                                  {"message", finding.message}});
  return report;
}

}  // namespace smelt::cli
