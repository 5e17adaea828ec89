// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <metal_atomic>, <metal_simdgroup_matrix>, <metal_pack>: what touches memory or words.
#include "elementwise.hpp"
#include "ulp.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <numeric>
#include <random>

namespace smelt::test {
namespace {

constexpr const char* kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

// ---- Atomics

TEST_CASE("atomics of threads add up, in device and in threadgroup memory") {
  const MslLibrary library(std::string(kHead) + R"(
kernel void device_memory(device atomic_int* i [[buffer(0)]], device atomic_uint* u [[buffer(1)]],
                          device atomic_float* f [[buffer(2)]], device atomic_ulong* w [[buffer(3)]],
                          device atomic_bool* b [[buffer(4)]], uint t [[thread_position_in_grid]]) {
  const memory_order relaxed = memory_order_relaxed;
  atomic_fetch_add_explicit(&i[0], int(t), relaxed);
  atomic_fetch_sub_explicit(&i[1], int(t), relaxed);
  atomic_fetch_min_explicit(&i[2], 100 - int(t), relaxed);
  atomic_fetch_max_explicit(&i[3], int(t) - 500, relaxed);
  atomic_fetch_and_explicit(&u[0], ~(1u << (t % 32)), relaxed);
  atomic_fetch_or_explicit(&u[1], 1u << (t % 16), relaxed);
  atomic_fetch_xor_explicit(&u[2], t, relaxed);
  atomic_fetch_max_explicit(&u[3], 0x80000000u + t, relaxed);
  atomic_fetch_min_explicit(&u[4], 0x80000000u + t, relaxed);
  atomic_fetch_add_explicit(&f[0], 0.5f, relaxed);
  atomic_fetch_sub_explicit(&f[1], 1.0f, relaxed);
  atomic_max_explicit(&w[0], 0x100000000ul * t, relaxed);
  atomic_min_explicit(&w[1], 0x100000000ul * (t + 3), relaxed);
  if (t == 7) atomic_store_explicit(b, true, relaxed);
  int seen = atomic_load_explicit(&i[4], relaxed);
  while (!atomic_compare_exchange_weak_explicit(&i[4], &seen, seen + 3, relaxed, relaxed)) {}
  float old = atomic_load_explicit(&f[2], relaxed);
  while (!atomic_compare_exchange_weak_explicit(&f[2], &old, max(old, float(t)), relaxed, relaxed)) {}
}
kernel void group_memory(device int* out [[buffer(0)]], device uint* wide [[buffer(1)]], uint t [[thread_index_in_threadgroup]]) {
  threadgroup atomic_int sum, low;
  threadgroup atomic_uint bits, tickets[2];
  threadgroup atomic_float real;
  if (t == 0) {
    atomic_store_explicit(&sum, 0, memory_order_relaxed);
    atomic_store_explicit(&low, 1000, memory_order_relaxed);
    atomic_store_explicit(&bits, 0u, memory_order_relaxed);
    atomic_store_explicit(&tickets[1], 0u, memory_order_relaxed);
    atomic_store_explicit(&real, 0.0f, memory_order_relaxed);
  }
  threadgroup_barrier(mem_flags::mem_threadgroup);
  atomic_fetch_add_explicit(&sum, int(t), memory_order_relaxed);
  atomic_fetch_min_explicit(&low, 500 - int(t), memory_order_relaxed);
  atomic_fetch_or_explicit(&bits, 1u << (t % 8), memory_order_relaxed);
  const uint ticket = atomic_fetch_add_explicit(&tickets[1], 1u, memory_order_relaxed);
  wide[ticket] = t;
  float old = atomic_load_explicit(&real, memory_order_relaxed);
  while (!atomic_compare_exchange_weak_explicit(&real, &old, old + 0.25f, memory_order_relaxed, memory_order_relaxed)) {}
  threadgroup_barrier(mem_flags::mem_threadgroup);
  if (t == 0) {
    out[0] = atomic_load_explicit(&sum, memory_order_relaxed);
    out[1] = atomic_load_explicit(&low, memory_order_relaxed);
    out[2] = int(atomic_exchange_explicit(&bits, 9u, memory_order_relaxed));
    out[3] = int(atomic_load_explicit(&bits, memory_order_relaxed));
    out[4] = int(atomic_load_explicit(&real, memory_order_relaxed) * 4);
  }
}
kernel void no_number(device atomic_float* f [[buffer(0)]], device uint* tries [[buffer(1)]]) {
  float seen = atomic_load_explicit(f, memory_order_relaxed);
  uint n = 0;
  while (n < 10 && !atomic_compare_exchange_weak_explicit(f, &seen, 2.0f, memory_order_relaxed, memory_order_relaxed)) ++n;
  tries[0] = n;
  atomic_store_explicit(f + 1, -0.0f, memory_order_relaxed);
  float zero = 0.0f;
  tries[1] = atomic_compare_exchange_weak_explicit(f + 1, &zero, 1.0f, memory_order_relaxed, memory_order_relaxed);
  tries[2] = as_type<uint>(zero);
  atomic_thread_fence(mem_flags::mem_device, memory_order_seq_cst, thread_scope_device);
}
)");
  constexpr uint32_t kThreads = 1000;
  {
    std::vector<int32_t> i = {0, 0, 1000, -1000, 0};
    std::vector<uint32_t> u = {~0u, 0, 0, 0, ~0u}, b = {0};
    std::vector<float> f = {0, 0, -1};
    std::vector<uint64_t> w = {0, ~uint64_t{0}};
    Launch launch{.grid = {kThreads, 1, 1}, .group = {100, 1, 1}};
    library.run("device_memory", launch.bind(0, i).bind(1, u).bind(2, f).bind(3, w).bind(4, b));
    CHECK(i == std::vector<int32_t>{499500, -499500, 100 - 999, 499, 3000});
    uint32_t exclusive = 0;
    for (uint32_t t = 0; t < kThreads; ++t) exclusive ^= t;
    CHECK(u == std::vector<uint32_t>{0, 0xffff, exclusive, 0x80000000u + 999, 0x80000000u});
    CHECK(f == std::vector<float>{500, -1000, 999});
    CHECK(w == std::vector<uint64_t>{0x100000000u * uint64_t{999}, 0x300000000u});
    CHECK(b[0] == 1);
  }
  {
    std::vector<int32_t> out(5);
    std::vector<uint32_t> tickets(200, ~0u);
    Launch launch{.grid = {200, 1, 1}, .group = {200, 1, 1}};
    library.run("group_memory", launch.bind(0, out).bind(1, tickets));
    CHECK(out == std::vector<int32_t>{19900, 301, 255, 9, 200});
    CHECK(std::accumulate(tickets.begin(), tickets.end(), 0u) == 19900);
  }
  {
    std::vector<float> f = {NAN, 5};
    std::vector<uint32_t> tries(3, 99);
    Launch launch;
    library.run("no_number", launch.bind(0, f).bind(1, tries));
    CHECK(tries[0] == 0);
    CHECK(f[0] == 2);
    CHECK(tries[1] == 0);            // -0 and +0 are different bytes
    CHECK(tries[2] == 0x80000000u);  // and the one seen comes back
  }
}

TEST_CASE("Metal 4.1: memory orders and flags of atomics, orders and scopes of barriers") {
  const MslLibrary library(std::string(kHead) + R"(
kernel void k(device atomic_uint* flag [[buffer(0)]], device uint* out [[buffer(1)]], device float* total [[buffer(2)]],
              uint t [[thread_position_in_threadgroup]]) {
  threadgroup atomic_float sum;
  if (t == 0) atomic_store_explicit(&sum, 0.5f, memory_order_relaxed);
  threadgroup_barrier(mem_flags::mem_threadgroup, memory_order_acq_rel, thread_scope_threadgroup);
  atomic_fetch_add_explicit(&sum, float(t), memory_order_relaxed);
  atomic_fetch_sub_explicit(&sum, 1.0f, memory_order_acq_rel, mem_flags::mem_threadgroup);
  out[t] = t;
  const uint order = atomic_fetch_add_explicit(flag, 1u, memory_order_acq_rel, mem_flags::mem_device);
  atomic_thread_fence(mem_flags::mem_device, memory_order_acquire, thread_scope_device);
  threadgroup_barrier(mem_flags::mem_threadgroup | mem_flags::mem_device);
  simdgroup_barrier(mem_flags::mem_device, memory_order_release);
  uint expected = 64;
  if (order == 63) {
    total[0] = atomic_load_explicit(&sum, memory_order_acquire, mem_flags::mem_threadgroup);
    total[1] = atomic_compare_exchange_weak_explicit(flag, &expected, 7u, memory_order_seq_cst, memory_order_acquire,
                                                     mem_flags::mem_device);
  }
  out[64 + t] = out[63 - t];
}
)",
                           {.target = "macos27"});
  std::vector<uint32_t> flag = {0}, out(128);
  std::vector<float> total(2);
  Launch launch{.grid = {64, 1, 1}, .group = {64, 1, 1}};
  library.run("k", launch.bind(0, flag).bind(1, out).bind(2, total));
  CHECK(total == std::vector<float>{0.5f + 63 * 32 - 64, 1});
  CHECK(flag[0] == 7);
  for (uint32_t t = 0; t < 64; ++t) CHECK(out[64 + t] == 63 - t);
  CHECK(msl_errors(std::string(kHead) +
                       "kernel void k(device atomic_uint* p) { atomic_store_explicit(p, 1u, memory_order_release); }",
                   {.target = "macos27"})
            .find("an order other than relaxed needs mem_flags") != std::string::npos);
}

// ---- simdgroup_matrix

template <class T>
std::vector<T> ramp(size_t count, float scale);
template <>
std::vector<float> ramp(size_t count, float scale) {
  std::vector<float> result(count);
  for (size_t i = 0; i < count; ++i) result[i] = scale * static_cast<float>((i * 7 + 3) % 11) - 2;
  return result;
}
template <>
std::vector<uint16_t> ramp(size_t count, float scale) {
  std::vector<uint16_t> result;
  for (const float x : ramp<float>(count, scale)) result.push_back(half_from(x));
  return result;
}

TEST_CASE("matrices of a SIMD-group") {
  const MslLibrary library(std::string(kHead) + R"(
kernel void product(device const float* a [[buffer(0)]], device const half* b [[buffer(1)]], device float* out [[buffer(2)]],
                    threadgroup half* scratch [[threadgroup(0)]], uint lane [[thread_index_in_simdgroup]]) {
  for (uint i = lane; i < 64; i += 32) scratch[i] = b[i];
  simdgroup_barrier(mem_flags::mem_threadgroup);
  simdgroup_float8x8 x, sum = make_filled_simdgroup_matrix<float, 8>(0.5f);
  simdgroup_half8x8 y;
  simdgroup_load(x, a, 10, ulong2(1, 2));
  simdgroup_load(y, scratch, 8, 0, true);
  simdgroup_multiply_accumulate(sum, x, y, sum);
  simdgroup_store(sum, out, 8);
  simdgroup_store(sum, out + 64, 8, 0, true);
  simdgroup_float8x8 diagonal(3.0f), both;
  simdgroup_multiply(both, x, diagonal);
  simdgroup_store(both, out + 128, 8);
  simdgroup_store(x * diagonal, out + 192, 8);
}
kernel void elements(device const float* a [[buffer(0)]], device float* out [[buffer(1)]], uint lane [[thread_index_in_simdgroup]]) {
  simdgroup_float8x8 m, n = make_filled_simdgroup_matrix<float, 8>(0.0f);
  simdgroup_load(m, a);
  out[lane * 2] = m.thread_elements()[0];
  out[lane * 2 + 1] = m.thread_elements()[1];
  reinterpret_cast<thread float2&>(n.thread_elements()) = float2(lane, lane + 100);
  n.thread_elements()[1] += 1000;
  thread auto& mine = m.thread_elements();
  mine *= 2.0f;
  simdgroup_store(n, out + 64);
  simdgroup_store(m, out + 128);
}
kernel void small(device const bfloat* a [[buffer(0)]], device half* out [[buffer(1)]], device bfloat* back [[buffer(2)]]) {
  simdgroup_bfloat8x8 x;
  simdgroup_half8x8 y = make_filled_simdgroup_matrix<half, 8, 8>((half)0), z((half)1);
  simdgroup_load(x, a, 8);
  simdgroup_multiply_accumulate(y, x, z, y);
  simdgroup_store(y, out, 8);
  simdgroup_store(x, back, 8, ulong2(0), true);
}
)");
  const auto at = [](uint32_t lane) {
    const uint32_t q = lane / 4;
    return std::pair<uint32_t, uint32_t>{(q & 4) + (lane / 2) % 4, (q & 2) * 2 + (lane % 2) * 2};
  };
  {
    std::vector<float> a = ramp<float>(120, 0.5f), out(256);
    std::vector<uint16_t> b = ramp<uint16_t>(64, 0.25f);
    Launch launch{.grid = {32, 1, 1}, .group = {32, 1, 1}};
    launch.threadgroup_bytes[0] = 128;
    library.run("product", launch.bind(0, a).bind(1, b).bind(2, out));
    for (size_t row = 0; row < 8; ++row)
      for (size_t column = 0; column < 8; ++column) {
        double sum = 0.5;
        for (size_t k = 0; k < 8; ++k)
          sum += a[(row + 2) * 10 + k + 1] * static_cast<double>(half_to_float(b[column * 8 + k]));
        CHECK(out[row * 8 + column] == doctest::Approx(sum));
        CHECK(out[64 + column * 8 + row] == out[row * 8 + column]);
        CHECK(out[128 + row * 8 + column] == 3 * a[(row + 2) * 10 + column + 1]);
        CHECK(out[192 + row * 8 + column] == out[128 + row * 8 + column]);
      }
  }
  {
    std::vector<float> a = ramp<float>(64, 1), out(192);
    Launch launch{.grid = {32, 1, 1}, .group = {32, 1, 1}};
    library.run("elements", launch.bind(0, a).bind(1, out));
    for (uint32_t lane = 0; lane < 32; ++lane) {
      const auto [row, column] = at(lane);
      CHECK(out[lane * 2] == a[row * 8 + column]);
      CHECK(out[lane * 2 + 1] == a[row * 8 + column + 1]);
      CHECK(out[64 + row * 8 + column] == static_cast<float>(lane));
      CHECK(out[64 + row * 8 + column + 1] == static_cast<float>(lane + 1100));
      CHECK(out[128 + row * 8 + column] == 2 * a[row * 8 + column]);
    }
  }
  {
    std::vector<uint16_t> a, out(64), back(64);
    for (const float x : ramp<float>(64, 1)) a.push_back(bfloat_from(x));
    Launch launch{.grid = {32, 1, 1}, .group = {32, 1, 1}};
    library.run("small", launch.bind(0, a).bind(1, out).bind(2, back));
    for (size_t i = 0; i < 64; ++i) {
      CHECK(half_to_float(out[i]) == bfloat_to_float(a[i]));
      CHECK(back[i % 8 * 8 + i / 8] == a[i]);
    }
  }
}

// ---- Packing

struct Layout {
  const char* packed;
  const char* unpacked;
  std::vector<unsigned> bits;
  bool is_signed = false, srgb = false;
};

double decode_srgb(double c) {
  return c <= 0.04045 ? c / 12.92 : std::pow((c + 0.055) / 1.055, 2.4);
}
double encode_srgb(double c) {
  return c < 0.0031308 ? 12.92 * c : 1.055 * std::pow(c, 1 / 2.4) - 0.055;
}

TEST_CASE("packing") {
  const std::vector<Layout> layouts = {
      {"unorm4x8", "unorm4x8", {8, 8, 8, 8}},
      {"snorm4x8", "snorm4x8", {8, 8, 8, 8}, true},
      {"unorm2x16", "unorm2x16", {16, 16}},
      {"snorm2x16", "snorm2x16", {16, 16}, true},
      {"unorm10a2", "unorm10a2", {10, 10, 10, 2}},
      {"unorm565", "unorm565", {5, 6, 5}},
      {"srgb_unorm4x8", "unorm4x8_srgb", {8, 8, 8, 8}, false, true},
  };
  constexpr uint32_t kCount = 512;
  std::mt19937 random(5);
  for (const Layout& layout : layouts)
    for (const std::string type : {"float", "half"}) {
      CAPTURE(std::string(layout.packed));
      CAPTURE(type);
      const size_t width = layout.bits.size();
      const std::string vector = type + std::to_string(width), word = layout.bits[0] == 5 ? "ushort" : "uint";
      std::string text = kHead;
      text +=
          "kernel void k(device const float* in [[buffer(0)]], device uint* packed [[buffer(1)]], device const uint* "
          "words "
          "[[buffer(2)]], device float* out [[buffer(3)]], uint i [[thread_position_in_grid]]) {\n  " +
          vector + " v(0);\n";
      for (size_t w = 0; w < width; ++w)
        text += "  v[" + std::to_string(w) + "] = " + type + "(in[i * 4 + " + std::to_string(w) + "]);\n";
      text += "  packed[i] = pack_" + type + "_to_" + layout.packed + "(v);\n  " + vector + " u = unpack_" +
              layout.unpacked + "_to_" + type + "(" + word + "(words[i]));\n";
      for (size_t w = 0; w < width; ++w)
        text += "  out[i * 4 + " + std::to_string(w) + "] = u[" + std::to_string(w) + "];\n";
      const MslLibrary library(text + "}\n");
      std::vector<float> in(kCount * 4), out(kCount * 4);
      std::vector<uint32_t> packed(kCount), words(kCount);
      for (float& x : in) x = static_cast<float>(static_cast<int>(random() % 3000) - 1500) / 1000.0f;
      in[0] = NAN;
      in[1] = INFINITY;
      in[2] = -INFINITY;
      for (uint32_t& x : words) x = static_cast<uint32_t>(random());
      words[0] = 0;
      words[1] = ~0u;
      words[2] = 0x80808080u;
      Launch launch{.grid = {kCount, 1, 1}, .group = {64, 1, 1}};
      library.run("k", launch.bind(0, in).bind(1, packed).bind(2, words).bind(3, out));
      size_t wrong = 0;
      for (size_t i = 0; i < kCount; ++i) {
        const bool high_first = layout.bits[0] == 5;  // red has the high bits of a 565
        unsigned position = high_first ? 16 : 0;
        for (size_t w = 0; w < width; ++w) {
          const unsigned bits = layout.bits[w];
          if (high_first) position -= bits;
          const double top = layout.is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
          double value = type == "half" ? half_to_float(half_from(in[i * 4 + w])) : in[i * 4 + w];
          value = std::isnan(value) ? 0 : std::clamp(value, layout.is_signed ? -1.0 : 0.0, 1.0);
          if (layout.srgb && w < 3) value = encode_srgb(value);
          const uint32_t mask = (1u << bits) - 1;
          int64_t field = packed[i] >> position & mask;
          if (layout.is_signed && field >> (bits - 1)) field -= int64_t{1} << bits;
          // A scaled value close to a tie may go either way: the product is rounded before it is rounded to a whole.
          if (std::fabs(static_cast<double>(field) - value * top) > 0.5 + top * 0x1p-23) {
            if (wrong++ == 0) MESSAGE("packed ", in[i * 4 + w], " is ", field, ", wanted ", value * top);
          }
          int64_t given = words[i] >> position & mask;
          if (layout.is_signed && given >> (bits - 1)) given -= int64_t{1} << bits;
          double want = std::max(-1.0, static_cast<double>(given) / top);
          if (layout.srgb && w < 3) want = decode_srgb(want);
          const double tolerance = type == "half" ? 0x1p-11 : 1.5 * 0x1p-23 * (layout.srgb ? 8 : 1);
          if (std::fabs(out[i * 4 + w] - want) > tolerance * std::max(std::fabs(want), 0x1p-10)) {
            if (wrong++ == 0) MESSAGE("unpacked ", given, " is ", out[i * 4 + w], ", wanted ", want);
          }
          if (!high_first) position += bits;
        }
      }
      CHECK(wrong == 0);
    }
}

}  // namespace
}  // namespace smelt::test
