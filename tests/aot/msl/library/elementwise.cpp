// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "elementwise.hpp"

#include "ulp.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <random>

namespace smelt::test {
namespace {

struct KindRow {
  const char* name;
  unsigned bits;
  bool is_float, is_signed;
};
constexpr KindRow kKinds[] = {{"float", 32, true, true},    {"half", 16, true, true},    {"bfloat", 16, true, true},
                              {"char", 8, false, true},     {"uchar", 8, false, false},  {"short", 16, false, true},
                              {"ushort", 16, false, false}, {"int", 32, false, true},    {"uint", 32, false, false},
                              {"long", 64, false, true},    {"ulong", 64, false, false}, {"bool", 8, false, false}};
const KindRow& row(Kind kind) {
  return kKinds[static_cast<size_t>(kind)];
}

constexpr uint32_t kElements = 4096;
constexpr uint32_t kStride = 37;  // from the element of one component of a vector to that of the next
constexpr size_t kSlot = 8;       // bytes for a result

// ---- Inputs

std::vector<float> special_floats() {
  std::vector<float> all = {0.0f, 1.0f,  0.5f,   2.0f, 3.0f,        0.25f,      1.5f,
                            2.5f, 10.0f, 100.0f, 0.1f, 3.14159265f, 1.57079633f};
  for (const float x : {0x1p-126f, 0x1p-149f, 0x1.fffffep-127f, 0x1.fffffep127f, 0x1p24f, 0x1p31f, 88.7f, 104.0f,
                        1e-10f, 0.99999994f, 1.0000001f, 65504.0f, 0x1p-14f, 0x1p-24f})
    all.push_back(x);
  all.push_back(INFINITY);
  const size_t count = all.size();
  for (size_t i = 0; i < count; ++i) all.push_back(-all[i]);
  all.push_back(NAN);
  return all;
}

Element random_element(Kind kind, std::mt19937_64& random) {
  const uint64_t bits = random();
  std::byte place[8] = {};
  if (kind == Kind::boolean) return whole(static_cast<Whole>(bits & 1));
  if (is_float(kind) && bits % 4 != 0) {  // mostly of everyday size
    const double size = bits % 4 == 1 ? 1 : bits % 4 == 2 ? 8 : 200;
    std::uniform_real_distribution<double> spread(-size, size);
    store_element(kind, place, real(spread(random)));
  } else if (!is_float(kind) && bits % 3 == 0) {  // small, or close to the limits
    store_element(kind, place, whole(static_cast<Whole>(random() % 17) - 8));
  } else {
    const uint64_t pattern = random();
    std::memcpy(place, &pattern, bytes_of(kind));
  }
  return load_element(kind, place);
}

std::vector<Element> special_elements(Kind kind) {
  std::vector<Element> all;
  if (is_float(kind)) {
    for (const float x : special_floats()) {
      std::byte place[8] = {};
      store_element(kind, place, real(x));
      all.push_back(load_element(kind, place));
    }
  } else if (kind == Kind::boolean) {
    all = {whole(0), whole(1)};
  } else {
    const unsigned bits = bits_of(kind);
    for (const Whole value :
         {Whole{0}, Whole{1}, Whole{2}, Whole{3}, Whole{7}, Whole{8}, Whole{bits - 1}, Whole{bits}}) {
      all.push_back(whole(value));
      if (is_signed(kind)) all.push_back(whole(-value));
    }
    const Whole top = is_signed(kind) ? (Whole{1} << (bits - 1)) - 1 : (Whole{1} << bits) - 1;
    for (const Whole step : {Whole{0}, Whole{1}, Whole{2}}) all.push_back(whole(top - step));
    if (is_signed(kind))
      for (const Whole step : {Whole{1}, Whole{0}}) all.push_back(whole(-top - step));
  }
  return all;
}

/// Operand `position` of all inputs: first every pair of special values, then random ones.
std::vector<std::byte> make_inputs(Kind kind, size_t position, size_t operands) {
  std::mt19937_64 random(1 + 100 * static_cast<uint64_t>(kind) + position);
  const std::vector<Element> special = special_elements(kind);
  std::vector<std::byte> data(kElements * bytes_of(kind));
  const size_t pairs = operands == 1 ? special.size() : special.size() * special.size();
  for (size_t i = 0; i < kElements; ++i) {
    Element value;
    if (i >= pairs)
      value = random_element(kind, random);
    else
      value = special[position == 0   ? i % special.size()
                      : position == 1 ? i / special.size() % special.size()
                                      : (i * 7 + i / 11) % special.size()];
    store_element(kind, data.data() + i * bytes_of(kind), value);
  }
  return data;
}

// ---- Kernels

struct Form {
  const FunctionCase* function;
  int width;  ///< 1: scalar
};

std::string body_of(const Form& form, size_t slot) {
  const FunctionCase& function = *form.function;
  std::string text = "  {\n";
  const char* names[] = {"a", "b", "c"};
  for (size_t k = 0; k < function.operands.size(); ++k) {
    const char* type = metal_name(function.operands[k]);
    if (form.width == 1) {
      text += fmt::format("    {} {} = p{}[i];\n", type, names[k], names[k]);
    } else {
      std::string parts;
      for (int w = 0; w < form.width; ++w) parts += fmt::format("{}p{}[j{}]", w ? ", " : "", names[k], w);
      text += fmt::format("    {}{} {}({});\n", type, form.width, names[k], parts);
    }
  }
  const char* result = metal_name(function.result);
  const std::string place = fmt::format("((device {}*)(out + {}ul * n * {}))[i]", result, slot, kSlot);
  if (form.width == 1)
    text += fmt::format("    {} = {};\n", place, function.call);
  else
    text +=
        fmt::format("    {}{} r = {};\n    {} = r[i % {}];\n", result, form.width, function.call, place, form.width);
  return text + "  }\n";
}

std::string kernel_text(const std::string& name, const std::vector<Form>& forms) {
  std::string text = fmt::format("kernel void {}(", name);
  const char* names[] = {"a", "b", "c"};
  const auto& operands = forms.front().function->operands;
  for (size_t k = 0; k < operands.size(); ++k)
    text += fmt::format("device const {}* p{} [[buffer({})]], ", metal_name(operands[k]), names[k], k);
  text += "device uchar* out [[buffer(3)]], constant uint& n [[buffer(4)]], uint i [[thread_position_in_grid]]) {\n";
  for (int w = 0; w < 4; ++w)
    text += fmt::format("  uint j{} = (i + {}) % n;\n", w, kStride * static_cast<uint32_t>(w));
  for (size_t slot = 0; slot < forms.size(); ++slot) text += body_of(forms[slot], slot);
  return text + "}\n";
}

// ---- Judging

bool agrees(const FunctionCase& function, const Element* inputs, const Element& got, const Element& want) {
  if (function.accept) return function.accept(inputs, got);
  if (!is_float(function.result)) return got.whole == want.whole;
  const long double a = got.real, b = want.real;
  if (function.absolute && std::fabs(a - b) <= function.absolute(inputs)) return true;
  if (function.result == Kind::f32) return ulp_distance(static_cast<float>(a), b) <= std::max(function.ulps, 0.5);
  // half and bfloat: in units of the format, denormals of half kept.
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  std::byte place[8] = {};
  store_element(function.result, place, want);
  const Element rounded = load_element(function.result, place);
  if (rounded.real == a) return true;
  if (std::isinf(rounded.real) != std::isinf(a)) return function.ulps >= 1 && std::fabs(b) >= 65472;
  int exponent = 0;
  std::frexp(b, &exponent);
  const int digits = function.result == Kind::f16 ? 11 : 8;
  const int lowest = function.result == Kind::f16 ? -13 : -125;
  return std::fabs(a - b) <= std::ldexp(std::max(function.ulps, 0.5), std::max(exponent, lowest) - digits);
}

/// A denormal float operand may count as zero (docs/formats/metal-language.md 4.3).
bool agrees_flushed(const FunctionCase& function, const Element* inputs, const Element& got) {
  Element flushed[3];
  bool changed = false;
  for (size_t k = 0; k < function.operands.size(); ++k) {
    flushed[k] = inputs[k];
    const long double size = std::fabs(inputs[k].real);
    if ((function.operands[k] == Kind::f32 || function.operands[k] == Kind::bf16) && size > 0 && size < 0x1p-126L) {
      flushed[k].real = std::copysign(0.0L, inputs[k].real);
      changed = true;
    }
  }
  return changed && agrees(function, flushed, got, function.reference(flushed));
}

std::string describe(Kind kind, const Element& value) {
  if (is_float(kind)) return fmt::format("{:a} ({})", static_cast<double>(value.real), static_cast<double>(value.real));
  const bool negative = value.whole < 0;
  return fmt::format("{}{}", negative ? "-" : "", static_cast<uint64_t>(negative ? -value.whole : value.whole));
}

void judge(const Form& form, const std::vector<std::vector<std::byte>>& inputs, const std::byte* results) {
  const FunctionCase& function = *form.function;
  const auto width = static_cast<uint32_t>(form.width);
  size_t wrong = 0;
  std::string first;
  for (uint32_t i = 0; i < kElements; ++i) {
    const uint32_t at = form.width == 1 ? i : (i + kStride * (i % width)) % kElements;
    Element operands[3];
    for (size_t k = 0; k < function.operands.size(); ++k)
      operands[k] = load_element(function.operands[k], inputs[k].data() + at * bytes_of(function.operands[k]));
    if (function.defined && !function.defined(operands)) continue;
    const Element got = load_element(function.result, results + i * bytes_of(function.result));
    const Element want = function.reference(operands);
    if (agrees(function, operands, got, want) || agrees_flushed(function, operands, got)) continue;
    if (wrong++ == 0) {
      for (size_t k = 0; k < function.operands.size(); ++k)
        first += fmt::format("{}{}", k ? ", " : "", describe(function.operands[k], operands[k]));
      first = fmt::format("({}) is {}, should be {}", first, describe(function.result, got),
                          describe(function.result, want));
    }
  }
  CHECK_MESSAGE(wrong == 0, function.name, " [", form.width, "]: ", wrong, " of ", kElements, " wrong; ", first);
}

}  // namespace

const char* metal_name(Kind kind) {
  return row(kind).name;
}
size_t bytes_of(Kind kind) {
  return row(kind).bits / 8;
}
bool is_float(Kind kind) {
  return row(kind).is_float;
}
bool is_signed(Kind kind) {
  return row(kind).is_signed;
}
unsigned bits_of(Kind kind) {
  return row(kind).bits;
}

Element load_element(Kind kind, const std::byte* at) {
  uint64_t bits = 0;
  std::memcpy(&bits, at, bytes_of(kind));
  switch (kind) {
    case Kind::f32:
      return real(std::bit_cast<float>(static_cast<uint32_t>(bits)));
    case Kind::f16:
      return real(half_to_float(static_cast<uint16_t>(bits)));
    case Kind::bf16:
      return real(bfloat_to_float(static_cast<uint16_t>(bits)));
    default: {
      const Whole value = bits;
      const Whole top = Whole{1} << (bits_of(kind) - 1);
      return whole(is_signed(kind) && value >= top ? value - 2 * top : value);
    }
  }
}

void store_element(Kind kind, std::byte* at, const Element& value) {
  uint64_t bits = 0;
  switch (kind) {
    case Kind::f32:
      bits = std::bit_cast<uint32_t>(static_cast<float>(value.real));
      break;
    case Kind::f16:
      bits = half_from(value.real);
      break;
    case Kind::bf16:
      bits = bfloat_from(value.real);
      break;
    default:
      bits = static_cast<uint64_t>(value.whole);
  }
  std::memcpy(at, &bits, bytes_of(kind));
}

void check_functions(const std::vector<FunctionCase>& cases, const MslSettings& settings, size_t per_kernel) {
  // Forms with the same operands share inputs and kernels. Vector widths take turns unless the whole sweep is wanted.
  std::map<std::vector<Kind>, std::vector<Form>> groups;
  int turn = 0;
  for (const FunctionCase& function : cases) {
    auto& forms = groups[function.operands];
    forms.push_back({&function, 1});
    if (!function.vectors) continue;
    for (int width = 2; width <= 4; ++width)
      if (full_sweep() || width == 2 + turn % 3) forms.push_back({&function, width});
    ++turn;
  }
  std::string text = "#include <metal_stdlib>\nusing namespace metal;\n";
  struct Run {
    std::string name;
    std::vector<Form> forms;
  };
  std::vector<Run> runs;
  for (const auto& [operands, forms] : groups)
    for (size_t from = 0; from < forms.size(); from += per_kernel) {
      const size_t to = std::min(from + per_kernel, forms.size());
      Run run{fmt::format("k{}", runs.size()),
              {forms.begin() + static_cast<ptrdiff_t>(from), forms.begin() + static_cast<ptrdiff_t>(to)}};
      text += kernel_text(run.name, run.forms);
      runs.push_back(std::move(run));
    }
  const MslLibrary library(text, settings);
  for (const Run& run : runs) {
    const auto& kinds = run.forms.front().function->operands;
    std::vector<std::vector<std::byte>> inputs;
    for (size_t k = 0; k < kinds.size(); ++k) inputs.push_back(make_inputs(kinds[k], k, kinds.size()));
    std::vector<std::byte> out(run.forms.size() * kElements * kSlot);
    std::vector<uint32_t> count = {kElements};
    Launch launch{.grid = {kElements, 1, 1}, .group = {64, 1, 1}};
    for (size_t k = 0; k < inputs.size(); ++k) launch.bind(static_cast<uint32_t>(k), inputs[k]);
    launch.bind(3, out).bind(4, count);
    library.run(run.name, launch);
    for (size_t slot = 0; slot < run.forms.size(); ++slot)
      judge(run.forms[slot], inputs, out.data() + slot * kElements * kSlot);
  }
}

}  // namespace smelt::test
