// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Vertex and fragment functions as functions on arrays: docs/reference/stages.md.
#include "smelt/loader/texture.hpp"

#include "msl.hpp"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace smelt::test {
namespace {

const std::string kHead = "#include <metal_stdlib>\nusing namespace metal;\n";

/// A function whose arrays are given and taken by name, by lanes, by a loop or lanes as it comes, and by regions.
class Stage {
 public:
  Stage(const std::string& text, const std::string& function, uint32_t threads, aot::CpuMethod method)
      : function_(function),
        compiled_(kHead + text, msl_options(), {.level = runnable_levels().front(), .method = method}) {
    launch.grid = launch.group = {threads, 1, 1};
  }

  template <class T>
  Stage& in(const std::string& name, std::vector<T>& data) {
    return bind(ArgumentKind::stage_input, name, data);
  }
  template <class T>
  Stage& out(const std::string& name, std::vector<T>& data) {
    return bind(ArgumentKind::stage_output, name, data);
  }
  void run() const { compiled_.run(function_, launch); }
  const aot::ArgumentInfo& array(ArgumentKind kind, const std::string& name) const {
    for (const aot::ArgumentInfo& one : compiled_.info(function_).arrays)
      if (one.kind == kind && one.name == name) return one;
    throw std::runtime_error("no array " + name);
  }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const aot::ArgumentInfo& one : compiled_.info(function_).arrays)
      all.push_back(fmt::format("{}{}: {} {}{}", one.kind == ArgumentKind::stage_input ? "" : "-> ", one.name,
                                one.type_name, one.size, one.conditional ? "?" : ""));
    return all;
  }

  Launch launch;

 private:
  template <class T>
  Stage& bind(ArgumentKind kind, const std::string& name, std::vector<T>& data) {
    const aot::ArgumentInfo& found = array(kind, name);
    REQUIRE(data.size() * sizeof(T) >= uint64_t{found.size} * launch.grid[0]);
    launch.bind(found.location, data);
    return *this;
  }

  std::string function_;
  Msl compiled_;
};

constexpr aot::CpuMethod kMethods[] = {aot::CpuMethod::automatic, aot::CpuMethod::lanes, aot::CpuMethod::regions};

using Floats = std::vector<float>;
using Names = std::vector<std::string>;

/// Why a source's function has no CPU code.
std::string missing(const std::string& text) {
  try {
    const Msl compiled(kHead + text);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

TEST_CASE("a vertex function: attributes in, ids, results out") {
  const std::string text = R"(
struct In { float3 place [[attribute(0)]]; half2 uv [[attribute(3)]]; uchar4 bytes [[attribute(1)]]; short s [[attribute(7)]]; };
struct Out { float4 position [[position]]; half2 uv; uint kind [[flat]]; float size [[point_size]]; float clip [[clip_distance]] [2]; };
vertex Out v(In in [[stage_in]], constant float4& add [[buffer(2)]], uint id [[vertex_id]], uint instance [[instance_id]],
             uint base [[base_vertex]], ushort first [[base_instance]]) {
  Out out;
  out.position = float4(in.place, 1) + add;
  out.uv = in.uv * 2;
  out.kind = id * 1000 + instance * 100 + base * 10 + first;
  out.size = float(in.bytes.x) + float(in.bytes.w) / 256 + in.s;
  out.clip[0] = in.place.x;
  out.clip[1] = -in.place.x;
  return out;
}
)";
  constexpr uint32_t kCount = 70;
  for (const aot::CpuMethod method : kMethods) {
    CAPTURE(static_cast<int>(method));
    Stage stage(text, "v", kCount, method);
    CHECK(stage.names() == Names{"place: float3 12", "uv: half2 4", "bytes: uchar4 4", "s: short 2", "id: uint 4?",
                                 "instance: uint 4?", "base: uint 4?", "first: ushort 2?", "-> position: float4 16?",
                                 "-> uv: half2 4?", "-> kind: uint 4?", "-> size: float 4?", "-> clip: float 8?"});
    Floats place(3 * kCount), position(4 * kCount), size(kCount), clip(2 * kCount);
    std::vector<uint16_t> uv(2 * kCount), uv_out(2 * kCount);
    std::vector<uint8_t> bytes(4 * kCount);
    std::vector<int16_t> s(kCount);
    std::vector<uint32_t> kind(kCount), instance(kCount);
    for (uint32_t i = 0; i < kCount; ++i) {
      for (uint32_t k = 0; k < 3; ++k) place[3 * i + k] = static_cast<float>(i * 3 + k);
      uv[2 * i] = 0x3c00;      // 1
      uv[2 * i + 1] = 0xc000;  // -2
      bytes[4 * i] = static_cast<uint8_t>(i);
      bytes[4 * i + 3] = 128;
      s[i] = static_cast<int16_t>(-static_cast<int>(i));
      instance[i] = i % 3;
    }
    Floats add = {10, 20, 30, 40};
    stage.in("place", place).in("uv", uv).in("bytes", bytes).in("s", s).in("instance", instance);
    stage.out("position", position).out("uv", uv_out).out("kind", kind).out("size", size).out("clip", clip);
    stage.launch.bind(2, add);
    stage.run();
    for (uint32_t i = 0; i < kCount; ++i) {
      CHECK(position[4 * i + 1] == static_cast<float>(i * 3 + 1 + 20));
      CHECK(position[4 * i + 3] == 41);
      CHECK(uv_out[2 * i] == 0x4000);
      CHECK(uv_out[2 * i + 1] == 0xc400);
      CHECK(kind[i] == i * 1000 + i % 3 * 100);  // vertex_id is the index, bases are 0
      CHECK(size[i] == 0.5f);
      CHECK(clip[2 * i] == static_cast<float>(i * 3));
      CHECK(clip[2 * i + 1] == -static_cast<float>(i * 3));
    }
    // An id that is bound is taken from there, and a result that is not bound goes nowhere.
    std::vector<uint32_t> id(kCount, 7);
    stage.launch.buffers.erase(stage.array(ArgumentKind::stage_output, "position").location);
    stage.in("id", id).run();
    CHECK(kind[5] == 7200);
  }
}

TEST_CASE("a fragment function: derivatives in quads of four") {
  const std::string text = R"(
struct In { float2 at; half3 tint; };
struct Out { float4 a [[color(0)]]; half3 b [[color(1)]]; float depth [[depth(any)]]; uint mask [[sample_mask]]; };
fragment Out f(In in [[stage_in]], bool front [[front_facing]], uint sample [[sample_id]], uint in_mask [[sample_mask]], constant int& turns [[buffer(0)]]) {
  Out out;
  float2 at = in.at;
  for (int i = 0; i < turns; ++i) at = at * at + 1;  // a loop: lanes
  out.a = float4(dfdx(at), dfdy(at));
  out.b = fwidth(in.tint);
  out.depth = front ? 0.5f : 0.25f;
  out.mask = in_mask + sample;
  return out;
}
)";
  constexpr uint32_t kCount = 72;
  for (const aot::CpuMethod method : kMethods)
    for (const int turns : {0, 1}) {
      CAPTURE(static_cast<int>(method));
      Stage stage(text, "f", kCount, method);
      Floats at(2 * kCount), a(4 * kCount), depth(kCount);
      std::vector<uint16_t> tint(3 * kCount, 0x3c00), b(3 * kCount);
      std::vector<uint8_t> front(kCount);
      std::vector<uint32_t> mask(kCount);
      std::vector<int> times = {turns};
      for (uint32_t i = 0; i < kCount; ++i) {
        at[2 * i] = static_cast<float>(i * i % 17);
        at[2 * i + 1] = static_cast<float>(i * 5 % 13);
        if (i % 4 == 3) tint[3 * i + 2] = 0x4000;
        front[i] = i % 3 == 0;
      }
      stage.in("at", at).in("tint", tint).in("front", front);
      stage.out("a", a).out("b", b).out("depth", depth).out("mask", mask);
      stage.launch.bind(0, times);
      stage.run();
      const auto value = [&](uint32_t thread, uint32_t part) {
        const float x = at[2 * thread + part];
        return turns == 0 ? x : x * x + 1;
      };
      for (uint32_t i = 0; i < kCount; ++i) {
        CAPTURE(i);
        for (uint32_t part = 0; part < 2; ++part) {
          CHECK(a[4 * i + part] == value(i | 1, part) - value(i & ~1u, part));
          CHECK(a[4 * i + 2 + part] == value(i | 2, part) - value(i & ~2u, part));
        }
        CHECK(b[3 * i] == 0);
        CHECK(b[3 * i + 2] == (i % 4 == 0 ? 0 : i % 4 == 3 ? 0x4000 : 0x3c00));
        CHECK(depth[i] == (i % 3 == 0 ? 0.5f : 0.25f));
        CHECK(mask[i] == 0xffffffff);
      }
    }
}

TEST_CASE("a discarded fragment says so, writes nothing more, and serves its quad") {
  const std::string text = R"(
struct In { float x; uint id [[flat]]; };
fragment float4 g(In in [[stage_in]], device float* before [[buffer(0)]], device float* after [[buffer(1)]],
                  device atomic_uint* count [[buffer(2)]]) {
  before[in.id] = 1;
  if (in.x < 0) discard_fragment();
  after[in.id] = 1;
  atomic_fetch_add_explicit(count, 1, memory_order_relaxed);
  return float4(dfdx(in.x), 0, 0, 1);
}
)";
  constexpr uint32_t kCount = 40;
  for (const aot::CpuMethod method : kMethods) {
    CAPTURE(static_cast<int>(method));
    Stage stage(text, "g", kCount, method);
    CHECK(stage.names() == Names{"x: float 4", "id: uint 4", "-> color0: float4 16?", "-> discarded: bool 1?"});
    Floats x(kCount), before(kCount), after(kCount), colour(4 * kCount, -1);
    std::vector<uint32_t> id(kCount), count(1);
    std::vector<uint8_t> discarded(kCount, 9);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < kCount; ++i) {
      x[i] = static_cast<float>(i % 3) - 1;
      id[i] = i;
      kept += x[i] >= 0 ? 1 : 0;
    }
    stage.in("x", x).in("id", id).out("color0", colour).out("discarded", discarded);
    stage.launch.bind(0, before).bind(1, after).bind(2, count);
    stage.run();
    CHECK(count[0] == kept);
    for (uint32_t i = 0; i < kCount; ++i) {
      CAPTURE(i);
      const bool is_kept = x[i] >= 0;
      CHECK(before[i] == 1);
      CHECK(after[i] == (is_kept ? 1 : 0));
      CHECK(discarded[i] == (is_kept ? 0 : 1));
      CHECK(colour[4 * i] == (is_kept ? x[i | 1] - x[i & ~1u] : -1));
    }
  }
}

TEST_CASE("a sample without a level has the one of its quad") {
  const std::string text = R"(
struct In { float2 at; };
struct Out { float4 plain [[color(0)]], biased [[color(1)]], level [[color(2)]]; };
fragment Out f(In in [[stage_in]], texture2d<float> image [[texture(0)]]) {
  constexpr sampler s(filter::nearest, mip_filter::nearest, address::repeat);
  return {image.sample(s, in.at), image.sample(s, in.at, bias(1)), image.sample(s, in.at, level(2))};
}
)";
  constexpr uint32_t kSide = 16, kLevels = 5;
  const auto texture = loader::Texture::create({.type = loader::TextureType::d2,
                                                .format = loader::PixelFormat::r32float,
                                                .width = kSide,
                                                .height = kSide,
                                                .levels = kLevels});
  REQUIRE(texture);
  for (uint32_t level = 0; level < kLevels; ++level) {
    const auto part = (*texture)->part(level, 0);
    REQUIRE(part);
    for (uint32_t y = 0; y < part->height; ++y)
      for (uint32_t x = 0; x < part->width; ++x) {
        const auto number = static_cast<float>(level);
        std::memcpy(const_cast<std::byte*>(part->bytes.data()) + y * part->row_bytes + x * 4, &number, 4);
      }
  }
  // Lanes have no calls of samples, and leave such code to regions.
  for (const aot::CpuMethod method : {aot::CpuMethod::automatic, aot::CpuMethod::regions})
    for (uint32_t step = 0; step < 4; ++step) {
      CAPTURE(step);
      Stage stage(text, "f", 8, method);
      Floats at(16), plain(32), biased(32), level(32);
      for (uint32_t i = 0; i < 8; ++i) {
        // From one pixel to the next 2^step texels.
        at[2 * i] = static_cast<float>((i & 1) << step) / kSide;
        at[2 * i + 1] = static_cast<float>((i >> 1 & 1) << step) / kSide;
      }
      stage.in("at", at).out("plain", plain).out("biased", biased).out("level", level);
      stage.launch.textures[0] = &(*texture)->cpu();
      stage.run();
      for (uint32_t i = 0; i < 8; ++i) {
        CHECK(plain[4 * i] == static_cast<float>(step));
        CHECK(biased[4 * i] == static_cast<float>(step + 1));
        CHECK(level[4 * i] == 2);
      }
    }
}

TEST_CASE("names that would be twice the same, members that a constant takes away, framebuffer fetch") {
  const std::string text = R"(
constant bool wide [[function_constant(0)]];
struct In { float4 position [[position]]; float4 more [[user(more), function_constant(wide)]]; };
struct Out { float4 a [[color(0)]]; float4 b [[color(1), function_constant(wide)]]; };
fragment Out f(In in [[stage_in]], float4 old [[color(0)]], constant float4& position [[buffer(4)]]) {
  Out out;
  out.a = in.position + old + position;
  if (wide) out.b = in.more;
  return out;
}
)";
  Stage stage(text, "f", 4, aot::CpuMethod::automatic);
  CHECK(stage.names() ==
        Names{"position_2: float4 16", "more: float4 16?", "old: float4 16", "-> a: float4 16?", "-> b: float4 16?"});
  Floats position(16, 1), old(16, 2), a(16), b(16, 5), more(16, 8), add(4, 4);
  stage.in("position_2", position).in("old", old).out("a", a).out("b", b);
  stage.launch.bind(4, add).constant(0, false);
  stage.run();
  CHECK(a == Floats(16, 7));
  stage.in("more", more).launch.constant(0, true);
  stage.run();
  CHECK(b == Floats(16, 8));
}

TEST_CASE("what the CPU does not have of a stage is an error that says so") {
  std::string many = "struct Out { float4 position [[position]];";
  for (int i = 0; i < 31; ++i) many += fmt::format(" float o{};", i);
  many += " };\nvertex Out v(uint id [[vertex_id]]) { return {}; }\n";
  CHECK(missing(many) == "v: 'v' has 33 inputs and results and 0 buffers; the CPU has 31 slots for all of them");
  const std::string kernel = missing("kernel void k(device float* x) { x[0] = dfdx(x[1]); }");
  CHECK_MESSAGE(kernel.find("fragment") != std::string::npos, kernel);
}

}  // namespace smelt::test
