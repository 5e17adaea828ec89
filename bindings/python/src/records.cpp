// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "records.hpp"

#include <fmt/format.h>
#include <pybind11/stl.h>

#include <algorithm>

namespace smelt::python {
namespace {

namespace py = pybind11;
using loader::ElementKind;
using loader::HostField;

constexpr size_t kMostFields = 1024;
constexpr unsigned kMostDepth = 16;  // of structures in structures

class Reader {
 public:
  Reader(std::string_view format, bool natural) : rest_(format), natural_(natural) {}

  /// Bytes of the record, without what pads its end where the format leaves that out.
  std::optional<uint64_t> read() {
    mark();
    if (!take("T{")) return std::nullopt;
    uint64_t end = 0, align = 1;
    if (!members({}, 0, 0, end, align) || !rest_.empty()) return std::nullopt;
    align_to(end, align);
    return end;
  }

  std::vector<HostField> fields;

 private:
  static constexpr uint64_t kMostExtent = uint64_t{1} << 32;

  struct Element {
    ElementKind kind = ElementKind::other;
    uint32_t bytes = 0;
  };

  bool take(std::string_view word) {
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    return true;
  }

  void mark() {
    while (!rest_.empty() && std::string_view("@=<^|").find(rest_.front()) != std::string_view::npos) {
      native_ = rest_.front() == '@' || rest_.front() == '^';
      rest_.remove_prefix(1);
    }
  }

  bool number(uint64_t& value) {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return false;
    for (value = 0; !rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9'; rest_.remove_prefix(1))
      value = std::min(value * 10 + static_cast<uint64_t>(rest_.front() - '0'), kMostExtent);
    return value < kMostExtent;
  }

  bool extents(std::vector<uint64_t>& shape) {
    if (!take("(")) return true;
    do {
      while (take(" ")) {
      }
      if (!number(shape.emplace_back()) || shape.size() > kMostDepth) return false;
    } while (take(","));
    return take(")");
  }

  std::optional<Element> element() {
    if (rest_.empty()) return std::nullopt;
    const char code = rest_.front();
    rest_.remove_prefix(1);
    const uint32_t of_long = native_ ? 8 : 4;
    switch (code) {
      case '?':
        return Element{ElementKind::boolean, 1};
      case 'b':
      case 'c':
        return Element{ElementKind::integer, 1};
      case 'h':
        return Element{ElementKind::integer, 2};
      case 'i':
        return Element{ElementKind::integer, 4};
      case 'l':
        return Element{ElementKind::integer, of_long};
      case 'q':
      case 'n':
        return Element{ElementKind::integer, 8};
      case 'B':
        return Element{ElementKind::unsigned_integer, 1};
      case 'H':
        return Element{ElementKind::unsigned_integer, 2};
      case 'I':
        return Element{ElementKind::unsigned_integer, 4};
      case 'L':
        return Element{ElementKind::unsigned_integer, of_long};
      case 'Q':
      case 'N':
        return Element{ElementKind::unsigned_integer, 8};
      case 'e':
        return Element{ElementKind::floating, 2};
      case 'f':
        return Element{ElementKind::floating, 4};
      case 'd':
        return Element{ElementKind::floating, 8};
      case 'Z':
        if (take("f")) return Element{ElementKind::complex, 8};
        if (take("d")) return Element{ElementKind::complex, 16};
        return std::nullopt;
      case 's':
      case 'x':
        return Element{code == 's' ? ElementKind::raw : ElementKind::other, 1};
      default:
        return std::nullopt;
    }
  }

  std::string_view name() {
    if (!take(":")) return {};
    const size_t end = std::min(rest_.find(':'), rest_.size());
    const std::string_view text = rest_.substr(0, end);
    rest_.remove_prefix(std::min(end + 1, rest_.size()));
    return text;
  }

  void align_to(uint64_t& at, uint64_t align) const {
    if (natural_) at = (at + align - 1) / align * align;
  }

  /// To the closing brace. `at`: bytes from the record's beginning; `end`: bytes of this structure.
  bool members(const std::string& prefix, uint64_t at, unsigned depth, uint64_t& end, uint64_t& align) {
    if (depth > kMostDepth) return false;
    const uint64_t begin = at;
    while (!take("}")) {
      if (!member(prefix, at, depth, align)) return false;
    }
    end = at - begin;
    return true;
  }

  bool member(const std::string& prefix, uint64_t& at, unsigned depth, uint64_t& align) {
    std::vector<uint64_t> shape;
    mark();
    if (!extents(shape)) return false;
    mark();
    uint64_t repeat = 0;
    const bool repeats = number(repeat);
    if (take("T{")) return structure(prefix, at, depth, align, shape);
    const auto one = element();
    if (!one) return false;
    if (repeats) shape.push_back(repeat);
    align_to(at, one->bytes);
    align = std::max<uint64_t>(align, one->bytes);
    uint64_t bytes = one->bytes;
    for (const uint64_t extent : shape)
      if (__builtin_mul_overflow(bytes, extent, &bytes) || bytes > kMostExtent) return false;
    const std::string_view text = name();
    if (!text.empty() && one->kind != ElementKind::other) {
      if (fields.size() == kMostFields) return false;
      fields.push_back({prefix + std::string(text), one->kind, one->bytes, at, std::move(shape)});
    }
    at += bytes;
    return true;
  }

  /// A structure inside, or an array of them; its name comes behind it.
  bool structure(const std::string& prefix, uint64_t& at, unsigned depth, uint64_t& align,
                 const std::vector<uint64_t>& shape) {
    const size_t first = fields.size();
    uint64_t bytes = 0, inner = 1;
    if (natural_) {  // how it is aligned is known once it has been read
      const std::string_view before = rest_;
      if (!members({}, 0, depth + 1, bytes, inner)) return false;
      fields.resize(first);
      rest_ = before;
      align_to(at, inner);
    }
    if (!members({}, at, depth + 1, bytes, inner)) return false;
    align_to(bytes, inner);
    align = std::max(align, inner);
    const std::string text(name());
    uint64_t count = 1;
    for (const uint64_t extent : shape)
      if (__builtin_mul_overflow(count, extent, &count) || count > kMostFields) return false;
    const std::vector<HostField> inside(fields.begin() + static_cast<std::ptrdiff_t>(first), fields.end());
    fields.resize(first);
    if (inside.size() * count > kMostFields - first) return false;
    for (uint64_t i = 0; i < count && !text.empty(); ++i)
      for (HostField field : inside) {
        field.offset += i * bytes;
        field.name = shape.empty() ? fmt::format("{}{}.{}", prefix, text, field.name)
                                   : fmt::format("{}{}[{}].{}", prefix, text, i, field.name);
        fields.push_back(std::move(field));
      }
    at += bytes * count;
    return true;
  }

  std::string_view rest_;
  bool natural_;
  bool native_ = true;
};

/// False: too many, or too deep.
bool add_fields(const py::object& dtype, const std::string& prefix, uint64_t offset, unsigned depth,
                std::vector<HostField>& into) {
  if (depth == 0) return false;
  for (const auto& [name, fact] : py::dict(dtype.attr("fields"))) {
    const auto place = py::reinterpret_borrow<py::tuple>(fact);
    const uint64_t at = offset + py::cast<uint64_t>(place[1]);
    const std::string whole = prefix + py::cast<std::string>(name);
    py::object element = place[0];
    std::vector<uint64_t> shape;
    if (const py::object array = element.attr("subdtype"); !array.is_none()) {
      shape = py::cast<std::vector<uint64_t>>(py::object(array[py::int_(1)]));
      element = array[py::int_(0)];
    }
    const auto item = py::cast<uint32_t>(element.attr("itemsize"));
    if (!element.attr("fields").is_none()) {
      uint64_t count = 1;
      for (const uint64_t extent : shape) count *= std::min<uint64_t>(extent, kMostFields + 1);
      for (uint64_t i = 0; i < count; ++i) {
        const std::string one = shape.empty() ? whole + "." : fmt::format("{}[{}].", whole, i);
        if (!add_fields(element, one, at + i * item, depth - 1, into)) return false;
      }
      continue;
    }
    const auto letter = py::cast<std::string>(element.attr("kind"));
    ElementKind kind = ElementKind::raw;
    if (letter == "V") continue;  // padding
    if (letter == "b") kind = ElementKind::boolean;
    if (letter == "i") kind = ElementKind::integer;
    if (letter == "u") kind = ElementKind::unsigned_integer;
    if (letter == "f") kind = ElementKind::floating;
    if (letter == "c") kind = ElementKind::complex;
    if (into.size() == kMostFields) return false;
    into.push_back({whole, kind, item, at, std::move(shape)});
  }
  return true;
}

}  // namespace

std::optional<std::vector<HostField>> read_record(const py::object& dtype) {
  std::vector<HostField> fields;
  if (dtype.attr("fields").is_none() || !add_fields(dtype, "", 0, kMostDepth, fields)) return std::nullopt;
  std::ranges::sort(fields, {}, &HostField::offset);
  return fields;
}

std::optional<std::vector<HostField>> read_record(std::string_view format, uint64_t size, bool natural) {
  Reader plain(format, false);
  const auto end = plain.read();
  if (end && (natural ? *end == size : *end <= size)) return std::move(plain.fields);
  if (!natural) return std::nullopt;
  Reader aligned(format, true);
  if (aligned.read() != size) return std::nullopt;
  return std::move(aligned.fields);
}

}  // namespace smelt::python
