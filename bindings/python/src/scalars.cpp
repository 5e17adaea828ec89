// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "scalars.hpp"

#include "smelt/base/floats.hpp"

#include "errors.hpp"

#include <cmath>
#include <cstring>
#include <limits>

namespace smelt::python {
namespace {

struct Word {
  std::string_view text;
  Cast cast;
};
constexpr Word kWords[] = {
    {"fp16", Cast::fp16},         {"bf16", Cast::bf16},     {"int32", Cast::int32},   {"int16", Cast::int16},
    {"int8", Cast::int8},         {"uint8", Cast::uint8},   {"fp32", Cast::fp32},     {"int64", Cast::int64},
    {"uint16", Cast::uint16},     {"uint32", Cast::uint32}, {"uint64", Cast::uint64}, {"bool", Cast::boolean},
    {"declared", Cast::declared},
};

template <class T>
ScalarBytes bytes_of(T value) {
  ScalarBytes out{{}, sizeof(T)};
  std::memcpy(out.bytes.data(), &value, sizeof(T));
  return out;
}

/// Toward zero. What does not fit has no meaning in C++; here it is the lowest value, as x86 gives.
int64_t truncate(double value) {
  if (!(value >= -0x1p63 && value < 0x1p63)) return std::numeric_limits<int64_t>::min();
  return static_cast<int64_t>(value);
}

std::optional<ScalarBytes> narrow_integer(uint64_t value, Cast cast) {
  switch (cast) {
    case Cast::int64:
    case Cast::uint64:
      return bytes_of(value);
    case Cast::int32:
    case Cast::uint32:
      return bytes_of(static_cast<uint32_t>(value));
    case Cast::int16:
    case Cast::uint16:
      return bytes_of(static_cast<uint16_t>(value));
    case Cast::int8:
    case Cast::uint8:
      return bytes_of(static_cast<uint8_t>(value));
    default:
      return std::nullopt;
  }
}

/// Of an int, when the type holds it.
std::optional<ScalarBytes> declared_integer(py::handle value, const Parameter& parameter) {
  const unsigned bits = parameter.component * 8;
  if (parameter.kind == ElementKind::unsigned_integer) {
    const unsigned long long number = PyLong_AsUnsignedLongLong(value.ptr());
    if (PyErr_Occurred() != nullptr) {
      PyErr_Clear();
      return std::nullopt;
    }
    if (bits < 64 && number >> bits != 0) return std::nullopt;
    return ScalarBytes{bytes_of(static_cast<uint64_t>(number)).bytes, parameter.component};
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  const long long most = std::numeric_limits<long long>::max() >> (64 - bits);
  if (overflow != 0 || number > most || number < -most - 1) return std::nullopt;
  return ScalarBytes{bytes_of(static_cast<int64_t>(number)).bytes, parameter.component};
}

std::optional<ScalarBytes> declared_float(py::handle value, const Parameter& parameter) {
  const double number = PyFloat_AsDouble(value.ptr());
  if (PyErr_Occurred() != nullptr) {
    PyErr_Clear();
    return std::nullopt;  // an int that no double holds
  }
  if (parameter.component == sizeof(double)) return bytes_of(number);
  const auto single = static_cast<float>(number);
  constexpr double kMostHalf = 65520;  // from here on nearest is infinity
  const bool is_half = parameter.kind == ElementKind::floating && parameter.component == 2;
  if (std::isfinite(number) && (std::isinf(single) || (is_half && std::abs(number) >= kMostHalf))) return std::nullopt;
  return float_bytes(number, parameter.kind == ElementKind::bfloat ? Cast::bf16 : is_half ? Cast::fp16 : Cast::fp32);
}

}  // namespace

Cast parse_cast(py::handle word, int index) {
  const std::string where = index < 0 ? "arg_casts" : fmt::format("arg_casts of argument {}", index);
  if (PyUnicode_Check(word.ptr()) == 0)
    raise(Errc::invalid_argument, "{}: want a word such as 'fp16' or 'int32', got {}", where, type_name(word));
  for (const Word& known : kWords)
    if (PyUnicode_CompareWithASCIIString(word.ptr(), known.text.data()) == 0) return known.cast;
  raise(Errc::cast_unknown,
        "{}: '{}' is not known; want fp16, bf16, fp32, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
        "bool or declared",
        where, py::cast<std::string>(word));
}

ScalarBytes float_bytes(double value, Cast cast) {
  switch (cast) {
    case Cast::none:
    case Cast::declared:
    case Cast::fp32:
      return bytes_of(static_cast<float>(value));
    case Cast::fp16:
      return bytes_of(to_half_bits(static_cast<float>(value)));
    case Cast::bf16:
      return bytes_of(to_bfloat_bits(static_cast<float>(value)));
    case Cast::boolean:
      return bytes_of(static_cast<uint8_t>(value != 0));
    case Cast::uint64:
      if (value >= 0x1p63 && value < 0x1p64) return bytes_of(static_cast<uint64_t>(value));
      break;
    default:
      break;
  }
  return *narrow_integer(static_cast<uint64_t>(truncate(value)), cast);
}

ScalarBytes integer_bytes(py::handle value, Cast cast, size_t index) {
  int overflow = 0;
  const long long small = PyLong_AsLongLongAndOverflow(value.ptr(), &overflow);
  uint64_t bits = static_cast<uint64_t>(small);
  if (overflow != 0) {
    bits = PyLong_AsUnsignedLongLong(value.ptr());
    const bool fits = PyErr_Occurred() == nullptr;
    PyErr_Clear();
    if (!fits || cast != Cast::uint64)
      raise(Errc::argument_type, "argument {}: {} does not fit a signed 64-bit integer{}", index,
            py::cast<std::string>(py::str(value)), fits ? " (the cast 'uint64' would hold it)" : "");
  } else if (small == -1 && PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  switch (cast) {
    case Cast::none:
    case Cast::declared:
      return bytes_of(bits);
    case Cast::fp32:
    case Cast::fp16:
    case Cast::bf16:
      return float_bytes(static_cast<double>(small), cast);
    case Cast::boolean:
      return bytes_of(static_cast<uint8_t>(bits != 0));
    default:
      return *narrow_integer(bits, cast);
  }
}

bool is_number(py::handle value) {
  return PyFloat_Check(value.ptr()) != 0 || PyLong_Check(value.ptr()) != 0;
}

py::object number_of_numpy(py::handle value) {
  if (is_number(value) || !is_numpy_scalar(value)) return {};
  py::object number = py::reinterpret_steal<py::object>(PyObject_CallMethod(value.ptr(), "item", nullptr));
  if (number && !is_number(number) && PyComplex_Check(number.ptr()) == 0 && is_numpy_scalar(number))
    number = py::reinterpret_steal<py::object>(PyNumber_Float(number.ptr()));  // one that Python has no type for
  if (!number) PyErr_Clear();
  return number && is_number(number) ? number : py::object();
}

std::optional<ScalarBytes> declared_bytes(py::handle value, const Parameter& parameter) {
  if (!is_number(value)) return std::nullopt;
  if (parameter.kind == ElementKind::boolean) return bytes_of(static_cast<uint8_t>(PyObject_IsTrue(value.ptr())));
  if (!is_whole(parameter.kind)) return declared_float(value, parameter);
  if (PyFloat_Check(value.ptr()) == 0) return declared_integer(value, parameter);
  const double number = PyFloat_AS_DOUBLE(value.ptr());
  if (!(std::trunc(number) == number) || std::isinf(number)) return std::nullopt;
  return declared_integer(py::reinterpret_steal<py::object>(PyLong_FromDouble(number)), parameter);
}

std::optional<ScalarBytes> scalar_bytes(py::handle value, Cast cast, size_t index) {
  if (PyFloat_Check(value.ptr()) != 0) return float_bytes(PyFloat_AS_DOUBLE(value.ptr()), cast);
  if (PyLong_Check(value.ptr()) != 0) return integer_bytes(value, cast, index);
  return std::nullopt;
}

}  // namespace smelt::python
