// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "argument_check.hpp"

#include "errors.hpp"

namespace smelt::python {
namespace {

/// What a caller may pass for a structure.
std::string structures(const Parameter& want) {
  return fmt::format("{}a record array (numpy.array([(...)], dtype)), a ctypes.Structure or bytes",
                     want.members.empty() ? "" : "a dict or tuple of its members, ");
}

/// What to pass for it.
std::string advice(const Parameter& want) {
  if (!want.is_numeric())
    return want.is_structure() ? fmt::format("pass {} of {} bytes", structures(want), want.size)
                               : fmt::format("pass at least {} bytes", want.size);
  const uint32_t numbers = want.rows * want.columns;
  if (numbers == 1) return fmt::format("pass an array of {}", element_name(want.kind, want.component));
  return fmt::format("pass a list of {} numbers, or an array of {} with {} for each", numbers,
                     element_name(want.kind, want.component), want.size / want.component);
}

}  // namespace

std::string ArgumentCheck::wants(size_t i) const {
  const Parameter& want = declared_[i];
  std::string text = fmt::format("kernel '{}', argument {}", kernel_, want.position);
  if (!want.name.empty()) text += fmt::format(" '{}'", want.name);
  return text + fmt::format(": wants {} ({} byte{})", want.type_name, want.size, want.size == 1 ? "" : "s");
}

void ArgumentCheck::run(Check how) {
  bool all_fit = bound_.size() <= declared_.size();
  for (size_t i = 0; i < bound_.size() && i < declared_.size(); ++i) {
    if (!declared_[i].known || bound_[i].kind == Bound::Kind::nothing || fits(i)) continue;
    all_fit = false;
    some_are_empty_ = some_are_empty_ || bound_[i].bytes == 0;
    may_be_written(i);
    no_double(i);
    if (how != Check::off) {
      result_is_kept(i);
      is_no_list_of_arrays(i);
      lies_in_order(i);
      is_same_structure(i);
    }
    memory_is_there(i);
  }
  if (all_fit || how == Check::off || declared_.empty()) return;
  const std::string text = mismatch();
  if (text.empty()) return;
  if (how == Check::error) raise(Errc::argument_mismatch, "{}", text);
  const py::object category = py::module_::import("smelt.errors").attr("ArgumentWarning");
  if (PyErr_WarnEx(category.ptr(), text.c_str(), 1) != 0) throw py::error_already_set();
}

bool ArgumentCheck::fits(size_t i) const {
  const Parameter& want = declared_[i];
  const Bound& given = bound_[i];
  const bool is_right_type = want.is_numeric() && given.element == want.kind && given.item == want.component;
  if (!is_right_type || given.bytes < want.size) return false;
  if (given.kind == Bound::Kind::array) return given.contiguous && (given.writable || !want.writes) && given.item <= 4;
  return given.kind == Bound::Kind::inlined && (want.is_constant || !want.writes);
}

void ArgumentCheck::want_bytes() const {
  if (!some_are_empty_) return;
  for (size_t i = 0; i < bound_.size() && i < declared_.size(); ++i)
    if (declared_[i].known && declared_[i].is_constant && declared_[i].size != 0 && bound_[i].bytes == 0 &&
        bound_[i].kind != Bound::Kind::nothing)
      raise(Errc::argument_mismatch, "{}, the call passes nothing (0 bytes); {}", wants(i), advice(declared_[i]));
}

void ArgumentCheck::may_be_written(size_t i) const {
  if (bound_[i].kind == Bound::Kind::array && !bound_[i].writable && declared_[i].writes)
    raise(Errc::argument_type, "argument {}: kernel '{}' may write to it, and the array is read-only; pass a copy",
          declared_[i].position, kernel_);
}

void ArgumentCheck::no_double(size_t i) const {
  const Bound& given = bound_[i];
  if (given.kind != Bound::Kind::array) return;
  const uint32_t doubles = given.element == ElementKind::complex ? 16 : 8;
  const bool wide = given.element == ElementKind::floating || given.element == ElementKind::complex;
  if (wide && given.item == doubles && !declared_[i].takes_double())
    raise(Errc::argument_mismatch,
          "argument {}: kernel '{}' wants {}, and the array holds 64-bit floating point, which Metal has not; convert "
          "it (float32 or complex64)",
          declared_[i].position, kernel_, declared_[i].type_name);
}

void ArgumentCheck::memory_is_there(size_t i) const {
  const Bound& given = bound_[i];
  if (given.bytes >= declared_[i].size || (given.bytes == 0 && given.kind == Bound::Kind::array)) return;
  raise(Errc::argument_mismatch, "{}, the call passes {} bytes, and the kernel would read past them; {}", wants(i),
        given.bytes, advice(declared_[i]));
}

void ArgumentCheck::result_is_kept(size_t i) const {
  if (bound_[i].kind == Bound::Kind::inlined && !declared_[i].is_constant && declared_[i].writes)
    raise(Errc::argument_mismatch,
          "{} in memory that it may write to, the call passes {}, of which the kernel has a copy: its result would be "
          "lost. Pass an array that keeps it (numpy.array, array.array, a tensor)",
          wants(i), bound_[i].is_list ? "a list" : "a scalar");
}

void ArgumentCheck::is_no_list_of_arrays(size_t i) const {
  if (bound_[i].kind == Bound::Kind::list && !declared_[i].takes_addresses())
    raise(Errc::argument_mismatch,
          "{}, the call passes a list of arrays, which stands for their addresses. Pass one array; a kernel that takes "
          "several by one buffer declares pointers",
          wants(i));
}

void ArgumentCheck::lies_in_order(size_t i) const {
  const Bound& given = bound_[i];
  if (given.kind != Bound::Kind::array || given.contiguous) return;
  raise(
      Errc::argument_mismatch,
      "{}, the call passes an array that does not lie in order ({}), and a kernel sees the memory, not the view. Pass "
      "a contiguous copy (numpy.ascontiguousarray, tensor.contiguous()){}; or check=\"off\" to a kernel that is told "
      "the strides",
      wants(i),
      given.overlaps ? fmt::format("its elements overlap in {} bytes: a broadcast view has stride 0", given.bytes)
                     : std::string("a slice with a step, a transposed or a cut view"),
      declared_[i].writes ? " and copy the result back" : "");
}

void ArgumentCheck::is_same_structure(size_t i) const {
  const Parameter& want = declared_[i];
  const Bound& given = bound_[i];
  if (given.guessed)
    raise(Errc::argument_mismatch, "{}, the call passes numbers, and nothing says which members they are. Pass {}",
          wants(i), structures(want));
  const bool is_record = given.element == ElementKind::other && given.item > 1;
  if (given.kind == Bound::Kind::list || !is_record || want.size <= 1) return;
  if (want.is_structure() ? given.item == want.size : given.item % want.size == 0) return;
  raise(Errc::argument_mismatch,
        "{}, the call passes structures of {} bytes. Members lie at multiples of their own size, and three components "
        "take the room of four (numpy.dtype([...], align=True) pads; a float3 member is 16 bytes)",
        wants(i), given.item);
}

std::string ArgumentCheck::mismatch() const {
  if (bound_.size() > declared_.size())
    return fmt::format("kernel '{}' has {} buffer arguments, the call passes {}", kernel_, declared_.size(),
                       bound_.size());
  for (size_t i = 0; i < bound_.size(); ++i) {
    const Parameter& want = declared_[i];
    const Bound& given = bound_[i];
    if (!want.is_numeric() || given.kind == Bound::Kind::list || given.kind == Bound::Kind::nothing) continue;
    // One-byte elements are raw bytes to anybody; whole numbers of more bytes than wanted still begin with the value.
    if (given.element == ElementKind::other || (given.item == 1 && is_whole(given.element))) continue;
    // NumPy has no bfloat16; its bits stand in arrays of uint16.
    if (want.kind == ElementKind::bfloat && given.element == ElementKind::unsigned_integer && given.item == 2) continue;
    const bool kinds_agree = is_whole(want.kind) ? is_whole(given.element) : want.kind == given.element;
    const bool sizes_agree =
        given.item == want.component || (given.kind == Bound::Kind::inlined && is_whole(want.kind) &&
                                         given.item >= want.component && given.bytes == given.item);
    if (!kinds_agree || !sizes_agree)
      return fmt::format("{}, the call passes {}; {}", wants(i), element_name(given.element, given.item), advice(want));
  }
  return {};
}

}  // namespace smelt::python
