// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "diff/report.hpp"

#include "smelt/aot/listing.hpp"
#include "smelt/base/digest.hpp"
#include "smelt/base/tasks.hpp"
#include "smelt/schema/package.hpp"

#include "diff/code_diff.hpp"
#include "diff/interface_diff.hpp"
#include "diff/numbers.hpp"
#include "library_images.hpp"

#include <algorithm>
#include <map>
#include <set>

namespace smelt::cli {
namespace {

/// A function of both libraries, and what was found of it.
struct FunctionPair {
  const metallib::Function *a = nullptr, *b = nullptr;
  std::string stage;
  std::optional<aot::KernelInfo> info_a, info_b;  ///< of functions that can be read
  std::vector<Difference> differences;
  CodeDiff code;
  std::optional<NumberReport> numbers;
};

Result<aot::KernelInfo> info_of(ByteView bitcode, const std::string& name) {
  SMELT_TRY(std::vector<aot::KernelInfo> all, aot::describe(bitcode, name));
  for (aot::KernelInfo& info : all)
    if (info.name == name) return std::move(info);
  return fail(Errc::function_not_found, "its module has no entry point '{}'", name);
}

class PairComparison {
 public:
  PairComparison(const LibraryImage& a, const LibraryImage& b, const DiffOptions& options)
      : a_(a), b_(b), options_(options) {}

  Result<Json> compare() {
    pair_functions();
    SMELT_TRY_VOID(run_tasks(pairs_.size(), 0, [&](size_t i) -> Result<void> {
      compare_functions(pairs_[i]);
      return {};
    }));
    add_difference(differences_, "versions", "platform", a_.facts.platform, b_.facts.platform);
    add_difference(differences_, "versions", "system", os_text(a_.facts), os_text(b_.facts));
    lift_common_versions();
    run_functions();
    return json();
  }

 private:
  static std::string os_text(const metallib::LibraryFacts& facts) {
    return fmt::format("{}.{}.{}", facts.os_major, facts.os_minor, facts.os_patch);
  }

  bool is_wanted(const std::string& name) const {
    const auto& wanted = options_.functions;
    return wanted.empty() || std::find(wanted.begin(), wanted.end(), name) != wanted.end();
  }

  void pair_functions() {
    for (const metallib::Function& function : a_.contents.functions) {
      if (!is_wanted(function.name)) continue;
      if (const metallib::Function* other = b_.contents.find(function.name))
        pairs_.push_back({.a = &function, .b = other});
      else
        only_a_.push_back(function.name);
    }
    for (const metallib::Function& function : b_.contents.functions)
      if (is_wanted(function.name) && a_.contents.find(function.name) == nullptr) only_b_.push_back(function.name);
  }

  static std::string type_of(const LibraryImage& image, const metallib::Function& function) {
    return image.facts.functions[static_cast<size_t>(&function - image.contents.functions.data())].type;
  }

  /// Of modules that agree, what their containers say.
  static void compare_stamps(FunctionPair& pair) {
    const auto text = [](const metallib::Versions& versions) {
      return fmt::format("AIR {}.{}, Metal {}.{}", versions.air_major, versions.air_minor, versions.language_major,
                         versions.language_minor);
    };
    add_difference(pair.differences, "versions", "in the container", text(pair.a->versions), text(pair.b->versions));
  }

  void compare_functions(FunctionPair& pair) const {
    const ByteView bitcode_a = a_.contents.module_of(*pair.a).bitcode();
    const ByteView bitcode_b = b_.contents.module_of(*pair.b).bitcode();
    const bool same_bytes = std::equal(bitcode_a.begin(), bitcode_a.end(), bitcode_b.begin(), bitcode_b.end());
    pair.stage = type_of(a_, *pair.a);
    add_difference(pair.differences, "kind", "kind of function in the container", pair.stage, type_of(b_, *pair.b));
    if (same_bytes && options_.run != RunKernels::all) return compare_stamps(pair);
    const auto info_a = info_of(bitcode_a, pair.a->name);
    const auto info_b = same_bytes ? info_a : info_of(bitcode_b, pair.b->name);
    if (info_a) pair.info_a = *info_a;
    if (info_b) pair.info_b = *info_b;
    if (same_bytes) return compare_stamps(pair);
    if (!info_a || !info_b) {
      pair.differences.push_back({"unreadable", "module", info_a ? "can be read" : info_a.error().message,
                                  info_b ? "can be read" : info_b.error().message});
      return;
    }
    for (Difference& one : compare_interfaces(*info_a, *info_b)) pair.differences.push_back(std::move(one));
    if (info_a->air == info_b->air && info_a->language == info_b->language) compare_stamps(pair);
    const auto module_a = aot::comparable_module(bitcode_a, pair.a->name);
    const auto module_b = aot::comparable_module(bitcode_b, pair.b->name);
    if (!module_a || !module_b) {
      const Error& error = module_a ? module_b.error() : module_a.error();
      pair.differences.push_back({"unreadable", "module", error.message, error.message});
      return;
    }
    add_difference(pair.differences, "versions", "target triple", module_a->triple, module_b->triple);
    pair.code = compare_code(module_a->text, module_b->text, options_.most_lines);
    if (!pair.code.equal())
      pair.differences.push_back({"code", "lines of AIR of its own", fmt::format("{}", pair.code.removed),
                                  fmt::format("{}", pair.code.added)});
  }

  bool is_run(const FunctionPair& pair) const {
    if (!pair.info_a || !pair.info_b) return false;
    return options_.run == RunKernels::all || (options_.run == RunKernels::changed && !pair.code.equal());
  }

  void run_functions() {
    std::vector<std::string> names;
    for (const FunctionPair& pair : pairs_)
      if (is_run(pair)) names.push_back(pair.a->name);
    if (names.empty()) return;
    const auto numbers = NumberComparison::make(a_, b_, names, options_.use_store);
    for (FunctionPair& pair : pairs_) {
      if (!is_run(pair)) continue;
      if (!numbers) {
        pair.numbers.emplace().not_run = numbers.error().message;
        continue;
      }
      pair.numbers = numbers->compare(*pair.info_a, *pair.info_b);
      for (const Deviation& deviation : pair.numbers->deviations)
        pair.differences.push_back({"numbers",
                                    fmt::format("launch {}, buffer {} '{}', {} {}", deviation.launch, deviation.buffer,
                                                deviation.argument, deviation.type, deviation.at),
                                    deviation.a, deviation.b});
      for (const std::string& one : pair.numbers->one_sided)
        pair.differences.push_back({"numbers", "a launch that one side did not finish",
                                    one.starts_with("A: ") ? one.substr(3) : "finished",
                                    one.starts_with("B: ") ? one.substr(3) : "finished"});
    }
  }

  /// A library built for another system says so in every function: that is told once.
  void lift_common_versions() {
    std::map<Difference, size_t> counts;
    for (const FunctionPair& pair : pairs_)
      for (const Difference& difference : pair.differences)
        if (difference.kind == "versions") ++counts[difference];
    for (const auto& [difference, count] : counts) {
      if (count != pairs_.size()) continue;
      differences_.push_back(difference);
      for (FunctionPair& pair : pairs_) std::erase(pair.differences, difference);
    }
  }

  static Json to_json(const std::vector<Difference>& differences) {
    Json list = Json::array();
    for (const Difference& one : differences)
      list.push_back({{"kind", one.kind}, {"what", one.what}, {"a", one.a}, {"b", one.b}});
    return list;
  }

  static Json to_json(const Deviation& one) {
    Json json = {{"launch", one.launch},
                 {"buffer", one.buffer},
                 {"argument", one.argument},
                 {"type", one.type},
                 {"elements", one.elements},
                 {"different", one.different},
                 {"not_numbers", one.not_numbers},
                 {"at", one.at},
                 {"a", one.a},
                 {"b", one.b}};
    if (one.ulps) json["ulps"] = *one.ulps;
    if (one.relative) json["relative"] = *one.relative;
    return json;
  }

  static Json to_json(const NumberReport& numbers) {
    Json json = {{"launches", Json::array()}, {"deviations", Json::array()}};
    if (!numbers.not_run.empty()) json["not_run"] = numbers.not_run;
    const auto size = [](const loader::Size3& s) { return Json{s.x, s.y, s.z}; };
    for (const LaunchOutcome& one : numbers.launches) {
      Json launch = {{"threads", size(one.threads)}, {"group", size(one.group)}};
      if (!one.not_compared.empty()) launch["not_compared"] = one.not_compared;
      json["launches"].push_back(std::move(launch));
    }
    for (const Deviation& one : numbers.deviations) json["deviations"].push_back(to_json(one));
    return json;
  }

  static Json to_json(const FunctionPair& pair) {
    Json row = {{"name", pair.a->name}, {"type", pair.stage}, {"differences", to_json(pair.differences)}};
    if (!pair.code.equal())
      row["code"] = {{"removed", pair.code.removed},
                     {"added", pair.code.added},
                     {"metadata", pair.code.metadata},
                     {"lines", pair.code.lines},
                     {"left_out", pair.code.left_out}};
    if (pair.numbers) row["numbers"] = to_json(*pair.numbers);
    return row;
  }

  static Json place(const LibraryImage& image) {
    return {{"target", image.target}, {"library", image.library}, {"functions", image.contents.functions.size()}};
  }

  static Json same_json(const FunctionPair& pair) {
    Json row = {{"name", pair.a->name}, {"type", pair.stage}};
    if (pair.numbers) row["numbers"] = to_json(*pair.numbers);
    return row;
  }

  Json json() const {
    Json result = {{"a", place(a_)},
                   {"b", place(b_)},
                   {"differences", to_json(differences_)},
                   {"only_a", only_a_},
                   {"only_b", only_b_},
                   {"same", Json::array()},
                   {"different", Json::array()}};
    for (const FunctionPair& pair : pairs_) {
      if (pair.differences.empty())
        result["same"].push_back(same_json(pair));
      else
        result["different"].push_back(to_json(pair));
    }
    return result;
  }

  const LibraryImage &a_, &b_;
  const DiffOptions& options_;
  std::vector<FunctionPair> pairs_;
  std::vector<std::string> only_a_, only_b_;
  std::vector<Difference> differences_;
};

Json file_json(const std::string& name, ByteView bytes) {
  return {{"file", name},
          {"kind", schema::Package::looks_like(bytes) ? "package" : "metallib"},
          {"bytes", bytes.size()},
          {"sha256", to_hex(sha256(bytes))}};
}

using Images = std::vector<LibraryImage>;

Result<Images> open(ByteView bytes, const std::string& name, const std::string& target) {
  auto images = library_images(bytes);
  if (!images) return tl::unexpected(std::move(images).error().in(name));
  if (!target.empty()) std::erase_if(*images, [&](const LibraryImage& image) { return image.target != target; });
  return images;
}

/// Which library of A is compared with which of B: the same library for the same target, else the same target, and of
/// what is left the first with the first when nothing else fits.
std::vector<std::pair<const LibraryImage*, const LibraryImage*>> pair_images(const Images& a, const Images& b) {
  std::vector<std::pair<const LibraryImage*, const LibraryImage*>> pairs;
  std::set<const LibraryImage*> taken;
  const auto take = [&](const auto& fits) {
    for (const LibraryImage& one : a) {
      if (taken.contains(&one)) continue;
      const auto other = std::find_if(
          b.begin(), b.end(), [&](const LibraryImage& image) { return !taken.contains(&image) && fits(one, image); });
      if (other == b.end()) continue;
      pairs.emplace_back(&one, &*other);
      taken.insert({&one, &*other});
    }
  };
  take([](const auto& x, const auto& y) { return x.target == y.target && x.library == y.library; });
  take([](const auto& x, const auto& y) { return x.target == y.target; });
  if (pairs.empty() && !a.empty() && !b.empty()) pairs.emplace_back(&a.front(), &b.front());
  return pairs;
}

std::string title(const LibraryImage& image) {
  return image.library.empty() ? image.target : fmt::format("{} of '{}'", image.target, image.library);
}

Result<void> check_functions(const Images& a, const Images& b, const DiffOptions& options) {
  const auto has = [](const Images& images, const std::string& name) {
    return std::any_of(images.begin(), images.end(),
                       [&](const LibraryImage& image) { return image.contents.find(name) != nullptr; });
  };
  for (const std::string& name : options.functions)
    if (!has(a, name) && !has(b, name))
      return fail(Errc::function_not_found, "neither {} nor {} has a function '{}'", options.name_a, options.name_b,
                  name);
  return {};
}

}  // namespace

Result<Json> report_differences(ByteView a, ByteView b, const DiffOptions& options) {
  SMELT_TRY(const Images images_a, open(a, options.name_a, options.target));
  SMELT_TRY(const Images images_b, open(b, options.name_b, options.target));
  if (images_a.empty() || images_b.empty())
    return fail(Errc::invalid_argument, "--target {}: {} has no Metal library for it; smelt inspect lists the targets",
                options.target, images_a.empty() ? options.name_a : options.name_b);
  SMELT_TRY_VOID(check_functions(images_a, images_b, options));

  Json report = {{"kind", "diff"},
                 {"a", file_json(options.name_a, a)},
                 {"b", file_json(options.name_b, b)},
                 {"differs", false},
                 {"only_a", Json::array()},
                 {"only_b", Json::array()},
                 {"libraries", Json::array()}};
  bool differs = false;
  std::set<const LibraryImage*> compared;
  for (const auto& [one, other] : pair_images(images_a, images_b)) {
    compared.insert({one, other});
    SMELT_TRY(Json pair, PairComparison(*one, *other, options).compare());
    for (const char* key : {"differences", "only_a", "only_b", "different"}) differs = differs || !pair[key].empty();
    report["libraries"].push_back(std::move(pair));
  }
  for (const LibraryImage& image : images_a)
    if (!compared.contains(&image)) report["only_a"].push_back(title(image));
  for (const LibraryImage& image : images_b)
    if (!compared.contains(&image)) report["only_b"].push_back(title(image));
  report["differs"] = differs || !report["only_a"].empty() || !report["only_b"].empty();
  return report;
}

}  // namespace smelt::cli
