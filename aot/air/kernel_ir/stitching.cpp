// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A line a value or a type, fields with tabs between them; a type's line says how many lines of types inside follow.
#include "kernel_ir/stitching.hpp"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <fmt/format.h>

#include <iterator>

namespace smelt::aot::kernel_ir {
namespace {

constexpr unsigned kDeepest = 32;

void add(std::string& text, const StitchType& type) {
  fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\t{}\t{}\t{}\t{}\n", type.kind, type.size, type.align,
                 type.name, type.count, type.member, type.offset, type.inside.size());
  for (const StitchType& one : type.inside) add(text, one);
}

class Reader {
 public:
  explicit Reader(llvm::StringRef text) : rest_(text) {}
  bool at_end() const { return rest_.empty(); }
  bool line(size_t fields) {
    const auto [line, rest] = rest_.split('\n');
    rest_ = rest;
    fields_.clear();
    line.split(fields_, '\t');
    return fields_.size() == fields;
  }
  std::string text(size_t at) const { return fields_[at].str(); }
  template <class Number>
  bool number(size_t at, Number& number) const {
    return !fields_[at].getAsInteger(10, number);
  }
  bool type(StitchType& type, unsigned depth) {
    uint64_t inside = 0;
    if (depth > kDeepest || !line(8)) return false;
    type.kind = text(0);
    type.name = text(3);
    type.member = text(5);
    if (!number(1, type.size) || !number(2, type.align) || !number(4, type.count) || !number(6, type.offset) ||
        !number(7, inside))
      return false;
    for (uint64_t i = 0; i < inside; ++i)
      if (!this->type(type.inside.emplace_back(), depth + 1)) return false;
    return true;
  }

 private:
  llvm::StringRef rest_;
  llvm::SmallVector<llvm::StringRef, 8> fields_;
};

}  // namespace

std::string to_text(const std::vector<StitchValue>& values) {
  std::string text;
  for (const StitchValue& value : values) {
    fmt::format_to(std::back_inserter(text), "{}\t{}\t{}\t{}\n", value.name, value.mangled, value.first, value.count);
    add(text, value.type);
  }
  return text;
}

std::optional<std::vector<StitchValue>> parse_stitching(std::string_view text) {
  std::vector<StitchValue> values;
  for (Reader reader(llvm::StringRef(text.data(), text.size())); !reader.at_end();) {
    StitchValue& value = values.emplace_back();
    if (!reader.line(4)) return std::nullopt;
    value.name = reader.text(0);
    value.mangled = reader.text(1);
    if (!reader.number(2, value.first) || !reader.number(3, value.count) || !reader.type(value.type, 0))
      return std::nullopt;
  }
  if (values.empty()) return std::nullopt;
  return values;
}

}  // namespace smelt::aot::kernel_ir
