// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Samples judged by a renderer that is not ours: Mesa's lavapipe draws the same points. SMELT_LAVAPIPE_STATES=N takes N
// random states instead of the few of every day, SMELT_LAVAPIPE_FIRST=N begins with another seed.
#include "smelt/base/floats.hpp"

#include "lavapipe.hpp"
#include "skips.hpp"
#include "support.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <random>

namespace smelt::test {
namespace {

/// How far a sample may be from lavapipe's, in units of the largest value that the texture holds. Weights are floats on
/// both sides (lavapipe.cpp turns off the filters of 8-bit fixed point, whose weights are of 8 bits), so what differs
/// are roundings: of coordinates, up to 32 texels from the origin, to 2^-19 of a texel, then of at most eight blends.
/// Seen in 384,000 samples: 2^-19.
constexpr double kRounding = 0x1p-17;
/// A normalised integer is divided by its largest here and multiplied by the reciprocal there. Seen: 2^-24.
constexpr double kReciprocal = 0x1p-23;
/// lavapipe's curve of sRGB is a polynomial; ours is the curve. Seen: 0.0012.
constexpr double kPolynomial = 0.0015;
/// lavapipe divides by three, five and seven with fewer bits, and keeps 8 bits of BC4 and BC5, whose values between
/// ends have 16 here: two steps of them. What we decode is held to the formulas themselves in tests/loader. Seen: 2 of
/// 255, of signed formats 1.8 of 127.
constexpr double kBlock = 2.0 / 255 + kRounding;
constexpr double kBlockOfSigned = 2.0 / 127;
/// The same steps where the curve of sRGB is the steepest, and the polynomial. Seen: 0.0125.
constexpr double kBlockOfSrgb = 2 * 2.28 / 255 + kPolynomial;
struct Allowed {
  PixelFormat format;
  double nearest, linear;
};
constexpr Allowed kAllowed[] = {
    {PixelFormat::r8unorm, kReciprocal, kRounding},
    {PixelFormat::r8snorm, kReciprocal, kRounding},
    {PixelFormat::rg8unorm, kReciprocal, kRounding},
    {PixelFormat::rg8snorm, kReciprocal, kRounding},
    {PixelFormat::rgba8unorm, kReciprocal, kRounding},
    {PixelFormat::rgba8snorm, kReciprocal, kRounding},
    {PixelFormat::bgra8unorm, kReciprocal, kRounding},
    {PixelFormat::r16unorm, kReciprocal, kRounding},
    {PixelFormat::r16snorm, kReciprocal, kRounding},
    {PixelFormat::rg16unorm, kReciprocal, kRounding},
    {PixelFormat::rg16snorm, kReciprocal, kRounding},
    {PixelFormat::rgba16unorm, kReciprocal, kRounding},
    {PixelFormat::rgba16snorm, kReciprocal, kRounding},
    {PixelFormat::b5g6r5unorm, kReciprocal, kRounding},
    {PixelFormat::a1bgr5unorm, kReciprocal, kRounding},
    {PixelFormat::abgr4unorm, kReciprocal, kRounding},
    {PixelFormat::bgr5a1unorm, kReciprocal, kRounding},
    {PixelFormat::rgb10a2unorm, kReciprocal, kRounding},
    {PixelFormat::bgr10a2unorm, kReciprocal, kRounding},
    {PixelFormat::r8unorm_srgb, kPolynomial, kPolynomial},
    {PixelFormat::rg8unorm_srgb, kPolynomial, kPolynomial},
    {PixelFormat::rgba8unorm_srgb, kPolynomial, kPolynomial},
    {PixelFormat::bgra8unorm_srgb, kPolynomial, kPolynomial},
    // Floats are the same floats.
    {PixelFormat::r16float, 0, kRounding},
    {PixelFormat::rg16float, 0, kRounding},
    {PixelFormat::rgba16float, 0, kRounding},
    {PixelFormat::r32float, 0, kRounding},
    {PixelFormat::rg32float, 0, kRounding},
    {PixelFormat::rgba32float, 0, kRounding},
    {PixelFormat::rg11b10float, 0, kRounding},
    {PixelFormat::rgb9e5float, 0, kRounding},
    {PixelFormat::bc1_rgba, kBlock, kBlock},
    {PixelFormat::bc1_rgba_srgb, kBlockOfSrgb, kBlockOfSrgb},
    {PixelFormat::bc2_rgba, kBlock, kBlock},
    {PixelFormat::bc2_rgba_srgb, kBlockOfSrgb, kBlockOfSrgb},
    {PixelFormat::bc3_rgba, kBlock, kBlock},
    {PixelFormat::bc3_rgba_srgb, kBlockOfSrgb, kBlockOfSrgb},
    {PixelFormat::bc4_runorm, kBlock, kBlock},
    {PixelFormat::bc4_rsnorm, kBlockOfSigned, kBlockOfSigned},
    {PixelFormat::bc5_rgunorm, kBlock, kBlock},
    {PixelFormat::bc5_rgsnorm, kBlockOfSigned, kBlockOfSigned},
    {PixelFormat::astc_4x4_ldr, kBlock, kBlock},
    {PixelFormat::astc_8x5_ldr, kBlock, kBlock},
    {PixelFormat::astc_12x12_ldr, kBlock, kBlock},
    {PixelFormat::astc_6x6_srgb, kBlockOfSrgb, kBlockOfSrgb},
};

using Random = std::mt19937;
using Address = SamplerDescriptor::Address;
using Filter = SamplerDescriptor::Filter;
using Mip = SamplerDescriptor::MipFilter;

float real(Random& random, float low, float high) {
  return std::uniform_real_distribution<float>(low, high)(random);
}
uint32_t integer(Random& random, uint32_t low, uint32_t high) {
  return std::uniform_int_distribution<uint32_t>(low, high)(random);
}
bool one_in(Random& random, uint32_t n) {
  return integer(random, 1, n) == 1;
}

struct Kind {
  TextureType type;
  const char* kernel;
  unsigned axes;  ///< of its coordinates
};
constexpr Kind kKinds[] = {
    {TextureType::d1, "d1", 1},     {TextureType::d1_array, "d1_array", 1},     {TextureType::d2, "d2", 2},
    {TextureType::d2, "d2", 2},     {TextureType::d2_array, "d2_array", 2},     {TextureType::d3, "d3", 3},
    {TextureType::cube, "cube", 3}, {TextureType::cube_array, "cube_array", 3},
};
bool is_compressed(PixelFormat format) {
  return loader::facts_of(format)->is_compressed();
}
bool has_faces(const TextureDescriptor& texture) {
  return texture.type == TextureType::cube || texture.type == TextureType::cube_array;
}

std::string kernels() {
  std::string text = metal("struct P { packed_float3 at; float lod; uint4 element; };\n");
  const auto add = [&](const std::string& name, const std::string& type, const std::string& arguments) {
    text += "kernel void " + name + "(" + type +
            "<float> t, sampler s, device const P* points, device float4* out, uint i [[thread_position_in_grid]]) {\n"
            "  const P p = points[i];\n  const float3 at = p.at;\n  out[i] = t.sample(s, " +
            arguments + ");\n}\n";
  };
  add("d1", "texture1d", "at.x");
  add("d1_array", "texture1d_array", "at.x, p.element.x");
  add("d2", "texture2d", "at.xy, level(p.lod)");
  add("d2_array", "texture2d_array", "at.xy, p.element.x, level(p.lod)");
  add("d3", "texture3d", "at, level(p.lod)");
  add("cube", "texturecube", "at, level(p.lod)");
  add("cube_array", "texturecube_array", "at, p.element.x, level(p.lod)");
  return text;
}

TextureDescriptor random_shape(Random& random, const Kind& kind, PixelFormat format) {
  TextureDescriptor shape{.type = kind.type, .format = format};
  shape.width = integer(random, 1, 9);
  const bool cube = has_faces(shape);
  if (kind.axes > 1) shape.height = cube ? shape.width : integer(random, 1, 9);
  if (kind.axes > 2 && !cube) shape.depth = integer(random, 1, 5);
  const bool is_array =
      kind.type == TextureType::d1_array || kind.type == TextureType::d2_array || kind.type == TextureType::cube_array;
  if (is_array) shape.array_length = integer(random, 1, 3);
  const auto most = static_cast<uint32_t>(std::bit_width(std::max({shape.width, shape.height, shape.depth})));
  if (kind.axes > 1) shape.levels = integer(random, 1, most);
  return shape;
}

/// Numbers of the format, none of them so small that kernels flush it. Returns the largest that it may be.
float fill(Random& random, const loader::Texture& texture) {
  const auto bytes = texture.contents();
  const auto each_word = [&]<class Word>(Word, auto value) {
    for (size_t i = 0; i + sizeof(Word) <= bytes.size(); i += sizeof(Word)) {
      const Word word = value();
      std::memcpy(bytes.data() + i, &word, sizeof word);
    }
  };
  const loader::PixelFormatFacts& format = *loader::facts_of(texture.descriptor().format);
  switch (format.is_compressed() ? uint32_t{SMELT_CPU_UNORM8} : format.encoding) {
    case SMELT_CPU_FLOAT32:
      each_word(float{}, [&] { return real(random, -1, 1); });
      return 1;
    case SMELT_CPU_FLOAT16:
      each_word(uint16_t{}, [&] { return to_half_bits(real(random, -1, 1)); });
      return 1;
    case SMELT_CPU_RG11B10_FLOAT:
      each_word(uint32_t{}, [&] {
        const auto part = [&](uint32_t mantissa) {
          return integer(random, 8, 16) << mantissa | integer(random, 0, (1u << mantissa) - 1);
        };
        return part(6) | part(6) << 11 | part(5) << 22;
      });
      return 4;
    case SMELT_CPU_RGB9E5_FLOAT:
      each_word(uint32_t{}, [&] { return integer(random, 0, (1u << 27) - 1) | integer(random, 8, 17) << 27; });
      return 4;
    default:
      each_word(uint8_t{}, [&] { return static_cast<uint8_t>(integer(random, 0, 255)); });
      return 1;
  }
}

SamplerDescriptor any_sampler(Random& random, const TextureDescriptor& texture) {
  SamplerDescriptor sampler;
  for (auto& address : sampler.address) address = static_cast<Address>(integer(random, 0, 4));
  sampler.magnify = static_cast<Filter>(integer(random, 0, 1));
  sampler.minify = one_in(random, 2) ? sampler.magnify : static_cast<Filter>(integer(random, 0, 1));
  sampler.mip = static_cast<Mip>(integer(random, 0, 2));
  sampler.border = static_cast<SamplerDescriptor::Border>(integer(random, 0, 2));
  // Bounds are halves, and none is half-way between two levels, where either may be the nearest.
  if (one_in(random, 3)) sampler.lod_min = static_cast<float>(integer(random, 0, 6)) * 0.25f + 0.125f;
  if (one_in(random, 3)) sampler.lod_max = sampler.lod_min + static_cast<float>(integer(random, 0, 6)) * 0.25f;
  if (sampler.lod_min == 0 && sampler.lod_max < 100) sampler.lod_max += 0.125f;
  if (one_in(random, 6) && (texture.type == TextureType::d1 || texture.type == TextureType::d2)) {
    sampler.pixel_coordinates = true;
    sampler.mip = Mip::none;
    sampler.minify = sampler.magnify;
    sampler.lod_min = sampler.lod_max = 0;
  }
  return sampler;
}
SamplerDescriptor random_vulkan_sampler(Random& random, const TextureDescriptor& texture) {
  for (;;)
    if (const auto sampler = any_sampler(random, texture); vulkan_has(texture, sampler)) return sampler;
}

/// Closer than this to where the nearest texel or face changes a rounding may take either.
constexpr double kDoubt = 1e-3;

bool doubtful_on_axis(double c, uint32_t size, uint32_t levels, bool pixels) {
  for (uint32_t level = 0; level < levels; ++level) {
    const double place = pixels ? c : c * std::max(size >> level, 1u);
    if (std::abs(place - std::round(place)) < kDoubt) return true;
  }
  return false;
}
bool doubtful(const TextureDescriptor& texture, const SamplerDescriptor& sampler, const SamplePoint& p) {
  if (has_faces(texture)) {
    std::array<double, 3> sizes{std::abs(p.at[0]), std::abs(p.at[1]), std::abs(p.at[2])};
    std::sort(sizes.begin(), sizes.end());
    if (sizes[2] < 0.1 || sizes[1] > sizes[2] * (1 - kDoubt)) return true;
    for (const float c : p.at)
      if (doubtful_on_axis((c / sizes[2] + 1) / 2, texture.width, texture.levels, false) && std::abs(c) != sizes[2])
        return true;
    return false;
  }
  const uint32_t sizes[3] = {texture.width, texture.height, texture.depth};
  for (unsigned axis = 0; axis < 3; ++axis)
    if (doubtful_on_axis(p.at[axis], sizes[axis], texture.levels, sampler.pixel_coordinates)) return true;
  return false;
}

std::vector<SamplePoint> random_points(Random& random, const TextureDescriptor& texture,
                                       const SamplerDescriptor& sampler, size_t count) {
  const bool nearest = sampler.magnify == Filter::nearest || sampler.minify == Filter::nearest;
  std::vector<SamplePoint> points;
  while (points.size() < count) {
    SamplePoint p{};
    for (float& c : p.at)
      c = has_faces(texture)          ? real(random, -1, 1)
          : sampler.pixel_coordinates ? real(random, -3, 12)
                                      : real(random, -1.5f, 2.5f);
    const bool has_level = texture.type != TextureType::d1 && texture.type != TextureType::d1_array;
    p.lod = has_level && !sampler.pixel_coordinates ? real(random, -1, 5) : 0;
    p.element = integer(random, 0, 4);
    if (!nearest || !doubtful(texture, sampler, p)) points.push_back(p);
  }
  return points;
}

std::string told(const TextureDescriptor& t, const SamplerDescriptor& s, const SamplePoint& p) {
  const auto number = [](auto value) { return std::to_string(static_cast<int>(value)); };
  return std::string(loader::facts_of(t.format)->name) + " type " + number(t.type) + " " + number(t.width) + "x" +
         number(t.height) + "x" + number(t.depth) + " elements " + number(t.array_length) + " levels " +
         number(t.levels) + "; address " + number(s.address[0]) + number(s.address[1]) + number(s.address[2]) +
         " mag " + number(s.magnify) + " min " + number(s.minify) + " mip " + number(s.mip) + " border " +
         number(s.border) + " pixels " + number(s.pixel_coordinates) + " lod " + std::to_string(s.lod_min) + " to " +
         std::to_string(s.lod_max) + "; at " + std::to_string(p.at[0]) + " " + std::to_string(p.at[1]) + " " +
         std::to_string(p.at[2]) + " lod " + std::to_string(p.lod) + " element " + number(p.element);
}

/// The largest difference of each format.
using Differences = std::map<PixelFormat, double>;

/// Draws one state on both sides. Returns how many samples differ, having shown the first.
size_t check_state(unsigned seed, Lavapipe& lavapipe, const Msl& source, const std::vector<Allowed>& formats,
                   Differences& largest) {
  Random random(seed);
  const Kind* drawn = &kKinds[integer(random, 0, std::size(kKinds) - 1)];
  const Allowed& allowed = formats[integer(random, 0, static_cast<uint32_t>(formats.size()) - 1)];
  // Blocks are of two dimensions; lavapipe has none in 3D images.
  if (is_compressed(allowed.format) && (drawn->axes == 1 || drawn->type == TextureType::d3)) drawn = &kKinds[2];
  const Kind& kind = *drawn;
  const auto texture = make_texture(random_shape(random, kind, allowed.format));
  const TextureDescriptor& shape = texture->descriptor();
  const float most = fill(random, *texture);
  if (const auto done = texture->decode(); !done) throw std::runtime_error(done.error().message);
  const SamplerDescriptor descriptor = random_vulkan_sampler(random, shape);
  auto points = random_points(random, shape, descriptor, 256);
  const auto wanted = lavapipe.sample(*texture, descriptor, points);

  const auto sampler = must_be(loader::Sampler::create(descriptor));
  std::vector<Sampled> out(points.size());
  Launch launch{.grid = {static_cast<uint32_t>(points.size()), 1, 1}, .group = {32, 1, 1}};
  launch.bind(0, points).bind(1, out);
  launch.textures = {{0, &texture->cpu()}};
  launch.samplers = {{0, &sampler->cpu()}};
  source.run(kind.kernel, launch);

  // Of mip::linear two levels are blended, whatever the filter.
  const bool blends =
      descriptor.magnify == Filter::linear || descriptor.minify == Filter::linear || descriptor.mip == Mip::linear;
  const double bound = most * (blends ? allowed.linear : allowed.nearest);
  size_t wrong = 0;
  for (size_t i = 0; i < points.size(); ++i) {
    bool differs = false;
    for (size_t c = 0; c < 4; ++c) {
      const double difference = std::abs(double(out[i][c]) - wanted[i][c]);
      largest[allowed.format] = std::max(largest[allowed.format], difference);
      differs |= !(difference <= bound);
    }
    if (differs && wrong++ == 0)
      MESSAGE("ours ", out[i][0], " ", out[i][1], " ", out[i][2], " ", out[i][3], ", lavapipe's ", wanted[i][0], " ",
              wanted[i][1], " ", wanted[i][2], " ", wanted[i][3], ": ", told(shape, descriptor, points[i]));
  }
  return wrong;
}

/// ASTC is decoded by a library that may not be here.
bool can_be_made(PixelFormat format) {
  const auto made = loader::Texture::create({.format = format});
  if (!made) MESSAGE(made.error().message);
  return made || !is_compressed(format);
}

long from_environment(const char* name, long otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::strtol(value, nullptr, 10);
}

}  // namespace

TEST_CASE("random states of samplers, against lavapipe") {
  const auto lavapipe = Lavapipe::open();
  if (!lavapipe) return skipped(lavapipe.error().message);
  std::vector<Allowed> formats;
  for (const Allowed& allowed : kAllowed)
    if ((*lavapipe)->samples(allowed.format) && can_be_made(allowed.format)) formats.push_back(allowed);
  REQUIRE(formats.size() >= 20);
  const Msl source(kernels());
  const long states = from_environment("SMELT_LAVAPIPE_STATES", 100);
  const long first = from_environment("SMELT_LAVAPIPE_FIRST", 0);
  size_t wrong = 0;
  Differences largest;
  for (long state = first; state < first + states; ++state) {
    const size_t here = check_state(static_cast<unsigned>(state), **lavapipe, source, formats, largest);
    if (here != 0 && wrong < 100) MESSAGE("state ", state, ": ", here, " samples differ");
    wrong += here;
  }
  for (const auto& [format, difference] : largest)
    if (is_compressed(format)) MESSAGE(loader::facts_of(format)->name, ": at most ", difference, " apart");
  CHECK(wrong == 0);
}

}  // namespace smelt::test
