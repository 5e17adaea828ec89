// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arguments.hpp"

#include "smelt/base/floats.hpp"

#include "addressed.hpp"
#include "errors.hpp"
#include "texture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace smelt::python {
namespace {

ElementKind element_of(Cast cast, bool is_float) {
  switch (cast) {
    case Cast::none:
    case Cast::declared:
      return is_float ? ElementKind::floating : ElementKind::integer;
    case Cast::fp32:
    case Cast::fp16:
      return ElementKind::floating;
    case Cast::bf16:
      return ElementKind::bfloat;
    case Cast::boolean:
      return ElementKind::boolean;
    case Cast::uint64:
    case Cast::uint32:
    case Cast::uint16:
    case Cast::uint8:
      return ElementKind::unsigned_integer;
    default:
      return ElementKind::integer;
  }
}

/// "argument 2 'a'".
std::string place(const Parameter& parameter) {
  return parameter.name.empty() ? fmt::format("argument {}", parameter.position)
                                : fmt::format("argument {} '{}'", parameter.position, parameter.name);
}

/// "0 to 255"; of floating point up to the largest number.
std::string range_of(const Parameter& parameter) {
  const unsigned bits = parameter.component * 8;
  if (parameter.kind == ElementKind::unsigned_integer) return fmt::format("0 to {}", UINT64_MAX >> (64 - bits));
  if (is_whole(parameter.kind))
    return fmt::format("{} to {}", INT64_MIN >> (64 - bits), static_cast<uint64_t>(INT64_MAX) >> (64 - bits));
  const bool is_half = parameter.kind == ElementKind::floating && bits == 16;
  return is_half ? "-65504 to 65504" : "-3.4e38 to 3.4e38";
}

[[noreturn]] void refuse_number(py::handle value, const Parameter& parameter) {
  const std::string number = py::cast<std::string>(py::repr(value));
  if (!is_number(value))
    raise(Errc::argument_type, "{} expects {}, and {} is not a number", place(parameter), parameter.type_name, number);
  const double real = PyFloat_Check(value.ptr()) != 0 ? PyFloat_AS_DOUBLE(value.ptr()) : 0;
  if (is_whole(parameter.kind) && std::isfinite(real) && std::trunc(real) != real)
    raise(Errc::argument_type, "{} expects {}, and {} is not a whole number; pass int({}), which cuts it off",
          place(parameter), parameter.type_name, number, number);
  raise(Errc::argument_type, "{} expects {}, which holds {}: {} does not fit", place(parameter), parameter.type_name,
        range_of(parameter), number);
}

/// The one element of an array without dimensions as Python's number; null for what Python has no number for.
py::object number_of(const Tensor& tensor) {
  uint64_t bits = 0;
  if (tensor.item == 0 || tensor.item > sizeof bits) return {};
  std::memcpy(&bits, tensor.data, tensor.item);
  switch (tensor.kind) {
    case ElementKind::boolean:
      return py::bool_(bits != 0);
    case ElementKind::integer: {
      const unsigned unused = 64 - 8 * tensor.item;
      return py::int_(static_cast<int64_t>(bits << unused) >> unused);
    }
    case ElementKind::unsigned_integer:
      return py::int_(bits);
    case ElementKind::floating:
      if (tensor.item == 2) return py::float_(double{from_half_bits(static_cast<uint16_t>(bits))});
      if (tensor.item == 4) return py::float_(double{std::bit_cast<float>(static_cast<uint32_t>(bits))});
      return py::float_(std::bit_cast<double>(bits));
    case ElementKind::bfloat:
      return py::float_(double{from_bfloat_bits(static_cast<uint16_t>(bits))});
    default:
      return {};
  }
}

/// How many the array holds of what the kernel declares: two float4 in eight numbers.
uint64_t count_of(const Tensor& tensor, const Parameter& parameter) {
  const bool of_numbers = parameter.is_numeric() && tensor.item == parameter.component;
  return of_numbers ? tensor.count * tensor.item / parameter.size : tensor.count;
}

/// The array's dimensions in what the kernel declares: of float4 the last four numbers are one element.
std::vector<uint64_t> elements_of(const Tensor& tensor, const Parameter& parameter) {
  std::vector<uint64_t> shape(tensor.known_shape().begin(), tensor.known_shape().end());
  if (shape.empty()) shape.push_back(tensor.count);
  if (!parameter.is_numeric() || tensor.item != parameter.component) return shape;
  for (uint64_t numbers = parameter.size / parameter.component; numbers > 1 && !shape.empty();) {
    uint64_t& last = shape.back();
    if (last > numbers || numbers % std::max<uint64_t>(last, 1) != 0) {
      last /= numbers;
      break;
    }
    numbers /= std::max<uint64_t>(last, 1);
    shape.pop_back();
  }
  if (shape.empty()) shape.push_back(1);
  return shape;
}

// Behind the type that a member of an argument buffer points to.
constexpr std::string_view kReadPointer = " const*", kPointer = "*";

bool shares_memory(const loader::Encoder& encoder) {
  return encoder.device()->kind() == loader::DeviceKind::cpu;
}

}  // namespace

void Casts::parse(py::handle value) {
  if (!value || value.is_none()) return;
  if (PyUnicode_Check(value.ptr()) != 0) {
    all_ = parse_cast(value, -1);
    return;
  }
  if (PyDict_Check(value.ptr()) == 0)
    raise(Errc::invalid_argument, "arg_casts: want None, a word, or a dict of words by argument index; got {}",
          type_name(value));
  for (const auto& [key, word] : py::reinterpret_borrow<py::dict>(value)) {
    if (PyLong_Check(key.ptr()) == 0)
      raise(Errc::invalid_argument, "arg_casts: keys are argument indexes; got {}", type_name(key));
    const long index = PyLong_AsLong(key.ptr());
    if (index < 0) {
      PyErr_Clear();
      raise(Errc::invalid_argument, "arg_casts: {} is not an argument index", py::cast<std::string>(py::str(key)));
    }
    some_.emplace_back(static_cast<size_t>(index), parse_cast(word, static_cast<int>(index)));
  }
}

Cast Casts::of(size_t index) const {
  for (const auto& [which, cast] : some_)
    if (which == index) return cast;
  return all_;
}

void Arguments::bind(loader::Encoder& encoder, py::handle tuple, const Casts& casts,
                     std::span<const Parameter> parameters, bool by_type, std::span<const loader::MemberInfo> further) {
  by_type_ = by_type;
  const auto given = static_cast<size_t>(PyTuple_GET_SIZE(tuple.ptr()));
  const size_t count = further.empty() ? given : std::min(given, kMost - 1);
  bound_.clear();
  first_array_.reset();
  encoder.forget_used();
  for (size_t i = 0; i < count; ++i) {
    PyObject* const value = PyTuple_GET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i));
    if (value == nullptr)
      bound_.push_back({});
    else
      bind_at(encoder, static_cast<uint32_t>(i), value, casts, parameters);
  }
  if (!further.empty()) bind_further(encoder, tuple, casts, further);
}

void Arguments::bind_at(loader::Encoder& encoder, uint32_t index, py::handle value, const Casts& casts,
                        std::span<const Parameter> parameters) {
  Parameter unknown;
  unknown.position = index;
  const Parameter& parameter = index < parameters.size() ? parameters[index] : unknown;
  bind_one(encoder, index, value, casts.of(parameter.position), parameter);
}

void Arguments::bind_one(loader::Encoder& encoder, uint32_t index, py::handle value, Cast cast,
                         const Parameter& parameter) {
  if (parameter.is_table) return bind_table(encoder, index, value, parameter);
  if (parameter.is_tensor && !value.is_none()) return bind_shaped(encoder, index, value, parameter);
  if (value.is_none()) {
    if ((parameter.known || parameter.is_tensor) && !parameter.is_conditional)
      raise(Errc::argument_type,
            "{}: None is for an argument that a function constant removes, and this one is always there",
            place(parameter));
    bound_.push_back({});
    return;
  }
  if (is_number(value)) {
    bind_scalar(encoder, index, value, cast, parameter);
    return;
  }
  if (by_type_ && !parameter.members.empty() && bind_structure(encoder, index, value, parameter)) return;
  if (PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0) {
    bind_list(encoder, index, value, cast, parameter);
    return;
  }
  Tensor& tensor = tensors_.emplace_back();
  if (!tensor.take(value, parameter.position)) {
    tensors_.pop_back();
    const py::object number = by_type_ ? number_of_numpy(value) : py::object();
    if (number) return bind_scalar(encoder, index, number, cast, parameter);
    raise(Errc::argument_type,
          "{}: want an array (buffer protocol or DLPack), int, float, or a list or tuple of these; got {}",
          place(parameter), type_name(value));
  }
  // Of bytes at an address nobody can count the elements.
  if (!first_array_ && addressed_buffer(value) == nullptr) {
    first_array_ = tensors_.size() - 1;
    first_at_ = bound_.size();
  }
  bind_tensor(encoder, index, tensor, parameter);
}

void Arguments::bind_tensor(loader::Encoder& encoder, uint32_t index, const Tensor& tensor,
                            const Parameter& parameter) {
  const auto number = static_cast<uint32_t>(&tensor - tensors_.data()) + 1;
  // Only what is certainly not written to may be a copy: a result would be lost.
  if (tensor.rank == 0 && parameter.known && !parameter.writes) {
    bind_number(encoder, index, tensor, parameter);
    bound_.back().tensor = number;
    return;
  }
  bound_.push_back({Bound::Kind::array, tensor.kind, tensor.writable, tensor.item, tensor.bytes, tensor.overlaps(),
                    tensor.contiguous});
  bound_.back().tensor = number;
  if (shares_memory(encoder)) {
    unwrap(encoder.set_memory(index, {tensor.data, tensor.bytes}));
    return;
  }
  loader::BufferRef buffer = unwrap(encoder.device()->make_buffer(std::max<uint64_t>(tensor.bytes, 1)));
  std::memcpy(buffer->contents().data(), tensor.data, tensor.bytes);
  unwrap(encoder.set_buffer(index, buffer));
  if (tensor.writable) copied_.push_back({std::move(buffer), static_cast<size_t>(&tensor - tensors_.data())});
}

void Arguments::bind_table(loader::Encoder& encoder, uint32_t index, py::handle value, const Parameter& parameter) {
  bound_.push_back({});
  if (value.is_none()) return unwrap(encoder.set_function_table(index, std::nullopt));
  if (PyList_Check(value.ptr()) == 0 && PyTuple_Check(value.ptr()) == 0)
    raise(Errc::argument_type,
          "{}: a table of visible functions; want a list of their names, with None for an empty entry, or None for the "
          "null table; got {}",
          place(parameter), type_name(value));
  std::vector<std::string> names;
  for (const py::handle one : py::reinterpret_borrow<py::sequence>(value)) {
    if (!one.is_none() && !py::isinstance<py::str>(one))
      raise(Errc::argument_type, "{}: want names of visible functions, got {}", place(parameter), type_name(one));
    names.push_back(one.is_none() ? std::string() : py::cast<std::string>(one));
  }
  const std::vector<std::string_view> views(names.begin(), names.end());
  if (auto known = check_visible(*parameter.library, views); !known)
    raise(known.error().code, "{}: {}", place(parameter), known.error().message);
  unwrap(encoder.set_function_table(index, views));
}

void Arguments::bind_shaped(loader::Encoder& encoder, uint32_t index, py::handle value, const Parameter& parameter) {
  const std::string where = fmt::format("{} ({})", place(parameter), parameter.type_name);
  Tensor& tensor = tensors_.emplace_back();
  if (is_number(value) || !tensor.take(value, parameter.position))
    raise(Errc::argument_type,
          "{}: want an array (buffer protocol or DLPack), whose last dimension is dimension 0; got {}", where,
          type_name(value));
  if (!tensor.writable)
    raise(Errc::argument_type, "{}: the kernel may write to it, and the array is read-only; pass a copy", where);
  if (tensor.rank > Tensor::kKnownRank)
    raise(Errc::unsupported, "{}: an array of {} dimensions; at most {}", where, tensor.rank, int{Tensor::kKnownRank});
  const auto rank = static_cast<size_t>(tensor.rank);
  auto bound = encoder.set_tensor(index, {tensor.data, std::span(tensor.shape).first(rank),
                                          std::span(tensor.strides).first(rank), scalar_of(tensor.kind, tensor.item)});
  if (!bound)
    raise(bound.error().code, "{}: an array of {}: {}", where, element_name(tensor.kind, tensor.item),
          bound.error().message);
  if (!first_array_) {
    first_array_ = tensors_.size() - 1;
    first_at_ = bound_.size();
  }
  bound_.push_back({Bound::Kind::array, tensor.kind, tensor.writable, tensor.item, tensor.bytes, tensor.overlaps(),
                    tensor.contiguous});
}

/// A number in an array's clothing: its bytes, inline. As PyTorch does, 64-bit floating point becomes 32-bit.
void Arguments::bind_number(loader::Encoder& encoder, uint32_t index, const Tensor& tensor,
                            const Parameter& parameter) {
  if (by_type_ && parameter.is_numeric() && parameter.size == parameter.component) {
    if (const py::object number = number_of(tensor)) return bind_declared(encoder, index, number, parameter);
  }
  const bool is_double = tensor.kind == ElementKind::floating && tensor.item == sizeof(double);
  const bool is_double_complex = tensor.kind == ElementKind::complex && tensor.item == 2 * sizeof(double);
  if ((is_double || is_double_complex) && !parameter.takes_double()) {
    double wide[2];
    std::memcpy(wide, tensor.data, tensor.bytes);
    const float narrow[2] = {static_cast<float>(wide[0]), is_double ? 0.0f : static_cast<float>(wide[1])};
    const uint32_t size = tensor.item / 2;
    unwrap(encoder.set_bytes(index, {reinterpret_cast<const std::byte*>(narrow), size}));
    bound_.push_back({Bound::Kind::inlined, tensor.kind, false, size, size});
    return;
  }
  unwrap(encoder.set_bytes(index, {tensor.data, tensor.bytes}));
  bound_.push_back({Bound::Kind::inlined, tensor.kind, false, tensor.item, tensor.bytes});
}

void Arguments::bind_scalar(loader::Encoder& encoder, uint32_t index, py::handle value, Cast cast,
                            const Parameter& parameter) {
  const bool asked = cast != Cast::none;
  if ((cast == Cast::declared || (by_type_ && !asked)) && parameter.is_numeric()) {
    bind_declared(encoder, index, value, parameter);
    return;
  }
  const ScalarBytes scalar = *scalar_bytes(value, cast, parameter.position);
  unwrap(encoder.set_bytes(index, {scalar.bytes.data(), scalar.size}));
  Bound& bound = bound_.emplace_back();
  bound = {Bound::Kind::inlined, element_of(cast, PyFloat_Check(value.ptr()) != 0), false, scalar.size, scalar.size};
  // A whole number of four bytes may be an enumeration.
  const bool may_be_meant = PyLong_Check(value.ptr()) != 0 && parameter.size <= 4;
  bound.guessed = by_type_ && !asked && parameter.is_structure() && !may_be_meant;
}

/// A number in the type that the kernel declares.
void Arguments::bind_declared(loader::Encoder& encoder, uint32_t index, py::handle value, const Parameter& parameter) {
  if (parameter.size != parameter.component)
    raise(Errc::argument_mismatch, "{} expects {}, and the call passes one number; pass a list of {}", place(parameter),
          parameter.type_name, parameter.rows * parameter.columns);
  const auto scalar = declared_bytes(value, parameter);
  if (!scalar) refuse_number(value, parameter);
  unwrap(encoder.set_bytes(index, {scalar->bytes.data(), scalar->size}));
  bound_.push_back({Bound::Kind::inlined, parameter.kind, false, parameter.component, parameter.component});
}

/// Numbers in the type that the kernel declares, vectors and columns of a matrix at their pitch.
void Arguments::bind_declared(loader::Encoder& encoder, uint32_t index, std::span<PyObject* const> values,
                              const Parameter& parameter) {
  const uint32_t numbers = parameter.rows * parameter.columns;
  if (values.size() % numbers != 0)
    raise(Errc::argument_mismatch, "{} expects {}, which is {} numbers; the call passes a list of {}", place(parameter),
          parameter.type_name, numbers, values.size());
  Bytes bytes(values.size() / parameter.rows * parameter.pitch);
  for (size_t i = 0; i < values.size(); ++i) {
    const auto scalar = declared_bytes(values[i], parameter);
    if (!scalar) refuse_number(values[i], parameter);
    const size_t at = i / parameter.rows * parameter.pitch + i % parameter.rows * parameter.component;
    std::copy_n(scalar->bytes.begin(), scalar->size, bytes.begin() + static_cast<std::ptrdiff_t>(at));
  }
  unwrap(encoder.set_bytes(index, bytes));
  Bound& bound = bound_.emplace_back();
  bound = {Bound::Kind::inlined, parameter.kind, false, parameter.component, bytes.size()};
  bound.is_list = true;
}

bool Arguments::bind_structure(loader::Encoder& encoder, uint32_t index, py::handle value, const Parameter& parameter) {
  if (PyDict_Check(value.ptr()) == 0 && PyTuple_Check(value.ptr()) == 0 && PyList_Check(value.ptr()) == 0) return false;
  const py::module_ structures = py::module_::import("smelt._structures");
  if (!structures.attr("is_structured")(value).cast<bool>()) return false;
  py::list members;
  for (const loader::MemberInfo& member : parameter.members) {
    std::string type(member.type_name);
    if (member.kind == MemberKind::pointer) type += member.access == Access::read ? kReadPointer : kPointer;
    members.append(py::make_tuple(member.name, type, member.offset, member.size, member.count));
  }
  const auto address = [&](const std::string& at, const std::string& type, py::handle one) {
    if (!shares_memory(encoder))
      raise(Errc::argument_device, "{}: {} needs memory that device {} shares", at, type, encoder.device()->name());
    return member_address(encoder, at, type, one, parameter.position);
  };
  const py::bytes packed = structures.attr("pack")(place(parameter), parameter.type_name, parameter.size, members,
                                                   value, py::cpp_function(address));
  const std::string_view bytes(packed);
  unwrap(encoder.set_bytes(index, as_bytes(bytes)));
  Bound& bound = bound_.emplace_back();
  bound = {Bound::Kind::inlined, ElementKind::other, false, parameter.size, bytes.size()};
  bound.is_dict = PyDict_Check(value.ptr()) != 0;
  bound.is_list = !bound.is_dict;
  return true;
}

uint64_t Arguments::member_address(loader::Encoder& encoder, const std::string& place, std::string_view type,
                                   py::handle value, size_t position) {
  if (value.is_none()) return 0;
  if (type == "sampler") {
    if (!py::isinstance<PythonSampler>(value))
      raise(Errc::argument_type, "{}: want a smelt.Sampler or None, got {}", place, type_name(value));
    samplers_.push_back(py::cast<const PythonSampler&>(value).sampler);
    encoder.use(samplers_.back());
    return reinterpret_cast<uint64_t>(&samplers_.back()->cpu());
  }
  if (loader::texture_parameter(type)) {
    if (!py::isinstance<PythonTexture>(value))
      raise(Errc::argument_type, "{}: want a smelt.Texture or None, got {}", place, type_name(value));
    const auto& given = py::cast<const PythonTexture&>(value);
    if (const auto reason = loader::misfit(*given.texture, type))
      raise(Errc::argument_mismatch, "{} is a {}, and the one that is passed {}", place, type, *reason);
    if (!given.writable && (type.find("write") != type.npos))
      raise(Errc::argument_type, "{}: the kernel writes to it, and its array is read-only", place);
    textures_.push_back(given.texture);
    unwrap(given.texture->decode());
    encoder.use(given.texture);
    return reinterpret_cast<uint64_t>(&given.texture->cpu());
  }
  Tensor& tensor = tensors_.emplace_back();
  if (!tensor.take(value, position))
    raise(Errc::argument_type, "{}: want an array or None, got {}", place, type_name(value));
  if (!tensor.writable && !type.ends_with(kReadPointer))
    raise(Errc::argument_type, "{}: the kernel may write to it, and the array is read-only", place);
  return reinterpret_cast<uint64_t>(tensor.data);
}

void Arguments::bind_list(loader::Encoder& encoder, uint32_t index, py::handle list, Cast cast,
                          const Parameter& parameter) {
  const auto size = static_cast<size_t>(PySequence_Fast_GET_SIZE(list.ptr()));
  PyObject* const* const items = PySequence_Fast_ITEMS(list.ptr());
  if (size == 0)
    raise(Errc::argument_empty, "{}: an empty {}; want at least one element", place(parameter), type_name(list));
  std::vector<py::object> plain;  // NumPy's scalars as numbers
  std::vector<PyObject*> values(items, items + size);
  if (by_type_)
    for (PyObject*& value : values)
      if (py::object number = number_of_numpy(value)) value = plain.emplace_back(std::move(number)).ptr();
  if (!is_number(values.front())) {
    bind_addresses(encoder, index, list, parameter);
    return;
  }
  const bool by_declaration = cast == Cast::declared || (by_type_ && cast == Cast::none);
  if (by_declaration && parameter.is_numeric())
    bind_declared(encoder, index, values, parameter);
  else
    bind_numbers(encoder, index, values, cast, parameter);
}

/// Of the kind of the first, in the type that Python's numbers have or a cast asks for.
void Arguments::bind_numbers(loader::Encoder& encoder, uint32_t index, std::span<PyObject* const> values, Cast cast,
                             const Parameter& parameter) {
  const py::handle first = values.front();
  const bool floats = PyFloat_Check(first.ptr()) != 0;
  Bytes bytes;
  uint32_t item = 0;
  for (size_t i = 0; i < values.size(); ++i) {
    const py::handle value = values[i];
    const bool fits = PyLong_Check(value.ptr()) != 0 || (floats && PyFloat_Check(value.ptr()) != 0);
    if (!fits)
      raise(Errc::argument_type, "{}: element {} of a list that begins with {} is {}; lists are of one kind",
            place(parameter), i, type_name(first), type_name(value));
    ScalarBytes scalar;
    if (floats) {
      const double number = PyFloat_AsDouble(value.ptr());
      if (PyErr_Occurred() != nullptr) throw py::error_already_set();
      scalar = float_bytes(number, cast);
    } else {
      scalar = integer_bytes(value, cast, parameter.position);
    }
    item = scalar.size;
    bytes.insert(bytes.end(), scalar.bytes.begin(), scalar.bytes.begin() + scalar.size);
  }
  unwrap(encoder.set_bytes(index, bytes));
  Bound& bound = bound_.emplace_back();
  bound = {Bound::Kind::inlined, element_of(cast, floats), false, item, bytes.size()};
  bound.is_list = true;
  bound.guessed = by_type_ && cast == Cast::none && parameter.is_structure();
}

void Arguments::bind_further(loader::Encoder& encoder, py::handle tuple, const Casts& casts,
                             std::span<const loader::MemberInfo> members) {
  constexpr uint32_t kFirst = kMost - 1;
  const auto given = static_cast<size_t>(PyTuple_GET_SIZE(tuple.ptr()));
  if (given != kFirst + members.size())
    raise(Errc::argument_mismatch, "the kernel has {} buffer arguments, the call passes {}", kFirst + members.size(),
          given);
  size_t bytes = 0;
  for (const loader::MemberInfo& member : members) bytes = std::max<size_t>(bytes, member.offset + member.size);
  Bytes record(bytes);
  for (uint32_t i = 0; i < members.size(); ++i)
    put_member(encoder, kFirst + i, PyTuple_GET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(kFirst + i)),
               casts.of(kFirst + i), members[i], std::span(record).subspan(members[i].offset, members[i].size));
  unwrap(encoder.set_bytes(kFirst, record));
  bound_.push_back({Bound::Kind::list, ElementKind::other, true, 8, record.size()});
}

void Arguments::put_member(const loader::Encoder& encoder, uint32_t index, py::handle value, Cast cast,
                           const loader::MemberInfo& member, std::span<std::byte> into) {
  Parameter parameter = parameter_of(member);
  parameter.position = index;
  const bool is_pointer = member.kind == MemberKind::pointer;
  const auto put = [&](const std::byte* bytes, uint64_t size) {
    if (size < into.size())
      raise(Errc::argument_mismatch, "{}: the kernel expects {} of {} bytes, the call passes {} bytes",
            place(parameter), member.type_name, into.size(), size);
    std::memcpy(into.data(), bytes, into.size());
  };
  if (!is_pointer && is_number(value)) {
    const bool by_declaration = cast == Cast::declared || (by_type_ && cast == Cast::none);
    const auto scalar = by_declaration && parameter.is_numeric() ? declared_bytes(value, parameter)
                                                                 : scalar_bytes(value, cast, parameter.position);
    if (!scalar) refuse_number(value, parameter);
    return put(scalar->bytes.data(), scalar->size);
  }
  Tensor& tensor = tensors_.emplace_back();
  const bool is_list = PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0;
  if (is_list || !tensor.take(value, parameter.position))
    raise(Errc::argument_type, "{}: want {}; got {}", place(parameter),
          is_pointer ? "an array (buffer protocol or DLPack)" : "a number", type_name(value));
  if (!is_pointer) return put(tensor.data, tensor.bytes);
  if (!tensor.contiguous)
    raise(Errc::argument_type, "{}: its elements do not lie in the order of their indexes; pass a contiguous copy",
          place(parameter));
  if (!tensor.writable && parameter.writes)
    raise(Errc::argument_type, "{}: the kernel may write to it, and the array is read-only; pass a copy",
          place(parameter));
  if (!shares_memory(encoder))
    raise(Errc::argument_device, "{}: a kernel with more than {} buffers needs memory that device {} shares",
          place(parameter), kMost, encoder.device()->name());
  const auto address = reinterpret_cast<uint64_t>(tensor.data);
  std::memcpy(into.data(), &address, sizeof address);
}

/// One for each array.
void Arguments::bind_addresses(loader::Encoder& encoder, uint32_t index, py::handle list, const Parameter& parameter) {
  const auto size = static_cast<size_t>(PySequence_Fast_GET_SIZE(list.ptr()));
  PyObject* const* const items = PySequence_Fast_ITEMS(list.ptr());
  Bytes bytes;
  bool writable = true;
  for (size_t i = 0; i < size; ++i) {
    Tensor& tensor = tensors_.emplace_back();
    const py::handle value = items[i];
    if (PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0 || !tensor.take(value, parameter.position)) {
      if (i == 0)
        raise(Errc::argument_type, "argument {}: a list of {}; want arrays, ints or floats", parameter.position,
              type_name(value));
      raise(Errc::argument_type, "argument {}: element {} of a list that begins with an array is {}",
            parameter.position, i, type_name(value));
    }
    if (!shares_memory(encoder))
      raise(Errc::argument_device,
            "argument {}: a list of arrays needs memory that device {} shares; pass them one by one",
            parameter.position, encoder.device()->name());
    writable = writable && tensor.writable;
    const auto address = reinterpret_cast<uint64_t>(tensor.data);
    const ByteView more(reinterpret_cast<const std::byte*>(&address), sizeof address);
    bytes.insert(bytes.end(), more.begin(), more.end());
  }
  unwrap(encoder.set_bytes(index, bytes));
  bound_.push_back({Bound::Kind::list, ElementKind::other, writable, 8, bytes.size()});
}

std::optional<GridSize> Arguments::first_grid(std::string_view kernel, std::span<const Parameter> parameters,
                                              uint32_t rank) const {
  if (!first_array_) return std::nullopt;
  const Tensor& first = tensors_[*first_array_];
  if (first.overlaps())
    raise(Errc::argument_type,
          "threads was not given, and the first array has {} elements in {} bytes (a broadcast view has stride 0): a "
          "thread for each would read past it. Pass threads=, or a contiguous copy (numpy.ascontiguousarray)",
          first.count, first.bytes);
  if (!by_type_ || first_at_ >= parameters.size()) return GridSize{{first.count, 1, 1}, 1};
  const Parameter& parameter = parameters[first_at_];
  if (rank > 1) {
    const std::vector<uint64_t> shape = elements_of(first, parameter);
    if (shape.size() != rank)
      raise(Errc::threads_missing,
            "kernel '{}': threads was not given. Its position has {} dimensions, and {} has {}; pass threads=({})",
            kernel, rank, place(parameter), shape.size(), rank == 2 ? "width, height" : "width, height, depth");
    return GridSize{{shape[rank - 1], shape[rank - 2], rank == 3 ? shape[0] : 1}, static_cast<int>(rank)};
  }
  const uint64_t count = count_of(first, parameter);
  for (size_t i = 0; i < bound_.size() && i < parameters.size(); ++i) {
    const bool is_result = bound_[i].kind == Bound::Kind::array && parameters[i].writes && parameters[i].is_numeric();
    if (!is_result || i == first_at_) continue;
    if (const uint64_t more = count_of(*tensor_of(bound_[i]), parameters[i]); more > count)
      raise(Errc::threads_missing,
            "kernel '{}': threads was not given. The first array, {}, has {} elements, and {}, which the kernel writes "
            "to, has {}; pass threads=",
            kernel, place(parameter), count, place(parameters[i]), more);
  }
  return GridSize{{count, 1, 1}, 1};
}

void Arguments::finish() {
  for (const CopiedBack& copy : copied_) {
    const Tensor& tensor = tensors_[copy.tensor];
    std::memcpy(tensor.data, copy.buffer->contents().data(), tensor.bytes);
  }
}

void Arguments::release() {
  tensors_.clear();
  textures_.clear();
  samplers_.clear();
  copied_.clear();
}

}  // namespace smelt::python
