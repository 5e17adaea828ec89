// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "apple_text.hpp"

#include <algorithm>
#include <cctype>

namespace smelt::test {
namespace {

bool starts(std::string_view line, std::string_view with) {
  return line.substr(0, with.size()) == with;
}

// " #12" at `at` -> the group's body.
std::string spell_out(std::string line, const std::map<std::string, std::string>& groups) {
  for (size_t at = 0; (at = line.find(" #", at)) != std::string::npos;) {
    size_t end = at + 2;
    while (end < line.size() && std::isdigit(static_cast<unsigned char>(line[end]))) ++end;
    const auto group = groups.find(line.substr(at + 1, end - at - 1));
    if (group == groups.end()) {
      at = end;
      continue;
    }
    line.replace(at + 1, end - at - 1, group->second);
    at += 1 + group->second.size();
  }
  return line;
}

// %struct._x_t.0.1* -> %struct._x_t*
std::string without_suffixes(const std::string& line) {
  std::string out;
  for (size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '.' && i > 1 && line[i - 1] == 't' && line[i - 2] == '_') {
      size_t end = i;
      while (end < line.size() && (line[end] == '.' || std::isdigit(static_cast<unsigned char>(line[end])))) ++end;
      if (end > i + 1) i = end;
      if (i >= line.size()) break;
    }
    out += line[i];
  }
  return out;
}

// "!5 = !{void (i8*)* @k, !6}" -> "!5 = !{@k, !6}"
std::string without_function_type(const std::string& line) {
  const size_t brace = line.find("!{"), at = line.find("* @");
  if (brace == std::string::npos || at == std::string::npos || line.find(" (") > at) return line;
  return line.substr(0, brace + 2) + line.substr(at + 2);
}

// Opcode of an instruction line, "" for what is none.
std::string_view opcode(std::string_view line) {
  if (!starts(line, "  ") || starts(line, "    ")) return {};  // switch cases are indented deeper
  line.remove_prefix(2);
  if (line.empty() || line[0] == ']' || line[0] == ';') return {};
  if (line[0] == '%') line = line.substr(line.find(" = ") + 3);
  for (std::string_view prefix : {"tail ", "musttail ", "notail "})
    if (starts(line, prefix)) line.remove_prefix(prefix.size());
  return line.substr(0, line.find(' '));
}

bool is_view(std::string_view line) {  // "%5 = bitcast i8* %4 to float*"
  const size_t to = line.rfind(" to ");
  std::string_view target = line.substr(to + 4);
  target = target.substr(0, target.find(", !"));
  return to != std::string_view::npos && !target.empty() && target.back() == '*';
}

}  // namespace

AppleText take_apart(const std::string& text) {
  std::vector<std::string_view> lines;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    lines.emplace_back(text.data() + at, end - at);
    at = end + 1;
  }
  std::map<std::string, std::string> groups;
  for (const std::string_view line : lines) {
    if (!starts(line, "attributes #")) continue;
    const size_t name = 11, equal = line.find(" = ");
    groups[std::string(line.substr(name, equal - name))] = std::string(line.substr(equal + 3));
  }
  AppleText out;
  for (const std::string_view line : lines) {
    if (starts(line, "declare ")) {
      out.declarations.push_back(without_suffixes(spell_out(std::string(line), groups)));
    } else if (starts(line, "define ")) {
      const size_t name = line.find('@'), tail = line.rfind(')');
      std::string rest(line.substr(tail));
      if (const size_t attached = rest.find(" !"); attached != std::string::npos) rest.resize(attached);
      out.attributes.push_back(std::string(line.substr(name, line.find('(', name) - name)) + spell_out(rest, groups));
    } else if (starts(line, "!")) {
      out.metadata.push_back(without_function_type(without_suffixes(std::string(line))));
    } else if (const std::string_view code = opcode(line); !code.empty()) {
      if (code == "bitcast" && is_view(line)) continue;
      ++out.opcodes[std::string(code)];
      if (code == "call") {
        const size_t name = line.find('@'), tail = line.rfind(')');
        std::string rest(line.substr(tail));
        if (const size_t attached = rest.find(", !"); attached != std::string::npos) rest.resize(attached);
        const std::string callee =
            name == std::string_view::npos ? "indirect" : std::string(line.substr(name, line.find('(', name) - name));
        out.call_attributes.push_back(callee + spell_out(rest, groups));
      }
    }
  }
  std::sort(out.declarations.begin(), out.declarations.end());
  std::sort(out.attributes.begin(), out.attributes.end());
  std::sort(out.call_attributes.begin(), out.call_attributes.end());
  return out;
}

}  // namespace smelt::test
