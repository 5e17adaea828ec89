// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Hand-written kernels with known answers, by every method: barriers in loops, 1-D to 3-D groups, trimmed edge groups,
// private arrays across barriers, threadgroup and device atomics, simdgroup operations under divergence.
#include "files.hpp"
#include "launch.hpp"

#include <doctest/doctest.h>

#include <cmath>

namespace smelt::test {
namespace {

Bytes kernel_bitcode(const std::string& name) {
  const Bytes text = must_read(std::filesystem::path(SMELT_SOURCE_DIR) / "tests/aot/cpu/kernels" / (name + ".ll"));
  return assemble(std::string(as_text(text)));
}

std::vector<aot::CpuOptions> ways() {
  std::vector<aot::CpuOptions> result;
  for (const aot::CpuLevel level : runnable_levels())
    for (const aot::CpuMethod method : {aot::CpuMethod::automatic, aot::CpuMethod::regions, aot::CpuMethod::lanes})
      for (const bool checked : {false, true}) {
        if (checked && method != aot::CpuMethod::automatic) continue;
        aot::CpuOptions options;
        options.level = level;
        options.method = method;
        options.checked = checked;
        options.verify_ir = true;
        result.push_back(options);
      }
  return result;
}

template <class Body>
void each_way(const std::string& name, Body body) {
  const Bytes bitcode = kernel_bitcode(name);
  for (const aot::CpuOptions& options : ways()) {
    const LoadedSlice slice = compile_one(name, bitcode, options);
    const std::string method = slice.find(name)->method;
    INFO(name, " ", std::string(to_string(options.level)), " by ", method, options.checked ? ", checked" : "");
    body(slice);
  }
}

std::vector<uint32_t> noise(size_t count) {
  std::vector<uint32_t> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<uint32_t>(i) * 2654435761u >> 5;
  return values;
}

std::vector<float> fractions(size_t count) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((static_cast<uint32_t>(i) * 2654435761u) >> 8) / (1 << 24) - 0.5f;
  return values;
}

size_t count_far(const std::vector<float>& got, const std::vector<float>& want, size_t count, double tolerance) {
  size_t far = 0;
  for (size_t i = 0; i < count; ++i)
    far += !(std::fabs(double{got[i]} - want[i]) <= tolerance * (1 + std::fabs(want[i])));
  return far;
}

TEST_CASE("softmax: barriers inside a loop") {
  constexpr uint32_t kRows = 7;
  for (const uint32_t columns : {1000u, 64u, 3u}) {
    const std::vector<float> in = fractions(kRows * columns);
    std::vector<float> want(in.size());
    for (uint32_t row = 0; row < kRows; ++row) {
      double sum = 0;
      for (uint32_t i = 0; i < columns; ++i) sum += std::exp(double{in[row * columns + i]});
      for (uint32_t i = 0; i < columns; ++i)
        want[row * columns + i] = static_cast<float>(std::exp(double{in[row * columns + i]}) / sum);
    }
    std::vector<uint32_t> n{columns};
    each_way("softmax", [&](const LoadedSlice& slice) {
      for (const uint32_t width : {256u, 32u, 4u}) {
        CAPTURE(columns);
        CAPTURE(width);
        std::vector<float> source = in;
        std::vector<float> out(in.size(), -7.0f);
        Launch launch;
        launch.grid = {kRows * width, 1, 1};
        launch.group = {width, 1, 1};
        launch.bind(0, source).bind(1, out).bind(2, n);
        slice.run("softmax", launch);
        CHECK(count_far(out, want, out.size(), 1e-5) == 0);
      }
    });
  }
}

TEST_CASE("divsimd: only active lanes take part") {
  constexpr uint32_t kThreads = 1000;
  constexpr uint32_t kGroup = 100;
  std::vector<float> in = fractions(kThreads);
  std::vector<float> want(kThreads);
  for (uint32_t group = 0; group < kThreads; group += kGroup)
    for (uint32_t first = group; first < group + kGroup; first += 32) {
      const uint32_t end = std::min(first + 32, group + kGroup);
      for (uint32_t k = 0; k < 3; ++k) {
        float sums[2] = {0, 0};
        for (uint32_t i = first; i < end; ++i) sums[(i - first + k) & 1] += (i - first + k) & 1 ? 2 * in[i] : in[i];
        for (uint32_t i = first; i < end; ++i) want[i] += sums[(i - first + k) & 1];
      }
    }
  each_way("divsimd", [&](const LoadedSlice& slice) {
    std::vector<float> out(kThreads, -7.0f);
    Launch launch;
    launch.grid = {kThreads, 1, 1};
    launch.group = {kGroup, 1, 1};
    launch.bind(0, in).bind(1, out);
    slice.run("divsimd", launch);
    CHECK(count_far(out, want, out.size(), 1e-5) == 0);
  });
}

TEST_CASE("misc: three dimensions, trimmed groups, private array, threadgroup atomics, shuffles") {
  for (const Size3 grid : {Size3{17, 7, 9}, Size3{5, 3, 4}, Size3{64, 33, 2}}) {
    std::vector<uint32_t> in = noise(grid[0] * grid[1] * grid[2]);
    each_way("misc", [&](const LoadedSlice& slice) {
      for (const Size3 group : {Size3{5, 3, 4}, Size3{8, 8, 2}, Size3{33, 1, 1}}) {
        CAPTURE(grid);
        CAPTURE(group);
        std::vector<uint32_t> want(in.size());
        Size3 origin{};
        for (origin[2] = 0; origin[2] < grid[2]; origin[2] += group[2])
          for (origin[1] = 0; origin[1] < grid[1]; origin[1] += group[1])
            for (origin[0] = 0; origin[0] < grid[0]; origin[0] += group[0]) {
              Size3 size;
              for (int i = 0; i < 3; ++i) size[i] = std::min(group[i], grid[i] - origin[i]);
              const uint32_t threads = size[0] * size[1] * size[2];
              const auto at = [&](uint32_t l) {
                return ((origin[2] + l / (size[0] * size[1])) * grid[1] + origin[1] + l / size[0] % size[1]) * grid[0] +
                       origin[0] + l % size[0];
              };
              uint32_t counts[4] = {};
              for (uint32_t i = 0; i < 3; ++i)
                for (uint32_t j = 0; j <= i; ++j)
                  for (uint32_t l = 0; l < threads; ++l) ++counts[(in[at(l)] + j) & 3];
              for (uint32_t l = 0; l < threads; ++l) {
                const uint32_t v = in[at(l)];
                const bool down = l + 1 < threads && (l & 31) < 31;
                const bool across = (l ^ 3) < threads;
                want[at(l)] =
                    v * (v & 3) + l + counts[v & 3] + 3 * (down ? in[at(l + 1)] : 0) + 5 * (across ? in[at(l ^ 3)] : 0);
              }
            }
        std::vector<uint32_t> out(in.size(), 77);
        Launch launch;
        launch.grid = grid;
        launch.group = group;
        launch.pieces = 2;
        launch.bind(0, in).bind(1, out);
        slice.run("misc", launch);
        CHECK(out == want);
      }
    });
  }
}

TEST_CASE("hist: device atomics; the histogram may be privatised") {
  constexpr uint32_t kThreads = 5000;
  std::vector<uint32_t> in = noise(kThreads);
  std::vector<uint32_t> want(256);
  for (const uint32_t value : in) ++want[value & 255];
  each_way("hist", [&](const LoadedSlice& slice) {
    const auto& private_buffers = slice.find("hist")->private_buffers;
    REQUIRE(private_buffers.size() == 1);
    CHECK(private_buffers[0].buffer == 1);
    CHECK(private_buffers[0].operation == schema::CpuPrivateBuffer::Operation::add_i32);
    for (const uint32_t private_mask : {0u, 1u << 1}) {
      std::vector<uint32_t> bins(256);
      Launch launch;
      launch.grid = {kThreads, 1, 1};
      launch.group = {256, 1, 1};
      launch.private_buffers = private_mask;
      launch.bind(0, in).bind(1, bins);
      slice.run("hist", launch);
      CHECK(bins == want);
    }
  });
}

TEST_CASE("matmul: tiles in threadgroup memory, two-dimensional groups") {
  constexpr uint32_t kSize = 48;
  std::vector<float> a = fractions(kSize * kSize);
  std::vector<float> b = fractions(kSize * kSize);
  std::vector<uint32_t> n{kSize};
  std::vector<float> want(kSize * kSize);
  for (uint32_t i = 0; i < kSize; ++i)
    for (uint32_t j = 0; j < kSize; ++j)
      for (uint32_t k = 0; k < kSize; ++k) want[i * kSize + j] += a[i * kSize + k] * b[k * kSize + j];
  each_way("matmul", [&](const LoadedSlice& slice) {
    std::vector<float> c(kSize * kSize, -7.0f);
    Launch launch;
    launch.grid = {kSize, kSize, 1};
    launch.group = {16, 16, 1};
    launch.bind(0, a).bind(1, b).bind(2, c).bind(3, n);
    slice.run("matmul", launch);
    CHECK(count_far(c, want, c.size(), 1e-5) == 0);
  });
}

TEST_CASE("sreduce: sums of simdgroups, then of their sums") {
  constexpr uint32_t kThreads = 1000;
  std::vector<float> in = fractions(kThreads);
  each_way("sreduce", [&](const LoadedSlice& slice) {
    for (const uint32_t width : {256u, 32u, 64u}) {
      const uint32_t groups = (kThreads + width - 1) / width;
      std::vector<float> want(groups);
      for (uint32_t i = 0; i < kThreads; ++i) want[i / width] += in[i];
      std::vector<float> out(groups, -7.0f);
      Launch launch;
      launch.grid = {kThreads, 1, 1};
      launch.group = {width, 1, 1};
      launch.bind(0, in).bind(1, out);
      slice.run("sreduce", launch);
      CAPTURE(width);
      CHECK(count_far(out, want, out.size(), 1e-4) == 0);
    }
  });
}

TEST_CASE("an empty grid runs nothing") {
  each_way("hist", [&](const LoadedSlice& slice) {
    std::vector<uint32_t> in(4);
    std::vector<uint32_t> bins(256);
    Launch launch;
    launch.grid = {0, 1, 1};
    launch.bind(0, in).bind(1, bins);
    slice.run("hist", launch);
    CHECK(bins == std::vector<uint32_t>(256));
  });
}

}  // namespace
}  // namespace smelt::test
