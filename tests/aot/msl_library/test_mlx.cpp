// Kernels of MLX, compiled from its own source and run against references in double precision. The source is never part
// of this tree: SMELT_MLX names a folder that holds mlx/backend/metal/kernels (a checkout of ml-explore/mlx).
#include "elementwise.hpp"
#include "files.hpp"
#include "ulp.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>

namespace smelt::test {
namespace {

std::optional<std::filesystem::path> mlx() {
  const char* folder = std::getenv("SMELT_MLX");
  if (folder == nullptr || !std::filesystem::exists(std::filesystem::path(folder) / "mlx/backend/metal/kernels")) {
    MESSAGE("SKIPPED: SMELT_MLX names no folder with mlx/backend/metal/kernels");
    return std::nullopt;
  }
  return std::filesystem::path(folder);
}

MslLibrary compile_mlx(const std::filesystem::path& root, const std::string& file, std::vector<std::string> functions) {
  const std::filesystem::path path = root / "mlx/backend/metal/kernels" / file;
  const Bytes text = must_read(path);
  return MslLibrary(as_text(text),
                    {.name = path.string(), .include_folders = {root.string()}, .functions = std::move(functions)});
}

constexpr Kind kReals[] = {Kind::f32, Kind::f16, Kind::bf16};
std::string mlx_name(Kind kind) {
  return kind == Kind::f32 ? "float32" : kind == Kind::f16 ? "float16" : "bfloat16";
}
double tolerance(Kind kind) {
  return kind == Kind::f32 ? 2e-5 : kind == Kind::f16 ? 2e-3 : 1.6e-2;
}

/// Numbers in the storage of a kind.
struct Array {
  Array(Kind stored, const std::vector<double>& values) : kind(stored), bytes(values.size() * bytes_of(stored)) {
    for (size_t i = 0; i < values.size(); ++i)
      store_element(kind, bytes.data() + i * bytes_of(kind),
                    is_float(kind) ? real(values[i]) : whole(static_cast<Whole>(values[i])));
  }
  double operator[](size_t i) const {
    const Element e = load_element(kind, bytes.data() + i * bytes_of(kind));
    return is_float(kind) ? static_cast<double>(e.real) : static_cast<double>(e.whole);
  }
  Kind kind;
  std::vector<std::byte> bytes;
};

std::vector<double> spread(size_t count, double low, double high) {
  std::vector<double> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = low + (high - low) * static_cast<double>(i * 37 % count) / static_cast<double>(count);
  return values;
}

bool near(double got, double want, double relative) {
  if (std::isnan(want)) return std::isnan(got);
  if (got == want) return true;
  return std::fabs(got - want) <= relative * std::max(1.0, std::fabs(want));
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
  size_t name = 0;
  for (const Row& row : rows)
    for (const Kind kind : kReals) {
      Array in(kind, spread(kCount, row.low, row.high)), out(kind, std::vector<double>(kCount));
      std::vector<uint32_t> size = {kCount};
      Launch launch{.grid = {kCount, 1, 1}, .group = {64, 1, 1}};
      library.run(functions[name], launch.bind(0, in.bytes).bind(1, out.bytes).bind(2, size));
      size_t wrong = 0;
      for (size_t i = 0; i < kCount; ++i) wrong += !near(out[i], row.reference(in[i]), tolerance(kind));
      CHECK_MESSAGE(wrong == 0, functions[name], ": ", wrong, " wrong");
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
  size_t name = 0;
  for (const Row& row : rows)
    for (const bool scalar : {false, true}) {
      const Kind result = row.truth ? Kind::boolean : Kind::f32;
      Array a(Kind::f32, spread(kCount, 0.25, 4)), b(Kind::f32, spread(kCount, 4, 0.25)),
          out(result, std::vector<double>(kCount));
      std::vector<uint32_t> size = {kCount};
      Launch launch{.grid = {kCount, 1, 1}, .group = {64, 1, 1}};
      library.run(functions[name], launch.bind(0, a.bytes).bind(1, b.bytes).bind(2, out.bytes).bind(3, size));
      size_t wrong = 0;
      for (size_t i = 0; i < kCount; ++i) wrong += !near(out[i], row.reference(a[scalar ? 0 : i], b[i]), 2e-5);
      CHECK_MESSAGE(wrong == 0, functions[name], ": ", wrong, " wrong");
      ++name;
    }
  MESSAGE(functions.size(), " kernels");
}

TEST_CASE("MLX: softmax, logsumexp, RMS norm, arange") {
  const auto root = mlx();
  if (!root) return;
  size_t kernels = 0;
  constexpr uint32_t kRows = 5;
  const MslLibrary softmax = compile_mlx(*root, "softmax.metal", {});
  const MslLibrary sums = compile_mlx(*root, "logsumexp.metal", {});
  for (const Kind kind : kReals)
    for (const char* form : {"block_", "looped_"})
      for (const int32_t length : {512, 77}) {
        Array in(kind, spread(kRows * static_cast<size_t>(length), -5, 5)),
            out(kind, std::vector<double>(kRows * static_cast<size_t>(length)));
        Array logs(kind, std::vector<double>(kRows));
        std::vector<int32_t> size = {length};
        // The looped forms rely on a full threadgroup, as MLX launches them.
        const uint32_t threads = std::string(form) == "looped_" ? 1024 : 128;
        Launch launch{.grid = {kRows * threads, 1, 1}, .group = {threads, 1, 1}};
        const std::string softmax_name = form + std::string("softmax_") + mlx_name(kind),
                          sum_name = form + std::string("logsumexp_") + mlx_name(kind);
        softmax.run(softmax_name, launch.bind(0, in.bytes).bind(1, out.bytes).bind(2, size));
        sums.run(sum_name, launch.bind(1, logs.bytes));
        size_t wrong = 0;
        for (size_t row = 0; row < kRows; ++row) {
          double sum = 0;
          for (size_t i = 0; i < static_cast<size_t>(length); ++i)
            sum += std::exp(in[row * static_cast<size_t>(length) + i]);
          for (size_t i = 0; i < static_cast<size_t>(length); ++i)
            wrong += !near(out[row * static_cast<size_t>(length) + i],
                           std::exp(in[row * static_cast<size_t>(length) + i]) / sum, tolerance(kind));
          wrong += !near(logs[row], std::log(sum), tolerance(kind));
        }
        CHECK_MESSAGE(wrong == 0, softmax_name, ", ", sum_name, ": ", wrong, " wrong");
        kernels += length == 77 ? 2 : 0;
      }
  const MslLibrary norm =
      compile_mlx(*root, "rms_norm.metal", {"rmsfloat32", "rmsfloat16", "rmsbfloat16", "rms_loopedfloat32"});
  for (const char* name : {"rmsfloat32", "rmsfloat16", "rmsbfloat16", "rms_loopedfloat32"}) {
    const Kind kind = std::string(name).ends_with("bfloat16")  ? Kind::bf16
                      : std::string(name).ends_with("float16") ? Kind::f16
                                                               : Kind::f32;
    constexpr size_t kLength = 300;
    Array x(kind, spread(kRows * kLength, -3, 3)), w(kind, spread(kLength, 0.5, 1.5)),
        out(kind, std::vector<double>(kRows * kLength));
    std::vector<float> eps = {1e-5f};
    std::vector<uint32_t> length = {kLength}, stride = {1};
    Launch launch{.grid = {kRows * 96, 1, 1}, .group = {96, 1, 1}};
    norm.run(name,
             launch.bind(0, x.bytes).bind(1, w.bytes).bind(2, out.bytes).bind(3, eps).bind(4, length).bind(5, stride));
    size_t wrong = 0;
    for (size_t row = 0; row < kRows; ++row) {
      double sum = 0;
      for (size_t i = 0; i < kLength; ++i) sum += x[row * kLength + i] * x[row * kLength + i];
      const double scale = 1 / std::sqrt(sum / kLength + 1e-5);
      for (size_t i = 0; i < kLength; ++i)
        wrong += !near(out[row * kLength + i], w[i] * x[row * kLength + i] * scale, tolerance(kind));
    }
    CHECK_MESSAGE(wrong == 0, name, ": ", wrong, " wrong");
    ++kernels;
  }
  const MslLibrary arange = compile_mlx(*root, "arange.metal", {});
  for (const auto& [name, kind] : std::vector<std::pair<const char*, Kind>>{{"arangeuint8", Kind::u8},
                                                                            {"arangeint16", Kind::i16},
                                                                            {"arangeuint32", Kind::u32},
                                                                            {"arangeint32", Kind::i32},
                                                                            {"arangeint64", Kind::i64},
                                                                            {"arangefloat16", Kind::f16},
                                                                            {"arangefloat32", Kind::f32}}) {
    Array start(kind, {3}), step(kind, {2}), out(kind, std::vector<double>(100));
    Launch launch{.grid = {100, 1, 1}, .group = {32, 1, 1}};
    arange.run(name, launch.bind(0, start.bytes).bind(1, step.bytes).bind(2, out.bytes));
    size_t wrong = 0;
    for (size_t i = 0; i < 100; ++i) wrong += out[i] != 3 + 2 * static_cast<double>(i);
    CHECK_MESSAGE(wrong == 0, name, ": ", wrong, " wrong");
    ++kernels;
  }
  const MslLibrary best =
      compile_mlx(*root, "arg_reduce.metal", {"argmin_float32", "argmax_float32", "argmin_int32", "argmax_float16"});
  for (const char* name : {"argmin_float32", "argmax_float32", "argmin_int32", "argmax_float16"}) {
    const Kind kind = std::string(name).ends_with("int32")     ? Kind::i32
                      : std::string(name).ends_with("float16") ? Kind::f16
                                                               : Kind::f32;
    constexpr size_t kLength = 200;
    Array in(kind, spread(kRows * kLength, -100, 100));
    std::vector<uint32_t> out(kRows);
    std::vector<int32_t> shape = {kRows};
    std::vector<int64_t> strides = {kLength}, out_strides = {1}, axis_stride = {1};
    std::vector<uint64_t> dimensions = {1}, axis = {kLength};
    Launch launch{.grid = {64, kRows, 1}, .group = {64, 1, 1}};
    best.run(name, launch.bind(0, in.bytes)
                       .bind(1, out)
                       .bind(2, shape)
                       .bind(3, strides)
                       .bind(4, out_strides)
                       .bind(5, dimensions)
                       .bind(6, axis_stride)
                       .bind(7, axis));
    const bool smallest = std::string(name).starts_with("argmin");
    for (size_t row = 0; row < kRows; ++row) {
      size_t want = 0;
      for (size_t i = 1; i < kLength; ++i) {
        const double a = in[row * kLength + i], b = in[row * kLength + want];
        if (smallest ? a < b : a > b) want = i;
      }
      CHECK_MESSAGE(out[row] == want, name, " row ", row);
    }
    ++kernels;
  }
  MESSAGE(kernels, " kernels");
}

}  // namespace
}  // namespace smelt::test
