// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// <metal_simdgroup> and <metal_quadgroup>: every function for every type, in full, partial and divergent SIMD-groups,
// against a reference that plays the lanes one by one (docs/formats/metal-language.md 3.9, 3.10).
#include "elementwise.hpp"
#include "ulp.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cstring>
#include <functional>
#include <optional>

namespace smelt::test {
namespace {

constexpr uint32_t kThreads = 84;  // two SIMD-groups and one of 20 lanes

/// What a lane sees: the values and activity of its group (SIMD or quad), and where it is in it.
struct Lanes {
  std::vector<long double> value, filling;
  std::vector<bool> active;
  int at = 0;
  int width() const { return static_cast<int>(value.size()); }
};
/// The lane's result; nothing when Metal leaves it undefined.
using Reference = std::function<std::optional<long double>(const Lanes&)>;

struct LaneCase {
  std::string name;       ///< after simd_ or quad_
  std::string arguments;  ///< after the value
  Reference reference;
  bool integers_only = false;
};

std::optional<long double> lane(const Lanes& lanes, int from) {
  if (from < 0 || from >= lanes.width()) return std::nullopt;
  // Metal leaves what an inactive lane gives undefined; here it is 0 (aot: collectives.hpp says why).
  return lanes.active[static_cast<size_t>(from)] ? lanes.value[static_cast<size_t>(from)] : 0;
}
Reference fold(long double start, std::function<long double(long double, long double)> f) {
  return [=](const Lanes& lanes) {
    std::optional<long double> result;
    for (size_t i = 0; i < lanes.value.size(); ++i)
      if (lanes.active[i]) result = result ? f(*result, lanes.value[i]) : lanes.value[i];
    return result ? result : std::optional<long double>(start);
  };
}
Reference prefix(long double start, bool inclusive, std::function<long double(long double, long double)> f) {
  return [=](const Lanes& lanes) -> std::optional<long double> {
    long double result = start;
    for (int i = 0; i < lanes.at + (inclusive ? 1 : 0); ++i)
      if (lanes.active[static_cast<size_t>(i)]) result = f(result, lanes.value[static_cast<size_t>(i)]);
    return result;
  };
}
Reference shifted(int by) {
  return [=](const Lanes& lanes) -> std::optional<long double> {
    const int from = lanes.at + by;
    if (from < 0 || from >= lanes.width()) return lanes.value[static_cast<size_t>(lanes.at)];
    return lane(lanes, from);
  };
}
Reference rotated(int by) {
  return [=](const Lanes& lanes) { return lane(lanes, (lanes.at + by + lanes.width()) % lanes.width()); };
}
/// Lanes without a source take their value from `filling`: the other end of the same section of `modulo` lanes; their
/// own where that lane is inactive.
Reference filled(int by, int modulo) {
  return [=](const Lanes& lanes) -> std::optional<long double> {
    const int section = lanes.at / modulo * modulo;
    const int from = lanes.at + by;
    if (from >= section && from < section + modulo) return lane(lanes, from);
    const int wrapped = section + (from - section + modulo) % modulo;
    return lanes.filling[static_cast<size_t>(lanes.active[static_cast<size_t>(wrapped)] ? wrapped : lanes.at)];
  };
}

std::vector<LaneCase> lane_cases(int width) {
  const auto sum = [](long double a, long double b) { return a + b; };
  const auto product = [](long double a, long double b) { return a * b; };
  const auto bits = [](auto f) {
    return [f](long double a, long double b) {
      return static_cast<long double>(f(static_cast<int64_t>(a), static_cast<int64_t>(b)));
    };
  };
  std::vector<LaneCase> cases = {
      {"sum", "", fold(0, sum)},
      {"product", "", fold(1, product)},
      {"min", "", fold(0, [](long double a, long double b) { return std::min(a, b); })},
      {"max", "", fold(0, [](long double a, long double b) { return std::max(a, b); })},
      {"prefix_inclusive_sum", "", prefix(0, true, sum)},
      {"prefix_exclusive_sum", "", prefix(0, false, sum)},
      {"prefix_inclusive_product", "", prefix(1, true, product)},
      {"prefix_exclusive_product", "", prefix(1, false, product)},
      {"and", "", fold(-1, bits([](int64_t a, int64_t b) { return a & b; })), true},
      {"or", "", fold(0, bits([](int64_t a, int64_t b) { return a | b; })), true},
      {"xor", "", fold(0, bits([](int64_t a, int64_t b) { return a ^ b; })), true},
      {"broadcast_first", "",
       [](const Lanes& lanes) -> std::optional<long double> {
         for (size_t i = 0; i < lanes.value.size(); ++i)
           if (lanes.active[i]) return lanes.value[i];
         return std::nullopt;
       }},
      {"broadcast", ", ushort(2)", [](const Lanes& lanes) { return lane(lanes, 2); }},
      {"shuffle", ", ushort((lane * 3 + 1) % width)",
       [](const Lanes& lanes) { return lane(lanes, (lanes.at * 3 + 1) % lanes.width()); }},
      {"shuffle_xor", ", ushort(1)", [](const Lanes& lanes) { return lane(lanes, lanes.at ^ 1); }},
      {"shuffle_up", ", ushort(1)", shifted(-1)},
      {"shuffle_down", ", ushort(2)", shifted(2)},
      {"shuffle_rotate_up", ", ushort(1)", rotated(-1)},
      {"shuffle_rotate_down", ", ushort(3)", rotated(3)},
      {"shuffle_and_fill_up", ", filling, ushort(2)", filled(-2, width)},
      {"shuffle_and_fill_down", ", filling, ushort(1)", filled(1, width)},
      {"shuffle_and_fill_up", ", filling, ushort(1), ushort(2)", filled(-1, 2)},
      {"shuffle_and_fill_down", ", filling, ushort(1), ushort(2)", filled(1, 2)},
  };
  return cases;
}

/// Small enough that sums are exact in every type, and products are of 1, 2 and -1.
long double value_of(Kind kind, bool product, uint32_t thread) {
  if (product) return thread % 9 == 4 ? 2 : is_signed(kind) && thread % 7 == 5 ? -1 : 1;
  const auto small = static_cast<long double>((thread * 5 + 3) % 8);
  return is_signed(kind) ? small - 3 : small;
}

struct Group {
  const char* prefix;
  int width;
};

void check_group(const Group& group, Kind kind, int components, bool divergent) {
  const std::vector<LaneCase> all = lane_cases(group.width);
  std::vector<const LaneCase*> cases;
  for (const LaneCase& candidate : all)
    if (!candidate.integers_only || !is_float(kind)) cases.push_back(&candidate);
  const std::string scalar = metal_name(kind);
  const std::string type = components == 1 ? scalar : scalar + std::to_string(components);
  const std::string part = components == 1 ? "" : fmt::format("[{}]", components - 1);
  std::string text = "#include <metal_stdlib>\nusing namespace metal;\n";
  text += fmt::format(
      "kernel void k(device const {0}* in [[buffer(0)]], device const {0}* fill [[buffer(1)]], device {0}* out "
      "[[buffer(2)]], device const uint& skip [[buffer(3)]], uint i [[thread_position_in_grid]], uint lane_of_group "
      "[[thread_index_in_simdgroup]]) {{\n  const uint width = {1}, lane = lane_of_group % width;\n  if (skip != 0 && "
      "lane % 3 == 1) return;\n  {2} filling = {2}(fill[i]);\n",
      scalar, group.width, type);
  for (size_t slot = 0; slot < cases.size(); ++slot) {
    const bool product = cases[slot]->name.find("product") != std::string::npos;
    text += fmt::format("  {{ {} a = {}(in[{} + i]); out[{} + i] = ({}_{}(a{})){}; }}\n", type, type,
                        product ? kThreads : 0, slot * kThreads, group.prefix, cases[slot]->name,
                        cases[slot]->arguments, part);
  }
  const MslLibrary library(text + "}\n");

  const size_t size = bytes_of(kind);
  std::vector<std::byte> in(2 * kThreads * size), fill(kThreads * size), out(cases.size() * kThreads * size);
  for (uint32_t i = 0; i < kThreads; ++i) {
    const auto put = [&](std::byte* at, long double value) {
      store_element(kind, at, is_float(kind) ? real(value) : whole(static_cast<Whole>(value)));
    };
    put(in.data() + i * size, value_of(kind, false, i));
    put(in.data() + (kThreads + i) * size, value_of(kind, true, i));
    put(fill.data() + i * size, static_cast<long double>(100 + i % 20));
  }
  std::vector<uint32_t> skip = {divergent};
  Launch launch{.grid = {kThreads, 1, 1}, .group = {kThreads, 1, 1}};
  library.run("k", launch.bind(0, in).bind(1, fill).bind(2, out).bind(3, skip));

  for (size_t slot = 0; slot < cases.size(); ++slot) {
    const bool product = cases[slot]->name.find("product") != std::string::npos;
    size_t wrong = 0;
    std::string first;
    for (uint32_t i = 0; i < kThreads; ++i) {
      const auto width = static_cast<uint32_t>(group.width);
      Lanes lanes;
      lanes.at = static_cast<int>(i % width);
      for (uint32_t l = 0; l < width; ++l) {
        const uint32_t thread = i / width * width + l;
        lanes.value.push_back(value_of(kind, product, thread));
        lanes.filling.push_back(static_cast<long double>(100 + thread % 20));
        lanes.active.push_back(thread < kThreads && !(divergent && l % 3 == 1));
      }
      if (!lanes.active[static_cast<size_t>(lanes.at)]) continue;
      const auto want = cases[slot]->reference(lanes);
      if (!want) continue;
      const Element got = load_element(kind, out.data() + (slot * kThreads + i) * size);
      std::byte place[8] = {};
      store_element(kind, place, is_float(kind) ? real(*want) : whole(static_cast<Whole>(*want)));
      const Element rounded = load_element(kind, place);
      if (is_float(kind) ? got.real == rounded.real : got.whole == rounded.whole) continue;
      if (wrong++ == 0)
        first = fmt::format("thread {} has {}, should have {}", i,
                            static_cast<double>(is_float(kind) ? got.real : static_cast<long double>(got.whole)),
                            static_cast<double>(*want));
    }
    CHECK_MESSAGE(wrong == 0, group.prefix, "_", cases[slot]->name, cases[slot]->arguments, " of ", type,
                  divergent ? ", divergent: " : ": ", wrong, " wrong; ", first);
  }
}

constexpr Kind kLaneKinds[] = {Kind::f32, Kind::f16, Kind::i8, Kind::u8, Kind::i16, Kind::u16, Kind::i32, Kind::u32};

// Scalars of every type in the SIMD-group and of some in a quad; vectors of one. The whole sweep takes all.
TEST_CASE("lanes of a SIMD-group") {
  int turn = 0;
  for (const Kind kind : kLaneKinds) {
    check_group({"simd", 32}, kind, 1, turn % 2 == 0);
    if (full_sweep()) {
      check_group({"simd", 32}, kind, 1, turn % 2 == 1);
      for (int width = 2; width <= 4; ++width) check_group({"simd", 32}, kind, width, true);
    }
    ++turn;
  }
  if (!full_sweep()) check_group({"simd", 32}, Kind::f32, 3, true);
}

TEST_CASE("lanes of a quad") {
  for (const Kind kind : {Kind::f32, Kind::i16, Kind::i64, Kind::f16, Kind::u32, Kind::u64}) {
    if (!full_sweep() && kind == Kind::f16) break;
    const bool wide = bits_of(kind) == 64;
    check_group({"quad", 4}, kind, 1, true);
    if (!full_sweep()) continue;
    check_group({"quad", 4}, kind, 1, false);
    for (int width = 2; width <= 4 && !wide; ++width) check_group({"quad", 4}, kind, width, true);
  }
}

TEST_CASE("votes") {
  const MslLibrary library(R"(#include <metal_stdlib>
using namespace metal;
kernel void k(device ulong* out [[buffer(0)]], device const uint& skip [[buffer(1)]], uint i [[thread_position_in_grid]],
              uint lane [[thread_index_in_simdgroup]]) {
  if (skip != 0 && lane % 4 == 1) return;
  device ulong* mine = out + i * 16;
  mine[0] = (ulong)simd_ballot(lane % 2 == 0);
  mine[1] = static_cast<ulong>(simd_active_threads_mask());
  mine[2] = simd_all(lane < 100);
  mine[3] = simd_all(lane < 5);
  mine[4] = simd_any(lane == 4);
  mine[5] = simd_any(lane > 40);
  mine[6] = simd_is_first();
  mine[7] = simd_ballot(true).all();
  mine[8] = simd_ballot(lane == 3).any();
  mine[9] = ulong((quad_vote::vote_t)quad_ballot(lane % 2 == 0));
  mine[10] = ulong((quad_vote::vote_t)quad_active_threads_mask());
  mine[11] = quad_all(lane < 100);
  mine[12] = quad_any(lane % 4 == 2);
  mine[13] = quad_is_first();
  mine[14] = quad_ballot(true).all();
  mine[15] = ulong(simd_vote(0xffffffff).all()) + 2 * ulong(simd_vote(0).any());
}
)");
  for (const uint32_t skip : {0u, 1u}) {
    std::vector<uint64_t> out(kThreads * 16);
    std::vector<uint32_t> flag = {skip};
    Launch launch{.grid = {kThreads, 1, 1}, .group = {kThreads, 1, 1}};
    library.run("k", launch.bind(0, out).bind(1, flag));
    for (uint32_t i = 0; i < kThreads; ++i) {
      const uint32_t lane = i % 32, first = i - lane;
      const auto active = [&](uint32_t l) { return first + l < kThreads && !(skip && l % 4 == 1); };
      if (!active(lane)) continue;
      uint64_t mask = 0, even = 0;
      for (uint32_t l = 0; l < 32; ++l)
        if (active(l)) {
          mask |= uint64_t{1} << l;
          if (l % 2 == 0) even |= uint64_t{1} << l;
        }
      const uint32_t quad = lane / 4 * 4;
      const uint64_t* mine = out.data() + i * 16;
      CHECK((mine[0] & 0xffffffff) == even);
      CHECK((mine[1] & 0xffffffff) == mask);
      CHECK(mine[2] == 1);
      CHECK(mine[3] == 0);
      CHECK(mine[4] == 1);
      CHECK(mine[5] == 0);
      CHECK(mine[6] == (lane == 0));
      CHECK(mine[7] == (mask == 0xffffffff));
      CHECK(mine[8] == 1);
      CHECK(mine[9] == (even >> quad & 0xf));
      CHECK(mine[10] == (mask >> quad & 0xf));
      CHECK(mine[11] == 1);
      CHECK(mine[12] == 1);
      CHECK(mine[13] == (lane % 4 == 0));
      CHECK(mine[14] == ((mask >> quad & 0xf) == 0xf));
      CHECK(mine[15] == 1);
    }
  }
}

}  // namespace
}  // namespace smelt::test
