// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "explain_miss.hpp"

#include "smelt/base/files.hpp"
#include "smelt/base/text.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <vector>

namespace smelt::service {
namespace {

/// Name to value; of texts, each other one of a pair, ended by a zero byte.
using KeyFields = std::map<std::string, std::string, std::less<>>;

std::string pack_fields(const KeyFields& fields) {
  std::string text;
  for (const auto& [name, value] : fields) {
    text += name + '\0';
    text += value + '\0';
  }
  return text;
}

KeyFields unpack_fields(std::string_view text) {
  KeyFields fields;
  const auto next = [&]() -> std::string {
    const size_t end = std::min(text.find('\0'), text.size());
    const std::string one(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    return one;
  };
  while (!text.empty()) {
    const std::string name = next();
    fields[name] = next();
  }
  return fields;
}

/// "source a.metal changed", "option -D N=4 is new": nothing where both are the same.
std::string differences(const KeyFields& before, const KeyFields& now) {
  std::string text;
  const auto add = [&](const std::string& what) { text += (text.empty() ? "" : "; ") + printable(what); };
  const auto is_text = [](std::string_view name) {
    return name.starts_with("source ") || name.starts_with("include ");
  };
  for (const auto& [name, value] : now) {
    const auto old = before.find(name);
    if (old == before.end())
      add(name + " is new" + (value.empty() || is_text(name) ? "" : ": " + value));
    else if (old->second != value)
      add(is_text(name) ? name + " changed" : fmt::format("{} was {} and is {}", name, old->second, value));
  }
  for (const auto& [name, value] : before)
    if (!now.contains(name)) add(name + " is gone" + (value.empty() || is_text(name) ? "" : ": it was " + value));
  return text;
}

}  // namespace

bool explains_misses() {
  const char* const asked = std::getenv("SMELT_EXPLAIN_MISS");
  return asked != nullptr && *asked != 0 && std::string_view(asked) != "0";
}

void explain_miss(const std::filesystem::path& store, std::string_view sources,
                  std::span<const aot::FingerprintField> now, const std::function<void(std::string_view)>& warn) {
  KeyFields fields;
  for (const aot::FingerprintField& field : now) fields[field.name] = field.value;
  const std::filesystem::path folder = store / "explain";
  const std::filesystem::path file = folder / to_hex(sha256(as_bytes(sources)));
  const std::string name = printable(sources);
  if (const auto read = read_file(file); !read) {
    warn(fmt::format("miss of {}: no compile of it is known here; the next miss says what changed", name));
  } else {
    const std::string changed = differences(unpack_fields(as_text(*read)), fields);
    warn(changed.empty()
             ? fmt::format("miss of {}: nothing of its key changed since the last compile; its entry was "
                           "removed, trimmed or damaged ('smelt store stat' counts them), or is not trusted",
                           name)
             : fmt::format("miss of {}: since the last compile {}", name, changed));
  }
  std::error_code error;
  std::filesystem::create_directory(folder, error);
  if (auto kept = write_file(file, as_bytes(pack_fields(fields))); !kept) warn(kept.error().message);
}

}  // namespace smelt::service
