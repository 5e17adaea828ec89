// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// smelt trace FILE: what a program compiled, found and launched, out of the file that SMELT_TRACE wrote.
#include "smelt/base/files.hpp"
#include "smelt/base/foreign_text.hpp"
#include "smelt/base/sort.hpp"
#include "smelt/base/text.hpp"

#include "verbs.hpp"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace smelt::cli {
namespace {

using Json = nlohmann::ordered_json;

struct TraceOptions {
  std::string input;
  bool json = false;
};

/// A source or file that was compiled or found.
struct RequestRow {
  std::string name, error;
  bool found = false;
  double milliseconds = 0;
  std::optional<uint64_t> kernels, kept;  // of what was compiled
};

/// All launches of one kernel of one library.
struct KernelRow {
  std::string name, library, largest;
  size_t launches = 0, failed = 0;
  double microseconds = 0;
  uint64_t threads = 0;  // of the largest launch
  std::string code;      // where its code is from
};

struct Summary {
  std::vector<RequestRow> requests;
  std::vector<KernelRow> kernels;
};

std::string text_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}
double number_in(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

/// Facts are text in a trace.
std::optional<uint64_t> count_in(const Json& object, const char* key) {
  const std::string text = text_in(object, key);
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  return error == std::errc() ? std::optional(count) : std::nullopt;
}

/// "1024 x 2 x 1" as a count; 0 when it is none.
uint64_t product(const std::string& size) {
  unsigned long long x = 0, y = 0, z = 0;
  return std::sscanf(size.c_str(), "%llu x %llu x %llu", &x, &y, &z) == 3 ? x * y * z : 0;
}

class Reader {
 public:
  void read(const Json& event) {
    if (!event.is_object()) return;
    const std::string category = text_in(event, "cat");
    const auto args = event.find("args");
    const Json none = Json::object();
    const Json& facts = args != event.end() && args->is_object() ? *args : none;
    if (category == "compile" || category == "store")
      summary_.requests.push_back({text_in(event, "name"), text_in(facts, "error"), category == "store",
                                   number_in(event, "dur") / 1000, count_in(facts, "kernels"),
                                   count_in(facts, "from the store")});
    else if (category == "kernel")
      code_[text_in(event, "name")] = text_in(facts, "from");
    else if (category == "dispatch")
      launch(event, facts);
  }

  Summary finish() {
    for (auto& [key, row] : rows_) {
      if (const auto code = code_.find(row.name); code != code_.end()) row.code = code->second;
      summary_.kernels.push_back(std::move(row));
    }
    sort_stably(summary_.kernels, [](const auto& a, const auto& b) { return a.microseconds > b.microseconds; });
    return std::move(summary_);
  }

 private:
  void launch(const Json& event, const Json& facts) {
    KernelRow& row = rows_[{text_in(event, "name"), text_in(facts, "package")}];
    row.name = text_in(event, "name");
    row.library = text_in(facts, "library");
    ++row.launches;
    if (facts.contains("error")) ++row.failed;
    row.microseconds += number_in(event, "dur");
    const std::string size = text_in(facts, "threads");
    if (row.largest.empty() || product(size) > row.threads) {
      row.largest = size;
      row.threads = product(size);
    }
  }

  Summary summary_;
  std::map<std::pair<std::string, std::string>, KernelRow> rows_;
  std::map<std::string, std::string> code_;  // by name alone: a kernel is made before its package has a digest
};

Result<Summary> summary_of(const std::string& name) {
  SMELT_TRY(const Bytes file, read_file(name));
  const Json events = Json::parse(as_text(file), nullptr, false);
  if (!events.is_array())
    return fail(Errc::invalid_argument, "{}: this is not a trace; want a file that SMELT_TRACE wrote, a JSON array",
                name);
  Reader reader;
  for (const Json& event : events) reader.read(event);
  return reader.finish();
}

/// A number of a file that anybody may have written, in a column.
std::string fixed(double value, int digits) {
  return std::abs(value) < 1e12 ? fmt::format("{:.{}f}", value, digits) : fmt::format("{:.2e}", value);
}

std::string table_of(const Summary& summary) {
  std::string out;
  const auto to = std::back_inserter(out);
  for (const RequestRow& row : summary.requests) {
    const char* const how = !row.error.empty() ? "failed  " : row.found ? "found   " : "compiled";
    fmt::format_to(to, "{} {:>10} ms  {}", how, fixed(row.milliseconds, 1), printable(row.name));
    if (row.kernels) fmt::format_to(to, ": {} kernels, {} from the store", *row.kernels, row.kept.value_or(0));
    if (!row.error.empty()) fmt::format_to(to, ": {}", printable(row.error));
    out += '\n';
  }
  if (!summary.requests.empty() && !summary.kernels.empty()) out += '\n';
  if (summary.kernels.empty()) return out;
  size_t width = std::string_view("kernel").size();
  for (const KernelRow& row : summary.kernels) width = std::max(width, printable(row.name).size());
  fmt::format_to(to, "{:<{}}  {:>8}  {:>10}  {:>10}  {:<20}  {:<8}  {}\n", "kernel", width, "launches", "total ms",
                 "mean us", "most threads", "code", "library");
  for (const KernelRow& row : summary.kernels) {
    fmt::format_to(to, "{:<{}}  {:>8}  {:>10}  {:>10}  {:<20}  {:<8}  {}", printable(row.name), width, row.launches,
                   fixed(row.microseconds / 1000, 3), fixed(row.microseconds / static_cast<double>(row.launches), 1),
                   one_line(row.largest, 64), printable(row.code.empty() ? "loaded" : row.code),
                   printable(row.library));
    if (row.failed != 0) fmt::format_to(to, ", {} failed", row.failed);
    out += '\n';
  }
  return out;
}

Json json_of(const Summary& summary) {
  Json requests = Json::array(), kernels = Json::array();
  for (const RequestRow& row : summary.requests) {
    Json one = {{"name", row.name}, {"found", row.found}, {"milliseconds", row.milliseconds}};
    if (!row.error.empty()) one["error"] = row.error;
    if (row.kernels) one.update({{"kernels", *row.kernels}, {"from_store", row.kept.value_or(0)}});
    requests.push_back(std::move(one));
  }
  for (const KernelRow& row : summary.kernels)
    kernels.push_back({{"name", row.name},
                       {"library", row.library},
                       {"launches", row.launches},
                       {"failed", row.failed},
                       {"microseconds", row.microseconds},
                       {"most_threads", row.largest},
                       {"code", row.code.empty() ? "loaded" : row.code}});
  return {{"requests", std::move(requests)}, {"kernels", std::move(kernels)}};
}

Result<void> run_trace(const TraceOptions& options) {
  SMELT_TRY(const Summary summary, summary_of(options.input));
  return print(options.json ? json_of(summary).dump(2) + "\n" : table_of(summary));
}

}  // namespace

void add_trace(CLI::App& app, Context& context) {
  CLI::App* verb = app.add_subcommand("trace", "Show what a program compiled and launched, from its SMELT_TRACE");
  auto options = std::make_shared<TraceOptions>();
  verb->add_option("FILE", options->input, "The file that SMELT_TRACE named")->required();
  verb->add_flag("--json", options->json, "Print JSON for programs");
  show_example(*verb, "SMELT_TRACE=trace.json python3 model.py; smelt trace trace.json");
  verb->callback([options, &context] { context.finish(run_trace(*options)); });
}

}  // namespace smelt::cli
