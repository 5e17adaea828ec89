// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Textures and samplers in arrays, argument buffers and structures; samplers that are chosen; atomics of textures.
#include "support.hpp"

#include <doctest/doctest.h>

namespace smelt::test {
namespace {

using loader::SamplerRef;

TextureRef ramp_from(float first) {
  return texture_of<float>({.format = PixelFormat::r32float, .width = 2, .height = 1}, {first, first + 1});
}

SamplerRef sampler_of(SamplerDescriptor::Filter filter) {
  SamplerDescriptor descriptor;
  descriptor.magnify = descriptor.minify = filter;
  return must_be(loader::Sampler::create(descriptor));
}

uint64_t handle(const TextureRef& texture) {
  return reinterpret_cast<uint64_t>(&texture->cpu());
}
uint64_t handle(const SamplerRef& sampler) {
  return reinterpret_cast<uint64_t>(&sampler->cpu());
}

}  // namespace

TEST_CASE("arrays of textures and of samplers as arguments, with indices that are known and that are not") {
  const Msl source(metal(R"(
float4 one(array<texture2d<float>, 3> ts, uint i) { return ts[i].read(uint2(1, 0)); }
kernel void pick(const array<texture2d<float>, 3> ts [[texture(2)]], texture2d<float> first [[texture(0)]],
                 array<sampler, 2> ss [[sampler(1)]], device float* out [[buffer(0)]],
                 constant uint& which [[buffer(1)]], uint i [[thread_position_in_grid]]) {
  out[4 * i] = one(ts, i).x;
  out[4 * i + 1] = ts[which].sample(ss[i & 1], float2(0.5f, 0.5f)).x;
  out[4 * i + 2] = ts[1].read(uint2(0)).x + first.read(uint2(0)).x;
  out[4 * i + 3] = float(ts.size());
})"));
  const TextureRef first = ramp_from(100), a = ramp_from(1), b = ramp_from(3), c = ramp_from(5);
  const SamplerRef near = sampler_of(SamplerDescriptor::Filter::nearest);
  const SamplerRef linear = sampler_of(SamplerDescriptor::Filter::linear);
  std::vector<float> out(12);
  std::vector<uint32_t> which = {2};
  Launch launch{.grid = {3, 1, 1}, .group = {3, 1, 1}};
  launch.bind(0, out).bind(1, which);
  launch.textures = {{0, &first->cpu()}, {2, &a->cpu()}, {3, &b->cpu()}, {4, &c->cpu()}};
  launch.samplers = {{1, &near->cpu()}, {2, &linear->cpu()}};
  if (kernels_see_our_memory()) {
    source.run("pick", launch);
    CHECK(out == std::vector<float>{2, 6, 103, 3, 4, 5.5f, 103, 3, 6, 6, 103, 3});
  }
  const aot::KernelInfo& info = source.info("pick");
  REQUIRE(info.arguments.size() == 6);
  CHECK(info.arguments[0].type_name == "array<texture2d<float, sample>, 3>");
  CHECK(info.arguments[0].location == 2);
  CHECK(info.arguments[0].count == 3);
  CHECK(info.arguments[2].type_name == "array<sampler, 2>");
  CHECK(info.arguments[2].count == 2);
}

TEST_CASE("slots that an array takes are its own, and have to be there") {
  const auto error = [](const std::string& parameters) {
    return msl_error(metal("kernel void k(" + parameters + ") {}"));
  };
  CHECK(error("array<texture2d<float>, 3> a [[texture(0)]], texture2d<float> b [[texture(2)]]")
            .find("cannot reserve 'texture' resource location at index 2: 'a' has it") != std::string::npos);
  CHECK(error("array<sampler, 3> a [[sampler(14)]]").find("out of bounds: 3 from 14 on go past 15") !=
        std::string::npos);
  CHECK(error("array<texture2d<float>, 130> a").find("no texture is left for parameter 'a': there are 128") !=
        std::string::npos);
  CHECK(error("constant array<texture2d<float>, 2>& a [[buffer(0)]]").find("is not supported") != std::string::npos);
  const Msl source(
      metal("kernel void k(texture2d<float> a [[texture(1)]], array<texture2d<float>, 2> b,\n"
            "              texture2d<float> c) {}"));
  const aot::KernelInfo& info = source.info("k");
  CHECK(info.arguments[1].location == 2);
  CHECK(info.arguments[2].location == 0);
}

TEST_CASE("an argument buffer with textures, samplers and pointers: layout, members and numbers") {
  const Msl source(metal(R"(
struct Inner { texture2d<float> deep; };
struct Arguments {
  texture2d<float> t [[id(0)]];
  sampler s;
  device float* out;
  array<texture2d<float, access::read>, 2> more [[id(10)]];
  array<sampler, 2> ss;
  texture2d<float> c[2];
  Inner inner [[id(20)]];
  float scale;
};
kernel void k(constant Arguments& a [[buffer(0)]], constant uint& which [[buffer(1)]]) {
  a.out[0] = a.t.sample(a.s, float2(0.5f)).x * a.scale;
  a.out[1] = a.more[which].read(uint2(0)).x;
  a.out[2] = a.c[which].sample(a.ss[which], float2(0.5f)).x;
  a.out[3] = a.inner.deep.read(uint2(1, 0)).x;
  a.out[4] = is_null_texture(a.c[0]) ? 1 : 0;
})"));
  struct Arguments {
    uint64_t t, s;
    float* out;
    uint64_t more[2], ss[2], c[2], inner;
    float scale;
  };
  const aot::KernelInfo& info = source.info("k");
  CHECK(info.arguments[0].size == sizeof(Arguments));
  using aot::MemberInfo;
  const std::vector<MemberInfo> members = {
      {"t", "texture2d<float, sample>", 0, 0, 0, 8, MemberKind::other, Access::sample},
      {"s", "sampler", 1, 0, 8, 8, MemberKind::other, Access::none},
      {"out", "float", 2, 0, 16, 8, MemberKind::pointer, Access::read_write},
      {"more", "array<texture2d<float, read>, 2>", 10, 2, 24, 8, MemberKind::other, Access::read},
      {"ss", "array<sampler, 2>", 12, 2, 40, 8, MemberKind::other, Access::none},
      {"c", "texture2d<float, sample>", 14, 2, 56, 8, MemberKind::other, Access::sample},
      {"inner.deep", "texture2d<float, sample>", 20, 0, 72, 8, MemberKind::other, Access::sample},
      {"scale", "float", 21, 0, 80, 4, MemberKind::constant, Access::none},
  };
  CHECK(info.arguments[0].members == members);
  if (!kernels_see_our_memory()) return;
  const TextureRef t = ramp_from(1), m0 = ramp_from(10), m1 = ramp_from(20), c1 = ramp_from(30), deep = ramp_from(40);
  const SamplerRef near = sampler_of(SamplerDescriptor::Filter::nearest);
  const SamplerRef linear = sampler_of(SamplerDescriptor::Filter::linear);
  std::vector<float> out(5);
  std::vector<uint32_t> which = {1};
  std::vector<Arguments> arguments = {{handle(t),
                                       handle(linear),
                                       out.data(),
                                       {handle(m0), handle(m1)},
                                       {handle(linear), handle(near)},
                                       {0, handle(c1)},
                                       handle(deep),
                                       2.0f}};
  source.run("k", Launch{}.bind(0, arguments).bind(1, which));
  CHECK(out == std::vector<float>{3, 20, 31, 41, 1});
}

TEST_CASE("a sampler that is chosen when the kernel runs: among constants, arguments, and both") {
  const Msl source(metal(R"(
constexpr constant array<sampler, 3> table = {sampler(filter::linear), sampler(filter::nearest),
                                              sampler(address::repeat, filter::nearest)};
kernel void k(texture2d<float> t [[texture(0)]], sampler s [[sampler(0)]], constant uint& which [[buffer(0)]],
              device float* out [[buffer(1)]]) {
  constexpr sampler near(filter::nearest);
  out[0] = t.sample(table[which], float2(0.5f)).x;
  out[1] = t.sample(which > 1 ? table[1] : table[0], float2(1.25f, 0.5f)).x;
  out[2] = t.sample(which > 1 ? near : s, float2(0.5f)).x;
  out[3] = t.sample(which < 1 ? near : s, float2(0.5f)).x;
})"));
  if (!kernels_see_our_memory()) return;
  const TextureRef t = ramp_from(1);
  const SamplerRef linear = sampler_of(SamplerDescriptor::Filter::linear);
  const auto run = [&](uint32_t number) {
    std::vector<uint32_t> which = {number};
    std::vector<float> out(4);
    Launch launch;
    launch.bind(0, which).bind(1, out);
    launch.textures = {{0, &t->cpu()}};
    launch.samplers = {{0, &linear->cpu()}};
    source.run("k", launch);
    return out;
  };
  CHECK(run(0) == std::vector<float>{1.5f, 2, 1.5f, 2});
  CHECK(run(1) == std::vector<float>{2, 2, 1.5f, 1.5f});
  CHECK(run(2) == std::vector<float>{2, 2, 2, 1.5f});
}

TEST_CASE("atomics of textures: every operation, what was there, and nothing outside") {
  const Msl source(metal(R"(
kernel void k(texture2d<uint, access::read_write> u [[texture(0)]], texture1d<int, access::read_write> s [[texture(1)]],
              texture2d_array<uint, access::read_write> l [[texture(2)]], device uint4* out [[buffer(0)]]) {
  out[0] = u.atomic_fetch_add(uint2(1, 0), 5);
  out[1] = u.atomic_fetch_sub(ushort2(1, 0), 1);
  out[2] = u.atomic_fetch_or(uint2(1, 0), 0x100);
  out[3] = u.atomic_fetch_and(uint2(1, 0), 0xff0);
  out[4] = u.atomic_fetch_xor(uint2(1, 0), 0x3);
  out[5] = u.atomic_exchange(uint2(1, 0), 77);
  out[6] = u.atomic_fetch_max(uint2(1, 0), 80);
  out[7] = u.atomic_fetch_min(uint2(1, 0), 79);
  uint4 expected = uint4(5);
  out[8].x = u.atomic_compare_exchange_weak(uint2(1, 0), &expected, uint4(1));
  out[8].y = expected.x;
  out[8].z = u.atomic_compare_exchange_weak(uint2(1, 0), &expected, uint4(9));
  out[9] = u.atomic_load(uint2(1, 0));
  u.atomic_store(uint4(4), uint2(0, 0));
  out[10] = u.atomic_fetch_add(uint2(9, 9), 1);
  out[11] = uint4(s.atomic_fetch_max(0u, -7));
  out[12] = uint4(s.atomic_fetch_min(0u, -9));
  out[13] = l.atomic_fetch_add(uint2(0, 0), 1, 2);
})"));
  if (!kernels_see_our_memory()) return;
  const auto u = texture_of<uint32_t>({.format = PixelFormat::r32uint, .width = 2, .height = 1}, {1, 10});
  const auto s = texture_of<int32_t>({.type = TextureType::d1, .format = PixelFormat::r32sint, .width = 1}, {-8});
  const auto l = texture_of<uint32_t>(
      {.type = TextureType::d2_array, .format = PixelFormat::r32uint, .width = 1, .height = 1, .array_length = 2},
      {6, 7});
  std::vector<uint32_t> out(56);
  Launch launch;
  launch.bind(0, out);
  launch.textures = {{0, &u->cpu()}, {1, &s->cpu()}, {2, &l->cpu()}};
  source.run("k", launch);
  const auto first = [&](size_t i) { return out[4 * i]; };
  CHECK(first(0) == 10);
  CHECK(first(1) == 15);
  CHECK(first(2) == 14);
  CHECK(first(3) == 0x10e);
  CHECK(first(4) == 0x100);
  CHECK(first(5) == 0x103);
  CHECK(first(6) == 77);
  CHECK(first(7) == 80);
  CHECK(first(8) == 0);
  CHECK(out[33] == 79);
  CHECK(out[34] == 1);
  CHECK(first(9) == 9);
  CHECK(first(10) == 0);
  CHECK(int32_t(first(11)) == -8);
  CHECK(int32_t(first(12)) == -7);
  CHECK(first(13) == 7);
  CHECK(values_of<uint32_t>(*u) == std::vector<uint32_t>{4, 9});
  CHECK(values_of<int32_t>(*s) == std::vector<int32_t>{-9});
  CHECK(values_of<uint32_t>(*l) == std::vector<uint32_t>{6, 9});
  CHECK(msl_error(metal("kernel void k(texture2d<float, access::read_write> t) { t.atomic_fetch_add(uint2(0), 1); }"))
            .find("atomic_fetch_add") != std::string::npos);
  CHECK(msl_error(metal("kernel void k(texture2d<uint, access::write> t) { t.atomic_fetch_add(uint2(0), 1); }"))
            .find("atomic_fetch_add") != std::string::npos);
}

TEST_CASE("many threads add to one texel") {
  const Msl source(
      metal("kernel void k(texture2d<uint, access::read_write> t [[texture(0)]],\n"
            "              uint i [[thread_position_in_grid]]) {\n"
            "  if (i % 3 != 0) t.atomic_fetch_add(uint2(0), i);\n}"));
  if (!kernels_see_our_memory()) return;
  const auto t = texture_of<uint32_t>({.format = PixelFormat::r32uint}, {0});
  Launch launch{.grid = {100, 1, 1}, .group = {32, 1, 1}};
  launch.textures = {{0, &t->cpu()}};
  source.run("k", launch);
  CHECK(values_of<uint32_t>(*t)[0] == 4950 - 1683);
}

}  // namespace smelt::test
