// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads, writes and sizes: from Metal source to numbers.
#include "support.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <limits>

namespace smelt::test {

TEST_CASE("a kernel copies a texture, and what is outside is zero and is not written") {
  const Msl source(metal(R"(
kernel void copy(texture2d<float, access::read> from [[texture(0)]], texture2d<float, access::write> to [[texture(1)]],
                 device uint4* sizes [[buffer(0)]], uint2 at [[thread_position_in_grid]]) {
  to.write(from.read(at + uint2(1, 0)) * 2.0f, at);
  if (all(at == 0)) sizes[0] = uint4(from.get_width(), from.get_height(), to.get_width(), to.get_num_mip_levels());
})"));
  const auto from = texture_of<float>({.format = PixelFormat::r32float, .width = 3, .height = 2}, {1, 2, 3, 4, 5, 6});
  const auto to = make_texture({.format = PixelFormat::rgba32float, .width = 3, .height = 2});
  std::vector<uint32_t> sizes(4);
  Launch launch{.grid = {5, 4, 1}, .group = {4, 1, 1}};
  launch.bind(0, sizes);
  launch.textures = {{0, &from->cpu()}, {1, &to->cpu()}};
  source.run("copy", launch);
  CHECK(values_of<float>(*to) ==
        std::vector<float>{4, 0, 0, 2, 6, 0, 0, 2, 0, 0, 0, 0, 10, 0, 0, 2, 12, 0, 0, 2, 0, 0, 0, 0});
  CHECK(sizes == std::vector<uint32_t>{3, 2, 3, 1});
}

TEST_CASE("every type of a texel") {
  const auto run = [](const std::string& type, const std::string& value, PixelFormat format, auto example) {
    const Msl source(metal("kernel void k(texture2d<" + type +
                           ", access::read_write> t [[texture(3)]]) {\n  t.write(t.read(uint2(0)) + " + value +
                           ", ushort2(1, 0)); }"));
    const auto texture = texture_of<decltype(example)>({.format = format, .width = 2}, {example});
    Launch launch;
    launch.textures = {{3, &texture->cpu()}};
    source.run("k", launch);
    return values_of<decltype(example)>(*texture)[1];
  };
  CHECK(run("float", "float4(1)", PixelFormat::r32float, 2.5f) == 3.5f);
  CHECK(run("half", "half4(0.25h)", PixelFormat::r8unorm, uint8_t{51}) == 115);
  CHECK(run("int", "int4(-5)", PixelFormat::r8sint, int8_t{3}) == -2);
  CHECK(run("uint", "uint4(7)", PixelFormat::r32uint, uint32_t{0xfffffff0}) == 0xfffffff7);
  CHECK(run("short", "short4(-5)", PixelFormat::r16sint, int16_t{-300}) == -305);
  CHECK(run("ushort", "ushort4(5)", PixelFormat::r16uint, uint16_t{65000}) == 65005);
}

TEST_CASE("every pixel format, from bits to numbers and back") {
  const Msl floats(metal(R"(
kernel void k(texture2d<float, access::read> t [[texture(0)]], texture2d<float, access::write> o [[texture(1)]],
              device float4* v [[buffer(0)]]) { v[0] = t.read(uint2(0)); o.write(v[0], uint2(0)); })"));
  const Msl uints(metal(R"(
kernel void k(texture2d<uint, access::read> t [[texture(0)]], texture2d<uint, access::write> o [[texture(1)]],
              device uint4* v [[buffer(0)]]) { v[0] = t.read(uint2(0)); o.write(v[0], uint2(0)); })"));
  const auto check = [&](PixelFormat format, const std::vector<uint8_t>& bits, const std::vector<float>& wanted) {
    CAPTURE(loader::facts_of(format)->name);
    const auto texture = texture_of<uint8_t>({.format = format}, bits);
    const auto back = make_texture({.format = format});
    REQUIRE(texture->contents().size() == bits.size());
    const bool is_float = loader::texel_kind(*loader::facts_of(format)) == loader::TexelKind::floating;
    std::vector<float> numbers(4);
    Launch launch;
    launch.bind(0, numbers);
    launch.textures = {{0, &texture->cpu()}, {1, &back->cpu()}};
    (is_float ? floats : uints).run("k", launch);
    for (size_t i = 0; i < 4; ++i)
      if (is_float)
        CHECK(numbers[i] == doctest::Approx(wanted[i]).epsilon(1e-6));
      else
        CHECK(static_cast<float>(std::bit_cast<uint32_t>(numbers[i])) == wanted[i]);
    CHECK(values_of<uint8_t>(*back) == bits);
  };
  check(PixelFormat::a8unorm, {51}, {0, 0, 0, 0.2f});
  check(PixelFormat::r8unorm, {51}, {0.2f, 0, 0, 1});
  check(PixelFormat::r8unorm_srgb, {128}, {0.2158605f, 0, 0, 1});
  check(PixelFormat::r8snorm, {0x81}, {-1, 0, 0, 1});
  check(PixelFormat::r8uint, {200}, {200, 0, 0, 1});
  check(PixelFormat::r16unorm, {0xff, 0x7f}, {32767.0f / 65535, 0, 0, 1});
  check(PixelFormat::r16snorm, {0x01, 0x80}, {-1, 0, 0, 1});
  check(PixelFormat::r16float, {0x00, 0xc1}, {-2.5f, 0, 0, 1});
  check(PixelFormat::rg8unorm, {0, 255}, {0, 1, 0, 1});
  check(PixelFormat::b5g6r5unorm, {0x1f, 0x00}, {0, 0, 1, 1});
  check(PixelFormat::b5g6r5unorm, {0x00, 0xf8}, {1, 0, 0, 1});
  check(PixelFormat::a1bgr5unorm, {0x3f, 0x00}, {0, 0, 1, 1});
  check(PixelFormat::abgr4unorm, {0x0f, 0xf0}, {1, 0, 0, 1});
  check(PixelFormat::bgr5a1unorm, {0x1f, 0x80}, {0, 0, 1, 1});
  check(PixelFormat::rgba8unorm, {0, 51, 102, 255}, {0, 0.2f, 0.4f, 1});
  check(PixelFormat::rgba8unorm_srgb, {255, 10, 0, 128}, {1, 0.0030353f, 0, 128.0f / 255});
  check(PixelFormat::bgra8unorm, {255, 51, 0, 102}, {0, 0.2f, 1, 0.4f});
  check(PixelFormat::rgb10a2unorm, {0xff, 0x03, 0x00, 0xc0}, {1, 0, 0, 1});
  check(PixelFormat::bgr10a2unorm, {0xff, 0x03, 0x00, 0x40}, {0, 0, 1, 1.0f / 3});
  check(PixelFormat::rgb10a2uint, {0x05, 0x00, 0x30, 0xc0}, {5, 0, 3, 3});
  check(PixelFormat::rg11b10float, {0xc0, 0x03, 0x1e, 0x80}, {1, 1, 2, 1});
  check(PixelFormat::rgb9e5float, {0x80, 0x01, 0x01, 0x80}, {1.5f, 0.5f, 0, 1});
  check(PixelFormat::rgba16float, {0x00, 0x3c, 0x00, 0x40, 0x00, 0xbc, 0x00, 0x00}, {1, 2, -1, 0});
  check(PixelFormat::rg32float, {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40}, {1, 2, 0, 1});
  check(PixelFormat::rgba16uint, {1, 0, 2, 0, 3, 0, 0, 1}, {1, 2, 3, 256});
  check(PixelFormat::depth16unorm, {0xff, 0xff}, {1, 0, 0, 1});
  check(PixelFormat::depth32float, {0, 0, 0, 0x3f}, {0.5f, 0, 0, 1});
}

TEST_CASE("what is written is rounded to the nearest, and clamped") {
  const Msl source(metal(R"(
kernel void k(texture2d<float, access::write> o [[texture(0)]], device const float4* v [[buffer(0)]],
              uint i [[thread_position_in_grid]]) { o.write(v[i], uint2(i, 0)); })"));
  const auto write = [&](PixelFormat format, std::vector<float> numbers) {
    const auto count = static_cast<uint32_t>(numbers.size() / 4);
    const auto texture = make_texture({.format = format, .width = count});
    Launch launch{.grid = {count, 1, 1}};
    launch.bind(0, numbers);
    launch.textures = {{0, &texture->cpu()}};
    source.run("k", launch);
    return values_of<uint8_t>(*texture);
  };
  constexpr float kNan = std::numeric_limits<float>::quiet_NaN(), kInf = std::numeric_limits<float>::infinity();
  CHECK(write(PixelFormat::rgba8unorm, {-1, 2, kNan, 0.4f / 255, 1.6f / 255, kInf, -kInf, 0.5f}) ==
        std::vector<uint8_t>{0, 255, 0, 0, 2, 255, 0, 128});
  CHECK(write(PixelFormat::rgba8snorm, {-2, 2, kNan, -0.5f}) == std::vector<uint8_t>{0x81, 127, 0, 0xc0});
  CHECK(write(PixelFormat::r16float, {65536, 0, 0, 0, 0.1f, 0, 0, 0}) == std::vector<uint8_t>{0x00, 0x7c, 0x66, 0x2e});
  CHECK(write(PixelFormat::rg11b10float, {-1, kInf, 1e9f, 0}) == std::vector<uint8_t>{0x00, 0x00, 0xfe, 0xf7});
  CHECK(write(PixelFormat::rgb9e5float, {1e9f, -1, 0, 0}) == std::vector<uint8_t>{0xff, 0x01, 0x00, 0xf8});
}

TEST_CASE("arrays, cubes, volumes, levels, samples and buffers") {
  const auto run = [](const std::string& parameter, const std::string& value, const TextureRef& texture) {
    const Msl source(metal("kernel void k(" + parameter +
                           " t [[texture(0)]], device float* v [[buffer(0)]]) {\n  v[0] = " + value + ";\n}"));
    std::vector<float> numbers(1, -1.0f);
    Launch launch;
    launch.bind(0, numbers);
    launch.textures = {{0, &texture->cpu()}};
    source.run("k", launch);
    return numbers[0];
  };
  const auto numbered = [](TextureDescriptor descriptor) {
    descriptor.format = PixelFormat::r32float;
    const TextureRef texture = make_texture(descriptor);
    std::vector<float> values(texture->contents().size() / 4);
    for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    std::memcpy(texture->contents().data(), values.data(), texture->contents().size());
    return texture;
  };
  const auto d1 = numbered({.type = TextureType::d1, .width = 5});
  CHECK(run("texture1d<float, access::read>", "t.read(3u).x", d1) == 3);
  const auto d1_array = numbered({.type = TextureType::d1_array, .width = 5, .array_length = 3});
  CHECK(run("texture1d_array<float, access::read>", "t.read(3u, 2).x + 100 * t.get_array_size()", d1_array) == 313);
  const auto array = numbered({.type = TextureType::d2_array, .width = 4, .height = 3, .array_length = 2});
  CHECK(run("texture2d_array<float>", "t.read(uint2(1, 2), 1).x", array) == 21);
  const auto d3 = numbered({.type = TextureType::d3, .width = 4, .height = 3, .depth = 5});
  CHECK(run("texture3d<float>", "t.read(uint3(1, 2, 4)).x + 1000 * t.get_depth()", d3) == 5057);
  const auto cube = numbered({.type = TextureType::cube, .width = 2, .height = 2});
  CHECK(run("texturecube<float>", "t.read(uint2(1, 0), 5).x", cube) == 21);
  const auto cubes = numbered({.type = TextureType::cube_array, .width = 2, .height = 2, .array_length = 2});
  CHECK(run("texturecube_array<float>", "t.read(uint2(1, 0), 5, 1).x + 1000 * t.get_array_size()", cubes) == 2045);
  const auto levels = numbered({.width = 4, .height = 4, .levels = 3});
  CHECK(run("texture2d<float>", "t.read(uint2(1, 1), 1).x + 100 * t.get_width(2) + 1000 * t.get_num_mip_levels()",
            levels) == 3119);
  CHECK(run("texture2d<float>", "t.read(uint2(2, 1), 1).x + t.read(uint2(0, 0), 3).x", levels) == 0);
  const auto samples = numbered({.type = TextureType::d2_multisample, .width = 2, .height = 2, .samples = 4});
  CHECK(run("texture2d_ms<float, access::read>", "t.read(uint2(1, 1), 3).x + 100 * t.get_num_samples()", samples) ==
        415);
  const auto buffer = numbered({.type = TextureType::buffer, .width = 100});
  CHECK(run("texture_buffer<float, access::read>", "t.read(77).x + 1000 * t.get_width()", buffer) == 100077);
  const auto depth = numbered({.width = 4, .height = 3});
  CHECK(run("depth2d<float>", "t.read(uint2(1, 2)) + 100 * t.get_height()", depth) == 309);
}

TEST_CASE("a texture goes through functions and locals, and is chosen by a function constant") {
  const Msl source(metal(R"(
constant bool wide [[function_constant(0)]];
constant bool narrow = !wide;
float4 at(texture2d<float, access::read> t, uint2 p) { return t.read(p); }
struct Pair { texture2d<float, access::read> a; int shift; };
kernel void k(texture2d<float, access::read> t [[texture(0), function_constant(wide)]],
              texture2d<float, access::write> o [[texture(1)]], texture2d<float, access::read> u [[texture(2)]],
              uint2 p [[thread_position_in_grid]]) {
  Pair pair = {u, 1};
  float4 sum = at(pair.a, p) * pair.shift;
  if (wide) sum += at(t, p);
  o.write(sum, p);
})"));
  const auto t = texture_of<float>({.format = PixelFormat::r32float}, {5});
  const auto u = texture_of<float>({.format = PixelFormat::r32float}, {30});
  for (const bool wide : {false, true}) {
    const auto o = make_texture({.format = PixelFormat::r32float});
    Launch launch;
    launch.constant(0, wide);
    launch.textures = {{1, &o->cpu()}, {2, &u->cpu()}};
    if (wide) launch.textures[0] = &t->cpu();
    source.run("k", launch);
    CHECK(values_of<float>(*o)[0] == (wide ? 35 : 30));
  }
}

TEST_CASE("wrong uses are errors") {
  const auto kernel = [](const std::string& parameters, const std::string& body) {
    return msl_error(metal("kernel void k(" + parameters + ", device float4* v) {\n" + body + "\n}"));
  };
  const auto has = [](const std::string& text, const std::string& part) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
  };
  has(kernel("texture2d<float, access::read> t [[texture(0)]]", "t.write(float4(0), uint2(0));"), "'write'");
  has(kernel("texture2d<float, access::write> t [[texture(0)]]", "v[0] = t.read(uint2(0));"), "'read'");
  has(kernel("texture2d<float, access::read> t [[texture(0)]]", "constexpr sampler s; v[0] = t.sample(s, float2(0));"),
      "'sample'");
  has(kernel("texture2d<float> t [[texture(128)]]", ""),
      "'texture' attribute parameter is out of bounds: must be between 0 and 127");
  has(kernel("texture2d<float> t [[buffer(0)]]", ""),
      "'buffer' attribute does not apply to a parameter of type 'texture2d<float, sample>'");
  has(kernel("device float* t [[texture(0)]]", ""), "'texture' attribute does not apply to a parameter");
  has(kernel("texture2d<float> t [[texture(1)]], texture2d<float> u [[texture(1)]]", ""),
      "cannot reserve 'texture' resource location at index 1");
  has(kernel("texture2d<char> t [[texture(0)]]", "v[0] = t.get_width();"), "half, float, short, ushort, int or uint");
  has(kernel("device texture2d<float>* t [[buffer(0)]]", ""), "is not supported");
  const std::string holder = "struct A { sampler s[2]; float f; };\n";
  for (const char* body : {"a[0].s[1] = s;", "a[0] = b;"})
    has(msl_error(metal(holder + "kernel void k(device A* a, constant A& b, sampler s) { " + body + " }")),
        "a sampler cannot be written to device memory");
  has(msl_error(metal(holder + "kernel void k(threadgroup A* a) {}")), "cannot be in threadgroup memory");
  has(msl_error(metal("fragment float4 f() { threadgroup float x[4]; x[1] = 1; return x[2]; }")),
      "fragment function 'f' has a variable in address space 'threadgroup', which only kernels, mesh and object "
      "functions may declare");
  has(msl_error(metal("struct A { array<array<texture2d<float>, 2>, 2> t; };\n"
                      "kernel void k(constant A& a, device float* v) {}")),
      "is an array of arrays of 'texture2d<float, sample>', which is not supported");
}

}  // namespace smelt::test
