// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tests/aot/msl/language/CHAPTER/*.metal: one file for each rule of the language. Comments at its head say the rule and
// what has to come of it, one of
//
//   // run: 4                          kernel `k` with four threads in one group; then
//   // in 1 int: 1 2 3                   what buffer 1 holds before, and
//   // out int: 2 3 4                    what buffer 0 holds afterwards (int, uint, float, short, uchar or long)
//   // error 7:3: text                 the first error, where it is, and how it begins
//   // gap: text                       Metal has it and smelt has not: an error with this text in it, never code
//
// docs/reference/language.md is the table of them all: SMELT_ACCEPT=1 writes it anew, and the test counts as skipped.
#include "smelt/base/files.hpp"

#include "files.hpp"
#include "msl.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <cstring>
#include <sstream>

namespace smelt::test {
namespace {

struct Numbers {
  uint32_t buffer = 0;
  std::string type;
  std::vector<std::string> values;
};

struct Rule {
  std::string chapter, file, text;
  std::string rule, error, gap;
  uint32_t threads = 0;
  std::vector<Numbers> in;
  Numbers out;
};

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> words;
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

Rule read_rule(const std::filesystem::path& path) {
  Rule rule;
  rule.chapter = path.parent_path().filename().string();
  rule.file = path.filename().string();
  rule.text = std::string(as_text(must_read(path)));
  std::istringstream lines(rule.text);
  for (std::string line; std::getline(lines, line) && line.starts_with("//");) {
    const size_t colon = line.find(": ");
    if (colon == std::string::npos) continue;
    const std::vector<std::string> key = words_of(line.substr(2, colon - 2));
    const std::string value = line.substr(colon + 2);
    if (key[0] == "rule") rule.rule = value;
    if (key[0] == "error") rule.error = line.substr(line.find("error ") + 6);
    if (key[0] == "gap") rule.gap = value;
    if (key[0] == "run") rule.threads = static_cast<uint32_t>(std::stoul(value));
    if (key[0] == "in") rule.in.push_back({static_cast<uint32_t>(std::stoul(key[1])), key[2], words_of(value)});
    if (key[0] == "out") rule.out = {0, key[1], words_of(value)};
  }
  return rule;
}

std::vector<Rule> all_rules() {
  std::vector<Rule> rules;
  for (const auto& path : files_below(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/aot/msl/language", ".metal"))
    rules.push_back(read_rule(path));
  std::sort(rules.begin(), rules.end(),
            [](const Rule& a, const Rule& b) { return std::tie(a.chapter, a.file) < std::tie(b.chapter, b.file); });
  return rules;
}

template <class T>
void append(std::vector<std::byte>& bytes, T value) {
  const size_t at = bytes.size();
  bytes.resize(at + sizeof(T));
  std::memcpy(bytes.data() + at, &value, sizeof(T));
}

std::vector<std::byte> bytes_of(const Numbers& numbers) {
  std::vector<std::byte> bytes;
  for (const std::string& value : numbers.values) {
    if (numbers.type == "float") append(bytes, std::stof(value));
    if (numbers.type == "int") append(bytes, static_cast<int32_t>(std::stol(value)));
    if (numbers.type == "uint") append(bytes, static_cast<uint32_t>(std::stoul(value)));
    if (numbers.type == "short") append(bytes, static_cast<int16_t>(std::stol(value)));
    if (numbers.type == "uchar") append(bytes, static_cast<uint8_t>(std::stoul(value)));
    if (numbers.type == "long") append(bytes, static_cast<int64_t>(std::stoll(value)));
  }
  return bytes;
}

template <class T>
std::string shown(const std::vector<std::byte>& bytes) {
  std::string text;
  for (size_t at = 0; at + sizeof(T) <= bytes.size(); at += sizeof(T)) {
    T value;
    std::memcpy(&value, bytes.data() + at, sizeof(T));
    text += fmt::format("{}{}", text.empty() ? "" : " ", value);
  }
  return text;
}

std::string shown_as(const std::string& type, const std::vector<std::byte>& bytes) {
  if (type == "float") return shown<float>(bytes);
  if (type == "int") return shown<int32_t>(bytes);
  if (type == "uint") return shown<uint32_t>(bytes);
  if (type == "short") return shown<int16_t>(bytes);
  if (type == "uchar") return shown<uint8_t>(bytes);
  return shown<int64_t>(bytes);
}

void run_rule(const Rule& rule) {
  const Msl source(rule.text);
  Launch launch{.grid = {rule.threads, 1, 1}, .group = {rule.threads, 1, 1}};
  const std::vector<std::byte> wanted = bytes_of(rule.out);
  REQUIRE(!wanted.empty());
  std::vector<std::byte> out(wanted.size(), std::byte{0xee});
  std::vector<std::vector<std::byte>> inputs;
  inputs.reserve(rule.in.size());
  launch.bind(0, out);
  for (const Numbers& in : rule.in) launch.bind(in.buffer, inputs.emplace_back(bytes_of(in)));
  source.run("k", launch);
  CHECK(shown_as(rule.out.type, out) == shown_as(rule.out.type, wanted));
}

/// "7:3: text" of the first error.
std::string first_error(const std::string& message) {
  const std::string line = message.substr(0, message.find('\n'));
  const size_t at = line.find(": error: ");
  if (!line.starts_with("test.metal:") || at == std::string::npos) return line;
  return line.substr(11, at - 11) + ": " + line.substr(at + 9);
}

/// What no message may show.
void check_words(const std::string& message) {
  for (const char* word : {"opencl_", "__global", "_ZN", "__SMELT", "__msl", "vec<", "/smelt/"})
    CHECK_MESSAGE(message.find(word) == std::string::npos, word << " in " << message);
}

std::string page(const std::vector<Rule>& rules) {
  struct Count {
    size_t right = 0, refused = 0, gaps = 0;
    std::array<std::string, 3> rows;  // by state
  };
  std::map<std::string, Count> chapters;
  Count all;
  for (const Rule& rule : rules) {
    Count& count = chapters[rule.chapter];
    size_t Count::* const kind = !rule.gap.empty()     ? &Count::gaps
                                 : !rule.error.empty() ? &Count::refused
                                                       : &Count::right;
    ++(count.*kind);
    ++(all.*kind);
    count.rows[kind == &Count::right     ? 0
               : kind == &Count::refused ? 1
                                         : 2] += fmt::format("| {} | `{}` |\n", rule.rule, rule.file);
  }
  std::string text =
      "# The language, rule by rule\n\n"
      "Each rule is a small program of `tests/aot/msl/language`. smelt runs it on the CPU, or refuses it with the "
      "message that the program states.\n"
      "A *gap* is a feature of Metal that smelt does not support yet and therefore refuses. The test `aot_msl` writes "
      "this page. [The language](../formats/metal-language.md) has the rules in full.\n\n"
      "| Chapter | Right results | Refused, as in Metal | Gaps |\n|---|---|---|---|\n";
  for (const auto& [name, count] : chapters)
    text += fmt::format("| [{0}](#{0}) | {1} | {2} | {3} |\n", name, count.right, count.refused, count.gaps);
  text += fmt::format("| all | {} | {} | {} |\n", all.right, all.refused, all.gaps);
  constexpr std::array<const char*, 3> kStates = {"Right results", "Refused, as in Metal", "**Gap**"};
  for (const auto& [name, count] : chapters) {
    text += fmt::format("\n## {}\n", name);
    for (size_t state = 0; state < kStates.size(); ++state)
      if (!count.rows[state].empty())
        text += fmt::format("\n| {} | File |\n|---|---|\n{}", kStates[state], count.rows[state]);
  }
  return text;
}

}  // namespace

TEST_CASE("each rule of the language") {
  const std::vector<Rule> rules = all_rules();
  CHECK(rules.size() > 100);
  for (const Rule& rule : rules) {
    const std::string name = rule.chapter + "/" + rule.file;
    CAPTURE(name);
    CHECK(!rule.rule.empty());
    CHECK((rule.threads != 0) + !rule.error.empty() + !rule.gap.empty() == 1);
    if (rule.threads != 0) {
      CHECK_NOTHROW(run_rule(rule));
      continue;
    }
    const std::string message = msl_error(rule.text);
    check_words(message);
    if (!rule.error.empty()) CHECK(first_error(message).substr(0, rule.error.size()) == rule.error);
    if (!rule.gap.empty()) CHECK(message.find(rule.gap) != std::string::npos);
  }
}

TEST_CASE("docs/reference/language.md is the table of the rules") {
  const auto file = std::filesystem::path(SMELT_SOURCE_DIR) / "docs/reference/language.md";
  const std::string wanted = page(all_rules());
  const auto kept = read_file(file);
  if (std::getenv("SMELT_ACCEPT") != nullptr) {
    REQUIRE(write_file(file, as_bytes(wanted)));
    MESSAGE("wrote ", file.string());
    return;
  }
  REQUIRE(kept);
  CHECK_MESSAGE(std::string(as_text(*kept)) == wanted, "SMELT_ACCEPT=1 writes it anew");
}

}  // namespace smelt::test
