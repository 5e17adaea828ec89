// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <metal_relational>, conversions and as_type: docs/formats/metal-language.md 1.4, 3.3. Tests of floats must work under
// fast math.
#include "elementwise.hpp"
#include "ulp.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>

namespace smelt::test {
namespace {

FunctionCase make(const std::string& call, Kind result, std::vector<Kind> operands,
                  std::function<Element(const Element*)> reference) {
  FunctionCase made;
  made.name = call + " of " + metal_name(operands.front());
  made.call = call;
  made.result = result;
  made.operands = std::move(operands);
  made.reference = std::move(reference);
  return made;
}

void add_tests(std::vector<FunctionCase>& cases, Kind kind) {
  const long double smallest = kind == Kind::f16 ? 0x1p-14L : 0x1p-126L;
  const auto add = [&](const char* call, std::function<bool(long double)> f) {
    cases.push_back(make(call, Kind::boolean, {kind}, [f](const Element* x) { return whole(f(x[0].real)); }));
    cases.back().accept = [f](const Element* x, const Element& got) { return (got.whole != 0) == f(x[0].real); };
  };
  add("metal::isnan(a)", [](long double x) { return std::isnan(x); });
  add("metal::isinf(a)", [](long double x) { return std::isinf(x); });
  add("metal::isfinite(a)", [](long double x) { return std::isfinite(x); });
  add("metal::isnormal(a)", [smallest](long double x) { return std::isfinite(x) && std::fabs(x) >= smallest; });
  add("metal::signbit(a)", [](long double x) { return std::signbit(x); });
  const auto pair = [&](const char* call, bool when_nan) {
    cases.push_back(make(call, Kind::boolean, {kind, kind}, [when_nan](const Element* x) {
      return whole((std::isnan(x[0].real) || std::isnan(x[1].real)) == when_nan);
    }));
  };
  pair("metal::isunordered(a, b)", true);
  pair("metal::isordered(a, b)", false);
}

TEST_CASE("classes of floats, with and without fast math") {
  for (const bool fast : {false, true}) {
    std::vector<FunctionCase> cases;
    for (const Kind kind : {Kind::f32, Kind::f16, Kind::bf16}) add_tests(cases, kind);
    // A NaN that is stored has no sign that the reference could keep.
    for (FunctionCase& function : cases)
      if (function.call.find("signbit") != std::string::npos)
        function.defined = [](const Element* x) { return !std::isnan(x[0].real); };
    check_functions(cases, {.fast_math = fast}, 32);
  }
}

TEST_CASE("select, comparisons") {
  std::vector<FunctionCase> cases;
  for (const Kind kind : {Kind::f32, Kind::f16, Kind::bf16, Kind::i8, Kind::u8, Kind::i16, Kind::u16, Kind::i32,
                          Kind::u32, Kind::i64, Kind::u64}) {
    const auto value = [kind](const Element& x) { return is_float(kind) ? x.real : static_cast<long double>(x.whole); };
    cases.push_back(make("metal::select(a, b, a < b)", kind, {kind, kind},
                         [value](const Element* x) { return value(x[0]) < value(x[1]) ? x[1] : x[0]; }));
    cases.push_back(make("a < b", Kind::boolean, {kind, kind},
                         [value](const Element* x) { return whole(value(x[0]) < value(x[1])); }));
    cases.push_back(make("a >= b", Kind::boolean, {kind, kind},
                         [value](const Element* x) { return whole(value(x[0]) >= value(x[1])); }));
    cases.push_back(make("a == b", Kind::boolean, {kind, kind},
                         [value](const Element* x) { return whole(value(x[0]) == value(x[1])); }));
    cases.push_back(make("a != b", Kind::boolean, {kind, kind},
                         [value](const Element* x) { return whole(value(x[0]) != value(x[1])); }));
    // Denormals may be flushed before they are compared or moved by arithmetic.
    if (kind == Kind::f32 || kind == Kind::bf16)
      for (size_t i = cases.size() - 5; i < cases.size(); ++i)
        cases[i].defined = [](const Element* x) {
          const auto denormal = [](const Element& e) { return e.real != 0 && std::fabs(e.real) < 0x1p-126L; };
          return !denormal(x[0]) && !denormal(x[1]);
        };
  }
  cases.push_back(make("metal::select(a, b, !a)", Kind::boolean, {Kind::boolean, Kind::boolean},
                       [](const Element* x) { return x[0].whole ? x[0] : x[1]; }));
  check_functions(cases, {}, 32);
}

// ---- Conversions of numbers, scalar and vector: float to integer saturates, NaN is 0.

Element converted(Kind from, Kind to, const Element& x) {
  if (to == Kind::boolean) return whole(is_float(from) ? x.real != 0 : x.whole != 0);
  if (is_float(to)) {
    std::byte place[8] = {};
    store_element(to, place, real(is_float(from) ? x.real : static_cast<long double>(x.whole)));
    return load_element(to, place);
  }
  const unsigned bits = bits_of(to);
  if (!is_float(from)) {
    const Whole size = Whole{1} << bits;
    Whole value = (x.whole % size + size) % size;
    if (is_signed(to) && value >= size / 2) value -= size;
    return whole(value);
  }
  if (std::isnan(x.real)) return whole(0);
  const Whole top = (Whole{1} << (bits - (is_signed(to) ? 1 : 0))) - 1, bottom = is_signed(to) ? -top - 1 : 0;
  if (x.real >= static_cast<long double>(top)) return whole(top);
  if (x.real <= static_cast<long double>(bottom)) return whole(bottom);
  return whole(static_cast<Whole>(x.real));
}

TEST_CASE("conversions between all types") {
  std::vector<FunctionCase> cases;
  for (int from = 0; from <= static_cast<int>(Kind::boolean); ++from)
    for (int to = 0; to <= static_cast<int>(Kind::boolean); ++to) {
      if (from == to) continue;
      const Kind source = static_cast<Kind>(from), target = static_cast<Kind>(to);
      FunctionCase made = make("", target, {source}, [=](const Element* x) { return converted(source, target, x[0]); });
      made.call = std::string("static_cast<") + metal_name(target) + ">(a)";
      made.name = made.call + " of " + metal_name(source);
      // By way of float: two roundings.
      if (target == Kind::bf16 && !is_float(source) && bits_of(source) >= 32) made.ulps = 1;
      made.vectors = false;
      const bool small = target == Kind::f16;
      made.defined = [=](const Element* x) {
        const long double size = std::fabs(x[0].real);
        return !is_float(source) || x[0].real == 0 || std::isnan(x[0].real) || size >= (small ? 0x1p-14L : 0x1p-126L);
      };
      cases.push_back(made);
    }
  check_functions(cases, {}, 32);
}

TEST_CASE("conversions of vectors") {
  std::string text = "#include <metal_stdlib>\nusing namespace metal;\n";
  const char* names[] = {"float", "half", "bfloat", "int", "uint", "short", "uchar", "long"};
  text += "kernel void k(device const int* in [[buffer(0)]], device float* out [[buffer(1)]]) {\n";
  size_t slot = 0;
  for (const char* from : names)
    for (const char* to : names)
      for (int width = 2; width <= 4; ++width) {
        text += "  { " + std::string(from) + std::to_string(width) + " v(0); for (int i = 0; i < " +
                std::to_string(width) + "; ++i) v[i] = " + from + "(in[i]); out[" + std::to_string(slot) +
                "] = float((" + to + std::to_string(width) + "(v))[" + std::to_string(width - 1) + "]); }\n";
        ++slot;
      }
  const MslLibrary library(text + "}\n");
  std::vector<int32_t> in = {100, 3, 17, 99};
  std::vector<float> out(slot);
  Launch launch;
  library.run("k", launch.bind(0, in).bind(1, out));
  for (size_t i = 0; i < slot; ++i) CHECK_MESSAGE(out[i] == static_cast<float>(in[i % 3 + 1]), "conversion ", i);
}

}  // namespace
}  // namespace smelt::test
