// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "inputs/includes.hpp"

#include "smelt/base/files.hpp"

#include "inputs/headers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

namespace smelt::aot::msl {
namespace {

constexpr size_t kMostFiles = 4096;

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v';
}

bool is_library_header(std::string_view name) {
  for (unsigned long i = 0; i < smelt_embedded_header_count; ++i)
    if (smelt_embedded_headers[i].name == name) return true;
  return false;
}

struct Name {
  std::string text;
  bool is_quoted = false;  ///< "x.h", not <x.h>
};

/// "x.h" or <x.h> anywhere in a directive's line.
std::vector<Name> quoted_names(std::string_view line, bool angles) {
  std::vector<Name> names;
  for (size_t at = 0; at < line.size(); ++at) {
    const char close = line[at] == '"' ? '"' : angles && line[at] == '<' ? '>' : '\0';
    if (close == '\0') continue;
    const size_t end = line.find(close, at + 1);
    if (end == std::string_view::npos) break;
    names.push_back({std::string(line.substr(at + 1, end - at - 1)), close == '"'});
    at = end;
  }
  return names;
}

/// Names in the directives of a text that may be files.
std::vector<Name> names_in(std::string_view text) {
  std::vector<Name> names;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    std::string_view line = text.substr(begin, end - begin);
    begin = end + 1;
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (!line.starts_with('#')) continue;
    line.remove_prefix(1);
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    const bool includes = line.starts_with("include") || line.starts_with("import") ||
                          line.find("__has_include") != std::string_view::npos;
    if (!includes && !line.starts_with("define")) continue;
    for (Name& name : quoted_names(line, includes)) names.push_back(std::move(name));
  }
  return names;
}

}  // namespace

std::string hidden_prefix(std::string_view name) {
  if (name.starts_with('/')) return {};
  std::string prefix = std::filesystem::current_path().string();
  if (!prefix.ends_with('/')) prefix += '/';
  return prefix;
}

Includes scan_includes(std::string_view text, std::string_view name, const IncludeFolders& folders,
                       const std::vector<std::string>& forced) {
  namespace fs = std::filesystem;
  Includes result;
  std::set<std::string> seen;
  const auto scan = [&](std::string_view of, const fs::path& folder) {
    for (const auto& [wanted, is_quoted] : names_in(of)) {
      if (is_library_header(wanted)) continue;
      std::vector<fs::path> candidates;
      if (is_quoted) candidates.push_back(folder / wanted);
      if (is_quoted)
        for (const std::string& other : folders.quoted) candidates.push_back(fs::path(other) / wanted);
      for (const std::string& other : folders.all) candidates.push_back(fs::path(other) / wanted);
      if (fs::path(wanted).is_absolute()) candidates = {wanted};
      bool found = false;
      for (const fs::path& candidate : candidates) {
        std::error_code ignored;
        if (!fs::is_regular_file(candidate, ignored)) continue;
        found = true;
        // As the compiler would spell it: not made canonical.
        const std::string path = candidate.lexically_normal().string();
        if (result.files.size() >= kMostFiles || !seen.insert(path).second) break;
        if (auto bytes = read_file(candidate)) result.files.push_back({path, std::move(*bytes)});
        break;
      }
      if (!found && std::find(result.missing.begin(), result.missing.end(), wanted) == result.missing.end())
        result.missing.push_back(wanted);
    }
  };
  for (const std::string& file : forced) scan(fmt::format("#include \"{}\"", file), fs::path());
  scan(text, fs::path(name).parent_path());
  for (size_t i = 0; i < result.files.size(); ++i) {
    const Bytes bytes = result.files[i].bytes;  // the vector grows below
    scan(as_text(bytes), fs::path(result.files[i].path).parent_path());
  }
  return result;
}

std::string without_comments(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  bool in_directive = false;
  bool line_is_empty = true;
  bool wants_blank = false;
  for (size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (text.substr(at, 2) == "//") {
      at = std::min(text.find('\n', at), text.size());
      // A comment that a backslash continues: rare enough to give up on this text.
      if (at > 0 && at < text.size() && text[at - 1] == '\\') return std::string(text);
    } else if (text.substr(at, 2) == "/*") {
      const size_t end = text.find("*/", at + 2);
      if (end == std::string_view::npos) return std::string(text);
      at = end + 2;
      wants_blank = true;
    } else if (c == '\n') {
      const bool continued =
          at > 0 && (text[at - 1] == '\\' || (text[at - 1] == '\r' && at > 1 && text[at - 2] == '\\'));
      if (!line_is_empty && in_directive && !continued)
        out += '\n';
      else
        wants_blank = true;
      if (!continued) {
        in_directive = false;
        line_is_empty = true;
      }
      ++at;
    } else if (is_blank(c)) {
      wants_blank = true;
      ++at;
    } else {
      if (line_is_empty && c == '#') {
        in_directive = true;
        if (!out.empty() && out.back() != '\n') out += '\n';
        wants_blank = false;
      }
      if (wants_blank && !out.empty() && out.back() != '\n') out += ' ';
      wants_blank = line_is_empty = false;
      if (c == '"' || c == '\'') {
        // A raw string needs a lexer; a quote inside a number (1'000) does no harm.
        if (c == '"' && at > 0 && text[at - 1] == 'R') return std::string(text);
        const size_t begin = at++;
        while (at < text.size() && text[at] != c && text[at] != '\n')
          at += text[at] == '\\' && at + 1 < text.size() ? 2 : 1;
        if (at < text.size() && text[at] == c) ++at;
        out += text.substr(begin, at - begin);
      } else {
        out += c;
        ++at;
      }
    }
  }
  return out;
}

}  // namespace smelt::aot::msl
