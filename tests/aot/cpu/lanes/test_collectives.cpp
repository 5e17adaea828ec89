// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Operations of a simdgroup under every kind of divergence, against what each is defined to give.
#include "harness.hpp"
#include "lower/collectives.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <optional>

using namespace smelt;
using namespace smelt::test;
using aot::cpu::LaneLayout;

namespace {

// The lanes of one simdgroup as a model sees them.
struct Lanes {
  std::vector<uint32_t> value;
  std::vector<uint32_t> amount;
  std::vector<bool> on;
};

// What lane `lane` gets; nothing where the result is not defined (a fold of no lanes).
using Model = std::function<std::optional<uint64_t>(const Lanes&, unsigned lane)>;

struct Operation {
  std::string name;      // without "air."
  std::string operands;  // with types; %x is the value, %d the amount (i16)
  std::string result = "i32";
  Model model;
};

float as_float(uint32_t bits) {
  return std::bit_cast<float>(bits);
}
uint32_t bits_of(float value) {
  return std::bit_cast<uint32_t>(value);
}

// The kernel: every thread whose flag is set runs the operation and writes its result.
std::string kernel_of(const Operation& operation) {
  const std::string type = operation.result;
  std::string declared;
  for (size_t at = 0; at < operation.operands.size();) {
    size_t end = operation.operands.find(',', at);
    if (end == std::string::npos) end = operation.operands.size();
    std::string one = operation.operands.substr(at, end - at);
    one = one.substr(one.find_first_not_of(' '));
    declared += (declared.empty() ? "" : ", ") + one.substr(0, one.find(' '));
    at = end + 1;
  }
  std::string widen = "%w = zext " + type + " %r to i64";
  if (type == "float") widen = "%b = bitcast float %r to i32\n  %w = zext i32 %b to i64";
  if (type == "i64") widen = "%w = add i64 %r, 0";
  return fmt::format(R"(
declare {type} @air.{name}({declared}) convergent
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2,
                    ptr addrspace(1) %buffer3, i32 %index, i32 %lid.x, i32 %lane) {{
entry:
  %i = zext i32 %index to i64
  %px = getelementptr i32, ptr addrspace(1) %buffer0, i64 %i
  %x = load i32, ptr addrspace(1) %px
  %f = bitcast i32 %x to float
  %h = trunc i32 %x to i16
  %odd = icmp ugt i32 %x, 9
  %pd = getelementptr i16, ptr addrspace(1) %buffer1, i64 %i
  %d = load i16, ptr addrspace(1) %pd
  %u = load i16, ptr addrspace(1) %buffer1
  %i.fill = add i32 %lane, 1000
  %pc = getelementptr i8, ptr addrspace(1) %buffer2, i64 %i
  %c = load i8, ptr addrspace(1) %pc
  %on = icmp ne i8 %c, 0
  br i1 %on, label %work, label %end
work:
  %r = call {type} @air.{name}({operands}) convergent
  {widen}
  %at = zext i32 %lid.x to i64
  %po = getelementptr i64, ptr addrspace(1) %buffer3, i64 %at
  store i64 %w, ptr addrspace(1) %po
  br label %end
end:
  ret void
}}
)",
                     fmt::arg("type", type), fmt::arg("name", operation.name), fmt::arg("declared", declared),
                     fmt::arg("operands", operation.operands), fmt::arg("widen", widen));
}

Model over_active(const std::function<uint64_t(uint64_t, uint64_t)>& combine, unsigned width = 32) {
  return [=](const Lanes& lanes, unsigned lane) -> std::optional<uint64_t> {
    std::optional<uint64_t> result;
    for (unsigned i = lane / width * width; i < (lane / width + 1) * width; ++i) {
      if (lanes.on[i]) result = result ? combine(*result, lanes.value[i]) : lanes.value[i];
    }
    return result;
  };
}

Model prefix(const std::function<uint64_t(uint64_t, uint64_t)>& combine, uint64_t start, bool inclusive,
             unsigned width = 32) {
  return [=](const Lanes& lanes, unsigned lane) -> std::optional<uint64_t> {
    uint64_t result = start;
    for (unsigned i = lane / width * width; i < lane + (inclusive ? 1 : 0); ++i) {
      if (lanes.on[i]) result = combine(result, lanes.value[i]);
    }
    return result;
  };
}

// A move: from which lane, or -1 to keep one's own. A lane that is off reads as 0.
Model from(const std::function<int(const Lanes&, int)>& source) {
  return [=](const Lanes& lanes, unsigned lane) -> std::optional<uint64_t> {
    const int at = source(lanes, static_cast<int>(lane));
    const unsigned read = at < 0 ? lane : static_cast<unsigned>(at);
    return lanes.on[read] ? lanes.value[read] : 0;
  };
}

// A move by `distance` that fills with 1000 + the number of the lane whose fill is taken; with one's own where that
// lane is off.
Model fill_of(int distance) {
  return [=](const Lanes& lanes, unsigned lane) -> std::optional<uint64_t> {
    const int at = static_cast<int>(lane) + distance;
    const auto source = static_cast<unsigned>(at) % 32;
    if (at >= 0 && at < 32) return lanes.on[source] ? lanes.value[source] : 0;
    return 1000 + (lanes.on[source] ? source : lane);
  };
}

std::vector<Operation> operations() {
  const auto add = [](uint64_t a, uint64_t b) { return (a + b) & 0xffffffff; };
  const auto times = [](uint64_t a, uint64_t b) { return (a * b) & 0xffffffff; };
  const auto add_float = [](uint64_t a, uint64_t b) -> uint64_t {
    return bits_of(as_float(static_cast<uint32_t>(a)) + as_float(static_cast<uint32_t>(b)));
  };
  const auto max_float = [](uint64_t a, uint64_t b) -> uint64_t {
    return bits_of(std::max(as_float(static_cast<uint32_t>(a)), as_float(static_cast<uint32_t>(b))));
  };
  const auto signed_min = [](uint64_t a, uint64_t b) {
    return static_cast<int32_t>(a) < static_cast<int32_t>(b) ? a : b;
  };
  const auto amount = [](const Lanes& lanes, int lane) { return static_cast<int>(lanes.amount[lane]); };
  const auto vote = [](const Lanes& lanes, unsigned lane) { return lanes.on[lane] && lanes.value[lane] > 9; };
  std::vector<Operation> all = {
      {"simd_sum.u.i32", "i32 %x", "i32", over_active(add)},
      {"simd_sum.f32", "float %f", "float", over_active(add_float)},
      {"simd_product.u.i32", "i32 %x", "i32", over_active(times)},
      {"simd_max.u.i32", "i32 %x", "i32", over_active([](uint64_t a, uint64_t b) { return std::max(a, b); })},
      {"simd_min.s.i32", "i32 %x", "i32", over_active(signed_min)},
      {"simd_max.f32", "float %f", "float", over_active(max_float)},
      {"simd_and.u.i32", "i32 %x", "i32", over_active([](uint64_t a, uint64_t b) { return a & b; })},
      {"simd_or.u.i32", "i32 %x", "i32", over_active([](uint64_t a, uint64_t b) { return a | b; })},
      {"simd_xor.u.i32", "i32 %x", "i32", over_active([](uint64_t a, uint64_t b) { return a ^ b; })},
      {"simd_prefix_inclusive_sum.u.i32", "i32 %x", "i32", prefix(add, 0, true)},
      {"simd_prefix_exclusive_sum.u.i32", "i32 %x", "i32", prefix(add, 0, false)},
      {"simd_prefix_inclusive_product.u.i32", "i32 %x", "i32", prefix(times, 1, true)},
      {"simd_prefix_exclusive_sum.f32", "float %f", "float", prefix(add_float, 0, false)},
      {"quad_sum.u.i32", "i32 %x", "i32", over_active(add, 4)},
      {"quad_prefix_inclusive_sum.u.i32", "i32 %x", "i32", prefix(add, 0, true, 4)},
      {"simd_broadcast.u.i32", "i32 %x, i16 7", "i32", from([](const Lanes&, int) { return 7; })},
      {"simd_broadcast.u.i32", "i32 %x, i16 %u", "i32", from([](const Lanes& l, int) { return int(l.amount[0]); })},
      {"simd_shuffle.u.i32", "i32 %x, i16 %d", "i32", from(amount)},
      {"simd_shuffle.u.i16", "i16 %h, i16 %d", "i16",
       [=](const Lanes& l, unsigned lane) -> std::optional<uint64_t> {
         return l.on[l.amount[lane]] ? l.value[l.amount[lane]] & 0xffff : 0;
       }},
      {"simd_shuffle_xor.u.i32", "i32 %x, i16 5", "i32", from([](const Lanes&, int lane) { return lane ^ 5; })},
      {"simd_shuffle_xor.u.i32", "i32 %x, i16 %d", "i32",
       from([=](const Lanes& l, int lane) { return lane ^ amount(l, lane); })},
      {"simd_shuffle_down.f32", "float %f, i16 8", "float",
       from([](const Lanes&, int lane) { return lane + 8 < 32 ? lane + 8 : -1; })},
      {"simd_shuffle_up.u.i32", "i32 %x, i16 %u", "i32",
       from([](const Lanes& l, int lane) { return lane - int(l.amount[0]) >= 0 ? lane - int(l.amount[0]) : -1; })},
      {"simd_shuffle_and_fill_up.u.i32", "i32 %x, i32 %i.fill, i16 4, i16 32", "i32", fill_of(-4)},
      {"simd_shuffle_and_fill_down.u.i32", "i32 %x, i32 %i.fill, i16 16, i16 32", "i32", fill_of(16)},
      {"simd_shuffle_rotate_down.u.i32", "i32 %x, i16 3", "i32",
       from([](const Lanes&, int lane) { return (lane + 3) % 32; })},
      {"simd_broadcast_first.u.i32", "i32 %x", "i32",
       from([](const Lanes& l, int) { return int(std::find(l.on.begin(), l.on.end(), true) - l.on.begin()); })},
      {"quad_shuffle_xor.u.i32", "i32 %x, i16 1", "i32", from([](const Lanes&, int lane) { return lane ^ 1; })},
      {"quad_broadcast.u.i32", "i32 %x, i16 2", "i32", from([](const Lanes&, int lane) { return (lane & ~3) + 2; })},
      {"quad_broadcast_first.u.i32", "i32 %x", "i32", from([](const Lanes& l, int lane) {
         int at = lane & ~3;
         while (!l.on[at]) ++at;
         return at;
       })},
      {"simd_ballot.i64", "i1 %odd", "i64",
       [=](const Lanes& l, unsigned) -> std::optional<uint64_t> {
         uint64_t bits = 0;
         for (unsigned i = 0; i < 32; ++i) bits |= uint64_t{vote(l, i)} << i;
         return bits;
       }},
      {"simd_all", "i1 %odd", "i1",
       [=](const Lanes& l, unsigned) -> std::optional<uint64_t> {
         for (unsigned i = 0; i < 32; ++i) {
           if (l.on[i] && !vote(l, i)) return 0;
         }
         return 1;
       }},
      {"simd_any", "i1 %odd", "i1",
       [=](const Lanes& l, unsigned) -> std::optional<uint64_t> {
         for (unsigned i = 0; i < 32; ++i) {
           if (vote(l, i)) return 1;
         }
         return 0;
       }},
      {"quad_any", "i1 %odd", "i1",
       [=](const Lanes& l, unsigned lane) -> std::optional<uint64_t> {
         for (unsigned i = lane & ~3u; i < (lane & ~3u) + 4; ++i) {
           if (vote(l, i)) return 1;
         }
         return 0;
       }},
  };
  return all;
}

struct Pattern {
  const char* name;
  bool (*on)(unsigned);
};
constexpr Pattern kPatterns[] = {{"all", [](unsigned) { return true; }},
                                 {"odd", [](unsigned i) { return i % 2 == 1; }},
                                 {"upper", [](unsigned i) { return i % 32 > 20; }},
                                 {"scattered", [](unsigned i) { return i * 2654435761u >> 29 > 3; }},
                                 {"one", [](unsigned i) { return i % 32 == 17; }}};

Buffers inputs(unsigned threads, const Pattern& pattern, bool is_float) {
  Buffers buffers(4);
  buffers[0].resize(size_t{threads} * 4);
  buffers[1].resize(size_t{threads} * 2);
  buffers[2].resize(threads);
  buffers[3].resize(size_t{threads} * 8, 0xaa);
  for (unsigned i = 0; i < threads; ++i) {
    const uint32_t number = (i * 7919 + 13) % 23;
    const uint32_t value = is_float ? bits_of(static_cast<float>(number)) : number - (i % 5 == 0 ? 30 : 0);
    const auto amount = static_cast<uint16_t>((i * 11 + 3) % 32);
    std::memcpy(&buffers[0][size_t{i} * 4], &value, 4);
    std::memcpy(&buffers[1][size_t{i} * 2], &amount, 2);
    buffers[2][i] = pattern.on(i) ? 1 : 0;
  }
  return buffers;
}

void check(const Operation& operation, Cpu cpu, bool one_function = false) {
  CAPTURE(operation.name);
  CAPTURE(operation.operands);
  LaneKernel kernel(kernel_of(operation), "kernel", cpu);
  auto made = kernel.vectorise(one_function);
  REQUIRE_MESSAGE(made, made.error().message);
  // Threads cannot run such a kernel one by one.
  kernel.compile_gangs();
  const bool is_float = operation.operands.find("%f") != std::string::npos;
  for (const Pattern& pattern : kPatterns) {
    for (unsigned threads : {32u, 64u, 19u}) {
      for (LaneLayout layout : {LaneLayout::row32, LaneLayout::linear32}) {
        Buffers buffers = inputs(threads, pattern, is_float);
        REQUIRE(kernel.run_gangs(buffers, {{threads, 1, 1}}, layout));
        for (unsigned thread = 0; thread < threads; ++thread) {
          Lanes lanes;
          for (unsigned i = thread / 32 * 32; i < thread / 32 * 32 + 32; ++i) {
            uint32_t value = 0;
            uint16_t amount = 0;
            if (i < threads) std::memcpy(&value, &buffers[0][size_t{i} * 4], 4);
            if (i < threads) std::memcpy(&amount, &buffers[1][size_t{i} * 2], 2);
            lanes.value.push_back(value);
            lanes.amount.push_back(amount);
            lanes.on.push_back(i < threads && pattern.on(i));
          }
          uint16_t uniform = 0;
          std::memcpy(&uniform, buffers[1].data(), 2);
          if (operation.operands.find("%u") != std::string::npos) lanes.amount[0] = uniform;
          uint64_t found = 0;
          std::memcpy(&found, &buffers[3][size_t{thread} * 8], 8);
          if (!lanes.on[thread % 32]) {
            CHECK(found == 0xaaaaaaaaaaaaaaaa);
            continue;
          }
          const auto wanted = operation.model(lanes, thread % 32);
          if (!wanted) continue;
          CHECK_MESSAGE(found == *wanted, pattern.name << ", " << threads << " threads, thread " << thread << ": want "
                                                       << *wanted << ", found " << found);
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("simdgroup operations see the lanes that are on") {
  for (const Operation& operation : operations()) check(operation, Cpu::native);
}

TEST_CASE("simdgroup operations without mask registers and gathers") {
  for (const Operation& operation : operations()) check(operation, Cpu::v3);
}

TEST_CASE("simdgroup operations where one function runs full and partial simdgroups") {
  for (const Operation& operation : operations()) check(operation, Cpu::v3, true);
}

TEST_CASE("matrices: load, multiply, own elements, store") {
  const char* text = R"(
declare <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1), i64, <2 x i64>, i1) convergent
declare void @air.simdgroup_matrix_8x8_store.v64f32.p1f32(<64 x float>, ptr addrspace(1), i64, <2 x i64>, i1) convergent
declare <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float>, <64 x float>, <64 x float>) convergent
declare <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32(float) convergent
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %lane) {
entry:
  %held = alloca [2 x { { <64 x float> } }], align 256
  %a = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %buffer0, i64 24, <2 x i64> zeroinitializer, i1 false)
  %zero = call <64 x float> @air.simdgroup_matrix_8x8_init_filled.v64f32.f32(float 0.0)
  br label %loop
loop:
  %k = phi i64 [ 0, %entry ], [ %next, %loop ]
  %sum = phi <64 x float> [ %zero, %entry ], [ %more, %loop ]
  %o = mul i64 %k, 8
  %pa = getelementptr float, ptr addrspace(1) %buffer0, i64 %o
  %pb = getelementptr float, ptr addrspace(1) %buffer1, i64 %o
  %ma = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %pa, i64 24, <2 x i64> zeroinitializer, i1 false)
  %mb = call <64 x float> @air.simdgroup_matrix_8x8_load.v64f32.p1f32(ptr addrspace(1) %pb, i64 24, <2 x i64> zeroinitializer, i1 true)
  %more = call <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float> %ma, <64 x float> %mb, <64 x float> %sum)
  %next = add i64 %k, 1
  %go = icmp ult i64 %next, 3
  br i1 %go, label %loop, label %end
end:
  %slot = and i64 %next, 1
  %place = getelementptr [2 x { { <64 x float> } }], ptr %held, i64 0, i64 %slot, i32 0, i32 0
  store <64 x float> %more, ptr %place, align 256
  %back = load <64 x float>, ptr %place, align 256
  %own = extractelement <64 x float> %back, i32 1
  %f = uitofp i32 %lane to float
  %new = fadd float %own, %f
  %changed = insertelement <64 x float> %back, float %new, i32 1
  call void @air.simdgroup_matrix_8x8_store.v64f32.p1f32(<64 x float> %changed, ptr addrspace(1) %buffer2, i64 8, <2 x i64> zeroinitializer, i1 false)
  ret void
}
)";
  for (Cpu cpu : {Cpu::native, Cpu::v3}) {
    LaneKernel kernel(text, "kernel", cpu);
    auto made = kernel.vectorise();
    REQUIRE_MESSAGE(made, made.error().message);
    kernel.compile_gangs();
    std::vector<float> a(8 * 24), b(8 * 24), c(64);
    for (size_t i = 0; i < a.size(); ++i) {
      a[i] = static_cast<float>(i % 7) - 3;
      b[i] = static_cast<float>(i % 5) - 2;
    }
    Buffers buffers(3);
    for (auto [buffer, source] : {std::pair{0, &a}, std::pair{1, &b}, std::pair{2, &c}}) {
      buffers[buffer].resize(source->size() * 4);
      std::memcpy(buffers[buffer].data(), source->data(), source->size() * 4);
    }
    REQUIRE(kernel.run_gangs(buffers, {{32, 1, 1}}, LaneLayout::linear32));
    std::memcpy(c.data(), buffers[2].data(), c.size() * 4);
    for (unsigned row = 0; row < 8; ++row) {
      for (unsigned column = 0; column < 8; ++column) {
        float wanted = 0;
        for (unsigned k = 0; k < 24; ++k) wanted += a[row * 24 + k] * b[column * 24 + k];
        for (unsigned lane = 0; lane < 32; ++lane) {
          // The layout that MLX and PyTorch rely on: lower/collectives.hpp.
          const unsigned quad = lane / 4;
          if (row == (quad & 4) + (lane / 2) % 4 && column == (quad & 2) * 2 + (lane % 2) * 2 + 1) {
            wanted += static_cast<float>(lane);
          }
        }
        CHECK(c[row * 8 + column] == wanted);
      }
    }
  }
}

std::string own_elements() {
  std::string rest;
  for (unsigned i = 2; i < 64; ++i) rest += ", i32 poison";
  std::string other;
  for (unsigned i = 2; i < 64; ++i) other += fmt::format(", i32 {}", 64 + i);
  return fmt::format(R"(
declare <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float>, <64 x float>, <64 x float>) convergent
define void @kernel(ptr addrspace(1) %buffer0, ptr addrspace(1) %buffer1, ptr addrspace(1) %buffer2, i32 %lane) {{
entry:
  %i = zext i32 %lane to i64
  %pa = getelementptr <2 x float>, ptr addrspace(1) %buffer0, i64 %i
  %a2 = load <2 x float>, ptr addrspace(1) %pa, align 4
  %pb = getelementptr <2 x float>, ptr addrspace(1) %buffer1, i64 %i
  %b2 = load <2 x float>, ptr addrspace(1) %pb, align 4
  %a = shufflevector <2 x float> %a2, <2 x float> poison, <64 x i32> <i32 0, i32 1{0}>
  %b64 = shufflevector <2 x float> %b2, <2 x float> poison, <64 x i32> <i32 0, i32 1{0}>
  %b = shufflevector <64 x float> %b64, <64 x float> %a, <64 x i32> <i32 0, i32 1{1}>
  %c0 = insertelement <64 x float> %b, float 1.0, i64 0
  %c = insertelement <64 x float> %c0, float 2.0, i64 1
  %m = call <64 x float> @air.simdgroup_matrix_8x8_multiply_accumulate.v64f32.v64f32.v64f32.v64f32(<64 x float> %a, <64 x float> %b, <64 x float> %c)
  %m0 = extractelement <64 x float> %m, i64 0
  %m1 = extractelement <64 x float> %m, i64 1
  %s = fadd <64 x float> %a, %b
  %s2 = shufflevector <64 x float> %s, <64 x float> poison, <2 x i32> <i32 1, i32 0>
  %r2 = insertelement <2 x float> poison, float %m0, i64 0
  %r = insertelement <2 x float> %r2, float %m1, i64 1
  %p = getelementptr [2 x <2 x float>], ptr addrspace(1) %buffer2, i64 %i, i64 0
  store <2 x float> %r, ptr addrspace(1) %p, align 4
  %q = getelementptr [2 x <2 x float>], ptr addrspace(1) %buffer2, i64 %i, i64 1
  store <2 x float> %s2, ptr addrspace(1) %q, align 4
  ret void
}}
)",
                     rest, other);
}

TEST_CASE("matrices put together from elements and taken apart again") {
  for (Cpu cpu : {Cpu::native, Cpu::v3}) {
    LaneKernel kernel(own_elements(), "kernel", cpu);
    auto made = kernel.vectorise();
    REQUIRE_MESSAGE(made, made.error().message);
    kernel.compile_gangs();
    std::array<float, 64> a{}, b{}, left{}, right{};
    std::array<float, 128> result{};
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned slot = 0; slot < 2; ++slot) {
        const unsigned i = 2 * lane + slot;
        a[i] = static_cast<float>(i % 7) - 3;
        b[i] = static_cast<float>(i % 5) - 2;
        left[aot::cpu::matrix_element(lane, slot)] = a[i];
        right[aot::cpu::matrix_element(lane, slot)] = b[i];
      }
    Buffers buffers(3);
    buffers[0].resize(sizeof(a));
    buffers[1].resize(sizeof(b));
    buffers[2].resize(sizeof(result));
    std::memcpy(buffers[0].data(), a.data(), sizeof(a));
    std::memcpy(buffers[1].data(), b.data(), sizeof(b));
    REQUIRE(kernel.run_gangs(buffers, {{32, 1, 1}}, LaneLayout::linear32));
    std::memcpy(result.data(), buffers[2].data(), sizeof(result));
    for (unsigned lane = 0; lane < 32; ++lane)
      for (unsigned slot = 0; slot < 2; ++slot) {
        const unsigned at = aot::cpu::matrix_element(lane, slot);
        float wanted = slot == 0 ? 1.0F : 2.0F;
        for (unsigned k = 0; k < 8; ++k) wanted += left[at / 8 * 8 + k] * right[k * 8 + at % 8];
        CHECK(result[4 * lane + slot] == wanted);
        CHECK(result[4 * lane + 2 + slot] == a[2 * lane + 1 - slot] + b[2 * lane + 1 - slot]);
      }
  }
}
