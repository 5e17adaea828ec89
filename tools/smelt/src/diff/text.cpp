// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The report as lines for people:
//
//   a.metallib and b.metallib, macos14: 3 functions compared, 1 differs, 1 only in a.metallib
//   only in a.metallib: old
//   kernel saxpy:
//     arguments: argument 2 'a': type: float, in B half
//     code: 1 line of A, 1 line of B
//       @@ 12 12 @@
//       -  %5 = fadd float %3, %4
//       +  %5 = fmul float %3, %4
#include "smelt/base/text.hpp"

#include "diff/report.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace smelt::cli {
namespace {

std::string word(const Json& object, const char* key) {
  std::string text = printable(object.at(key).get<std::string>());
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string counted(size_t count, std::string_view what, std::string_view plural = "s") {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : plural);
}

class Printer {
 public:
  Printer(const Json& report, size_t most_lines)
      : report_(report), a_(word(report["a"], "file")), b_(word(report["b"], "file")), most_lines_(most_lines) {}

  std::string print() {
    for (const Json& library : report_["libraries"]) print_library(library);
    print_only(report_["only_a"], a_, "library");
    print_only(report_["only_b"], b_, "library");
    if (!report_["differs"].get<bool>()) line("no differences");
    return std::move(text_);
  }

 private:
  template <class... Args>
  void line(fmt::format_string<Args...> format, Args&&... args) {
    text_ += fmt::format(format, std::forward<Args>(args)...) + "\n";
  }

  void print_library(const Json& library) {
    const std::string target_a = word(library["a"], "target"), target_b = word(library["b"], "target");
    const size_t different = library["different"].size();
    std::string counts =
        fmt::format("{} compared, {} differ{}", counted(library["same"].size() + different, "function"), different,
                    different == 1 ? "s" : "");
    if (!library["only_a"].empty()) counts += fmt::format(", {} only in {}", library["only_a"].size(), a_);
    if (!library["only_b"].empty()) counts += fmt::format(", {} only in {}", library["only_b"].size(), b_);
    line("{} and {}, {}: {}", a_, b_, target_a == target_b ? target_a : target_a + " and " + target_b, counts);
    print_only(library["only_a"], a_, "function");
    print_only(library["only_b"], b_, "function");
    for (const Json& one : library["differences"]) print_difference(one, "");
    for (const Json& function : library["different"]) print_function(function);
    print_runs(library["same"]);
  }

  /// What --run all has to say of functions that are the same.
  void print_runs(const Json& functions) {
    size_t runs = 0;
    for (const Json& function : functions) {
      const auto numbers = function.find("numbers");
      if (numbers == function.end()) continue;
      if (numbers->contains("not_run"))
        line("{} {}: numbers: could not be run: {}", word(function, "type"), word(function, "name"),
             word(*numbers, "not_run"));
      else
        ++runs;
    }
    if (runs > 0) line("numbers: {} that are the same gave the same bits", counted(runs, "function"));
  }

  void print_only(const Json& names, const std::string& file, std::string_view what) {
    for (const Json& name : names) line("{} only in {}: {}", what, file, printable(name.get<std::string>()));
  }

  void print_difference(const Json& one, std::string_view indent) {
    const std::string a = word(one, "a"), b = word(one, "b");
    line("{}{}: {}: {}, in B {}", indent, word(one, "kind"), word(one, "what"), a.empty() ? "nothing" : a,
         b.empty() ? "nothing" : b);
  }

  void print_function(const Json& function) {
    line("{} {}:", function["type"].get<std::string>().empty() ? "function" : word(function, "type"),
         word(function, "name"));
    for (const Json& one : function["differences"]) {
      print_difference(one, "  ");
      if (one["kind"] == "code") print_code(function["code"]);
    }
    if (const auto numbers = function.find("numbers"); numbers != function.end()) print_numbers(*numbers);
  }

  void print_numbers(const Json& numbers) {
    if (numbers.contains("not_run")) return line("  numbers: could not be run: {}", word(numbers, "not_run"));
    const Json& launches = numbers["launches"];
    const auto compared =
        std::count_if(launches.begin(), launches.end(), [](const Json& one) { return !one.contains("not_compared"); });
    if (numbers["deviations"].empty())
      line("  numbers: the same bits in {} of {}", counted(static_cast<size_t>(compared), "launch", "es"),
           launches.size());
    for (const Json& one : numbers["deviations"]) {
      std::string far = fmt::format("{} of {}", one["different"].get<uint64_t>(),
                                    counted(one["elements"].get<uint64_t>(), word(one, "type")));
      if (one.contains("ulps")) far += fmt::format(", at most {} ULP", one["ulps"].get<uint64_t>());
      if (one.contains("relative")) far += fmt::format(", relative {:.3g}", one["relative"].get<double>());
      if (one["not_numbers"].get<uint64_t>() > 0)
        far += fmt::format(", {} not finite", one["not_numbers"].get<uint64_t>());
      line("    launch {} of {}, buffer {}: {}", one["launch"].get<size_t>(), threads(launches, one),
           one["buffer"].get<uint32_t>(), far);
    }
  }

  static std::string threads(const Json& launches, const Json& deviation) {
    const Json& size = launches[deviation["launch"].get<size_t>()]["threads"];
    return fmt::format("{}x{}x{} threads", size[0].get<uint64_t>(), size[1].get<uint64_t>(), size[2].get<uint64_t>());
  }

  void print_code(const Json& code) {
    const Json& lines = code["lines"];
    const size_t shown = std::min(lines.size(), most_lines_);
    for (size_t i = 0; i < shown; ++i) line("    {}", printable(lines[i].get<std::string>()));
    const size_t rest = lines.size() - shown + code["left_out"].get<size_t>();
    if (rest > 0) line("    ... and {} more", counted(rest, "line"));
  }

  const Json& report_;
  std::string a_, b_;
  size_t most_lines_;
  std::string text_;
};

}  // namespace

std::string differences_as_text(const Json& report, size_t most_lines) {
  return Printer(report, most_lines).print();
}

}  // namespace smelt::cli
