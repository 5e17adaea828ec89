// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <metal_math> and <metal_common> at the bounds of docs/formats/metal-language.md 4.1 and 4.2, special values included.
#include "elementwise.hpp"
#include "math_cases.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace smelt::test {
namespace {

using Reals = std::function<long double(long double)>;
using Reals2 = std::function<long double(long double, long double)>;
using Reals3 = std::function<long double(long double, long double, long double)>;

std::function<Element(const Element*)> of(Reals f) {
  return [f](const Element* x) { return real(f(x[0].real)); };
}
std::function<Element(const Element*)> of(Reals2 f) {
  return [f](const Element* x) { return real(f(x[0].real, x[1].real)); };
}
std::function<Element(const Element*)> of(Reals3 f) {
  return [f](const Element* x) { return real(f(x[0].real, x[1].real, x[2].real)); };
}

// ---- References: docs/formats/metal-language.md 3.1, 3.4

long double minimum(long double x, long double y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : y < x ? y : x;
}
long double maximum(long double x, long double y) {
  return std::isnan(x) ? y : std::isnan(y) ? x : x < y ? y : x;
}
long double median(long double x, long double y, long double z) {
  return maximum(minimum(x, y), minimum(maximum(x, y), z));
}
long double clamped(long double x, long double low, long double high) {
  return minimum(maximum(x, low), high);
}
long double positive_power(long double x, long double y) {
  if (std::isnan(x) || std::isnan(y) || x < 0) return NAN;
  if (x == 0 && y == 0) return NAN;
  if (std::isinf(x) && y == 0) return NAN;
  if (x == 1 && std::isinf(y)) return NAN;
  return std::pow(std::fabs(x), y);
}

bool no_nan(const Element* x, size_t count) {
  return std::none_of(x, x + count, [](const Element& e) { return std::isnan(e.real); });
}
bool finite(const Element* x, size_t count) {
  return std::all_of(x, x + count, [](const Element& e) { return std::isfinite(e.real); });
}

/// The spaces in which a function is called, by what it means there.
const std::vector<std::string>& spaces(bool fast) {
  static const std::vector<std::string> fast_ones = {"fast"}, precise_ones = {"precise"};
  return fast ? fast_ones : precise_ones;
}

FunctionCase unary(const UnaryCase& from, const std::string& space, Kind kind) {
  std::string function = from.operation;
  const bool fast = function.starts_with("fast_");
  if (fast) function = function.substr(5);
  FunctionCase made;
  made.name = space + "::" + function + " of " + metal_name(kind);
  made.call = space + "::" + function + "(a)";
  made.result = kind;
  made.operands = {kind};
  made.reference = of(Reals(from.reference));
  made.ulps = kind == Kind::f16 ? (from.ulps == 0 ? 0 : 1) : from.ulps;
  const float low = from.low, high = from.high;
  if (std::isfinite(low) || std::isfinite(high))
    made.defined = [low, high](const Element* x) { return x[0].real >= low && x[0].real <= high; };
  // The bounds of fast forms are for their domain; past it only "some number" is asked, as for NaN.
  if (from.absolute != 0) made.absolute = [bound = from.absolute](const Element*) { return bound; };
  return made;
}

TEST_CASE("functions of one float") {
  std::vector<FunctionCase> cases;
  for (const UnaryCase& from : unary_cases()) {
    const bool fast = std::string(from.operation).starts_with("fast_");
    for (const std::string& space : spaces(fast)) cases.push_back(unary(from, space, Kind::f32));
  }
  // Forms that math_cases.hpp has only once because they are the precise ones.
  static const std::map<std::string, double> same = {
      {"acosh", 4}, {"asinh", 4}, {"atanh", 4}, {"cosh", 6},     {"sinh", 6}, {"ceil", 0},
      {"floor", 0}, {"trunc", 0}, {"rint", 0},  {"round", 0},    {"fabs", 0}, {"exp10", 8},
      {"cospi", 4}, {"sinpi", 4}, {"tanpi", 6}, {"saturate", 0}, {"sign", 0}};
  for (const UnaryCase& from : unary_cases()) {
    const auto found = same.find(from.operation);
    if (found == same.end()) continue;
    FunctionCase made = unary(from, "fast", Kind::f32);
    made.ulps = found->second;
    made.defined = [](const Element* x) { return !std::isnan(x[0].real); };
    cases.push_back(std::move(made));
  }
  FunctionCase absolute = unary({"fabs", std::fabs, 0}, "precise", Kind::f32);
  absolute.call = "precise::abs(a)";
  cases.push_back(absolute);
  absolute.call = "fast::abs(a)";
  cases.push_back(absolute);
  absolute.call = "metal::abs(a)";
  cases.push_back(absolute);
  check_functions(cases, {}, 6);
}

TEST_CASE("functions of one half") {
  std::vector<FunctionCase> cases;
  for (const UnaryCase& from : unary_cases())
    if (!std::string(from.operation).starts_with("fast_")) cases.push_back(unary(from, "metal", Kind::f16));
  FunctionCase absolute = unary({"fabs", std::fabs, 0}, "metal", Kind::f16);
  absolute.call = "metal::abs(a)";
  cases.push_back(absolute);
  check_functions(cases, {}, 6);
}

// What an unqualified call means follows the compiler's mode.
TEST_CASE("unqualified functions are precise, or fast with fast math") {
  for (const bool fast : {false, true}) {
    std::vector<FunctionCase> cases;
    for (const UnaryCase& from : unary_cases()) {
      const std::string operation = from.operation;
      if (operation.starts_with("fast_") != fast) continue;
      FunctionCase made = unary(from, "metal", Kind::f32);
      const auto before = made.defined;
      if (fast) made.defined = [before](const Element* x) { return finite(x, 1) && (!before || before(x)); };
      cases.push_back(std::move(made));
      if (!full_sweep() && cases.size() == 8) break;
    }
    check_functions(cases, {.fast_math = fast});
  }
}

// ---- Two and three operands

FunctionCase several(const std::string& space, const std::string& function, Kind kind, size_t operands,
                     std::function<Element(const Element*)> reference, double ulps) {
  FunctionCase made;
  made.name = space + "::" + function + " of " + metal_name(kind);
  made.call = space + "::" + function + (operands == 2 ? "(a, b)" : "(a, b, c)");
  made.result = kind;
  made.operands.assign(operands, kind);
  made.reference = std::move(reference);
  made.ulps = ulps;
  return made;
}

/// fast::pow is exp2(y * log2 x): the error grows with the exponent.
double power_error(const Element* x) {
  const long double exponent = std::fabs(x[1].real * std::log2(std::fabs(x[0].real)));
  return static_cast<double>(std::fabs(std::pow(x[0].real, x[1].real)) * (8 + 4 * exponent) * 0x1p-23L);
}

void add_pairs(std::vector<FunctionCase>& cases, const std::string& space, Kind kind) {
  const bool fast = space == "fast";
  const bool small = kind == Kind::f16;
  const auto careful = [fast](const Element* x) { return !fast || no_nan(x, 3); };
  const auto add = [&](const char* name, Reals2 f, double ulps) -> FunctionCase& {
    cases.push_back(several(space, name, kind, 2, of(std::move(f)), ulps));
    return cases.back();
  };
  for (const char* name : {"fmin", "min"}) add(name, minimum, 0).defined = careful;
  for (const char* name : {"fmax", "max"}) add(name, maximum, 0).defined = careful;
  add("copysign", [](long double x, long double y) { return std::copysign(x, y); }, 0);
  add("fdim", [](long double x, long double y) { return x > y ? x - y : x <= y ? 0 : x - y; }, small ? 0 : 0.5);
  add("divide", [](long double x, long double y) { return x / y; }, small ? 0 : 0.5);
  {
    FunctionCase& made = add("fmod", [](long double x, long double y) { return std::fmod(x, y); }, 0);
    if (fast)
      made.defined = [](const Element* x) {
        return finite(x, 2) && std::fabs(x[0].real) < 1e6L * std::fabs(x[1].real);
      };
  }
  {
    FunctionCase& made = add("pow", [](long double x, long double y) { return std::pow(x, y); }, small ? 2 : 16);
    if (fast) {
      made.defined = [](const Element* x) { return finite(x, 2) && x[0].real != 0; };
      made.absolute = power_error;
    }
  }
  {
    FunctionCase& made = add("powr", positive_power, small ? 2 : 16);
    made.defined = [fast](const Element* x) { return !fast || (finite(x, 2) && x[0].real > 0); };
    if (fast) made.absolute = power_error;
  }
  {
    FunctionCase& made = add("atan2", [](long double y, long double x) { return std::atan2(y, x); }, small ? 1 : 6);
    if (fast) made.defined = [](const Element* x) { return finite(x, 2) && x[0].real != 0 && x[1].real != 0; };
  }
  if (!small && !fast) {
    add(
        "nextafter",
        [](long double x, long double y) -> long double {
          return std::nextafter(static_cast<float>(x), static_cast<float>(y));
        },
        0)
        .defined = [](const Element* x) { return std::fabs(x[0].real) >= 0x1p-125L || std::isnan(x[0].real); };
  }
  // step: as Apple compiles it, edge <= x.
  add("step", [](long double edge, long double x) -> long double { return edge <= x ? 1 : 0; }, 0).defined = careful;
}

void add_triples(std::vector<FunctionCase>& cases, const std::string& space, Kind kind) {
  const bool fast = space == "fast";
  const bool small = kind == Kind::f16;
  const auto add = [&](const char* name, Reals3 f, double ulps) -> FunctionCase& {
    cases.push_back(several(space, name, kind, 3, of(std::move(f)), ulps));
    return cases.back();
  };
  const auto careful = [fast](const Element* x) { return !fast || no_nan(x, 3); };
  for (const char* name : {"fmin3", "min3"})
    add(
        name, [](long double x, long double y, long double z) { return minimum(minimum(x, y), z); }, 0)
        .defined = careful;
  for (const char* name : {"fmax3", "max3"})
    add(
        name, [](long double x, long double y, long double z) { return maximum(maximum(x, y), z); }, 0)
        .defined = careful;
  for (const char* name : {"fmedian3", "median3"}) {
    FunctionCase& made = add(name, median, 0);
    made.defined = [fast](const Element* x) {
      const auto nans = std::count_if(x, x + 3, [](const Element& e) { return std::isnan(e.real); });
      return nans == 0 || (!fast && nans != 1);  // one NaN: either of the other two will do
    };
  }
  add("clamp", clamped, 0).defined = [fast](const Element* x) {
    return x[1].real <= x[2].real && (!fast || no_nan(x, 3));
  };
  {
    FunctionCase& made = add(
        "fma",
        [](long double x, long double y, long double z) -> long double {
          return std::fma(static_cast<double>(x), static_cast<double>(y), static_cast<double>(z));
        },
        0.5);
    // In double the product of two floats is exact; the sum may round twice, which one unit in 2^29 cannot show.
    made.ulps = small ? 0 : 0.5000001;
    made.defined = [](const Element* x) {
      const long double product = x[0].real * x[1].real;
      return !std::isfinite(product) || std::fabs(product + x[2].real) >= 0x1p-125L || product + x[2].real == 0;
    };
  }
  {
    FunctionCase& made = add("mix", [](long double x, long double y, long double a) { return x + (y - x) * a; }, 1);
    made.defined = [](const Element* x) { return finite(x, 3) && x[2].real >= 0 && x[2].real <= 1; };
    const double unit = small ? 0x1p-10 : 0x1p-22;
    made.absolute = [unit](const Element* x) {
      return static_cast<double>(std::fabs(x[0].real) + std::fabs(x[1].real)) * unit + 0x1p-24;
    };
  }
  {
    FunctionCase& made = add(
        "smoothstep",
        [](long double low, long double high, long double x) {
          const long double t = clamped((x - low) / (high - low), 0, 1);
          return t * t * (3 - 2 * t);
        },
        4);
    made.defined = [](const Element* x) {
      return finite(x, 3) && x[0].real < x[1].real && std::fabs(x[0].real) < 60000 && std::fabs(x[1].real) < 60000 &&
             x[1].real - x[0].real > 0.001L;
    };
    // The difference may lose all digits of x - low.
    made.absolute = [small](const Element* x) {
      const long double size = std::fabs(x[0].real) + std::fabs(x[1].real) + std::fabs(x[2].real);
      return static_cast<double>((4 + 4 * size / (x[1].real - x[0].real)) * (small ? 0x1p-10L : 0x1p-22L));
    };
  }
}

TEST_CASE("functions of two and three floats") {
  std::vector<FunctionCase> cases;
  for (const char* space : {"precise", "fast"}) {
    add_pairs(cases, space, Kind::f32);
    add_triples(cases, space, Kind::f32);
  }
  check_functions(cases, {}, 6);
}
TEST_CASE("functions of two and three halves") {
  std::vector<FunctionCase> cases;
  add_pairs(cases, "metal", Kind::f16);
  add_triples(cases, "metal", Kind::f16);
  check_functions(cases, {}, 6);
}

// ---- Results beside the result, and integers beside the operands

template <class Make>
FunctionCase special(const char* name, Kind kind, const std::string& call, Kind result, Make reference) {
  FunctionCase made;
  made.name = std::string(name) + " of " + metal_name(kind);
  made.call = call;
  made.result = result;
  made.operands = {kind};
  made.reference = reference;
  made.vectors = false;
  return made;
}

TEST_CASE("frexp, ldexp, modf, ilogb, sincos") {
  std::vector<FunctionCase> cases;
  for (const Kind kind : {Kind::f32, Kind::f16}) {
    const std::string type = metal_name(kind);
    const auto lambda = [&](const std::string& body) { return "[&]{ " + body + " }()"; };
    const auto normal = [kind](const Element* x) {
      return kind == Kind::f16 || std::fabs(x[0].real) >= 0x1p-126L || x[0].real == 0 || std::isnan(x[0].real);
    };
    cases.push_back(special("frexp", kind, lambda("int e; return metal::frexp(a, e);"), kind, [](const Element* x) {
      int e = 0;
      return real(std::frexp(x[0].real, &e));
    }));
    cases.back().defined = normal;
    cases.push_back(special("exponent of frexp", kind, lambda("int e; metal::frexp(a, e); return e;"), Kind::i32,
                            [](const Element* x) {
                              int e = 0;
                              if (std::isfinite(x[0].real)) std::frexp(x[0].real, &e);
                              return whole(e);
                            }));
    cases.back().defined = normal;
    cases.push_back(special("ilogb", kind, "metal::ilogb(a)", Kind::i32, [](const Element* x) {
      return whole(x[0].real == 0 ? INT32_MIN : std::isfinite(x[0].real) ? std::ilogb(x[0].real) : INT32_MAX);
    }));
    cases.back().defined = normal;
    cases.push_back(special("modf", kind, lambda(type + " w; return metal::modf(a, w);"), kind, [](const Element* x) {
      long double w = 0;
      return real(std::modf(x[0].real, &w));
    }));
    cases.push_back(special("whole of modf", kind, lambda(type + " w; metal::modf(a, w); return w;"), kind,
                            [](const Element* x) { return real(std::trunc(x[0].real)); }));
    for (const char* space : {"metal", "precise"}) {
      if (kind == Kind::f16 && std::string(space) == "precise") continue;
      cases.push_back(special("sincos", kind, lambda(type + " c; return " + space + "::sincos(a, c);"), kind,
                              [](const Element* x) { return real(std::sin(x[0].real)); }));
      cases.back().ulps = kind == Kind::f16 ? 1 : 4;
      cases.push_back(special("cosine of sincos", kind, lambda(type + " c; " + space + "::sincos(a, c); return c;"),
                              kind, [](const Element* x) { return real(std::cos(x[0].real)); }));
      cases.back().ulps = kind == Kind::f16 ? 1 : 4;
    }
    for (const char* space : {"metal", "precise", "fast"}) {
      if (kind == Kind::f16 && std::string(space) != "metal") continue;
      FunctionCase made;
      made.name = std::string(space) + "::ldexp of " + type;
      made.call = std::string(space) + "::ldexp(a, b)";
      made.result = kind;
      made.operands = {kind, Kind::i32};
      made.reference = [](const Element* x) {
        const auto exponent = std::clamp<Whole>(x[1].whole, -10000, 10000);
        return real(std::ldexp(x[0].real, static_cast<int>(exponent)));
      };
      made.defined = [fast = std::string(space) == "fast", kind](const Element* x) {
        return (!fast || finite(x, 1)) && (kind == Kind::f16 || std::fabs(x[0].real) >= 0x1p-126L || x[0].real == 0);
      };
      cases.push_back(std::move(made));
    }
  }
  check_functions(cases);
}

// A bfloat becomes a float in every function (docs/formats/metal-language.md 3, "Overload sets").
TEST_CASE("functions of bfloat") {
  std::vector<FunctionCase> cases;
  const auto add = [&](const char* call, size_t operands, std::function<Element(const Element*)> reference,
                       double ulps) {
    FunctionCase made;
    made.name = std::string(call) + " of bfloat";
    made.call = call;
    made.result = Kind::f32;
    made.operands.assign(operands, Kind::bf16);
    made.reference = std::move(reference);
    made.ulps = ulps;
    made.vectors = false;
    cases.push_back(std::move(made));
  };
  add("metal::exp(a)", 1, of(Reals(static_cast<long double (*)(long double)>(std::exp))), 4);
  add("metal::floor(a)", 1, of(Reals(static_cast<long double (*)(long double)>(std::floor))), 0);
  add("metal::max(a, b)", 2, of(Reals2(maximum)), 0);
  add("metal::min(a, b)", 2, of(Reals2(minimum)), 0);
  add("metal::clamp(a, b, c)", 3, of(Reals3(clamped)), 0);
  cases.back().defined = [](const Element* x) { return x[1].real <= x[2].real; };
  add("metal::abs(a)", 1, of(Reals(static_cast<long double (*)(long double)>(std::fabs))), 0);
  check_functions(cases);
}

// Names inside Apple's compiler that MLX calls, by the operand that chooses the meaning.
TEST_CASE("internal names") {
  std::vector<FunctionCase> cases;
  for (const UnaryCase& from : unary_cases()) {
    const std::string operation = from.operation;
    if (operation == "sign" || operation == "saturate") continue;
    const bool fast = operation.starts_with("fast_");
    const std::string name = fast ? operation.substr(5) : operation;
    FunctionCase made = unary(from, "metal", Kind::f32);
    made.name = "__metal_" + name;
    made.call = "__metal_" + name + (fast ? "(a, __METAL_FAST_MATH__)" : "(a, __METAL_PRECISE_MATH__)");
    made.vectors = false;
    cases.push_back(std::move(made));
    if (!full_sweep() && cases.size() == 12) break;
  }
  for (const char* call :
       {"__metal_fmax(a, b, __METAL_MAYBE_FAST_MATH__)", "__metal_fmax(a, b, __METAL_PRECISE_MATH__)"}) {
    FunctionCase made = several("metal", "max", Kind::f32, 2, of(Reals2(maximum)), 0);
    made.call = call;
    made.vectors = false;
    cases.push_back(std::move(made));
  }
  check_functions(cases);
}

}  // namespace
}  // namespace smelt::test
