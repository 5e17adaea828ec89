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
  return text + fmt::format(": expects {} ({} byte{})", want.type_name, want.size, want.size == 1 ? "" : "s");
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
  const bool is_right_type =
      want.is_numeric() && want.rows == 1 && given.element == want.kind && given.item == want.component;
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
          "argument {}: kernel '{}' expects {}, and the array holds 64-bit floating point, which Metal does not have; "
          "convert it (float32 or complex64)",
          declared_[i].position, kernel_, declared_[i].type_name);
}

void ArgumentCheck::memory_is_there(size_t i) const {
  const Bound& given = bound_[i];
  if (given.bytes >= declared_[i].size || (given.bytes == 0 && given.kind == Bound::Kind::array)) return;
  const Tensor* const tensor = arguments_.tensor_of(given);
  std::string what = fmt::format("{} bytes", given.bytes);
  if (tensor != nullptr && given.element != ElementKind::raw && given.element != ElementKind::other)
    what = fmt::format("an array of {} of shape ({}{}), which has {}", element_name(given.element, given.item),
                       fmt::join(tensor->known_shape(), ", "), tensor->rank == 1 ? "," : "", what);
  raise(Errc::argument_mismatch, "{}, the call passes {}, and the kernel would read past them; {}", wants(i), what,
        advice(declared_[i]));
}

void ArgumentCheck::result_is_kept(size_t i) const {
  if (bound_[i].kind == Bound::Kind::inlined && !declared_[i].is_constant && declared_[i].writes)
    raise(Errc::argument_mismatch,
          "{} in memory that it may write to (declared without const), the call passes {}, of which the kernel has a "
          "copy: its result would be lost. Pass an array that keeps it (numpy.array{}, array.array, a tensor), or "
          "declare the parameter const",
          wants(i),
          bound_[i].is_list   ? "a list"
          : bound_[i].is_dict ? "a dict"
                              : "a scalar",
          declared_[i].is_structure() ? " of records" : "");
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
  raise(Errc::argument_mismatch,
        "{}, the call passes an array that does not lie in order ({}), and a kernel sees the memory, not the view. "
        "Pass a contiguous copy (numpy.ascontiguousarray, tensor.contiguous()){}; or check=\"off\" to a kernel that "
        "gets the strides",
        wants(i),
        given.overlaps ? fmt::format("its elements overlap in {} bytes: a broadcast view has stride 0", given.bytes)
                       : std::string("a slice with a step, a transposed or a cut view"),
        declared_[i].writes ? " and copy the result back" : "");
}

void ArgumentCheck::is_same_structure(size_t i) const {
  const Parameter& want = declared_[i];
  const Bound& given = bound_[i];
  if (given.guessed)
    raise(Errc::argument_mismatch, "{}, the call passes numbers, and it is not clear which members they are. Pass {}",
          wants(i), structures(want));
  const bool is_record = given.element == ElementKind::other;
  if (given.kind == Bound::Kind::list || !is_record || want.size <= 1) return;
  if (want.is_structure() ? given.item == want.size : given.item % want.size == 0) return;
  raise(Errc::argument_mismatch,
        "{}, the call passes structures of {} bytes. Members lie at multiples of their own size, and three components "
        "occupy the space of four (numpy.dtype([...], align=True) pads; a float3 member is 16 bytes)",
        wants(i), given.item);
}

std::string ArgumentCheck::mismatch() const {
  if (bound_.size() > declared_.size())
    return fmt::format("kernel '{}' has {} buffer arguments, the call passes {}", kernel_, declared_.size(),
                       bound_.size());
  for (size_t i = 0; i < bound_.size(); ++i)
    if (std::string text = mismatch(i); !text.empty()) return text;
  return {};
}

std::string ArgumentCheck::mismatch(size_t i) const {
  const Parameter& want = declared_[i];
  const Bound& given = bound_[i];
  if (!want.known || given.kind == Bound::Kind::list || given.kind == Bound::Kind::nothing || fits(i)) return {};
  // A whole number of more bytes than wanted still begins with the value.
  const bool is_number = given.kind == Bound::Kind::inlined && given.bytes == given.item;
  if (is_number && want.is_numeric() && is_whole(want.kind) && is_whole(given.element) && given.item >= want.component)
    return {};
  loader::HostArray host{.kind = given.element, .item = given.item};
  std::optional<std::vector<loader::HostField>> fields;
  if (const Tensor* const tensor = arguments_.tensor_of(given)) {
    host.shape = tensor->known_shape();
    if (given.element == ElementKind::other && !want.members.empty()) fields = tensor->fields();
    if (fields) host.fields = &*fields;
  }
  const auto misfit = loader::misfit(host, want, want.type_name, want.size, want.members);
  if (!misfit) return {};
  const std::string text = fmt::format("{}, the call passes {}", wants(i), misfit->given);
  switch (misfit->kind) {
    case loader::Misfit::Kind::element:
      return fmt::format("{}; {}", text, conversion(i, *misfit));
    case loader::Misfit::Kind::padding:
      return fmt::format("{}; {}. smelt.padded(array) makes such an array", text, misfit->remedy);
    case loader::Misfit::Kind::rows:
      return fmt::format("{}; {}", text, misfit->remedy);
    case loader::Misfit::Kind::record:
      return fmt::format("{}. Pass {}", text, structures(want));
  }
  return text;
}

std::string ArgumentCheck::conversion(size_t i, const loader::Misfit& misfit) const {
  const Parameter& want = declared_[i];
  if (bound_[i].kind != Bound::Kind::array)
    return fmt::format("leave out arg_casts, or pass arg_casts={{{}: 'declared'}}", want.position);
  const std::string_view name = want.name.empty() ? std::string_view("array") : want.name;
  std::string text = fmt::format("pass {0}.astype(numpy.{1}) (of a tensor {0}.to(torch.{1}))", name, misfit.remedy);
  if (bound_[i].item == 1 && want.component > 1)
    text += fmt::format("; or {}.view(numpy.{}), if these are the bytes of such numbers", name, misfit.remedy);
  return text;
}

}  // namespace smelt::python
