// Sources with tokens removed, doubled, swapped and strewn in: every one compiles or is an error, and none takes the
// process down. SMELT_MUTATION_SECONDS=3600 runs for an hour with fresh seeds.
#include "msl.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstdlib>
#include <random>

namespace smelt::test {
namespace {

const char* const kSeeds[] = {
    R"(#include <metal_stdlib>
using namespace metal;
constant int count [[function_constant(0)]];
constant bool many = is_function_constant_defined(count) ? count > 3 : false;
struct Args { int width; float scale[2]; };
template <typename T> T twice(device const T* p, uint i) { return p[i] + p[i]; }
kernel void f(constant Args& args [[buffer(0)]], device const float4* x [[buffer(1)]], device float4* y,
              threadgroup float* shared [[threadgroup(0)]], uint3 at [[thread_position_in_grid]],
              uint lane [[thread_index_in_simdgroup]]) {
  threadgroup float own[32];
  own[lane] = x[at.x].wzyx.x;
  threadgroup_barrier(mem_flags::mem_threadgroup);
  for (int i = 0; i < args.width; ++i) shared[i] = many ? own[i] * 2.0h : args.scale[i & 1];
  y[at.x] = twice(x, at.x) + simd_sum(shared[0]);
}
)",
    R"(#include <metal_stdlib>
using namespace metal;
struct complex { float re, im; complex(float r, float i) thread : re(r), im(i) {} float norm() const device { return re; }
  float norm() const { return re * im; } };
template <typename T, int N> [[max_total_threads_per_threadgroup(64)]] kernel void g(
    device T* x [[buffer(0)]], uint i [[thread_position_in_grid]], uint n [[threads_per_grid]]) {
  constexpr T table[] = {T(1), T(2)};
  vec<T, 4> v = vec<T, 4>(x[i]);
  v.xy = v.yx; v *= T(N);
  switch (n) { case 1: v.z = 0; break; default: v.w += table[i & 1]; }
  x[i] = i < n ? v.x + v.w : T(0);
}
template [[host_name("g_float")]] [[kernel]] decltype(g<float, 1>) g<float, 1>;
template [[host_name("g_half")]] [[kernel]] decltype(g<half, 7>) g<half, 7>;
)"};

const char* const kWords[] = {"device",
                              "constant",
                              "threadgroup",
                              "thread",
                              "kernel",
                              "[[",
                              "]]",
                              "(",
                              ")",
                              "{",
                              "}",
                              "<",
                              ">",
                              ";",
                              "?",
                              ":",
                              "template",
                              "struct",
                              "float4",
                              "half",
                              "bfloat",
                              "0",
                              "1.0h",
                              "0x1p4",
                              "*",
                              "&",
                              "...",
                              "auto",
                              "decltype(",
                              "[&]",
                              "using",
                              "namespace metal",
                              "#define x",
                              "\n#include \"test.metal\"\n",
                              "[[buffer(",
                              "[[function_constant(0)]]",
                              "static_cast<",
                              "sizeof",
                              "operator",
                              "::",
                              "=",
                              "const",
                              "return",
                              "if",
                              "virtual",
                              "union",
                              "'",
                              "\"",
                              "\\",
                              "[[host_name(\"f\")]]",
                              "[[thread_position_in_grid]]",
                              "enable_if_t<",
                              "typename",
                              "requires",
                              "alignas(",
                              "goto"};

std::vector<std::string> pieces_of(const std::string& text) {
  std::vector<std::string> pieces;
  for (size_t at = 0; at < text.size();) {
    const auto is_word = [&](size_t i) {
      return std::isalnum(static_cast<unsigned char>(text[i])) != 0 || text[i] == '_';
    };
    size_t end = at + 1;
    if (is_word(at))
      while (end < text.size() && is_word(end)) ++end;
    pieces.push_back(text.substr(at, end - at));
    at = end;
  }
  return pieces;
}

std::string mutated(std::mt19937_64& random) {
  std::vector<std::string> pieces = pieces_of(kSeeds[random() % std::size(kSeeds)]);
  const std::vector<std::string> other = pieces_of(kSeeds[random() % std::size(kSeeds)]);
  for (size_t changes = 1 + random() % 6; changes > 0 && !pieces.empty(); --changes) {
    const size_t at = random() % pieces.size();
    const size_t length = std::min<size_t>(1 + random() % 8, pieces.size() - at);
    const auto place = pieces.begin() + static_cast<std::ptrdiff_t>(at);
    switch (random() % 6) {
      case 0:
        pieces.erase(place, place + static_cast<std::ptrdiff_t>(length));
        break;
      case 1: {
        const std::vector<std::string> copy(place, place + static_cast<std::ptrdiff_t>(length));
        pieces.insert(place, copy.begin(), copy.end());
        break;
      }
      case 2:
        std::swap(pieces[at], pieces[random() % pieces.size()]);
        break;
      case 3: {
        const size_t from = random() % other.size();
        const size_t count = std::min<size_t>(length, other.size() - from);
        pieces.insert(place, other.begin() + static_cast<std::ptrdiff_t>(from),
                      other.begin() + static_cast<std::ptrdiff_t>(from + count));
        break;
      }
      default:
        pieces.insert(place, std::string(" ") + kWords[random() % std::size(kWords)] + " ");
    }
  }
  std::string text;
  for (const std::string& piece : pieces) text += piece;
  return text;
}

}  // namespace

TEST_CASE("the sources that mutate compile as they are") {
  for (const char* seed : kSeeds) {
    const auto compiled = compile_msl(seed);
    CHECK_MESSAGE(compiled.has_value(), compiled.error().message);
  }
}

TEST_CASE("mutated sources never take the process down") {
  const char* seconds = std::getenv("SMELT_MUTATION_SECONDS");
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::seconds(seconds != nullptr ? std::atoi(seconds) : 4);
  std::mt19937_64 random(seconds != nullptr ? std::random_device()() : 20261121u);
  size_t tried = 0, compiled = 0;
  while (Clock::now() < until) {
    const std::string text = mutated(random);
    const auto result = compile_msl(text);
    ++tried;
    compiled += result.has_value();
    if (result) continue;
    const bool crashed = result.error().message.find("crashed") != std::string::npos;
    CHECK_MESSAGE(!crashed, text);
    CHECK_FALSE(result.error().message.empty());
  }
  MESSAGE(tried << " mutants, " << compiled << " of them compile");
  CHECK(tried > 0);
}

}  // namespace smelt::test
