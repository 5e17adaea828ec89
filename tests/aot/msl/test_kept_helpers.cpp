// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Large helpers stay functions in AIR, and on the CPU where the kernel would be too long without calls. Each case
// computes the same numbers here.
#include "entry_text.hpp"

#include <array>

namespace smelt::test {
namespace {

using State = std::array<uint32_t, 4>;

/// Rounds of mixing, with constants of `seed`: a body as long as one likes.
struct Rounds {
  uint32_t seed;
  unsigned count;

  template <class Do>
  void each(Do&& act) const {
    uint32_t random = seed;
    for (unsigned i = 0; i < count; ++i) {
      random = random * 1664525 + 1013904223;
      act(i % 4, (i + 1 + (random >> 30)) % 4, 1 + (random >> 10) % 30, random | 1);
    }
  }

  /// `to` is an lvalue of uints.
  std::string text(const std::string& to) const {
    std::string lines;
    each([&](unsigned a, unsigned b, unsigned turn, uint32_t factor) {
      lines += fmt::format("  {0}[{1}] = (({0}[{1}] << {3}) | ({0}[{1}] >> {4})) + {0}[{2}] * {5}u;\n", to, a, b, turn,
                           32 - turn, factor);
    });
    return lines;
  }

  State operator()(State state) const {
    each([&](unsigned a, unsigned b, unsigned turn, uint32_t factor) {
      state[a] = ((state[a] << turn) | (state[a] >> (32 - turn))) + state[b] * factor;
    });
    return state;
  }
};

size_t count_of(const std::string& text, std::string_view part) {
  size_t count = 0;
  for (size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

/// How many functions the kernel k keeps beside itself.
size_t kept(const std::string& text) {
  return count_of(ir_of(text, "k"), "\ndefine internal fastcc ");
}

/// What kernel k, of one thread, leaves in out; `in` and `more` are its other two buffers.
std::vector<uint32_t> run(const std::string& text, size_t count, std::vector<uint32_t> in = {1, 2, 3, 4},
                          const aot::CpuOptions& cpu = {}) {
  const Msl source(kHead + text, msl_options(), cpu);
  std::vector<uint32_t> out(count);
  Launch launch{.grid = {1, 1, 1}, .group = {1, 1, 1}};
  launch.bind(0, out).bind(1, in);
  source.run("k", launch);
  return out;
}

std::vector<uint32_t> list(std::initializer_list<State> states) {
  std::vector<uint32_t> all;
  for (const State& state : states) all.insert(all.end(), state.begin(), state.end());
  return all;
}

constexpr Rounds kFirst{7, 120}, kSecond{11, 120};
const std::string kState = "struct State { uint v[4]; };\n";
const std::string kOpen =
    "kernel void k(device uint* out, device const uint* in) {\n  State s = {in[0], in[1], in[2], in[3]};\n";
const std::string kClose = "  for (uint i = 0; i < 4; ++i) out[i] = s.v[i];\n}\n";
const State kStart{1, 2, 3, 4};

}  // namespace

TEST_CASE("a large helper with two calls is one function: a thread's variable by reference") {
  const std::string text = kState + "void mix(thread State& s) {\n" + kFirst.text("s.v") + "}\n" + kOpen +
                           "  mix(s);\n  s.v[0] ^= 5;\n  mix(s);\n" + kClose;
  CHECK(kept(text) == 1);
  State expected = kFirst(kStart);
  expected[0] ^= 5;
  CHECK(run(text, 4) == list({kFirst(expected)}));
}

TEST_CASE("one call, or a short helper: nothing stays") {
  const auto helper = [](unsigned rounds) {
    return kState + "void mix(thread State& s) {\n" + Rounds{7, rounds}.text("s.v") + "}\n";
  };
  CHECK(kept(helper(120) + kOpen + "  mix(s);\n" + kClose) == 0);
  CHECK(kept(helper(10) + kOpen + "  mix(s);\n  mix(s);\n" + kClose) == 0);
}

TEST_CASE("hundreds of calls in a row are inlined: helpers with branches, loops, early ends and without") {
  std::string calls;
  uint32_t expected = 3;
  for (uint32_t i = 0; i < 200; ++i) {
    calls += fmt::format("  v = {}(v, {}u);\n", i % 3 == 0 ? "choose" : i % 3 == 1 ? "plain" : "turn", i);
    if (i % 3 == 0)
      expected = expected > i * 1000 ? expected / 3 : expected * 5 + i;
    else if (i % 3 == 1)
      expected ^= i * 77;
    else
      for (uint32_t r = 0; r < expected % 4; ++r) expected = expected * 3 + i;
  }
  const std::string text =
      "uint choose(uint v, uint i) { if (v > i * 1000) return v / 3; return v * 5 + i; }\n"
      "uint plain(uint v, uint i) { return v ^ i * 77; }\n"
      "uint turn(uint v, uint i) { for (uint r = 0; r < v % 4; ++r) v = v * 3 + i; return v; }\n"
      "kernel void k(device uint* out, device const uint* in) {\n  uint v = in[2];\n" +
      calls + "  out[0] = v;\n}\n";
  CHECK(kept(text) == 0);
  CHECK(run(text, 1) == std::vector<uint32_t>{expected});
}

TEST_CASE("structures by value and as results: what the helper changes of its copy is its own") {
  const std::string text = kState + "State mixed(State s) {\n" + kFirst.text("s.v") + "  return s;\n}\n" + kOpen +
                           "  State t = mixed(s);\n  s = mixed(mixed(t));\n  t = mixed(s);\n"
                           "  for (uint i = 0; i < 4; ++i) out[4 + i] = t.v[i];\n" +
                           kClose;
  CHECK(kept(text) == 1);
  const State t = kFirst(kStart), s = kFirst(kFirst(t));
  CHECK(run(text, 8) == list({s, kFirst(s)}));
  // The same variable is given twice, and is the result as well.
  const std::string twice = kState + "State mixed(State s, State t) {\n" + kFirst.text("s.v") + kSecond.text("t.v") +
                            "  for (uint i = 0; i < 4; ++i) s.v[i] ^= t.v[i];\n  return s;\n}\n" + kOpen +
                            "  s = mixed(s, s);\n  s = mixed(s, s);\n" + kClose;
  CHECK(kept(twice) == 1);
  State expected = kStart;
  for (unsigned i = 0; i < 2; ++i) {
    const State a = kFirst(expected), b = kSecond(expected);
    for (unsigned j = 0; j < 4; ++j) expected[j] = a[j] ^ b[j];
  }
  CHECK(run(twice, 4) == list({expected}));
}

TEST_CASE("pointers to every memory, tables, and a helper that calls another") {
  const std::string text =
      kState + "constant uint table[3] = {10, 20, 30};\n" +
      "void inner(thread uint* v, device const uint* in, threadgroup uint* shared, uint n) {\n" + kFirst.text("v") +
      "  v[0] += in[n] + shared[n] + table[n];\n  shared[n] = v[1];\n}\n" +
      "void outer(thread State& s, device const uint* in, device uint* out, threadgroup uint* shared) {\n" +
      kSecond.text("s.v") +
      "  uint own[4] = {1, 2, 3, 4};\n  inner(s.v, in, shared, 1);\n  inner(own, in, shared, 2);\n"
      "  for (uint i = 0; i < 4; ++i) s.v[i] ^= own[i];\n  out[4] += s.v[3];\n}\n" +
      kOpen +
      "  threadgroup uint shared[3];\n  shared[1] = 5;\n  shared[2] = 6;\n  out[4] = 0;\n"
      "  outer(s, in, out, shared);\n  outer(s, in, out, shared);\n" +
      kClose;
  CHECK(kept(text) == 2);
  const std::vector<uint32_t> in{1, 2, 3, 4}, table{10, 20, 30};
  std::vector<uint32_t> shared{0, 5, 6};
  const auto inner = [&](State v, unsigned n) {
    v = kFirst(v);
    v[0] += in[n] + shared[n] + table[n];
    shared[n] = v[1];
    return v;
  };
  State s = kStart;
  uint32_t sum = 0;
  for (unsigned i = 0; i < 2; ++i) {
    s = inner(kSecond(s), 1);
    const State own = inner(kStart, 2);
    for (unsigned j = 0; j < 4; ++j) s[j] ^= own[j];
    sum += s[3];
  }
  std::vector<uint32_t> expected(s.begin(), s.end());
  expected.push_back(sum);
  CHECK(run(text, 5) == expected);
}

TEST_CASE("a method whose object is in any memory is inlined where that is not the thread's alone") {
  const std::string method = "struct State {\n  uint v[4];\n  void mix() {\n" + kFirst.text("v") + "  }\n};\n";
  const std::string own = method + kOpen + "  s.mix();\n  s.mix();\n" + kClose;
  CHECK(kept(own) == 1);
  CHECK(run(own, 4) == list({kFirst(kFirst(kStart))}));
  const std::string both = method +
                           "kernel void k(device State* out, device const uint* in) {\n"
                           "  State s = {in[0], in[1], in[2], in[3]};\n  out[0] = s;\n  s.mix();\n  s.mix();\n"
                           "  out[0].mix();\n  out[1] = s;\n}\n";
  CHECK(run(both, 8) == list({kFirst(kStart), kFirst(kFirst(kStart))}));
}

TEST_CASE("what only the kernel's own code can do is inlined: function constants, hardware values, variables") {
  const std::string constant = "constant uint extra [[function_constant(3)]];\n" + kState +
                               "void mix(thread State& s) {\n" + kFirst.text("s.v") + "  s.v[0] += extra;\n}\n" +
                               kOpen + "  mix(s);\n  mix(s);\n" + kClose;
  CHECK(kept(constant) == 0);
  const Msl source(kHead + constant);
  std::vector<uint32_t> out(4), in{1, 2, 3, 4};
  Launch launch{.grid = {1, 1, 1}, .group = {1, 1, 1}};
  launch.bind(0, out).bind(1, in).constant(3, uint32_t{9});
  source.run("k", launch);
  State expected = kFirst(kStart);
  expected[0] += 9;
  expected = kFirst(expected);
  expected[0] += 9;
  CHECK(out == list({expected}));
}

TEST_CASE("barriers and SIMD operations in a helper that stays: the CPU inlines it") {
  const std::string text = kState + "void mix(thread State& s, threadgroup uint* shared, uint i) {\n" +
                           kFirst.text("s.v") +
                           "  shared[i] = s.v[0];\n  threadgroup_barrier(mem_flags::mem_threadgroup);\n"
                           "  s.v[0] = shared[(i + 1) % 64] + simd_sum(s.v[1]);\n"
                           "  threadgroup_barrier(mem_flags::mem_threadgroup);\n}\n"
                           "kernel void k(device uint* out, uint i [[thread_position_in_threadgroup]]) {\n"
                           "  threadgroup uint shared[64];\n  State s = {i, 2, 3, 4};\n"
                           "  mix(s, shared, i);\n  mix(s, shared, i);\n  out[i] = s.v[0];\n}\n";
  CHECK(kept(text) == 1);
  std::vector<State> states(64);
  for (uint32_t i = 0; i < 64; ++i) states[i] = {i, 2, 3, 4};
  for (unsigned round = 0; round < 2; ++round) {
    for (State& state : states) state = kFirst(state);
    std::vector<State> then = states;
    for (uint32_t i = 0; i < 64; ++i) {
      uint32_t sum = 0;
      for (uint32_t j = 0; j < 32; ++j) sum += states[i / 32 * 32 + j][1];
      then[i][0] = states[(i + 1) % 64][0] + sum;
    }
    states = then;
  }
  const Msl source(kHead + text);
  std::vector<uint32_t> out(64);
  Launch launch{.grid = {64, 1, 1}, .group = {64, 1, 1}};
  source.run("k", launch.bind(0, out));
  for (uint32_t i = 0; i < 64; ++i) CHECK(out[i] == states[i][0]);
}

TEST_CASE("a tower of helpers, four calls on each floor: its code grows with its height, not with a power of it") {
  constexpr unsigned kHeight = 7;  // 16,384 calls of the lowest
  std::string text = kState + "void floor0(thread State& s) {\n" + kFirst.text("s.v") + "}\n";
  for (unsigned i = 1; i <= kHeight; ++i)
    text += fmt::format(
        "void floor{0}(thread State& s) {{\n{2}  for (uint i = 0; i < 2; ++i) floor{1}(s);\n"
        "  floor{1}(s);\n  s.v[1] ^= {0}u;\n  floor{1}(s);\n}}\n",
        i, i - 1, Rounds{i, 60}.text("s.v"));
  text += kOpen + fmt::format("  floor{0}(s);\n  floor{0}(s);\n", kHeight) + kClose;
  CHECK(kept(text) == kHeight + 1);
  const auto climb = [](auto& self, State s, unsigned floor) -> State {
    if (floor == 0) return kFirst(s);
    s = Rounds{floor, 60}(s);
    for (unsigned i = 0; i < 3; ++i) s = self(self, s, floor - 1);
    s[1] ^= floor;
    return self(self, s, floor - 1);
  };
  const State expected = climb(climb, climb(climb, kStart, kHeight), kHeight);
  CHECK(run(text, 4) == list({expected}));
}

TEST_CASE("a kernel that is too long without calls, of many threads with variables of their own") {
  std::string text = kState + "void mix(thread State& s) {\n" + Rounds{3, 900}.text("s.v") + "}\n" +
                     "kernel void k(device uint* out, uint i [[thread_position_in_grid]]) {\n"
                     "  State s = {i, 2, 3, 4};\n";
  for (unsigned i = 0; i < 16; ++i)
    text += fmt::format("  if ((i & {}u) != 0) mix(s); else s.v[0] += {}u;\n", 1 << i % 6, i);
  text += "  out[i] = s.v[0] ^ s.v[3];\n}\n";
  CHECK(kept(text) == 1);
  for (const auto method : {aot::CpuMethod::automatic, aot::CpuMethod::regions}) {
    CAPTURE(int(method));
    const Msl source(kHead + text, msl_options(), {.method = method});
    std::vector<uint32_t> out(100);
    Launch launch{.grid = {100, 1, 1}, .group = {32, 1, 1}};
    source.run("k", launch.bind(0, out));
    for (uint32_t i = 0; i < 100; ++i) {
      State s{i, 2, 3, 4};
      for (uint32_t j = 0; j < 16; ++j) {
        if ((i & (1u << j % 6)) != 0)
          s = Rounds{3, 900}(s);
        else
          s[0] += j;
      }
      CHECK(out[i] == (s[0] ^ s[3]));
    }
  }
}

}  // namespace smelt::test
