// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "arguments.hpp"

#include "addressed.hpp"
#include "errors.hpp"

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

/// What a number must become to be the type that the kernel declares; none where that says nothing of numbers
/// (structures, and IR without types).
Cast cast_to(const Parameter& parameter) {
  const uint32_t bytes = parameter.component_size();
  switch (parameter.known ? parameter.kind : ElementKind::other) {
    case ElementKind::boolean:
      return Cast::boolean;
    case ElementKind::integer:
      return bytes == 8 ? Cast::int64 : bytes == 4 ? Cast::int32 : bytes == 2 ? Cast::int16 : Cast::int8;
    case ElementKind::unsigned_integer:
      return bytes == 8 ? Cast::uint64 : bytes == 4 ? Cast::uint32 : bytes == 2 ? Cast::uint16 : Cast::uint8;
    case ElementKind::floating:
      return bytes == 4 ? Cast::fp32 : bytes == 2 ? Cast::fp16 : Cast::none;
    case ElementKind::bfloat:
      return Cast::bf16;
    case ElementKind::complex:
    case ElementKind::other:
      break;
  }
  return Cast::none;
}

bool shares_memory(const loader::Encoder& encoder) {
  return encoder.device()->kind() == loader::DeviceKind::cpu;
}

}  // namespace

ElementKind kind_of_type(std::string_view name) {
  while (!name.empty() && name.back() >= '0' && name.back() <= '9') name.remove_suffix(1);
  if (name == "float" || name == "half" || name == "double") return ElementKind::floating;
  if (name == "bfloat") return ElementKind::bfloat;
  if (name == "int" || name == "short" || name == "long") return ElementKind::integer;
  if (name == "uint" || name == "ushort" || name == "ulong" || name == "uchar") return ElementKind::unsigned_integer;
  if (name == "bool") return ElementKind::boolean;
  return ElementKind::other;  // structures; and char, which is what IR without types says of everything
}

uint32_t components_of_type(std::string_view name) {
  return !name.empty() && name.back() >= '2' && name.back() <= '4' ? static_cast<uint32_t>(name.back() - '0') : 1;
}

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
      raise(Errc::invalid_argument, "arg_casts: {} is no argument index", py::cast<std::string>(py::str(key)));
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
                     std::span<const Parameter> parameters, std::span<const loader::MemberInfo> further) {
  const auto given = static_cast<size_t>(PyTuple_GET_SIZE(tuple.ptr()));
  const size_t count = further.empty() ? given : std::min(given, kMost - 1);
  bound_.clear();
  first_array_.reset();
  for (size_t i = 0; i < count; ++i)
    bind_one(encoder, static_cast<uint32_t>(i), PyTuple_GET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i)), casts.of(i),
             i < parameters.size() ? parameters[i] : Parameter());
  if (!further.empty()) bind_further(encoder, tuple, casts, further);
}

void Arguments::bind_one(loader::Encoder& encoder, uint32_t index, py::handle value, Cast cast,
                         const Parameter& parameter) {
  if (cast == Cast::declared) cast = cast_to(parameter);
  if (const auto scalar = scalar_bytes(value, cast, index)) {
    unwrap(encoder.set_bytes(index, {scalar->bytes.data(), scalar->size}));
    const ElementKind element = element_of(cast, PyFloat_Check(value.ptr()) != 0);
    bound_.push_back({Bound::Kind::inlined, element, false, scalar->size, scalar->size});
    return;
  }
  if (PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0) {
    bind_list(encoder, index, value, cast);
    return;
  }
  Tensor& tensor = tensors_.emplace_back();
  if (!tensor.take(value, index))
    raise(Errc::argument_type,
          "argument {}: want an array (buffer protocol or DLPack), int, float, or a list or tuple of these; got {}",
          index, type_name(value));
  // Of bytes at an address nobody can count the elements.
  if (!first_array_ && addressed_buffer(value) == nullptr) first_array_ = tensors_.size() - 1;
  bind_tensor(encoder, index, tensor, parameter);
}

void Arguments::bind_tensor(loader::Encoder& encoder, uint32_t index, const Tensor& tensor,
                            const Parameter& parameter) {
  // Only what is certainly not written to may be a copy: a result would be lost.
  if (tensor.rank == 0 && parameter.known && !parameter.writes) {
    bind_number(encoder, index, tensor, parameter);
    return;
  }
  bound_.push_back({Bound::Kind::array, tensor.kind, tensor.writable, tensor.item, tensor.bytes, tensor.overlaps()});
  if (shares_memory(encoder)) {
    unwrap(encoder.set_memory(index, {tensor.data, tensor.bytes}));
    return;
  }
  loader::BufferRef buffer = unwrap(encoder.device()->make_buffer(std::max<uint64_t>(tensor.bytes, 1)));
  std::memcpy(buffer->contents().data(), tensor.data, tensor.bytes);
  unwrap(encoder.set_buffer(index, buffer));
  if (tensor.writable) copied_.push_back({std::move(buffer), static_cast<size_t>(&tensor - tensors_.data())});
}

/// A number in an array's clothing: its bytes, inline. As PyTorch does, 64-bit floating point becomes 32-bit.
void Arguments::bind_number(loader::Encoder& encoder, uint32_t index, const Tensor& tensor,
                            const Parameter& parameter) {
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

void Arguments::bind_list(loader::Encoder& encoder, uint32_t index, py::handle list, Cast cast) {
  const auto size = static_cast<size_t>(PySequence_Fast_GET_SIZE(list.ptr()));
  PyObject* const* const items = PySequence_Fast_ITEMS(list.ptr());
  if (size == 0)
    raise(Errc::argument_empty, "argument {}: an empty {}; want at least one element", index, type_name(list));
  const py::handle first = items[0];
  Bytes bytes;
  const auto append = [&](ByteView more) { bytes.insert(bytes.end(), more.begin(), more.end()); };
  if (PyFloat_Check(first.ptr()) != 0 || PyLong_Check(first.ptr()) != 0) {
    const bool floats = PyFloat_Check(first.ptr()) != 0;
    uint32_t item = 0;
    for (size_t i = 0; i < size; ++i) {
      const py::handle value = items[i];
      const bool fits = PyLong_Check(value.ptr()) != 0 || (floats && PyFloat_Check(value.ptr()) != 0);
      if (!fits)
        raise(Errc::argument_type, "argument {}: element {} of a list that begins with {} is {}; lists are of one kind",
              index, i, type_name(first), type_name(value));
      ScalarBytes scalar;
      if (floats) {
        const double number = PyFloat_AsDouble(value.ptr());
        if (PyErr_Occurred() != nullptr) throw py::error_already_set();
        scalar = float_bytes(number, cast);
      } else {
        scalar = integer_bytes(value, cast, index);
      }
      item = scalar.size;
      append({scalar.bytes.data(), scalar.size});
    }
    unwrap(encoder.set_bytes(index, bytes));
    bound_.push_back({Bound::Kind::inlined, element_of(cast, floats), false, item, bytes.size()});
    return;
  }
  // Addresses, one for each array.
  bool writable = true;
  for (size_t i = 0; i < size; ++i) {
    Tensor& tensor = tensors_.emplace_back();
    const py::handle value = items[i];
    if (PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0 || !tensor.take(value, index)) {
      if (i == 0)
        raise(Errc::argument_type, "argument {}: a list of {}; want arrays, ints or floats", index, type_name(value));
      raise(Errc::argument_type, "argument {}: element {} of a list that begins with an array is {}", index, i,
            type_name(value));
    }
    if (!shares_memory(encoder))
      raise(Errc::argument_device,
            "argument {}: a list of arrays needs memory that device {} shares; pass them one by one", index,
            encoder.device()->name());
    writable = writable && tensor.writable;
    const auto address = reinterpret_cast<uint64_t>(tensor.data);
    append(ByteView(reinterpret_cast<const std::byte*>(&address), sizeof address));
  }
  unwrap(encoder.set_bytes(index, bytes));
  bound_.push_back({Bound::Kind::list, ElementKind::other, writable, 8, bytes.size()});
}

void Arguments::bind_further(loader::Encoder& encoder, py::handle tuple, const Casts& casts,
                             std::span<const loader::MemberInfo> members) {
  constexpr size_t kFirst = kMost - 1;
  const auto given = static_cast<size_t>(PyTuple_GET_SIZE(tuple.ptr()));
  if (given != kFirst + members.size())
    raise(Errc::argument_mismatch, "the kernel has {} buffer arguments, the call passes {}", kFirst + members.size(),
          given);
  size_t bytes = 0;
  for (const loader::MemberInfo& member : members) bytes = std::max<size_t>(bytes, member.offset + member.size);
  Bytes record(bytes);
  for (size_t i = 0; i < members.size(); ++i)
    put_member(encoder, kFirst + i, PyTuple_GET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(kFirst + i)),
               casts.of(kFirst + i), members[i], std::span(record).subspan(members[i].offset, members[i].size));
  unwrap(encoder.set_bytes(kFirst, record));
  bound_.push_back({Bound::Kind::list, ElementKind::other, true, 8, record.size()});
}

void Arguments::put_member(const loader::Encoder& encoder, size_t index, py::handle value, Cast cast,
                           const loader::MemberInfo& member, std::span<std::byte> place) {
  const auto number = static_cast<uint32_t>(index);
  const bool is_pointer = member.kind == MemberKind::pointer;
  Parameter parameter;
  parameter.known = true;
  parameter.kind = kind_of_type(member.type_name);
  parameter.components = components_of_type(member.type_name);
  parameter.size = member.size;
  if (!is_pointer) {
    if (const auto scalar = scalar_bytes(value, cast == Cast::none ? cast_to(parameter) : cast, index)) {
      if (scalar->size < place.size())
        raise(Errc::argument_mismatch, "argument {}: the kernel wants {} of {} bytes, the call passes {} bytes", index,
              member.type_name, place.size(), scalar->size);
      std::memcpy(place.data(), scalar->bytes.data(), place.size());
      return;
    }
  }
  Tensor& tensor = tensors_.emplace_back();
  const bool is_list = PyList_Check(value.ptr()) != 0 || PyTuple_Check(value.ptr()) != 0;
  if (is_list || !tensor.take(value, number))
    raise(Errc::argument_type, "argument {}: want {}; got {}", index,
          is_pointer ? "an array (buffer protocol or DLPack)" : "a number", type_name(value));
  if (!is_pointer) {
    if (tensor.bytes < place.size())
      raise(Errc::argument_mismatch, "argument {}: the kernel wants {} of {} bytes, the call passes {} bytes", index,
            member.type_name, place.size(), tensor.bytes);
    std::memcpy(place.data(), tensor.data, place.size());
    return;
  }
  if (!tensor.writable && member.access != Access::read)
    raise(Errc::argument_type, "argument {}: the kernel may write to it, and the array is read-only; pass a copy",
          index);
  if (!shares_memory(encoder))
    raise(Errc::argument_device, "argument {}: a kernel with more than {} buffers needs memory that device {} shares",
          index, kMost, encoder.device()->name());
  const auto address = reinterpret_cast<uint64_t>(tensor.data);
  std::memcpy(place.data(), &address, sizeof address);
}

std::optional<uint64_t> Arguments::first_count() const {
  if (!first_array_) return std::nullopt;
  const Tensor& first = tensors_[*first_array_];
  if (first.overlaps())
    raise(Errc::argument_type,
          "threads was not given, and the first array has {} elements in {} bytes (a broadcast view has stride 0): a "
          "thread for each would read past it. Pass threads=, or a contiguous copy (numpy.ascontiguousarray)",
          first.count, first.bytes);
  return first.count;
}

void Arguments::finish() {
  for (const CopiedBack& copy : copied_) {
    const Tensor& tensor = tensors_[copy.tensor];
    std::memcpy(tensor.data, copy.buffer->contents().data(), tensor.bytes);
  }
}

void Arguments::release() {
  tensors_.clear();
  copied_.clear();
}

}  // namespace smelt::python
