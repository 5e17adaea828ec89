// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tensor.hpp"

#include "addressed.hpp"
#include "dlpack.hpp"
#include "errors.hpp"
#include "records.hpp"

#include <pybind11/stl.h>

#include <cstdlib>
#include <cstring>
#include <unordered_map>
#include <vector>

namespace smelt::python {
namespace {

/// Whether elements follow each other in the order of their indexes; strides in units of `unit` bytes.
template <class Shape, class Strides>
bool is_contiguous(int rank, const Shape* shape, const Strides* strides, int64_t unit, int64_t item) {
  if (strides == nullptr) return true;
  int64_t expected = item;
  for (int i = rank - 1; i >= 0; --i) {
    if (shape[i] == 0) return true;
    if (shape[i] > 1 && strides[i] * unit != expected) return false;
    expected *= shape[i];
  }
  return true;
}

/// Bytes from the first element to the end of the last; strides in bytes. Throws for strides below zero: the first
/// element is not where the memory begins, and a kernel that counts upwards would leave the array.
template <class Shape, class Strides>
uint64_t extent(int rank, const Shape* shape, const Strides* strides, int64_t unit, int64_t item, size_t index) {
  uint64_t reach = 0;
  uint64_t compact = static_cast<uint64_t>(item);
  bool empty = false;
  for (int i = rank - 1; i >= 0; --i) {
    if (shape[i] == 0) empty = true;
    if (strides == nullptr) {
      compact *= static_cast<uint64_t>(shape[i]);
      continue;
    }
    if (shape[i] > 1 && strides[i] < 0)
      raise(Errc::argument_type,
            "argument {}: an array with a negative stride; a kernel reads upwards from its first element. Pass a "
            "contiguous copy (numpy.ascontiguousarray)",
            index);
    if (shape[i] > 1) reach += static_cast<uint64_t>((shape[i] - 1) * strides[i] * unit);
  }
  if (empty) return 0;
  return strides == nullptr ? compact : reach + static_cast<uint64_t>(item);
}

/// Strides in units of `unit` bytes; null: C order.
template <class Shape, class Strides>
void keep_shape(Tensor& tensor, const Shape* shape, const Strides* strides, int64_t unit) {
  if (tensor.rank > Tensor::kKnownRank) return;
  int64_t compact = tensor.item;
  for (auto i = static_cast<size_t>(tensor.rank); i-- > 0;) {
    tensor.shape[i] = static_cast<uint64_t>(shape[i]);
    tensor.strides[i] = strides != nullptr ? strides[i] * unit : compact;
    compact *= shape[i];
  }
}

/// Throws for elements that no kernel can read: pointers into the interpreter, text, and numbers in the other byte
/// order or wider than any of Metal's. `format` is of PEP 3118; names of fields stand between colons.
void refuse_foreign(const char* format, py::handle value, size_t index) {
  if (format == nullptr) return;
  const auto refuse = [&](std::string_view what) {
    raise(Errc::argument_type,
          "argument {}: a {} of {} (format '{}'); a kernel takes whole numbers, floating point, bool, complex, and "
          "structures of these",
          index, type_name(value), what, format);
  };
  for (const char* at = format; *at != '\0'; ++at) {
    switch (*at) {
      case ':':
        at = std::strchr(at + 1, ':');
        if (at == nullptr) return;
        break;
      case 'O':
      case 'P':
      case '&':
        refuse("Python objects or pointers");
        break;
      case 'w':
      case 'u':
        refuse("text");
        break;
      case 's':
      case 'p':
        if (format[0] != 'T') refuse("text");
        break;
      case 'g':
        refuse("extended floating point");
        break;
      case '>':
      case '!':
        refuse("big-endian numbers; pass array.astype(array.dtype.newbyteorder('='))");
        break;
      default:
        break;
    }
  }
}

ElementKind kind_of_format(const char* format) {
  if (format == nullptr) return ElementKind::unsigned_integer;  // bytes
  if (*format == '@' || *format == '=' || *format == '<' || *format == '|') ++format;
  if (*format == 'Z') return ElementKind::complex;
  if (format[0] != '\0' && format[1] != '\0') return ElementKind::other;
  switch (*format) {
    case '?':
      return ElementKind::boolean;
    case 'c':
    case 'b':
    case 'h':
    case 'i':
    case 'l':
    case 'q':
    case 'n':
      return ElementKind::integer;
    case 'B':
    case 'H':
    case 'I':
    case 'L':
    case 'Q':
    case 'N':
      return ElementKind::unsigned_integer;
    case 'e':
    case 'f':
    case 'd':
    case 'g':
      return ElementKind::floating;
    default:
      return ElementKind::other;
  }
}

ElementKind kind_of(const dlpack::DataType& type) {
  if (type.lanes != 1) return ElementKind::other;
  switch (type.code) {
    case 0:
      return ElementKind::integer;
    case 1:
      return ElementKind::unsigned_integer;
    case 2:
      return ElementKind::floating;
    case 4:
      return ElementKind::bfloat;
    case 5:
      return ElementKind::complex;
    case 6:
      return ElementKind::boolean;
    default:
      return ElementKind::other;
  }
}

/// Bytes without a type: bytes, bytearray, mmap, smelt's own memory, and memoryviews of these. An array of small whole
/// numbers has the same format, and is none.
bool is_raw_memory(py::handle value) {
  PyObject* base = value.ptr();
  if (PyMemoryView_Check(base)) base = PyMemoryView_GET_BUFFER(base)->obj;
  if (base == nullptr || PyBytes_Check(base) != 0 || PyByteArray_Check(base) != 0) return true;
  const std::string_view type(Py_TYPE(base)->tp_name);
  return type == "mmap.mmap" || type.starts_with("smelt.");
}

void check_device(const dlpack::Device& device, py::handle value, size_t index) {
  if (device.type == dlpack::kCpu || device.type == dlpack::kCudaHost) return;
  raise(Errc::argument_device,
        "argument {}: a {} on DLPack device ({}, {}); this kernel runs on the CPU and takes CPU arrays", index,
        type_name(value), device.type, device.id);
}

void fill(Tensor& tensor, const dlpack::TensorLayout& layout, size_t index) {
  tensor.rank = layout.rank;
  tensor.item = uint32_t{layout.type.bits} * layout.type.lanes / 8;
  if (layout.type.bits % 8 != 0 || layout.type.code == dlpack::kOpaqueHandle)
    raise(Errc::argument_type,
          "argument {}: an array of DLPack type code {}, {} bits; a kernel takes elements of whole bytes that are "
          "numbers",
          index, layout.type.code, layout.type.bits);
  tensor.kind = kind_of(layout.type);
  tensor.data = static_cast<std::byte*>(layout.data) + layout.byte_offset;
  tensor.count = 1;
  for (int i = 0; i < layout.rank; ++i) tensor.count *= static_cast<uint64_t>(layout.shape[i]);
  tensor.bytes = extent(layout.rank, layout.shape, layout.strides, tensor.item, tensor.item, index);
  tensor.contiguous = is_contiguous(layout.rank, layout.shape, layout.strides, tensor.item, tensor.item);
  keep_shape(tensor, layout.shape, layout.strides, tensor.item);
}

/// An array of ml_dtypes' bfloat16 as NumPy's own uint16; null for everything else.
py::object bits_of_bfloat(py::handle value) {
  try {
    if (!py::hasattr(value, "dtype") || !py::hasattr(value, "view")) return {};
    if (py::cast<std::string>(py::str(value.attr("dtype"))) != "bfloat16") return {};
    return value.attr("view")("uint16");
  } catch (py::error_already_set&) {
    return {};
  }
}

/// The type's table of DLPack functions, null when it has none. Types are few and asked once.
const dlpack::ExchangeApi* exchange_of(PyTypeObject* type) {
  static auto& known = *new std::unordered_map<PyTypeObject*, const dlpack::ExchangeApi*>;
  if (const auto found = known.find(type); found != known.end()) return found->second;
  const dlpack::ExchangeApi* api = nullptr;
  PyObject* const capsule = PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__dlpack_c_exchange_api__");
  if (capsule != nullptr && PyCapsule_IsValid(capsule, "dlpack_exchange_api") != 0) {
    const auto* header =
        static_cast<const dlpack::ExchangeHeader*>(PyCapsule_GetPointer(capsule, "dlpack_exchange_api"));
    while (header != nullptr && header->version.major != 1) header = header->previous;
    api = reinterpret_cast<const dlpack::ExchangeApi*>(header);
    if (api != nullptr && api->layout_from_object == nullptr) api = nullptr;
  }
  PyErr_Clear();
  Py_XDECREF(capsule);
  Py_INCREF(type);  // its address must not be given to another type
  known.emplace(type, api);
  return api;
}

}  // namespace

bool is_numpy_scalar(py::handle value) {
  static PyTypeObject* generic = nullptr;  // lives as long as NumPy, which never goes
  if (generic == nullptr) {
    PyObject* const modules = PyImport_GetModuleDict();
    PyObject* const numpy = PyDict_GetItemString(modules, "numpy");
    if (numpy == nullptr) return false;
    PyObject* const type = PyObject_GetAttrString(numpy, "generic");
    if (type == nullptr) {
      PyErr_Clear();
      return false;
    }
    generic = reinterpret_cast<PyTypeObject*>(type);
  }
  return PyType_IsSubtype(Py_TYPE(value.ptr()), generic) != 0;
}

Tensor::Tensor(Tensor&& other) noexcept {
  std::memcpy(static_cast<void*>(this), &other, sizeof(Tensor));
  other.held_ = Held::nothing;
}

bool Tensor::take(py::handle value, size_t index) {
  if (const AddressedBuffer* const buffer = addressed_buffer(value)) {
    take_addressed(*buffer);
    return true;
  }
  if (PyObject_CheckBuffer(value.ptr()) != 0) return take_buffer(value, index);
  return take_dlpack_quickly(value, index) || take_dlpack(value, index) || take_interface(value, index);
}

void Tensor::take_addressed(const AddressedBuffer& buffer) {
  data = buffer.data;
  bytes = count = buffer.size;
  item = 1;
  rank = 1;
  shape[0] = buffer.size;
  strides[0] = 1;
  kind = ElementKind::raw;
  writable = buffer.writable;
  contiguous = true;
}

bool Tensor::take_buffer(py::handle value, size_t index) {
  // A record is bytes; of a number's four or eight nobody means those.
  if (is_numpy_scalar(value) && std::string_view(Py_TYPE(value.ptr())->tp_name) != "numpy.void") return false;
  writable = true;
  if (PyObject_GetBuffer(value.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE) != 0) {
    PyErr_Clear();
    writable = false;
    if (PyObject_GetBuffer(value.ptr(), &buffer_, PyBUF_STRIDES | PyBUF_FORMAT) != 0) {
      PyErr_Clear();
      // NumPy has no buffer for types that are not its own; ml_dtypes' bfloat16 is 16 bits.
      if (const py::object bits = bits_of_bfloat(value)) {
        if (!take_buffer(bits, index)) return false;
        kind = ElementKind::bfloat;
        return true;
      }
      if (take_dlpack(value, index)) return true;
      raise(Errc::argument_type, "argument {}: the {} does not expose its memory", index, type_name(value));
    }
  }
  held_ = Held::buffer;
  refuse_foreign(buffer_.format, value, index);
  data = static_cast<std::byte*>(buffer_.buf);
  rank = buffer_.ndim;
  item = static_cast<uint32_t>(buffer_.itemsize);
  kind = kind_of_format(buffer_.format);
  if (kind == ElementKind::unsigned_integer && (buffer_.format == nullptr || std::strcmp(buffer_.format, "B") == 0)) {
    if (item != 1)
      kind = ElementKind::other;  // a union, or a structure of ctypes that is packed
    else if (is_raw_memory(value))
      kind = ElementKind::raw;
  }
  count = item == 0 ? 0 : static_cast<uint64_t>(buffer_.len) / item;
  bytes = buffer_.shape == nullptr ? static_cast<uint64_t>(buffer_.len)
                                   : extent(rank, buffer_.shape, buffer_.strides, 1, item, index);
  contiguous = buffer_.shape == nullptr || is_contiguous(rank, buffer_.shape, buffer_.strides, 1, item);
  if (buffer_.shape != nullptr) {
    keep_shape(*this, buffer_.shape, buffer_.strides, 1);
  } else {
    shape[0] = count;
    strides[0] = item;
  }
  return true;
}

/// "|u1", "<f4": what NumPy's __array_interface__ says of elements.
bool Tensor::take_interface(py::handle value, size_t index) {
  if (!py::hasattr(value, "__array_interface__")) return false;
  const py::object found = value.attr("__array_interface__");
  if (!py::isinstance<py::dict>(found)) return false;
  const auto facts = py::reinterpret_borrow<py::dict>(found);
  const auto type = py::cast<std::string>(facts["typestr"]);
  const auto lengths = py::cast<std::vector<int64_t>>(facts["shape"]);
  const py::object memory = facts.contains("data") ? py::object(facts["data"]) : py::none();
  const bool has_strides = facts.contains("strides") && !facts["strides"].is_none();
  const auto steps = has_strides ? py::cast<std::vector<int64_t>>(facts["strides"]) : std::vector<int64_t>();
  if (type.size() < 3 || (has_strides && steps.size() != lengths.size())) return false;
  item = static_cast<uint32_t>(std::strtoul(type.c_str() + 2, nullptr, 10));
  if (item == 0 || (type[0] == '>' && item > 1))
    raise(Errc::argument_type, "argument {}: a {} of elements '{}', which no kernel reads", index, type_name(value),
          type);
  switch (type[1]) {
    case 'b':
      kind = ElementKind::boolean;
      break;
    case 'i':
      kind = ElementKind::integer;
      break;
    case 'u':
      kind = ElementKind::unsigned_integer;
      break;
    case 'f':
      kind = ElementKind::floating;
      break;
    case 'c':
      kind = ElementKind::complex;
      break;
    default:
      raise(Errc::argument_type, "argument {}: a {} of elements '{}', which no kernel reads", index, type_name(value),
            type);
  }
  rank = static_cast<int>(lengths.size());
  count = 1;
  for (const int64_t length : lengths) count *= static_cast<uint64_t>(length);
  const int64_t* const strides_or_null = has_strides ? steps.data() : nullptr;
  bytes = extent(rank, lengths.data(), strides_or_null, 1, item, index);
  contiguous = is_contiguous(rank, lengths.data(), strides_or_null, 1, item);
  keep_shape(*this, lengths.data(), strides_or_null, 1);
  if (py::isinstance<py::tuple>(memory)) {
    const auto [address, is_read_only] = py::cast<std::pair<uint64_t, bool>>(memory);
    data = reinterpret_cast<std::byte*>(address);
    writable = !is_read_only;
    return true;
  }
  // What a picture gives out for the asking: its bytes, copied.
  if (PyObject_GetBuffer(memory.ptr(), &buffer_, PyBUF_SIMPLE) != 0) {
    PyErr_Clear();
    return false;
  }
  held_ = Held::buffer;
  data = static_cast<std::byte*>(buffer_.buf);
  writable = false;
  if (static_cast<uint64_t>(buffer_.len) < bytes)
    raise(Errc::argument_type, "argument {}: a {} of {} bytes that exposes {}", index, type_name(value), bytes,
          buffer_.len);
  return true;
}

bool Tensor::take_dlpack_quickly(py::handle value, size_t index) {
  const dlpack::ExchangeApi* const api = exchange_of(Py_TYPE(value.ptr()));
  if (api == nullptr) return false;
  dlpack::TensorLayout layout{};
  if (api->layout_from_object(value.ptr(), &layout) != 0) {
    PyErr_Clear();
    return false;  // the slow way may still work, or says why not
  }
  check_device(layout.device, value, index);
  fill(*this, layout, index);
  writable = true;
  return true;
}

bool Tensor::take_dlpack(py::handle value, size_t index) {
  const py::handle type = reinterpret_cast<PyObject*>(Py_TYPE(value.ptr()));
  if (!py::hasattr(type, "__dlpack__") || !py::hasattr(type, "__dlpack_device__")) return false;
  const auto device = py::cast<std::pair<int32_t, int32_t>>(value.attr("__dlpack_device__")());
  check_device({device.first, device.second}, value, index);
  py::object capsule;
  try {
    capsule = value.attr("__dlpack__")();
  } catch (py::error_already_set& refused) {
    // A tensor that is being differentiated does not export itself; its values, detached, are the same memory.
    if (!py::hasattr(value, "detach"))
      raise(Errc::argument_type, "argument {}: the {} does not expose its memory: {}", index, type_name(value),
            py::cast<std::string>(py::str(refused.value())));
    try {
      capsule = value.attr("detach")().attr("__dlpack__")();
    } catch (py::error_already_set&) {
      raise(Errc::argument_type, "argument {}: the {} does not expose its memory: {}", index, type_name(value),
            py::cast<std::string>(py::str(refused.value())));
    }
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor_versioned") != 0) {
    auto* const managed =
        static_cast<dlpack::ManagedVersioned*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor_versioned"));
    PyCapsule_SetName(capsule.ptr(), "used_dltensor_versioned");
    managed_ = managed;
    held_ = Held::dlpack_versioned;
    writable = (managed->flags & dlpack::kReadOnly) == 0;
    fill(*this, managed->tensor, index);
    return true;
  }
  if (PyCapsule_IsValid(capsule.ptr(), "dltensor") == 0)
    raise(Errc::argument_type, "argument {}: __dlpack__ of {} gave no DLPack tensor", index, type_name(value));
  auto* const managed = static_cast<dlpack::Managed*>(PyCapsule_GetPointer(capsule.ptr(), "dltensor"));
  PyCapsule_SetName(capsule.ptr(), "used_dltensor");
  managed_ = managed;
  held_ = Held::dlpack;
  writable = true;
  fill(*this, managed->tensor, index);
  return true;
}

std::optional<std::vector<loader::HostField>> Tensor::fields() const {
  if (held_ != Held::buffer || kind != ElementKind::other || buffer_.format == nullptr) return std::nullopt;
  PyObject* owner = buffer_.obj;
  if (owner != nullptr && PyMemoryView_Check(owner)) owner = PyMemoryView_GET_BUFFER(owner)->obj;
  if (owner != nullptr && PyObject_HasAttrString(owner, "dtype") == 1)
    if (auto fields = read_record(py::reinterpret_borrow<py::object>(owner).attr("dtype"))) return fields;
  const bool is_ctypes = owner != nullptr && PyObject_HasAttrString(owner, "_b_base_") == 1;
  return read_record(buffer_.format, item, is_ctypes);
}

void Tensor::release() {
  switch (std::exchange(held_, Held::nothing)) {
    case Held::nothing:
      break;
    case Held::buffer:
      PyBuffer_Release(&buffer_);
      break;
    case Held::dlpack: {
      auto* const managed = static_cast<dlpack::Managed*>(managed_);
      if (managed->deleter != nullptr) managed->deleter(managed);
      break;
    }
    case Held::dlpack_versioned: {
      auto* const managed = static_cast<dlpack::ManagedVersioned*>(managed_);
      if (managed->deleter != nullptr) managed->deleter(managed);
      break;
    }
  }
}

}  // namespace smelt::python
