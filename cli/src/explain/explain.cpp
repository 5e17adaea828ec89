// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "explain/explain.hpp"

#include "smelt/aot/fingerprint.hpp"
#include "smelt/aot/listing.hpp"
#include "smelt/aot/verify.hpp"
#include "smelt/base/files.hpp"
#include "smelt/base/tasks.hpp"
#include "smelt/metallib/reader.hpp"
#include "smelt/metallib/universal.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/session.hpp"

#include "library_images.hpp"

#include <algorithm>
#include <filesystem>
#include <map>

namespace smelt::cli {
namespace {

/// The text of source files, under the names by which debug lines may call them.
class SourceTexts {
 public:
  void add(const std::string& name, std::string text) { texts_.emplace(name, std::move(text)); }

  /// By the name itself, else by its last part when only one file has that.
  const std::string* find(const std::string& name) const {
    if (const auto exact = texts_.find(name); exact != texts_.end()) return &exact->second;
    const std::string* found = nullptr;
    for (const auto& [known, text] : texts_) {
      if (std::filesystem::path(known).filename() != std::filesystem::path(name).filename()) continue;
      if (found != nullptr) return nullptr;
      found = &text;
    }
    return found;
  }

 private:
  std::map<std::string, std::string> texts_;
};

/// Files of all functions' debug lines by number, as the page's keys have them.
class FileNumbers {
 public:
  explicit FileNumbers(const SourceTexts& texts) : texts_(texts) {}

  uint32_t number(const std::string& name) {
    const auto [place, added] = numbers_.try_emplace(name, static_cast<uint32_t>(names_.size()));
    if (added) names_.push_back(name);
    return place->second;
  }
  bool has_text(const std::string& name) const { return texts_.find(name) != nullptr; }

  Json json() const {
    Json list = Json::array();
    for (const std::string& name : names_) {
      const std::string* text = texts_.find(name);
      list.push_back({{"name", name}, {"text", text ? Json(*text) : Json()}});
    }
    return list;
  }
  std::vector<std::string> without_text() const {
    std::vector<std::string> result;
    for (const std::string& name : names_)
      if (!has_text(name)) result.push_back(name);
    return result;
  }

 private:
  const SourceTexts& texts_;
  std::map<std::string, uint32_t> numbers_;
  std::vector<std::string> names_;
};

/// One function, as far as it can be worked on by itself.
struct Explained {
  std::optional<aot::KernelInfo> info;
  aot::AirListing air;
  aot::CpuListing cpu;
  std::string problem;  ///< why there is no AIR, or no CPU code
};

class Explainer {
 public:
  Explainer(const LibraryImage& image, const ExplainOptions& options, aot::CpuLevel level, const SourceTexts& texts)
      : image_(image), options_(options), level_(level), files_(texts) {
    const auto& wanted = options.compile.functions;
    for (size_t i = 0; i < image.contents.functions.size(); ++i)
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), image.contents.functions[i].name) != wanted.end())
        chosen_.push_back(i);
    for (const aot::Finding& finding : aot::verify_metallib(image.bytes)) findings_.push_back(finding);
  }

  Page page() {
    std::vector<Explained> all(chosen_.size());
    (void)run_tasks(chosen_.size(), options_.threads, [&](size_t i) -> Result<void> {
      all[i] = explain_one(image_.contents.functions[chosen_[i]]);
      return {};
    });
    Page page;
    page.title = "smelt explain " + options_.name;
    Json rows = Json::array();
    for (size_t i = 0; i < chosen_.size(); ++i) {
      Json part = part_of(chosen_[i], all[i]);
      rows.push_back(row_of(chosen_[i], all[i], part, page.parts.size()));
      page.parts.push_back(std::move(part));
    }
    page.data = {{"kind", "explain"},          {"file", options_.name},
                 {"facts", facts()},           {"functions", std::move(rows)},
                 {"sources", files_.json()},   {"notes", notes()},
                 {"findings", findings_of("")}};
    return page;
  }

 private:
  Explained explain_one(const metallib::Function& function) const {
    Explained result;
    const ByteView bitcode = image_.contents.module_of(function).bitcode();
    auto air = aot::list_air(bitcode, function.name);
    if (!air) {
      result.problem = air.error().message;
      return result;
    }
    result.air = std::move(*air);
    if (const auto infos = aot::describe(bitcode, function.name))
      for (const aot::KernelInfo& info : *infos)
        if (info.name == function.name) result.info = info;
    if (!options_.cpu || (result.info && result.info->stage != "kernel")) return result;
    auto cpu = aot::list_cpu({function.name, bitcode}, {.level = level_});
    if (cpu)
      result.cpu = std::move(*cpu);
    else
      result.problem = "No CPU code: " + cpu.error().message;
    return result;
  }

  Json facts() const {
    return {fmt::format("{} for {}",
                        image_.contents.functions.size() == 1
                            ? "one function"
                            : fmt::format("{} functions", image_.contents.functions.size()),
                        image_.target),
            fmt::format("{} bytes", image_.bytes.size()), fmt::format("container {}", image_.facts.container)};
  }

  Json notes() const {
    Json notes = Json::array();
    if (const auto missing = files_.without_text(); !missing.empty())
      notes.push_back(fmt::format("Debug lines name {} without giving the text: --source FILE shows it.",
                                  fmt::join(missing, ", ")));
    return notes;
  }

  /// Of one function, or, with an empty name, those that are about none.
  Json findings_of(const std::string& name) const {
    Json list = Json::array();
    for (const aot::Finding& finding : findings_) {
      const bool about_one = finding.place.find("function ") != std::string::npos;
      const bool wanted =
          name.empty() ? !about_one : about_one && finding.place.find("'" + name + "'") != std::string::npos;
      if (wanted)
        list.push_back({{"severity", finding.severity == aot::Finding::Severity::error ? "error" : "note"},
                        {"check", aot::to_string(finding.check)},
                        {"place", finding.place},
                        {"message", finding.message}});
    }
    return list;
  }

  /// Where a line of AIR was written: the innermost place whose text is there, else the innermost.
  Json place_of(const aot::AirListing& air, const aot::AirLine& line) {
    if (line.places.empty()) return 0;
    const auto known = std::find_if(line.places.begin(), line.places.end(), [&](const aot::SourcePlace& place) {
      return files_.has_text(air.files[place.file]);
    });
    const aot::SourcePlace& place = known == line.places.end() ? line.places.front() : *known;
    return {files_.number(air.files[place.file]), place.line};
  }

  Json part_of(size_t index, const Explained& one) {
    const metallib::FunctionFacts& facts = image_.facts.functions[index];
    Json part = {{"facts", Json::array()},
                 {"arguments", Json::array()},
                 {"constants", Json::array()},
                 {"problem", one.problem},
                 {"findings", findings_of(facts.name)},
                 {"air", Json::array()},
                 {"places", Json::array()},
                 {"cpu", Json::array()},
                 {"cpu_lines", Json::array()},
                 {"level", aot::to_string(level_)}};
    const auto say = [&](std::string text) { part["facts"].push_back(std::move(text)); };
    const metallib::Versions& versions = facts.versions;
    say(fmt::format("AIR {}.{}, Metal {}.{}", versions.air_major, versions.air_minor, versions.language_major,
                    versions.language_minor));
    say(facts.hash_matches ? "hash ok" : "hash does not match");
    if (one.info) {
      if (one.info->max_threads != 0) say(fmt::format("at most {} threads in a threadgroup", one.info->max_threads));
      if (one.info->threadgroup_bytes != 0)
        say(fmt::format("{} bytes of threadgroup memory", one.info->threadgroup_bytes));
      for (const aot::ArgumentInfo& argument : one.info->arguments)
        part["arguments"].push_back(argument_json(argument));
      for (const aot::ConstantInfo& constant : one.info->constants)
        part["constants"].push_back(constant_json(constant));
    }
    if (!one.cpu.lines.empty()) say(fmt::format("CPU code by {}", one.cpu.method));
    for (const aot::AirLine& line : one.air.lines) {
      part["air"].push_back(line.text);
      part["places"].push_back(place_of(one.air, line));
    }
    for (const aot::CpuLine& line : one.cpu.lines) {
      part["cpu"].push_back(line.text);
      part["cpu_lines"].push_back(line.air_line);
    }
    return part;
  }

  Json row_of(size_t index, const Explained& one, const Json& part, size_t number) const {
    const metallib::FunctionFacts& facts = image_.facts.functions[index];
    Json words = Json::array();
    for (const Json& argument : part["arguments"]) {
      words.push_back(argument["name"]);
      words.push_back(argument["type_name"]);
    }
    return {{"name", facts.name},
            {"type", facts.type},
            {"air_bytes", facts.bitcode_size},
            {"cpu_bytes", one.cpu.code_bytes},
            {"findings", part["findings"].size()},
            {"problem", !one.problem.empty()},
            {"words", std::move(words)},
            {"part", number}};
  }

  const LibraryImage& image_;
  const ExplainOptions& options_;
  aot::CpuLevel level_;
  FileNumbers files_;
  std::vector<size_t> chosen_;
  std::vector<aot::Finding> findings_;
};

/// Compiles source with debug lines, and takes its text and that of what it includes.
Result<Bytes> compile_source(ByteView file, const ExplainOptions& options, SourceTexts& texts) {
  service::Request request;
  request.sources = {{options.name == "-" ? "stdin" : options.name, file}};
  request.options = options.compile;
  request.options.debug_lines = true;
  request.options.cache_folder = service::precompiled_folder().string();
  request.cpu = false;
  SMELT_TRY(Bytes package, service::build_package(request, options.threads, {}));
  if (aot::is_metal_source(file)) texts.add(request.sources.front().name, std::string(as_text(file)));
  for (const std::string& included : aot::source_dependencies(request.sources.front(), request.options))
    if (const auto text = read_file(included)) texts.add(included, std::string(as_text(*text)));
  return package;
}

Result<Page> explain_library(ByteView file, const ExplainOptions& options, const SourceTexts& texts) {
  SMELT_TRY(const std::vector<LibraryImage> images, library_images(file));
  const auto fits = [&](const LibraryImage& image) { return options.target.empty() || image.target == options.target; };
  const auto image = std::find_if(images.begin(), images.end(), fits);
  if (image == images.end())
    return fail(Errc::invalid_argument,
                "--target {}: there is no Metal library for it; smelt inspect lists what there is", options.target);
  for (const std::string& name : options.compile.functions)
    if (image->contents.find(name) == nullptr)
      return fail(Errc::function_not_found, "there is no function '{}'; smelt inspect lists what there is", name);
  const auto host = aot::host_cpu_level();
  const aot::CpuLevel level = options.level.value_or(host ? *host : aot::CpuLevel::x86_64_v3);
  return Explainer(*image, options, level, texts).page();
}

}  // namespace

Result<Page> explain(ByteView file, const ExplainOptions& options) {
  SourceTexts texts;
  for (const std::string& name : options.sources) {
    SMELT_TRY(const Bytes text, read_file(name));
    texts.add(name, std::string(as_text(text)));
  }
  const bool is_library =
      schema::Package::looks_like(file) || metallib::is_metallib(file) || metallib::is_universal(file);
  Bytes made;
  if (!is_library) {
    SMELT_TRY(made, compile_source(file, options, texts));
  }
  auto page = explain_library(is_library ? file : made, options, texts);
  if (!page) return tl::unexpected(std::move(page).error().in(options.name));
  return page;
}

}  // namespace smelt::cli
