// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// PyTorch's kernels of rows, matrices and indices, compiled from its own source and compared with references in double
// precision. SMELT_PYTORCH names a folder that holds c10/metal and aten/src/ATen/native/mps/kernels.
#include "real_sources.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>

namespace smelt::test {
namespace {

constexpr uint32_t kRows = 5;

std::optional<std::filesystem::path> pytorch() {
  return real_sources("SMELT_PYTORCH", "aten/src/ATen/native/mps/kernels");
}

MslLibrary compile_pytorch(const std::filesystem::path& root, const std::string& file,
                           std::vector<std::string> functions = {}) {
  return compile_real(root, "aten/src/ATen/native/mps/kernels/" + file, std::move(functions));
}

/// "triu_int_float" for each pattern, "triu_int_{}", and each kind.
std::vector<std::string> names_of(const std::vector<std::string>& patterns, const std::vector<Kind>& kinds) {
  std::vector<std::string> names;
  for (const std::string& pattern : patterns)
    for (const Kind kind : kinds) names.push_back(fmt::format(fmt::runtime(pattern), metal_name(kind)));
  return names;
}

const std::vector<Kind> kNumbers = {Kind::f32, Kind::f16, Kind::bf16, Kind::i64, Kind::i32, Kind::i16, Kind::i8};

/// A threadgroup for each row.
Launch one_group_each(uint32_t rows, uint32_t threads) {
  return {.grid = {rows * threads, 1, 1}, .group = {threads, 1, 1}};
}

TEST_CASE("PyTorch: layer norm") {
  const auto root = pytorch();
  if (!root) return;
  const MslLibrary library = compile_pytorch(*root, "LayerNorm.metal");
  constexpr uint32_t kLength = 301;
  for (const Kind kind : kReals)
    for (const std::string form : {"single_row", "looped"}) {
      const std::string name = fmt::format("layer_norm_{}_{}", form, metal_name(kind));
      Array x(kind, spread(kRows * kLength, -3, 4)), w(kind, spread(kLength, 0.5, 1.5)),
          b(kind, spread(kLength, -1, 1)), out(kind, kRows * kLength), mean(kind, kRows), scale(kind, kRows);
      std::vector<uint32_t> length = {kLength};
      std::vector<float> epsilon = {1e-5f};
      std::vector<int32_t> yes = {1};
      // The looped form relies on a full threadgroup.
      Launch launch = one_group_each(kRows, form == "looped" ? 1024 : 96);
      launch.bind(0, x.bytes).bind(1, out.bytes).bind(2, mean.bytes).bind(3, scale.bytes).bind(4, length);
      launch.bind(5, epsilon).bind(6, yes).bind(7, yes).bind(8, w.bytes).bind(9, b.bytes);
      library.run(name, launch);
      std::vector<double> sum(kRows), squares(kRows);
      for (size_t i = 0; i < x.size(); ++i) {
        sum[i / kLength] += x[i];
        squares[i / kLength] += x[i] * x[i];
      }
      const auto mean_of = [&](size_t row) { return sum[row] / kLength; };
      const auto scale_of = [&](size_t row) {
        return 1 / std::sqrt(squares[row] / kLength - mean_of(row) * mean_of(row) + 1e-5);
      };
      const auto want = [&](size_t i) {
        return (x[i] - mean_of(i / kLength)) * scale_of(i / kLength) * w[i % kLength] + b[i % kLength];
      };
      check_array(name, out, want, tolerance(kind));
      check_array(name + ", mean", mean, mean_of, tolerance(kind));
      check_array(name + ", scale", scale, scale_of, tolerance(kind));
    }
}

TEST_CASE("PyTorch: RMS norm") {
  const auto root = pytorch();
  if (!root) return;
  const MslLibrary library = compile_pytorch(*root, "RMSNorm.metal");
  constexpr uint32_t kLength = 301;
  for (const Kind kind : kReals)
    for (const std::string form : {"", "looped_"}) {
      const std::string name = fmt::format("rms_norm_{}{}", form, metal_name(kind));
      Array x(kind, spread(kRows * kLength, -3, 4)), w(kind, spread(kLength, 0.5, 1.5)), out(kind, kRows * kLength);
      std::vector<uint32_t> length = {kLength}, stride = {1};
      std::vector<float> epsilon = {1e-5f};
      Launch launch = one_group_each(kRows, form.empty() ? 96 : 32);
      launch.bind(0, x.bytes).bind(1, w.bytes).bind(2, out.bytes).bind(3, epsilon).bind(4, length).bind(5, stride);
      library.run(name, launch);
      std::vector<double> squares(kRows);
      for (size_t i = 0; i < x.size(); ++i) squares[i / kLength] += x[i] * x[i];
      const auto want = [&](size_t i) {
        return w[i % kLength] * x[i] / std::sqrt(squares[i / kLength] / kLength + 1e-5);
      };
      check_array(name, out, want, tolerance(kind));
    }
}

TEST_CASE("PyTorch: scans along a row, with and without the place") {
  const auto root = pytorch();
  if (!root) return;
  std::vector<std::string> names = names_of({"logcumsumexp_innermost_{}"}, {Kind::f32, Kind::f16, Kind::bf16});
  for (std::string& name : names_of({"cummin_innermost_{}", "cummax_innermost_{}"}, kNumbers))
    names.push_back(std::move(name));
  const MslLibrary library = compile_pytorch(*root, "ScanKernel.metal", names);
  // One block of a threadgroup's: in these kernels a SIMD-group reads what the block before left in threadgroup memory
  // while another may already write there for the next one. Here they run one after the other, and it shows.
  constexpr size_t kLength = 120;
  std::vector<uint64_t> length = {kLength};
  const Launch rows{.grid = {64, kRows, 1}, .group = {64, 1, 1}};
  for (const Kind kind : kReals) {
    const std::string name = fmt::format("logcumsumexp_innermost_{}", metal_name(kind));
    Array in(kind, spread(kRows * kLength, -4, 4)), out(kind, kRows * kLength);
    Launch launch = rows;
    library.run(name, launch.bind(0, in.bytes).bind(1, out.bytes).bind(2, length));
    std::vector<double> sums(in.size());
    for (size_t i = 0; i < in.size(); ++i) sums[i] = std::exp(in[i]) + (i % kLength == 0 ? 0 : sums[i - 1]);
    check_array(name, out, [&](size_t i) { return std::log(sums[i]); }, tolerance(kind));
  }
  for (const Kind kind : kNumbers)
    for (const std::string operation : {"cummin", "cummax"}) {
      const std::string name = fmt::format("{}_innermost_{}", operation, metal_name(kind));
      Array in(kind, spread(kRows * kLength, -100, 100)), out(kind, kRows * kLength),
          places(Kind::i64, kRows * kLength);
      Launch launch = rows;
      library.run(name, launch.bind(0, in.bytes).bind(1, out.bytes).bind(2, places.bytes).bind(3, length));
      // Among equals the last place.
      std::vector<size_t> best(in.size());
      for (size_t i = 0; i < in.size(); ++i) {
        best[i] = i;
        if (i % kLength == 0) continue;
        const double before = in[best[i - 1]];
        if (operation == "cummin" ? before < in[i] : before > in[i]) best[i] = best[i - 1];
      }
      check_array(name, out, [&](size_t i) { return in[best[i]]; }, 0);
      check_array(name + ", place", places, [&](size_t i) { return static_cast<double>(best[i] % kLength); }, 0);
    }
}

TEST_CASE("PyTorch: searching in sorted numbers") {
  const auto root = pytorch();
  if (!root) return;
  const MslLibrary library = compile_pytorch(*root, "Bucketization.metal",
                                             names_of({"searchsorted_{}_int", "searchsorted_{}_long"}, kNumbers));
  constexpr size_t kEdges = 50, kCount = 300;
  for (const Kind kind : kNumbers)
    for (const Kind result : {Kind::i32, Kind::i64})
      for (const bool right : {false, true}) {
        const std::string name = fmt::format("searchsorted_{}_{}", metal_name(kind), metal_name(result));
        std::vector<double> sorted(kEdges);
        for (size_t i = 0; i < kEdges; ++i) sorted[i] = static_cast<double>(i / 2 * 4) - 50;
        Array in(kind, spread(kCount, -60, 60)), edges(kind, sorted), out(result, kCount);
        std::vector<int64_t> in_size = {kCount}, edge_count = {kEdges}, count = {kCount}, side = {right}, flat = {1};
        Launch launch = one_group_each(1, 64);
        launch.bind(0, in.bytes).bind(1, edges.bytes).bind(2, out.bytes).bind(3, in_size).bind(4, edge_count);
        library.run(name, launch.bind(5, count).bind(6, side).bind(7, flat));
        const auto want = [&](size_t i) {
          double place = 0;
          for (size_t edge = 0; edge < kEdges; ++edge) place += right ? edges[edge] <= in[i] : edges[edge] < in[i];
          return place;
        };
        check_array(name, out, want, 0);
      }
}

TEST_CASE("PyTorch: triangles of a matrix") {
  const auto root = pytorch();
  if (!root) return;
  const MslLibrary library =
      compile_pytorch(*root, "TriangularOps.metal", names_of({"triu_int_{}", "tril_int_{}"}, kNumbers));
  constexpr uint32_t kWidth = 20, kHeight = 12;
  for (const Kind kind : kNumbers)
    for (const bool upper : {true, false}) {
      const std::string name = fmt::format("{}_int_{}", upper ? "triu" : "tril", metal_name(kind));
      Array in(kind, spread(kWidth * kHeight, -99, 99)), out(kind, kWidth * kHeight);
      std::vector<int32_t> strides = {1, kWidth}, diagonal = {2, 2};
      std::vector<uint32_t> sizes = {kWidth, kHeight};
      Launch launch{.grid = {kWidth, kHeight, 1}, .group = {8, 4, 1}};
      launch.bind(0, out.bytes).bind(1, in.bytes).bind(2, strides).bind(3, strides).bind(4, sizes);
      library.run(name, launch.bind(5, diagonal));
      const auto want = [&](size_t i) {
        const int offset = static_cast<int>(i % kWidth) - static_cast<int>(i / kWidth);
        return (upper ? offset >= 2 : offset <= 2) ? in[i] : 0;
      };
      check_array(name, out, want, 0);
    }
}

TEST_CASE("PyTorch: cross product, renorm, repeat") {
  const auto root = pytorch();
  if (!root) return;
  constexpr uint32_t kCount = 100;
  const MslLibrary cross = compile_pytorch(*root, "CrossKernel.metal");
  for (const Kind kind : {Kind::f32, Kind::f16, Kind::bf16, Kind::i64, Kind::i32, Kind::i16}) {
    const std::string name = fmt::format("cross_{}", metal_name(kind));
    const double high = is_float(kind) ? 1 : 9;
    Array a(kind, spread(3 * kCount, -high, high)), b(kind, spread(3 * kCount, high, -high)), out(kind, 3 * kCount);
    std::vector<uint32_t> offsets(kCount * size_t{4});
    for (uint32_t i = 0; i < kCount; ++i)
      for (size_t k = 0; k < 3; ++k) offsets[i * size_t{4} + k] = i * 3 * static_cast<uint32_t>(bytes_of(kind));
    std::vector<int64_t> stride = {1};
    Launch launch = one_thread_each(kCount);
    launch.bind(0, a.bytes).bind(1, b.bytes).bind(2, out.bytes).bind(3, offsets).bind(4, stride).bind(5, stride);
    cross.run(name, launch.bind(6, stride));
    const auto want = [&](size_t i) {
      const size_t of = i / 3 * 3, next = of + (i + 1 - of) % 3, last = of + (i + 2 - of) % 3;
      return a[next] * b[last] - a[last] * b[next];
    };
    check_array(name, out, want, 8 * tolerance(kind));
  }
  const MslLibrary renorm = compile_pytorch(*root, "RenormKernel.metal");
  for (const Kind kind : kReals) {
    const std::string name = fmt::format("renorm_{}", metal_name(kind));
    Array norm(kind, spread(kCount, 0, 9)), factor(kind, kCount);
    std::vector<float> largest = {4};
    Launch launch = one_thread_each(kCount);
    renorm.run(name, launch.bind(0, norm.bytes).bind(1, factor.bytes).bind(2, largest));
    check_array(name, factor, [&](size_t i) { return norm[i] > 4 ? 4 / (norm[i] + 1e-7) : 1; }, tolerance(kind));
  }
  const MslLibrary repeat = compile_pytorch(*root, "Repeat.metal");
  for (const Kind kind : {Kind::i32, Kind::i64}) {
    const std::string name = fmt::format("repeat_interleave_int{}_t", bits_of(kind));
    std::vector<double> times(kCount), sums(kCount), expected;
    for (size_t i = 0; i < kCount; ++i) {
      times[i] = static_cast<double>(i % 4);
      expected.insert(expected.end(), i % 4, static_cast<double>(i));
      sums[i] = static_cast<double>(expected.size());
    }
    Array counts(kind, times), ends(Kind::i64, sums), out(kind, expected.size());
    Launch launch = one_thread_each(kCount);
    repeat.run(name, launch.bind(0, counts.bytes).bind(1, ends.bytes).bind(2, out.bytes));
    check_array(name, out, [&](size_t i) { return expected[i]; }, 0);
  }
}

TEST_CASE("PyTorch: product of matrices") {
  const auto root = pytorch();
  if (!root) return;
  const MslLibrary library = compile_pytorch(*root, "LinearAlgebra.metal", names_of({"matmul_{}"}, kNumbers));
  constexpr uint32_t kM = 20, kK = 35, kN = 27;
  for (const Kind kind : {Kind::f32, Kind::f16, Kind::bf16, Kind::i64, Kind::i32, Kind::i16, Kind::i8}) {
    const std::string name = fmt::format("matmul_{}", metal_name(kind));
    const double high = is_float(kind) ? 1 : 2;
    Array a(kind, spread(kM * kK, -high, high)), b(kind, spread(kK * kN, high, -high)), out(kind, kM * kN);
    std::vector<uint64_t> strides = {kK, 1, kN, 1, kN, 1};
    std::vector<uint32_t> sizes = {kM, kK, kN, 0};
    Launch launch{.grid = {32, 32, 1}, .group = {16, 16, 1}};
    launch.bind(0, a.bytes).bind(1, b.bytes).bind(2, out.bytes).bind(3, strides).bind(4, sizes);
    library.run(name, launch);
    const auto want = [&](size_t i) {
      double sum = 0;
      for (size_t k = 0; k < kK; ++k) sum += a[i / kN * kK + k] * b[k * kN + i % kN];
      return sum;
    };
    check_array(name, out, want, 4 * tolerance(kind));
  }
}

}  // namespace
}  // namespace smelt::test
