// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "findings.hpp"

#include "smelt/base/text.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>
#include <sstream>

namespace smelt::loader {
namespace {

thread_local std::vector<Finding> findings_of_thread;

std::string position(const std::array<uint32_t, 3>& at) {
  return fmt::format("({}, {}, {})", at[0], at[1], at[2]);
}

std::string told(const FindingSide& side) {
  if (!side.kernel.empty())
    return fmt::format("an earlier dispatch of kernel '{}' {} at {}", side.kernel, side.does, side.place);
  return fmt::format("thread {} of group {} {} at {}", position(side.thread), position(side.group), side.does,
                     side.place);
}

std::string json_side(const FindingSide& side) {
  if (!side.kernel.empty())
    return fmt::format(R"({{"place": {}, "does": {}, "kernel": {}}})", json_quoted(side.place), json_quoted(side.does),
                       json_quoted(side.kernel));
  return fmt::format(R"({{"place": {}, "does": {}, "thread": [{}, {}, {}], "group": [{}, {}, {}]}})",
                     json_quoted(side.place), json_quoted(side.does), side.thread[0], side.thread[1], side.thread[2],
                     side.group[0], side.group[1], side.group[2]);
}

/// `*` stands for any text.
bool fits(std::string_view pattern, std::string_view text) {
  const size_t star = pattern.find('*');
  if (star == pattern.npos) return pattern == text;
  if (!text.starts_with(pattern.substr(0, star))) return false;
  const std::string_view rest = pattern.substr(star + 1);
  for (size_t at = star; at <= text.size(); ++at)
    if (fits(rest, text.substr(at))) return true;
  return false;
}

struct Suppression {
  std::string kind, kernel, place;

  bool covers(const Finding& finding) const {
    return fits(kind, to_string(finding.kind)) && fits(kernel, finding.kernel) &&
           (fits(place, finding.first.place) || (finding.second && fits(place, finding.second->place)));
  }
};

/// Lines of $SMELT_CHECK_SUPPRESSIONS: KIND KERNEL PLACE. Read once.
const std::vector<Suppression>& suppressions() {
  static const auto* const known = [] {
    auto* read = new std::vector<Suppression>();
    const char* const name = std::getenv("SMELT_CHECK_SUPPRESSIONS");
    if (name == nullptr || *name == 0) return read;
    std::ifstream file(name);
    if (!file) std::fprintf(stderr, "smelt: SMELT_CHECK_SUPPRESSIONS: cannot read %s\n", name);
    for (std::string line; std::getline(file, line);) {
      std::istringstream words(line.substr(0, line.find('#')));
      Suppression one;
      if (words >> one.kind >> one.kernel >> std::ws && std::getline(words, one.place)) {
        while (!one.place.empty() && one.place.back() == ' ') one.place.pop_back();
        read->push_back(std::move(one));
      }
    }
    return read;
  }();
  return *known;
}

bool is_note(const Finding& finding) {
  return finding.kind == Finding::Kind::same_value;
}

/// A note says in its text that it is not an error.
std::string marked_text_of(const Finding& finding) {
  return (is_note(finding) ? "note: " : "") + text_of(finding);
}

std::atomic<bool> says_findings{false}, has_found{false};

/// The exit code that SMELT_CHECK_EXIT asks for; 0 if it asks for none.
int exit_code() {
  const char* const word = std::getenv("SMELT_CHECK_EXIT");
  const std::string_view text(word != nullptr ? word : "");
  int code = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), code);
  const bool is_code = read.ec == std::errc() && read.ptr == text.data() + text.size() && code >= 0 && code < 256;
  if (!text.empty() && !is_code)
    std::fprintf(stderr, "smelt: SMELT_CHECK_EXIT: '%s' is not an exit code from 0 to 255\n", word);
  return is_code ? code : 0;
}

/// The handler is registered before main, so that it runs after those that the program itself registers.
const bool registered = [] {
  static const int code = exit_code();
  return code != 0 && std::atexit([] {
                        if (!has_found) return;
                        std::fflush(nullptr);
                        std::_Exit(code);
                      }) == 0;
}();

void append_to_report(const std::string& lines) {
  const char* const name = std::getenv("SMELT_CHECK_REPORT");
  if (name == nullptr || *name == 0) return;
  // One write at the end of the file, so that lines of several processes stay whole.
  std::FILE* const file = std::fopen(name, "ae");
  if (file == nullptr) {
    std::fprintf(stderr, "smelt: SMELT_CHECK_REPORT: cannot write %s\n", name);
    return;
  }
  std::fwrite(lines.data(), 1, lines.size(), file);
  std::fclose(file);
}

/// Writes the findings that this process has not reported yet to $SMELT_CHECK_REPORT, and after say_findings() to
/// stderr.
void report(const std::vector<Finding>& findings) {
  static std::mutex lock;
  static auto& told_of = *new std::set<std::string>();
  const std::lock_guard guard(lock);
  std::string lines, said;
  for (const Finding& finding : findings) {
    has_found = has_found || !is_note(finding);
    if (!told_of
             .insert(fmt::format("{}\n{}\n{}\n{}", to_string(finding.kind), finding.kernel, finding.first.place,
                                 finding.second ? finding.second->place : ""))
             .second)
      continue;
    lines += json_of(finding) + "\n";
    said += fmt::format("smelt: kernel '{}': {}\n", finding.kernel, marked_text_of(finding));
  }
  if (lines.empty()) return;
  append_to_report(lines);
  if (says_findings) std::fwrite(said.data(), 1, said.size(), stderr);
}

bool goes_on() {
  const char* const word = std::getenv("SMELT_CHECK_CONTINUE");
  return word != nullptr && *word != 0 && std::string_view(word) != "0";
}

}  // namespace

std::string_view to_string(Finding::Kind kind) {
  switch (kind) {
    case Finding::Kind::race:
      return "race";
    case Finding::Kind::same_value:
      return "same-value";
    case Finding::Kind::unwritten:
      return "unwritten";
    case Finding::Kind::barrier:
      return "barrier";
    case Finding::Kind::lanes:
      return "lanes";
    case Finding::Kind::bounds:
      return "bounds";
  }
  return "";
}

const std::vector<Finding>& last_findings() {
  return findings_of_thread;
}

std::string text_of(const Finding& finding) {
  if (finding.kind == Finding::Kind::bounds)
    return fmt::format("thread {} {}, at {}", position(finding.first.thread), finding.first.does, finding.first.place);
  std::string text = fmt::format("{}", to_string(finding.kind));
  if (!finding.memory.empty()) {
    text += fmt::format(" on {}", finding.memory);
    if (finding.element) text += fmt::format("[{}]", *finding.element);
  }
  text += ": " + told(finding.first);
  if (finding.second) text += ", " + told(*finding.second);
  if (finding.times > 1) text += fmt::format(" ({} times)", finding.times);
  if (!finding.advice.empty()) text += "; " + finding.advice;
  return text;
}

std::string json_of(const Finding& finding) {
  std::string text = fmt::format(R"({{"kind": {}, "kernel": {}, "memory": {}, )", json_quoted(to_string(finding.kind)),
                                 json_quoted(finding.kernel), json_quoted(finding.memory));
  text += finding.element ? fmt::format(R"("element": {}, )", *finding.element) : std::string("\"element\": null, ");
  text += fmt::format(R"("first": {}, "second": {}, "times": {}, "advice": {}}})", json_side(finding.first),
                      finding.second ? json_side(*finding.second) : "null", finding.times, json_quoted(finding.advice));
  return text;
}

void say_findings() {
  says_findings = true;
}

void forget_findings() {
  findings_of_thread.clear();
}

Result<void> tell(std::string_view kernel, std::vector<Finding> findings) {
  std::erase_if(findings, [](const Finding& finding) {
    return std::any_of(suppressions().begin(), suppressions().end(),
                       [&](const Suppression& one) { return one.covers(finding); });
  });
  report(findings);
  findings_of_thread = std::move(findings);
  const auto faults = std::count_if(findings_of_thread.begin(), findings_of_thread.end(),
                                    [&](const auto& one) { return !is_note(one); });
  if (faults == 0 || goes_on()) return {};
  std::string text;
  if (findings_of_thread.size() == 1 && findings_of_thread[0].kind == Finding::Kind::bounds) {
    text = text_of(findings_of_thread[0]);
  } else {
    text = fmt::format("{} {}", faults, faults == 1 ? "finding" : "findings");
    for (const Finding& finding : findings_of_thread) text += "\n  " + marked_text_of(finding);
  }
  auto error = fail(Errc::buffer_bounds, "kernel '{}': {}", kernel, text);
  error.value().subject = kernel;
  return error;
}

}  // namespace smelt::loader
