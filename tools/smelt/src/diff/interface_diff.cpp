// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "diff/interface_diff.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace smelt::cli {
namespace {

std::string size_text(uint32_t bytes) {
  return bytes == 0 ? "unknown" : fmt::format("{} bytes", bytes);
}

std::string text_of(const aot::ArgumentInfo& argument) {
  return fmt::format("{} {}{}{}", aot::to_string(argument.kind), argument.type_name,
                     argument.type_name.empty() ? "" : " ", argument.name);
}

std::string text_of(const aot::FieldInfo& field) {
  return fmt::format("{} {}{} at byte {}", field.type_name, field.name,
                     field.count == 0 ? "" : fmt::format("[{}]", field.count), field.offset);
}

std::string text_of(const aot::ConstantInfo& constant) {
  return fmt::format("{} {}", constant.type_name, constant.name);
}

class Comparer {
 public:
  void arguments(const std::vector<aot::ArgumentInfo>& a, const std::vector<aot::ArgumentInfo>& b) {
    for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
      if (i < a.size() && i < b.size())
        argument(a[i], b[i]);
      else if (i < a.size())
        add("arguments", fmt::format("argument {}", i), text_of(a[i]), "");
      else
        add("arguments", fmt::format("argument {}", i), "", text_of(b[i]));
    }
  }

  void constants(const std::vector<aot::ConstantInfo>& a, const std::vector<aot::ConstantInfo>& b) {
    std::map<uint32_t, std::pair<const aot::ConstantInfo*, const aot::ConstantInfo*>> by_index;
    for (const aot::ConstantInfo& constant : a) by_index[constant.index].first = &constant;
    for (const aot::ConstantInfo& constant : b) by_index[constant.index].second = &constant;
    for (const auto& [index, pair] : by_index) {
      const auto [in_a, in_b] = pair;
      const std::string what = fmt::format("constant {}", index);
      if (in_a == nullptr || in_b == nullptr) {
        add("constants", what, in_a ? text_of(*in_a) : "", in_b ? text_of(*in_b) : "");
        continue;
      }
      add("constants", what + ": name", in_a->name, in_b->name);
      add("constants", what + ": type", in_a->type_name, in_b->type_name);
      add("constants", what + ": required", in_a->required ? "yes" : "no", in_b->required ? "yes" : "no");
    }
  }

  void add(std::string_view kind, std::string what, std::string a, std::string b) {
    add_difference(found, kind, std::move(what), std::move(a), std::move(b));
  }

  std::vector<Difference> found;

 private:
  void argument(const aot::ArgumentInfo& a, const aot::ArgumentInfo& b) {
    if (a == b) return;
    const std::string what = fmt::format("argument {} '{}': ", a.index, a.name);
    const auto yes = [](bool value) { return std::string(value ? "yes" : "no"); };
    add("arguments", what + "kind", a.air_kind, b.air_kind);
    add("arguments", what + "type", a.type_name, b.type_name);
    add("arguments", what + "name", a.name, b.name);
    add("arguments", what + "access", std::string(aot::to_string(a.access)), std::string(aot::to_string(b.access)));
    add("arguments", what + "place", fmt::format("{}", a.location), fmt::format("{}", b.location));
    add("arguments", what + "places", fmt::format("{}", a.count), fmt::format("{}", b.count));
    add("arguments", what + "address space", fmt::format("{}", a.address_space), fmt::format("{}", b.address_space));
    add("arguments", what + "size", size_text(a.size), size_text(b.size));
    add("arguments", what + "alignment", size_text(a.align), size_text(b.align));
    add("arguments", what + "unused", yes(a.unused), yes(b.unused));
    add("arguments", what + "conditional", yes(a.conditional), yes(b.conditional));
    for (size_t i = 0; i < std::max(a.fields.size(), b.fields.size()); ++i)
      add("arguments", what + fmt::format("member {}", i), i < a.fields.size() ? text_of(a.fields[i]) : "",
          i < b.fields.size() ? text_of(b.fields[i]) : "");
  }
};

}  // namespace

void add_difference(std::vector<Difference>& differences, std::string_view kind, std::string what, std::string a,
                    std::string b) {
  if (a != b) differences.push_back({std::string(kind), std::move(what), std::move(a), std::move(b)});
}

std::vector<Difference> compare_interfaces(const aot::KernelInfo& a, const aot::KernelInfo& b) {
  Comparer comparer;
  comparer.add("kind", "kind of function", a.stage, b.stage);
  comparer.arguments(a.arguments, b.arguments);
  comparer.constants(a.constants, b.constants);
  comparer.add("limits", "threads of a threadgroup", fmt::format("{}", a.max_threads),
               fmt::format("{}", b.max_threads));
  comparer.add("limits", "bytes of threadgroup memory", fmt::format("{}", a.threadgroup_bytes),
               fmt::format("{}", b.threadgroup_bytes));
  comparer.add("versions", "AIR", to_string(a.air), to_string(b.air));
  comparer.add("versions", "Metal", to_string(a.language), to_string(b.language));
  return comparer.found;
}

}  // namespace smelt::cli
