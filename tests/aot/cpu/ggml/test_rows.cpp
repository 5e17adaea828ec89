// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Kernels that reduce or order rows: sums, norms, softmax, argmax, argsort.
#include "call.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace smelt::test {
namespace {

constexpr uint32_t kFloats32 = 32 * sizeof(float);  // a partial result for each simdgroup

std::vector<double> row_of(const Tensor& tensor, int64_t i1, int64_t i2 = 0, int64_t i3 = 0) {
  std::vector<double> row;
  for (int64_t i0 = 0; i0 < tensor.ne()[0]; ++i0) row.push_back(tensor.at(i0, i1, i2, i3));
  return row;
}

double sum_of(const std::vector<double>& row) {
  return std::accumulate(row.begin(), row.end(), 0.0);
}

double squares_of(const std::vector<double>& row) {
  return std::inner_product(row.begin(), row.end(), row.begin(), 0.0);
}

TEST_CASE("sums and means") {
  if (!have_ggml()) return;
  Tensor x(Type::f32, {1000, 5, 2, 3}, 16);
  x.fill(3);
  Tensor out(Type::f32, {1, 5, 2, 3});
  for (const bool mean : {false, true})
    for (const uint32_t threads : {32u, 256u, 1000u}) {
      CAPTURE(threads);
      Call call(mean ? "kernel_mean_f32" : "kernel_sum_rows_f32");
      call.describe("0", x).describe("", out).in(1, x).out(2, out.poison()).threadgroup(0, kFloats32);
      call.groups({5, 2, 3}, {threads, 1, 1}).run();
      call.expect(2,
                  [&](int64_t, int64_t i1, int64_t i2, int64_t i3) {
                    return sum_of(row_of(x, i1, i2, i3)) / (mean ? 1000 : 1);
                  },
                  {1e-5, 1e-5});
    }
  Tensor flat(Type::f32, {3001, 1, 1, 1});
  flat.fill(4);
  Tensor total(Type::f32, {1, 1, 1, 1});
  Call sum("kernel_op_sum_f32");
  sum.set("np", 3001).in(1, flat).out(2, total.poison()).threadgroup(0, kFloats32).groups({1, 1, 1}, {1024, 1, 1});
  sum.run().expect(2, [&](int64_t, int64_t, int64_t, int64_t) { return sum_of(row_of(flat, 0)); }, {1e-5, 1e-4});
}

struct SoftMax {
  const char* kernel;
  Type mask;
  bool four;
  double max_bias;
  bool sinks;
};

TEST_CASE("softmax: scale, mask with ALiBi slopes, sinks") {
  if (!have_ggml()) return;
  const SoftMax kinds[] = {{"kernel_soft_max_f32", Type::f32, false, 0, false},
                           {"kernel_soft_max_f16", Type::f16, false, 8, true},
                           {"kernel_soft_max_f32_4", Type::f32, true, 8, true},
                           {"kernel_soft_max_f16_4", Type::f16, true, 0, false}};
  constexpr int64_t kHeads = 6;
  constexpr double kScale = 0.75;
  for (const SoftMax& kind : kinds)
    for (const int64_t columns : {int64_t{kind.four ? 32 : 19}, int64_t{kind.four ? 700 : 701}}) {
      Tensor x(Type::f32, {columns, 3, kHeads, 2});
      x.fill(11, 5);
      Tensor mask(kind.mask, {columns, 3, 1, 1});
      mask.fill(12, 2);
      Tensor sinks(Type::f32, {kHeads, 1, 1, 1});
      sinks.fill(13, 2);
      const double m0 = std::exp2(-kind.max_bias / 4);  // 4: the power of two not above the number of heads
      const double m1 = std::exp2(-kind.max_bias / 2 / 4);
      Call call(kind.kernel);
      call.describe("0", x).describe("1", mask).describe("", x).set("scale", kScale).set("max_bias", kind.max_bias);
      call.set("m0", m0).set("m1", m1).set("n_head_log2", 4);
      // src2 == src0 says that there are no sinks.
      call.in(1, x).in(2, mask).out(4, Tensor(x).poison()).threadgroup(0, kFloats32);
      if (kind.sinks)
        call.in(3, sinks);
      else
        call.same(3, 1);
      call.groups({3, kHeads, 2}, {columns < 40 ? 32u : 256u, 1, 1}).run();
      std::map<std::array<int64_t, 3>, std::pair<double, double>> rows;  // largest, sum
      const auto slope = [&](int64_t head) {
        return kind.max_bias == 0 ? 1.0 : head < 4 ? std::pow(m0, head + 1) : std::pow(m1, 2 * (head - 4) + 1);
      };
      const auto logit = [&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
        return kScale * x.at(i0, i1, i2, i3) + slope(i2) * mask.at(i0, i1);
      };
      call.expect(4,
                  [&](int64_t i0, int64_t i1, int64_t i2, int64_t i3) {
                    auto [found, fresh] = rows.try_emplace({i1, i2, i3});
                    auto& [largest, sum] = found->second;
                    if (fresh) {
                      largest = kind.sinks ? sinks.at(i2) : -INFINITY;
                      for (int64_t i = 0; i < columns; ++i) largest = std::max(largest, logit(i, i1, i2, i3));
                      sum = kind.sinks ? std::exp(sinks.at(i2) - largest) : 0;
                      for (int64_t i = 0; i < columns; ++i) sum += std::exp(logit(i, i1, i2, i3) - largest);
                    }
                    return std::exp(logit(i0, i1, i2, i3) - largest) / sum;
                  },
                  {3e-5, 1e-9});
    }
}

TEST_CASE("norms over rows, with a factor and an addend") {
  if (!have_ggml()) return;
  for (const bool rms : {false, true})
    for (const bool four : {false, true})
      for (const int fused : {0, 1, 2}) {
        const int64_t columns = four ? 516 : 515;
        Tensor x(Type::f32, {columns, 3, 2, 1});
        x.fill(21).fill_with(
            [&](int64_t i0, int64_t i1, int64_t i2, int64_t) { return 0.3 + noise(i0 + 7 * i1 + 31 * i2, 9); });
        Tensor factor(Type::f32, {columns, 1, 1, 1});
        factor.fill(22);
        Tensor addend(Type::f32, {columns, 3, 1, 1});
        addend.fill(23);
        std::string name = rms ? "kernel_rms_norm" : "kernel_norm";
        name += fused >= 1 ? "_mul" : "";
        name += fused >= 2 ? "_add" : "";
        Call call(name + (four ? "_f32_4" : "_f32"));
        call.set("ne00", columns).set("ne00_t", four ? columns / 4 : columns).set("eps", 1e-5);
        for (const std::string i : {"1", "2", "3"}) {
          const size_t d = static_cast<size_t>(i[0] - '0');
          call.set("nb" + i, x.nb()[d]);
          size_t operand = 0;
          for (const Tensor* tensor : {&x, &factor, &addend}) {
            call.set("nef" + i, tensor->ne()[d], operand);
            call.set("nbf" + i, tensor->nb()[d], operand++);
          }
        }
        call.in(1, x).in(2, factor).in(3, addend).out(4, Tensor(x).poison()).threadgroup(0, kFloats32);
        call.groups({3, 2, 1}, {four ? 128u : 512u, 1, 1}).run();
        call.expect(4,
                    [&](int64_t i0, int64_t i1, int64_t i2, int64_t) {
                      const std::vector<double> row = row_of(x, i1, i2);
                      const double n = static_cast<double>(columns);
                      const double mean = rms ? 0 : sum_of(row) / n;
                      const double variance = squares_of(row) / n - mean * mean;
                      double value = (row[i0] - mean) / std::sqrt(variance + 1e-5);
                      if (fused >= 1) value *= factor.at(i0);
                      return fused >= 2 ? value + addend.at(i0, i1) : value;
                    },
                    {2e-5, 5e-6});
      }
}

TEST_CASE("l2_norm and group_norm") {
  if (!have_ggml()) return;
  Tensor x(Type::f32, {256, 6, 1, 1});
  x.fill(24);
  Call l2("kernel_l2_norm_f32");
  l2.set("ne00", 256).set("ne00_4", 64).set("nb01", 1024).set("eps", 1e-6).in(1, x).out(2, Tensor(x).poison());
  l2.threadgroup(0, kFloats32).groups({6, 1, 1}, {64, 1, 1}).run();
  l2.expect(2,
            [&](int64_t i0, int64_t i1, int64_t, int64_t) {
              const std::vector<double> row = row_of(x, i1);
              return row[i0] / std::max(std::sqrt(squares_of(row)), 1e-6);
            },
            {1e-5, 1e-6});

  Tensor image(Type::f32, {10, 7, 8, 1});  // 8 channels in 4 groups of 2
  image.fill(25);
  Call group("kernel_group_norm_f32");
  group.describe("0", image).set("ngrp", 4).set("eps", 1e-5).in(1, image).out(2, Tensor(image).poison());
  group.threadgroup(0, kFloats32).groups({4, 1, 1}, {32, 1, 1}).run();
  group.expect(2,
               [&](int64_t i0, int64_t i1, int64_t i2, int64_t) {
                 std::vector<double> values;
                 for (int64_t c = i2 / 2 * 2; c < i2 / 2 * 2 + 2; ++c)
                   for (int64_t y = 0; y < 7; ++y)
                     for (const double v : row_of(image, y, c)) values.push_back(v);
                 const double mean = sum_of(values) / 140;
                 return (image.at(i0, i1, i2) - mean) / std::sqrt(squares_of(values) / 140 - mean * mean + 1e-5);
               },
               {2e-5, 5e-6});
}

TEST_CASE("argmax") {
  if (!have_ggml()) return;
  Tensor x(Type::f32, {333, 9, 1, 1});
  x.fill(26);
  Tensor out(Type::i32, {9, 1, 1, 1});
  for (const uint32_t threads : {32u, 256u}) {
    Call call("kernel_argmax_f32");
    call.set("ne00", 333).set("nb01", 333 * 4).in(1, x).out(2, out.poison()).threadgroup(0, 32 * 8);
    call.groups({9, 1, 1}, {threads, 1, 1}).run();
    call.expect(2,
                [&](int64_t row, int64_t, int64_t, int64_t) {
                  const std::vector<double> values = row_of(x, row);
                  return static_cast<double>(std::max_element(values.begin(), values.end()) - values.begin());
                },
                {0, 0});
  }
}

TEST_CASE("argsort by blocks, and merging of sorted blocks") {
  if (!have_ggml()) return;
  constexpr int64_t kCount = 200;
  constexpr uint32_t kBlock = 64;
  Tensor x(Type::f32, {kCount, 3, 1, 1});
  x.fill(27);
  for (const bool ascending : {true, false}) {
    const std::string order = ascending ? "asc" : "desc";
    const auto sorted = [&](int64_t row, int64_t from, int64_t to) {
      std::vector<int64_t> index(static_cast<size_t>(to - from));
      std::iota(index.begin(), index.end(), from);
      std::sort(index.begin(), index.end(), [&](int64_t a, int64_t b) {
        return ascending ? x.at(a, row) < x.at(b, row) : x.at(a, row) > x.at(b, row);
      });
      return index;
    };
    Tensor blocks(Type::i32, {kCount, 3, 1, 1});
    Call sort("kernel_argsort_f32_i32_" + order);
    sort.describe("0", x).in(1, x).out(2, blocks.poison()).threadgroup(0, kBlock * 4);
    sort.groups({(kCount + kBlock - 1) / kBlock * 3, 1, 1}, {kBlock, 1, 1}).run();
    const auto sorted_by = [&](int64_t block) {
      return [&, block](int64_t i, int64_t row, int64_t, int64_t) {
        const int64_t from = i / block * block;
        return static_cast<double>(sorted(row, from, std::min(from + block, kCount))[i - from]);
      };
    };
    sort.expect(2, sorted_by(kBlock), {0, 0});
    Tensor merged = sort.result(2);
    for (int64_t length = kBlock; length < kCount; length *= 2) {
      Call merge("kernel_argsort_merge_f32_i32_" + order);
      merge.describe("0", x).set("len", length).in(1, x).in(2, merged).out(3, Tensor(merged).poison());
      const auto pairs = static_cast<uint32_t>((kCount + 2 * length - 1) / (2 * length));
      merge.groups({pairs * 3, 1, 1}, {512, 1, 1}).run();
      merge.expect(3, sorted_by(2 * length), {0, 0});
      merged = merge.result(3);
    }
  }
}

}  // namespace
}  // namespace smelt::test
