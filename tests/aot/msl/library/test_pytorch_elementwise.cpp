// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PyTorch's element-wise kernels for Metal, compiled from its own source and compared with references in double
// precision. SMELT_PYTORCH names a folder that holds c10/metal and aten/src/ATen/native/mps/kernels.
#include "real_sources.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace smelt::test {
namespace {

using Real = double (*)(double);
using Real2 = double (*)(double, double);

constexpr double kPi = std::numbers::pi;
constexpr size_t kCount = 512;

std::optional<std::filesystem::path> pytorch() {
  return real_sources("SMELT_PYTORCH", "aten/src/ATen/native/mps/kernels");
}

MslLibrary compile_pytorch(const std::filesystem::path& root, const std::string& file,
                           std::vector<std::string> functions) {
  return compile_real(root, "aten/src/ATen/native/mps/kernels/" + file, std::move(functions));
}

/// exp_dense_float_float: operation, form, result, operand.
std::string kernel_name(const char* operation, const char* form, Kind result, Kind operand) {
  return fmt::format("{}_{}_{}_{}", operation, form, metal_name(result), metal_name(operand));
}

struct Row {
  const char* operation;
  Real reference;
  double low, high;
};

/// A kernel for each row and kind: out, in.
void check_unary(const std::string& file, const std::vector<Row>& rows) {
  const auto root = pytorch();
  if (!root) return;
  std::vector<std::string> names;
  for (const Row& row : rows)
    for (const Kind kind : kReals) names.push_back(kernel_name(row.operation, "dense", kind, kind));
  const MslLibrary library = compile_pytorch(*root, file, names);
  size_t name = 0;
  for (const Row& row : rows)
    for (const Kind kind : kReals) {
      Array in(kind, spread(kCount, row.low, row.high)), out(kind, kCount);
      Launch launch = one_thread_each(kCount);
      library.run(names[name], launch.bind(0, out.bytes).bind(1, in.bytes));
      check_array(names[name], out, [&](size_t i) { return row.reference(in[i]); }, tolerance(kind));
      ++name;
    }
  MESSAGE(names.size(), " kernels");
}

double inverse_erf(double y) {
  double x = 0;
  for (int i = 0; i < 60; ++i) x -= (std::erf(x) - y) * std::sqrt(kPi) / 2 * std::exp(x * x) / (1 + std::fabs(x));
  return x;
}

double sinc(double x) {
  return x == 0 ? 1 : std::sin(kPi * x) / (kPi * x);
}

TEST_CASE("PyTorch: functions of one operand") {
  check_unary("UnaryKernel.metal", {{"abs", std::fabs, -4, 4},
                                    {"acos", std::acos, -1, 1},
                                    {"asin", std::asin, -1, 1},
                                    {"atan", std::atan, -9, 9},
                                    {"cos", std::cos, -9, 9},
                                    {"cosh", std::cosh, -4, 4},
                                    {"erf", std::erf, -3, 3},
                                    {"erfc", std::erfc, -3, 3},
                                    {"erfinv", inverse_erf, -0.9, 0.9},
                                    {"exp", std::exp, -4, 4},
                                    {"exp2", std::exp2, -4, 4},
                                    {"expm1", std::expm1, -4, 4},
                                    {"log", std::log, 0.1, 9},
                                    {"log10", std::log10, 0.1, 9},
                                    {"log1p", std::log1p, -0.5, 9},
                                    {"log2", std::log2, 0.1, 9},
                                    {"neg", [](double x) { return -x; }, -4, 4},
                                    {"round", std::nearbyint, -9, 9},
                                    {"rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.1, 9},
                                    {"sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -9, 9},
                                    {"sin", std::sin, -9, 9},
                                    {"sinc", sinc, -4, 4},
                                    {"sinh", std::sinh, -4, 4},
                                    {"sqrt", std::sqrt, 0, 9},
                                    {"tan", std::tan, -1.4, 1.4},
                                    {"tanh", std::tanh, -4, 4}});
}

// Without bessel_j1, and bessel_y1 which calls it.
TEST_CASE("PyTorch: Bessel functions and their like") {
  check_unary(
      "SpecialOps.metal",
      {{"bessel_j0_forward", [](double x) { return j0(x); }, 0, 30},
       {"bessel_y0_forward", [](double x) { return y0(x); }, 0.5, 30},
       {"modified_bessel_i0_forward", [](double x) { return std::cyl_bessel_i(0, x); }, 0, 6},
       {"modified_bessel_i1_forward", [](double x) { return std::cyl_bessel_i(1, x); }, 0, 6},
       {"modified_bessel_k0_forward", [](double x) { return std::cyl_bessel_k(0, x); }, 0.5, 9},
       {"modified_bessel_k1_forward", [](double x) { return std::cyl_bessel_k(1, x); }, 0.5, 9},
       {"scaled_modified_bessel_k0_forward", [](double x) { return std::exp(x) * std::cyl_bessel_k(0, x); }, 0.5, 9},
       {"scaled_modified_bessel_k1_forward", [](double x) { return std::exp(x) * std::cyl_bessel_k(1, x); }, 0.5, 9},
       {"i0", [](double x) { return std::cyl_bessel_i(0, x); }, 0, 6},
       {"i0e", [](double x) { return std::exp(-x) * std::cyl_bessel_i(0, x); }, 0, 9},
       {"i1", [](double x) { return std::cyl_bessel_i(1, x); }, 0, 6},
       {"i1e", [](double x) { return std::exp(-x) * std::cyl_bessel_i(1, x); }, 0, 9},
       {"spherical_bessel_j0", [](double x) { return x == 0 ? 1 : std::sin(x) / x; }, 0, 30},
       {"entr", [](double x) { return x == 0 ? 0 : -x * std::log(x); }, 0, 9}});
}

TEST_CASE("PyTorch: activations") {
  check_unary("ActivationKernel.metal",
              {{"hardsigmoid", [](double x) { return std::min(std::max(x + 3, 0.0), 6.0) / 6; }, -5, 5},
               {"hardswish", [](double x) { return x * std::min(std::max(x + 3, 0.0), 6.0) / 6; }, -5, 5}});
  const auto root = pytorch();
  if (!root) return;
  struct AlphaRow {
    const char* operation;
    Real2 reference;
  };
  const std::vector<AlphaRow> rows = {
      {"hardshrink", [](double x, double limit) { return std::fabs(x) <= limit ? 0 : x; }},
      {"softshrink", [](double x, double limit) { return x > limit    ? x - limit
                                                         : x < -limit ? x + limit
                                                                      : 0; }},
      {"leaky_relu", [](double x, double slope) { return x > 0 ? x : x * slope; }}};
  for (const Kind kind : kReals) {
    const auto name_of = [&](const AlphaRow& row) {
      return kernel_name(row.operation, "dense", kind, kind) + "_" + metal_name(kind);
    };
    std::vector<std::string> names;
    for (const AlphaRow& row : rows) names.push_back(name_of(row));
    const MslLibrary library = compile_pytorch(*root, "ActivationKernel.metal", names);
    for (const AlphaRow& row : rows) {
      Array in(kind, spread(kCount, -2, 2)), out(kind, kCount), alpha(kind, {0.5});
      Launch launch = one_thread_each(kCount);
      library.run(name_of(row), launch.bind(0, out.bytes).bind(1, in.bytes).bind(2, alpha.bytes));
      check_array(name_of(row), out, [&](size_t i) { return row.reference(in[i], 0.5); }, tolerance(kind));
    }
  }
}

TEST_CASE("PyTorch: operations of integers, and floats of integers") {
  const auto root = pytorch();
  if (!root) return;
  constexpr Kind kIntegers[] = {Kind::i64, Kind::i32, Kind::i16, Kind::i8, Kind::u8};
  std::vector<std::string> names;
  for (const Kind kind : kIntegers) {
    for (const char* operation : {"neg", "abs", "bitwise_not", "round"})
      names.push_back(kernel_name(operation, "dense", kind, kind));
    names.push_back(kernel_name("sqrt", "dense", Kind::f32, kind));
  }
  const MslLibrary library = compile_pytorch(*root, "UnaryKernel.metal", names);
  size_t name = 0;
  for (const Kind kind : kIntegers) {
    Array in(kind, spread(kCount, kind == Kind::u8 ? 0 : -100, 120));
    const double wrap = kind == Kind::u8 ? 256 : 0;
    const auto run = [&](Kind result, auto&& reference) {
      Array out(result, kCount);
      Launch launch = one_thread_each(kCount);
      library.run(names[name], launch.bind(0, out.bytes).bind(1, in.bytes));
      check_array(names[name], out, [&](size_t i) { return reference(in[i]); }, tolerance(result));
      ++name;
    };
    run(kind, [&](double x) { return wrap != 0 && x != 0 ? wrap - x : -x; });
    run(kind, [](double x) { return std::fabs(x); });
    run(kind, [&](double x) { return wrap != 0 ? wrap - 1 - x : -x - 1; });
    run(kind, [](double x) { return x; });
    run(Kind::f32, [](double x) { return std::sqrt(x); });
  }
  MESSAGE(names.size(), " kernels");
}

TEST_CASE("PyTorch: operations of two operands, dense and strided") {
  const auto root = pytorch();
  if (!root) return;
  struct Row2 {
    const char* operation;
    Real2 reference;
  };
  const std::vector<Row2> rows = {
      {"add", [](double a, double b) { return a + b; }},
      {"sub", [](double a, double b) { return a - b; }},
      {"mul", [](double a, double b) { return a * b; }},
      {"div_true", [](double a, double b) { return a / b; }},
      {"fmax", [](double a, double b) { return std::fmax(a, b); }},
      {"fmin", [](double a, double b) { return std::fmin(a, b); }},
      {"copysign", [](double a, double b) { return std::copysign(a, b); }},
      {"xlog1py", [](double a, double b) { return a * std::log1p(b); }},
      {"hermite_polynomial_h", [](double x, double n) { return std::hermite(unsigned(n), x); }},
      {"chebyshev_polynomial_t", [](double x, double n) {
         n = std::trunc(n);
         return std::fabs(x) <= 1 ? std::cos(n * std::acos(x)) : std::cosh(n * std::acosh(x));
       }}};
  std::vector<std::string> names;
  for (const Row2& row : rows)
    for (const Kind kind : kReals)
      for (const char* form : {"dense", "strided"}) names.push_back(kernel_name(row.operation, form, kind, kind));
  const MslLibrary library = compile_pytorch(*root, "BinaryKernel.metal", names);
  constexpr int64_t kWidth = 16, kHeight = kCount / kWidth;
  size_t name = 0;
  for (const Row2& row : rows)
    for (const Kind kind : kReals) {
      const auto bytes = static_cast<int64_t>(bytes_of(kind));
      Array a(kind, spread(kCount, 0.25, 2)), b(kind, spread(kCount, 4, 0.5)), out(kind, kCount);
      Launch dense = one_thread_each(kCount);
      library.run(names[name], dense.bind(0, out.bytes).bind(1, a.bytes).bind(2, b.bytes));
      // Some of the functions are sums of large terms of both signs.
      const double off = 4 * tolerance(kind);
      check_array(names[name++], out, [&](size_t i) { return row.reference(a[i], b[i]); }, off);
      // The second operand by columns, the first of one row for all. Strides are in bytes.
      std::vector<int64_t> sizes = {kWidth, kHeight}, to = {bytes, bytes * kWidth}, from_a = {bytes, 0},
                           from_b = {bytes * kHeight, bytes};
      std::vector<uint32_t> dimensions = {2, 0, 0, 0};
      Launch strided = one_thread_each(kCount);
      strided.bind(0, out.bytes).bind(1, a.bytes).bind(2, b.bytes).bind(3, sizes).bind(4, to).bind(5, from_a);
      library.run(names[name], strided.bind(6, from_b).bind(7, dimensions));
      const auto want = [&](size_t i) { return row.reference(a[i % kWidth], b[i % kWidth * kHeight + i / kWidth]); };
      check_array(names[name++], out, want, off);
    }
  MESSAGE(names.size(), " kernels");
}

double digamma(double x) {
  double result = 0;
  for (; x < 12; ++x) result -= 1 / x;
  const double f = 1 / (x * x);
  return result + std::log(x) - 0.5 / x - f * (1.0 / 12 - f * (1.0 / 120 - f / 252));
}

double trigamma(double x) {
  double result = 0;
  for (; x < 12; ++x) result += 1 / (x * x);
  const double f = 1 / (x * x);
  return result + 1 / x + f / 2 + f / x * (1.0 / 6 - f * (1.0 / 30 - f / 42));
}

TEST_CASE("PyTorch: derivatives of the logarithm of gamma") {
  const auto root = pytorch();
  if (!root) return;
  const std::vector<Row> rows = {{"digamma", digamma, 0.1, 20}, {"trigamma", trigamma, 0.3, 20}};
  std::vector<std::string> names;
  for (const Row& row : rows)
    for (const Kind kind : kReals) names.push_back(fmt::format("{0}_{1}_{1}", row.operation, metal_name(kind)));
  const MslLibrary library = compile_pytorch(*root, "Gamma.metal", names);
  for (const Row& row : rows)
    for (const Kind kind : kReals) {
      const std::string name = fmt::format("{0}_{1}_{1}", row.operation, metal_name(kind));
      Array in(kind, spread(kCount, row.low, row.high)), out(kind, kCount);
      Launch launch = one_thread_each(kCount);
      library.run(name, launch.bind(0, in.bytes).bind(1, out.bytes));
      check_array(name, out, [&](size_t i) { return row.reference(in[i]); }, tolerance(kind));
    }
}

}  // namespace
}  // namespace smelt::test
