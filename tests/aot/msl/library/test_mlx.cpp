// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels of MLX, compiled from its own source and run against references in double precision. The source is never part
// of this tree: SMELT_MLX names a folder that holds mlx/backend/metal/kernels (a checkout of ml-explore/mlx).
#include "real_sources.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace smelt::test {
namespace {

std::optional<std::filesystem::path> mlx() {
  return real_sources("SMELT_MLX", "mlx/backend/metal/kernels");
}

MslLibrary compile_mlx(const std::filesystem::path& root, const std::string& file, std::vector<std::string> functions) {
  return compile_real(root, "mlx/backend/metal/kernels/" + file, std::move(functions));
}

std::string mlx_name(Kind kind) {
  return kind == Kind::f32 ? "float32" : kind == Kind::f16 ? "float16" : "bfloat16";
}
using Real = double (*)(double);
using Real2 = double (*)(double, double);

TEST_CASE("MLX: element-wise kernels of one operand") {
  const auto root = mlx();
  if (!root) return;
  struct Row {
    const char* operation;
    Real reference;
    double low, high;
  };
  const std::vector<Row> rows = {{"Abs", std::fabs, -4, 4},
                                 {"ArcCos", std::acos, -1, 1},
                                 {"ArcCosh", std::acosh, 1, 9},
                                 {"ArcSin", std::asin, -1, 1},
                                 {"ArcSinh", std::asinh, -9, 9},
                                 {"ArcTan", std::atan, -9, 9},
                                 {"ArcTanh", std::atanh, -0.9, 0.9},
                                 {"Ceil", std::ceil, -9, 9},
                                 {"Cos", std::cos, -9, 9},
                                 {"Cosh", std::cosh, -4, 4},
                                 {"Exp", std::exp, -4, 4},
                                 {"Expm1", std::expm1, -4, 4},
                                 {"Erf", std::erf, -3, 3},
                                 {"Floor", std::floor, -9, 9},
                                 {"Log", std::log, 0.1, 9},
                                 {"Log2", std::log2, 0.1, 9},
                                 {"Log10", std::log10, 0.1, 9},
                                 {"Log1p", std::log1p, -0.5, 9},
                                 {"Negative", [](double x) { return -x; }, -4, 4},
                                 {"Sigmoid", [](double x) { return 1 / (1 + std::exp(-x)); }, -9, 9},
                                 {"Sign", [](double x) { return x > 0   ? 1.0
                                                                : x < 0 ? -1.0
                                                                        : 0.0; }, -4, 4},
                                 {"Sin", std::sin, -9, 9},
                                 {"Sinh", std::sinh, -4, 4},
                                 {"Square", [](double x) { return x * x; }, -4, 4},
                                 {"Sqrt", std::sqrt, 0, 9},
                                 {"Rsqrt", [](double x) { return 1 / std::sqrt(x); }, 0.1, 9},
                                 {"Tan", std::tan, -1.4, 1.4},
                                 {"Tanh", std::tanh, -4, 4},
                                 {"Round", std::nearbyint, -9, 9}};
  std::vector<std::string> functions;
  for (const Row& row : rows)
    for (const Kind kind : kReals)
      functions.push_back(fmt::format("v_{}{}{}", row.operation, mlx_name(kind), mlx_name(kind)));
  const MslLibrary library = compile_mlx(*root, "unary.metal", functions);
  constexpr uint32_t kCount = 512;
  std::vector<uint32_t> size = {kCount};
  size_t name = 0;
  for (const Row& row : rows)
    for (const Kind kind : kReals) {
      Array in(kind, spread(kCount, row.low, row.high)), out(kind, kCount);
      Launch launch = one_thread_each(kCount);
      library.run(functions[name], launch.bind(0, in.bytes).bind(1, out.bytes).bind(2, size));
      check_array(functions[name], out, [&](size_t i) { return row.reference(in[i]); }, tolerance(kind));
      ++name;
    }
  MESSAGE(functions.size(), " kernels");
}

TEST_CASE("MLX: element-wise kernels of two operands") {
  const auto root = mlx();
  if (!root) return;
  struct Row {
    const char* operation;
    Real2 reference;
    bool truth;
  };
  const std::vector<Row> rows = {
      {"Add", [](double a, double b) { return a + b; }, false},
      {"Subtract", [](double a, double b) { return a - b; }, false},
      {"Multiply", [](double a, double b) { return a * b; }, false},
      {"Divide", [](double a, double b) { return a / b; }, false},
      {"Maximum", [](double a, double b) { return std::max(a, b); }, false},
      {"Minimum", [](double a, double b) { return std::min(a, b); }, false},
      {"Power", [](double a, double b) { return std::pow(a, b); }, false},
      {"Remainder", [](double a, double b) { return a - b * std::floor(a / b); }, false},
      {"LogAddExp", [](double a, double b) { return std::log(std::exp(a) + std::exp(b)); }, false},
      {"ArcTan2", std::atan2, false},
      {"Equal", [](double a, double b) { return double(a == b); }, true},
      {"NotEqual", [](double a, double b) { return double(a != b); }, true},
      {"Greater", [](double a, double b) { return double(a > b); }, true},
      {"GreaterEqual", [](double a, double b) { return double(a >= b); }, true},
      {"Less", [](double a, double b) { return double(a < b); }, true},
      {"LessEqual", [](double a, double b) { return double(a <= b); }, true}};
  std::vector<std::string> functions;
  for (const Row& row : rows)
    for (const char* form : {"vv_", "sv_"}) functions.push_back(fmt::format("{}{}float32", form, row.operation));
  const MslLibrary library = compile_mlx(*root, "binary.metal", functions);
  constexpr uint32_t kCount = 500;
  std::vector<uint32_t> size = {kCount};
  size_t name = 0;
  for (const Row& row : rows)
    for (const bool scalar : {false, true}) {
      Array a(Kind::f32, spread(kCount, 0.25, 4)), b(Kind::f32, spread(kCount, 4, 0.25)),
          out(row.truth ? Kind::boolean : Kind::f32, kCount);
      Launch launch = one_thread_each(kCount);
      library.run(functions[name], launch.bind(0, a.bytes).bind(1, b.bytes).bind(2, out.bytes).bind(3, size));
      check_array(functions[name], out, [&](size_t i) { return row.reference(a[scalar ? 0 : i], b[i]); }, 2e-5);
      ++name;
    }
  MESSAGE(functions.size(), " kernels");
}

constexpr uint32_t kRows = 5;

Kind kind_of(const std::string& name) {
  for (const Kind kind : {Kind::bf16, Kind::f16, Kind::f32})
    if (name.ends_with(mlx_name(kind))) return kind;
  return Kind::i32;
}

TEST_CASE("MLX: softmax and the logarithm of the sum of exponentials") {
  const auto root = mlx();
  if (!root) return;
  const MslLibrary softmax = compile_mlx(*root, "softmax.metal", {});
  const MslLibrary sums = compile_mlx(*root, "logsumexp.metal", {});
  for (const Kind kind : kReals)
    for (const std::string form : {"block_", "looped_"})
      for (const size_t length : {512, 77}) {
        Array in(kind, spread(kRows * length, -5, 5)), out(kind, kRows * length), logs(kind, kRows);
        std::vector<int32_t> size = {static_cast<int32_t>(length)};
        // The looped forms rely on a full threadgroup, as MLX launches them.
        const uint32_t threads = form == "looped_" ? 1024 : 128;
        Launch launch{.grid = {kRows * threads, 1, 1}, .group = {threads, 1, 1}};
        const std::string softmax_name = form + "softmax_" + mlx_name(kind),
                          sum_name = form + "logsumexp_" + mlx_name(kind);
        softmax.run(softmax_name, launch.bind(0, in.bytes).bind(1, out.bytes).bind(2, size));
        sums.run(sum_name, launch.bind(1, logs.bytes));
        std::vector<double> sum(kRows);
        for (size_t i = 0; i < in.size(); ++i) sum[i / length] += std::exp(in[i]);
        check_array(softmax_name, out, [&](size_t i) { return std::exp(in[i]) / sum[i / length]; }, tolerance(kind));
        check_array(sum_name, logs, [&](size_t row) { return std::log(sum[row]); }, tolerance(kind));
      }
}

TEST_CASE("MLX: RMS norm") {
  const auto root = mlx();
  if (!root) return;
  const std::vector<std::string> names = {"rmsfloat32", "rmsfloat16", "rmsbfloat16", "rms_loopedfloat32"};
  const MslLibrary library = compile_mlx(*root, "rms_norm.metal", names);
  for (const std::string& name : names) {
    const Kind kind = kind_of(name);
    constexpr size_t kLength = 300;
    Array x(kind, spread(kRows * kLength, -3, 3)), w(kind, spread(kLength, 0.5, 1.5)), out(kind, kRows * kLength);
    std::vector<float> eps = {1e-5f};
    std::vector<uint32_t> length = {kLength}, stride = {1};
    Launch launch{.grid = {kRows * 96, 1, 1}, .group = {96, 1, 1}};
    launch.bind(0, x.bytes).bind(1, w.bytes).bind(2, out.bytes).bind(3, eps).bind(4, length).bind(5, stride);
    library.run(name, launch);
    std::vector<double> sum(kRows);
    for (size_t i = 0; i < x.size(); ++i) sum[i / kLength] += x[i] * x[i];
    const auto want = [&](size_t i) { return w[i % kLength] * x[i] / std::sqrt(sum[i / kLength] / kLength + 1e-5); };
    check_array(name, out, want, tolerance(kind));
  }
}

TEST_CASE("MLX: arange") {
  const auto root = mlx();
  if (!root) return;
  const MslLibrary library = compile_mlx(*root, "arange.metal", {});
  const std::vector<std::pair<const char*, Kind>> kernels = {
      {"arangeuint8", Kind::u8},  {"arangeint16", Kind::i16},   {"arangeuint32", Kind::u32}, {"arangeint32", Kind::i32},
      {"arangeint64", Kind::i64}, {"arangefloat16", Kind::f16}, {"arangefloat32", Kind::f32}};
  for (const auto& [name, kind] : kernels) {
    Array start(kind, {3}), step(kind, {2}), out(kind, 100);
    Launch launch = one_thread_each(out.size());
    library.run(name, launch.bind(0, start.bytes).bind(1, step.bytes).bind(2, out.bytes));
    check_array(name, out, [](size_t i) { return 3 + 2 * static_cast<double>(i); }, 0);
  }
}

TEST_CASE("MLX: the place of the smallest and of the largest") {
  const auto root = mlx();
  if (!root) return;
  const std::vector<std::string> names = {"argmin_float32", "argmax_float32", "argmin_int32", "argmax_float16"};
  const MslLibrary library = compile_mlx(*root, "arg_reduce.metal", names);
  for (const std::string& name : names) {
    constexpr size_t kLength = 200;
    Array in(kind_of(name), spread(kRows * kLength, -100, 100)), out(Kind::u32, kRows);
    std::vector<int32_t> shape = {kRows};
    std::vector<int64_t> strides = {kLength}, out_strides = {1}, axis_stride = {1};
    std::vector<uint64_t> dimensions = {1}, axis = {kLength};
    Launch launch{.grid = {64, kRows, 1}, .group = {64, 1, 1}};
    launch.bind(0, in.bytes).bind(1, out.bytes).bind(2, shape).bind(3, strides).bind(4, out_strides);
    library.run(name, launch.bind(5, dimensions).bind(6, axis_stride).bind(7, axis));
    const auto want = [&](size_t row) {
      size_t best = 0;
      for (size_t i = 1; i < kLength; ++i) {
        const double a = in[row * kLength + i], b = in[row * kLength + best];
        if (name.starts_with("argmin") ? a < b : a > b) best = i;
      }
      return static_cast<double>(best);
    };
    check_array(name, out, want, 0);
  }
}

}  // namespace
}  // namespace smelt::test
