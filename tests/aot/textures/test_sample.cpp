// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Samples against a model of their own (model.hpp), and the fixed points that the specification names.
#include "smelt/base/floats.hpp"

#include "model.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <random>

namespace smelt::test {
namespace {

using Random = std::mt19937;

float between(Random& random, float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(random);
}
int whole(Random& random, int low, int high) {
  return std::uniform_int_distribution<int>(low, high)(random);
}

SamplerDescriptor random_sampler(Random& random) {
  SamplerDescriptor sampler;
  sampler.pixel_coordinates = whole(random, 0, 3) == 0;
  for (auto& address : sampler.address) do
      address = static_cast<SamplerDescriptor::Address>(whole(random, 0, 4));
    while (sampler.pixel_coordinates &&
           (address == SamplerDescriptor::Address::repeat || address == SamplerDescriptor::Address::mirrored_repeat));
  sampler.magnify = static_cast<SamplerDescriptor::Filter>(whole(random, 0, 1));
  sampler.minify = static_cast<SamplerDescriptor::Filter>(whole(random, 0, 1));
  sampler.mip = static_cast<SamplerDescriptor::MipFilter>(sampler.pixel_coordinates ? 0 : whole(random, 0, 2));
  sampler.border = static_cast<SamplerDescriptor::Border>(whole(random, 0, 2));
  if (whole(random, 0, 2) == 0) sampler.lod_min = static_cast<float>(whole(random, 0, 6)) * 0.25f;
  if (whole(random, 0, 2) == 0) sampler.lod_max = sampler.lod_min + static_cast<float>(whole(random, 0, 6)) * 0.25f;
  return sampler;
}

struct RandomTexture {
  TextureRef texture;
  ModelTexture model;
};

/// Of floats, all levels.
RandomTexture random_texture(Random& random, TextureType type) {
  const unsigned axes = type == TextureType::d3 ? 3 : type == TextureType::d2 ? 2 : 1;
  TextureDescriptor descriptor{.type = type, .format = PixelFormat::rgba32float};
  descriptor.width = static_cast<uint32_t>(whole(random, 1, 9));
  if (axes > 1) descriptor.height = static_cast<uint32_t>(whole(random, 1, 9));
  if (axes > 2) descriptor.depth = static_cast<uint32_t>(whole(random, 1, 5));
  const uint32_t most = std::max({descriptor.width, descriptor.height, descriptor.depth});
  descriptor.levels = type == TextureType::d1 ? 1 : static_cast<uint32_t>(std::bit_width(most));
  RandomTexture made{make_texture(descriptor), {.axes = axes}};
  for (uint32_t level = 0; level < descriptor.levels; ++level) {
    const auto part = must_be(made.texture->part(level, 0));
    ModelTexture::Level& of = made.model.levels.emplace_back();
    of = {static_cast<int>(part.width), static_cast<int>(part.height), static_cast<int>(part.depth), {}};
    std::vector<float> values;
    for (uint32_t i = 0; i < part.width * part.height * part.depth; ++i) {
      Colour colour;
      for (double& channel : colour) {
        values.push_back(between(random, -1, 1));
        channel = values.back();
      }
      of.texels.push_back(colour);
    }
    std::memcpy(part.bytes.data(), values.data(), values.size() * sizeof(float));
  }
  return made;
}

void check_randomly(TextureType type, const std::string& body, int states, int points) {
  const Msl source(
      metal("struct P { float4 at; int4 offset; };\n"
            "kernel void k(" +
            body));
  Random random(20);
  size_t wrong = 0;
  for (int state = 0; state < states; ++state) {
    const RandomTexture texture = random_texture(random, type);
    const SamplerDescriptor descriptor = random_sampler(random);
    const auto sampler = must_be(loader::Sampler::create(descriptor));
    struct Point {
      float at[4];
      int offset[4];
    };
    std::vector<Point> in(static_cast<size_t>(points));
    for (Point& point : in) {
      for (float& c : point.at)
        c = descriptor.pixel_coordinates ? between(random, -3, 12) : between(random, -1.5f, 2.5f);
      point.at[3] = between(random, -1, 5);
      for (int& o : point.offset) o = whole(random, 0, 3) == 0 ? whole(random, -8, 7) : 0;
    }
    std::vector<std::array<float, 4>> out(in.size());
    Launch launch{.grid = {static_cast<uint32_t>(points), 1, 1}, .group = {32, 1, 1}};
    launch.bind(0, in).bind(1, out);
    launch.textures = {{0, &texture.texture->cpu()}};
    launch.samplers = {{0, &sampler->cpu()}};
    source.run("k", launch);
    for (size_t i = 0; i < in.size(); ++i) {
      const Point& p = in[i];
      const Colour wanted = model_sample(texture.model, descriptor, {p.at[0], p.at[1], p.at[2]},
                                         {p.offset[0], p.offset[1], p.offset[2]}, p.at[3]);
      for (size_t c = 0; c < 4; ++c) wrong += !(std::abs(out[i][c] - wanted[c]) < 2e-4);
    }
  }
  // A coordinate on the border of two texels may round to either: of nearest filters, a few in a million.
  CHECK(wrong <= static_cast<size_t>(states) * static_cast<size_t>(points) / 20000);
}

}  // namespace

TEST_CASE("random states of samplers, against the model") {
  check_randomly(TextureType::d2,
                 "texture2d<float> t [[texture(0)]], sampler s [[sampler(0)]], device const P* p [[buffer(0)]],\n"
                 "  device float4* o [[buffer(1)]], uint i [[thread_position_in_grid]]) {\n"
                 "  o[i] = t.sample(s, p[i].at.xy, level(p[i].at.w), p[i].offset.xy); }",
                 600, 100);
  check_randomly(TextureType::d3,
                 "texture3d<float> t [[texture(0)]], sampler s [[sampler(0)]], device const P* p [[buffer(0)]],\n"
                 "  device float4* o [[buffer(1)]], uint i [[thread_position_in_grid]]) {\n"
                 "  o[i] = t.sample(s, p[i].at.xyz, level(p[i].at.w), p[i].offset.xyz); }",
                 300, 100);
}

TEST_CASE("a constexpr sampler means what its words say") {
  const auto sample = [](const std::string& states, float u, float v) {
    const Msl source(metal("constexpr sampler s(" + states + ");\n" +
                           "kernel void k(texture2d<float> t [[texture(0)]], constant float2& at, device float4* o) {\n"
                           "  o[0] = t.sample(s, at); }"));
    const auto texture = texture_of<float>({.format = PixelFormat::r32float, .width = 2, .height = 2}, {1, 2, 3, 4});
    std::vector<float> at = {u, v}, out(4);
    Launch launch;
    launch.bind(0, at).bind(1, out);
    launch.textures = {{0, &texture->cpu()}};
    source.run("k", launch);
    return out[0];
  };
  CHECK(sample("filter::nearest", 0.75f, 0.25f) == 2);
  CHECK(sample("filter::linear", 0.5f, 0.5f) == 2.5f);
  CHECK(sample("coord::pixel, filter::linear", 1.0f, 0.5f) == 1.5f);
  CHECK(sample("address::repeat", 1.25f, -0.25f) == 3);
  CHECK(sample("address::mirrored_repeat", 1.25f, 0.25f) == 2);
  CHECK(sample("s_address::clamp_to_zero, t_address::clamp_to_edge", 1.25f, 0.25f) == 0);
  CHECK(sample("address::clamp_to_border, border_color::opaque_white", 1.25f, 0.25f) == 1);
  CHECK(sample("mag_filter::linear, min_filter::nearest", 0.5f, 0.25f) == 1.5f);
}

TEST_CASE("gradients, bias and clamps choose a level") {
  const auto sample = [](const std::string& options) {
    const Msl source(
        metal("kernel void k(texture2d<float> t [[texture(0)]], device float4* o) {\n"
              "  constexpr sampler s(mip_filter::linear, filter::nearest);\n  o[0] = t.sample(s, float2(0.5f)" +
              options + "); }"));
    const auto texture = make_texture({.format = PixelFormat::r32float, .width = 8, .height = 8, .levels = 4});
    for (uint32_t level = 0; level < 4; ++level) {
      const auto part = must_be(texture->part(level, 0));
      const std::vector<float> values(part.bytes.size() / 4, static_cast<float>(level));
      std::memcpy(part.bytes.data(), values.data(), part.bytes.size());
    }
    std::vector<float> out(4);
    Launch launch;
    launch.bind(0, out);
    launch.textures = {{0, &texture->cpu()}};
    source.run("k", launch);
    return out[0];
  };
  CHECK(sample("") == 0);
  CHECK(sample(", level(1.25f)") == 1.25f);
  CHECK(sample(", bias(0.5f)") == 0.5f);
  CHECK(sample(", min_lod_clamp(2.0f)") == 2);
  CHECK(sample(", gradient2d(float2(0.25f, 0), float2(0, 0.5f))") == doctest::Approx(2));
  CHECK(sample(", gradient2d(float2(1.0f / 8, 0), float2(0))") == doctest::Approx(0));
  CHECK(sample(", level(9.0f)") == 3);
}

TEST_CASE("a cube's faces meet without a seam") {
  const Msl source(metal(R"(
kernel void k(texturecube<float> t [[texture(0)]], sampler s [[sampler(0)]], device const packed_float3* p [[buffer(0)]],
              device float4* o [[buffer(1)]], uint i [[thread_position_in_grid]]) { o[i] = t.sample(s, float3(p[i])); })"));
  // Texels hold the direction of their own middle; a linear filter gives back about the direction that was asked for.
  constexpr uint32_t kSize = 16;
  const auto texture =
      make_texture({.type = TextureType::cube, .format = PixelFormat::rgba32float, .width = kSize, .height = kSize});
  const auto direction = [](uint32_t face, float a, float b) -> std::array<float, 3> {
    switch (face) {
      case 0:
        return {1, -b, -a};
      case 1:
        return {-1, -b, a};
      case 2:
        return {a, 1, b};
      case 3:
        return {a, -1, -b};
      case 4:
        return {a, -b, 1};
      default:
        return {-a, -b, -1};
    }
  };
  for (uint32_t face = 0; face < 6; ++face) {
    const auto part = must_be(texture->part(0, face));
    std::vector<float> values;
    for (uint32_t y = 0; y < kSize; ++y)
      for (uint32_t x = 0; x < kSize; ++x) {
        auto d = direction(face, (2.0f * static_cast<float>(x) + 1) / kSize - 1,
                           (2.0f * static_cast<float>(y) + 1) / kSize - 1);
        const float length = std::hypot(d[0], d[1], d[2]);
        for (const float c : d) values.push_back(c / length);
        values.push_back(1);
      }
    std::memcpy(part.bytes.data(), values.data(), part.bytes.size());
  }
  Random random(6);
  std::vector<float> in;
  for (int i = 0; i < 3000; ++i) {
    std::array<float, 3> d{between(random, -1, 1), between(random, -1, 1), between(random, -1, 1)};
    if (i % 3 == 0) d[static_cast<size_t>(i) % 2] = d[2] * 0.999f;  // close to an edge
    const float length = std::hypot(d[0], d[1], d[2]);
    for (const float c : d) in.push_back(c / length);
  }
  std::vector<float> out(4000 * 3);
  for (const auto filter : {SamplerDescriptor::Filter::nearest, SamplerDescriptor::Filter::linear}) {
    SamplerDescriptor descriptor;
    descriptor.magnify = descriptor.minify = filter;
    const auto sampler = must_be(loader::Sampler::create(descriptor));
    Launch launch{.grid = {3000, 1, 1}, .group = {32, 1, 1}};
    launch.bind(0, in).bind(1, out);
    launch.textures = {{0, &texture->cpu()}};
    launch.samplers = {{0, &sampler->cpu()}};
    source.run("k", launch);
    double far = 0;
    for (size_t i = 0; i < 3000; ++i)
      for (size_t c = 0; c < 3; ++c) far = std::max(far, double(std::abs(out[4 * i + c] - in[3 * i + c])));
    CHECK(far < (filter == SamplerDescriptor::Filter::linear ? 0.03 : 0.13));
  }
}

TEST_CASE("a border is a texel of the format") {
  const auto sample = [](PixelFormat format, const std::string& states) {
    const Msl source(
        metal("kernel void k(texture2d<float> t [[texture(0)]], device float4* o) {\n  constexpr sampler s(" + states +
              ");\n  o[0] = t.sample(s, float2(-1, 0.5f)); }"));
    const auto texture = make_texture({.format = format, .width = 2, .height = 2});
    std::vector<std::array<float, 4>> out(1);
    Launch launch;
    launch.bind(0, out);
    launch.textures = {{0, &texture->cpu()}};
    source.run("k", launch);
    return out[0];
  };
  using Texel = std::array<float, 4>;
  const std::string white = "address::clamp_to_border, border_color::opaque_white";
  CHECK(sample(PixelFormat::r8unorm, white) == Texel{1, 0, 0, 1});
  CHECK(sample(PixelFormat::rg16float, white) == Texel{1, 1, 0, 1});
  CHECK(sample(PixelFormat::bgra8unorm, white) == Texel{1, 1, 1, 1});
  CHECK(sample(PixelFormat::a8unorm, white) == Texel{0, 0, 0, 1});
  const std::string black = "address::clamp_to_border, border_color::transparent_black";
  CHECK(sample(PixelFormat::rg11b10float, black) == Texel{0, 0, 0, 1});
  CHECK(sample(PixelFormat::rgba8unorm, black) == Texel{0, 0, 0, 0});
  CHECK(sample(PixelFormat::a8unorm, black) == Texel{0, 0, 0, 0});
  CHECK(sample(PixelFormat::r32float, "address::clamp_to_zero") == Texel{0, 0, 0, 1});
  CHECK(sample(PixelFormat::rgba32float, "address::clamp_to_zero") == Texel{0, 0, 0, 0});
}

TEST_CASE("at a cube's corner a filter blends three faces") {
  const Msl source(
      metal("kernel void k(texturecube<float> t [[texture(0)]], device float4* o) {\n"
            "  constexpr sampler s(filter::linear);\n"
            "  o[0] = t.sample(s, float3(1, 1, 1));\n  o[1] = t.sample(s, float3(-1, -1, -1)); }"));
  const auto texture = texture_of<float>({.type = TextureType::cube, .format = PixelFormat::r32float},
                                         {1, 2, 4, 8, 16, 32});  // a texel a face
  std::vector<std::array<float, 4>> out(2);
  Launch launch;
  launch.bind(0, out);
  launch.textures = {{0, &texture->cpu()}};
  source.run("k", launch);
  CHECK(out[0][0] == doctest::Approx(7));
  CHECK(out[1][0] == doctest::Approx(14));
}

TEST_CASE("gathers and comparisons") {
  const Msl source(metal(R"(
kernel void k(texture2d<float> t [[texture(0)]], depth2d<float> d [[texture(1)]], device float4* o [[buffer(0)]]) {
  constexpr sampler s(coord::pixel);
  constexpr sampler less(compare_func::less, filter::linear, coord::pixel);
  o[0] = t.gather(s, float2(1, 1));
  o[1] = t.gather(s, float2(1, 1), int2(1, 0), component::y);
  o[2] = float4(d.sample_compare(less, float2(1, 1), 2.5f), d.sample_compare(less, float2(0.5f, 0.5f), 0.5f),
                d.sample(s, float2(1.5f, 0.5f)), d.get_width());
  o[3] = d.gather(s, float2(1, 1));
  o[4] = d.gather_compare(less, float2(1, 1), 2.0f);
})"));
  const auto t = texture_of<float>({.format = PixelFormat::rg32float, .width = 3, .height = 2},
                                   {1, 10, 2, 20, 3, 30, 4, 40, 5, 50, 6, 60});
  const auto d = texture_of<float>({.format = PixelFormat::depth32float, .width = 2, .height = 2}, {1, 2, 3, 4});
  std::vector<std::array<float, 4>> out(5);
  Launch launch;
  launch.bind(0, out);
  launch.textures = {{0, &t->cpu()}, {1, &d->cpu()}};
  source.run("k", launch);
  CHECK(out[0] == std::array<float, 4>{4, 5, 2, 1});
  CHECK(out[1] == std::array<float, 4>{50, 60, 30, 20});
  CHECK(out[2] == std::array<float, 4>{0.5f, 1, 2, 2});
  CHECK(out[3] == std::array<float, 4>{3, 4, 2, 1});
  CHECK(out[4] == std::array<float, 4>{1, 1, 0, 0});
}

}  // namespace smelt::test
