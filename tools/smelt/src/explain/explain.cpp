// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "explain/explain.hpp"

#include "smelt/aot/fingerprint.hpp"
#include "smelt/aot/listing.hpp"
#include "smelt/aot/verify.hpp"
#include "smelt/base/files.hpp"
#include "smelt/base/tasks.hpp"
#include "smelt/schema/package.hpp"
#include "smelt/service/session.hpp"

#include "library_images.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>

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

/// One function, ready for the page.
struct Explained {
  Json row;
  std::string part;
  std::vector<std::string> files;  ///< that its debug lines name
};

class Explainer {
 public:
  Explainer(const LibraryImage& image, const ExplainOptions& options, aot::CpuLevel level, const SourceTexts& texts)
      : image_(image), options_(options), level_(level), texts_(texts) {
    const auto& wanted = options.compile.functions;
    for (size_t i = 0; i < image.contents.functions.size(); ++i)
      if (wanted.empty() || std::find(wanted.begin(), wanted.end(), image.contents.functions[i].name) != wanted.end())
        chosen_.push_back(i);
    for (const aot::Finding& finding : aot::verify_metallib(image.bytes)) findings_.push_back(finding);
  }

  Result<Page> page() {
    std::vector<Explained> all(chosen_.size());
    SMELT_TRY_VOID(run_tasks(chosen_.size(), options_.threads, [&](size_t i) -> Result<void> {
      all[i] = explain_one(chosen_[i]);
      return {};
    }));
    Page page;
    page.title = "smelt explain " + options_.name;
    Json rows = Json::array();
    std::set<std::string> files;
    for (Explained& one : all) {
      one.row["part"] = page.parts.size();
      rows.push_back(std::move(one.row));
      page.parts.push_back(std::move(one.part));
      files.insert(one.files.begin(), one.files.end());
    }
    page.data = {{"kind", "explain"},          {"file", options_.name},
                 {"facts", facts()},           {"functions", std::move(rows)},
                 {"sources", sources(files)},  {"notes", notes(files)},
                 {"findings", findings_of("")}};
    return page;
  }

 private:
  Explained explain_one(size_t index) const {
    const metallib::Function& function = image_.contents.functions[index];
    const metallib::FunctionFacts& facts = image_.facts.functions[index];
    const ByteView bitcode = image_.contents.module_of(function).bitcode();
    Explained result;
    Json part = {{"facts", Json::array()},
                 {"arguments", Json::array()},
                 {"constants", Json::array()},
                 {"problem", ""},
                 {"findings", findings_of(facts.name)},
                 {"files", Json::array()},
                 {"air", Json::array()},
                 {"places", Json::array()},
                 {"cpu", Json::array()},
                 {"cpu_lines", Json::array()},
                 {"level", aot::to_string(level_)}};
    part["facts"].push_back(fmt::format("AIR {}.{}, Metal {}.{}", function.versions.air_major,
                                        function.versions.air_minor, function.versions.language_major,
                                        function.versions.language_minor));
    part["facts"].push_back(facts.hash_matches ? "hash ok" : "hash does not match");
    uint64_t cpu_bytes = 0;
    if (auto air = aot::list_air(bitcode, function.name)) {
      add_air(part, *air);
      result.files = std::move(air->files);
      const bool is_kernel = add_interface(part, bitcode, function.name);
      if (options_.cpu && is_kernel) cpu_bytes = add_cpu(part, bitcode, function.name);
    } else {
      part["problem"] = air.error().message;
    }
    Json words = Json::array();
    for (const Json& argument : part["arguments"]) {
      words.push_back(argument["name"]);
      words.push_back(argument["type_name"]);
    }
    result.row = {{"name", facts.name},
                  {"type", facts.type},
                  {"air_bytes", facts.bitcode_size},
                  {"cpu_bytes", cpu_bytes},
                  {"findings", part["findings"].size()},
                  {"problem", !part["problem"].get<std::string>().empty()},
                  {"words", std::move(words)}};
    result.part = packed_part(part);
    return result;
  }

  void add_air(Json& part, const aot::AirListing& air) const {
    part["files"] = air.files;
    for (const aot::AirLine& line : air.lines) {
      part["air"].push_back(line.text);
      part["places"].push_back(place_of(air, line));
    }
  }

  /// Arguments, constants and limits; false for what is known not to be a kernel.
  static bool add_interface(Json& part, ByteView bitcode, const std::string& name) {
    const auto infos = aot::describe(bitcode, name);
    if (!infos) return true;
    for (const aot::KernelInfo& info : *infos) {
      if (info.name != name) continue;
      if (info.max_threads != 0)
        part["facts"].push_back(fmt::format("at most {} threads in a threadgroup", info.max_threads));
      if (info.threadgroup_bytes != 0)
        part["facts"].push_back(fmt::format("{} bytes of threadgroup memory", info.threadgroup_bytes));
      for (const aot::ArgumentInfo& argument : info.arguments) part["arguments"].push_back(argument_json(argument));
      for (const aot::ConstantInfo& constant : info.constants) part["constants"].push_back(constant_json(constant));
      return info.stage == "kernel";
    }
    return true;
  }

  /// Returns the code's bytes.
  uint64_t add_cpu(Json& part, ByteView bitcode, const std::string& name) const {
    const auto cpu = aot::list_cpu({name, bitcode}, {.level = level_});
    if (!cpu) {
      part["problem"] = "No CPU code: " + cpu.error().message;
      return 0;
    }
    part["facts"].push_back(fmt::format("CPU code by {}", cpu->method));
    for (const aot::CpuLine& line : cpu->lines) {
      part["cpu"].push_back(line.text);
      part["cpu_lines"].push_back(line.air_line);
    }
    return cpu->code_bytes;
  }

  Json facts() const {
    return {fmt::format("{} for {}",
                        image_.contents.functions.size() == 1
                            ? "one function"
                            : fmt::format("{} functions", image_.contents.functions.size()),
                        image_.target),
            fmt::format("{} bytes", image_.bytes.size()), fmt::format("container {}", image_.facts.container)};
  }

  Json sources(const std::set<std::string>& files) const {
    Json sources = Json::object();
    for (const std::string& name : files)
      if (const std::string* text = texts_.find(name)) sources[name] = *text;
    return sources;
  }

  Json notes(const std::set<std::string>& files) const {
    std::vector<std::string> missing;
    for (const std::string& name : files)
      if (texts_.find(name) == nullptr) missing.push_back(name);
    Json notes = Json::array();
    if (!missing.empty())
      notes.push_back(fmt::format("The debug lines name {} but do not hold the text: pass --source FILE.",
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
  Json place_of(const aot::AirListing& air, const aot::AirLine& line) const {
    if (line.places.empty()) return 0;
    const auto known = std::find_if(line.places.begin(), line.places.end(), [&](const aot::SourcePlace& place) {
      return texts_.find(air.files[place.file]) != nullptr;
    });
    const aot::SourcePlace& place = known == line.places.end() ? line.places.front() : *known;
    return {place.file, place.line};
  }

  const LibraryImage& image_;
  const ExplainOptions& options_;
  aot::CpuLevel level_;
  const SourceTexts& texts_;
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
                "--target {}: there is no Metal library for it; smelt inspect lists the targets", options.target);
  for (const std::string& name : options.compile.functions)
    if (image->contents.find(name) == nullptr)
      return fail(Errc::function_not_found, "there is no function '{}'; smelt inspect lists the functions", name);
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
  const bool is_library = schema::Package::looks_like(file) || aot::is_metal_library(file);
  Bytes made;
  if (!is_library) {
    SMELT_TRY(made, compile_source(file, options, texts));
  }
  const auto in_child = [&]() -> Result<Page> {
    SMELT_TRY(const Bytes page, read_apart(options.reading, [&]() -> Result<Bytes> {
                SMELT_TRY(const Page made_there, explain_library(file, options, texts));
                return write_page(made_there);
              }));
    return read_page(page);
  };
  auto page = is_library ? in_child() : explain_library(made, options, texts);
  if (!page) return tl::unexpected(std::move(page).error().in(options.name));
  return page;
}

}  // namespace smelt::cli
